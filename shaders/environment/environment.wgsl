// Environment lighting (group 0): irradiance for diffuse surfaces, and prefiltered radiance for glossy ones and for the
// background.
#import "environment/brdf_table_lookup.wgsl"
#import "frame/frame.wgsl"
#import "environment/sh.wgsl"

@group(0) @binding(5) var<uniform> environment_sh: array<vec4f, 50>;
@group(0) @binding(6) var<uniform> brdf_table: array<vec4f, BRDF_TABLE_PAIRS>;
// Radiance, on each level prefiltered for a larger roughness than on the level before.
@group(0) @binding(7) var environment_cube: texture_cube<f32>;
@group(0) @binding(8) var environment_sampler: sampler;

// Rotates a world direction about +Y into the axes of the environment.
fn environment_direction(world: vec3f) -> vec3f {
    let turn = frame.environment_turn;
    return vec3f(turn.x * world.x - turn.y * world.z, world.y, turn.y * world.x + turn.x * world.z);
}

// Returns the outgoing radiance of a white diffuse surface: irradiance / π.
fn environment_diffuse(normal: vec3f) -> vec3f {
    return sh_irradiance(environment_direction(normal)) * (frame.environment_scale / 3.14159265358979);
}

// Returns the level of the prefiltered cube for a roughness p: (levels − 1) · p^⅔. This gives more levels to smooth
// surfaces, whose reflections differ most, while rough levels stay close enough. Prefilter::roughness in
// crates/render/src/environment/prefilter.rs is the inverse. `levels` is textureNumLevels of the cube.
fn environment_lod(roughness: f32, levels: u32) -> f32 {
    let p = saturate(roughness);
    return f32(levels - 1u) * pow(p, 2.0 / 3.0);
}

// Returns the radiance along a direction, prefiltered for a roughness.
fn environment_prefiltered(direction: vec3f, roughness: f32) -> vec3f {
    let level = environment_lod(roughness, textureNumLevels(environment_cube));
    let along = environment_direction(direction);
    return textureSampleLevel(environment_cube, environment_sampler, along, level).rgb
        * frame.environment_scale;
}
