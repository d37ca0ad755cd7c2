// Light from all around (group 0): what a diffuse surface gathers of it, what a glossy one mirrors, what is seen behind the scene.
#import "common/brdf_table.wgsl"
#import "common/environment_lod.wgsl"
#import "common/frame.wgsl"
#import "common/sh.wgsl"

@group(0) @binding(5) var<uniform> environment_sh: array<vec4f, 50>;
@group(0) @binding(6) var<uniform> brdf_table: array<vec4f, BRDF_TABLE_PAIRS>;
// Level by level as mirrors of growing roughness see it.
@group(0) @binding(7) var environment_cube: texture_cube<f32>;
@group(0) @binding(8) var environment_sampler: sampler;

// A direction in the axes of the environment, which is turned about +Y.
fn environment_direction(world: vec3f) -> vec3f {
    let turn = frame.environment_turn;
    return vec3f(turn.x * world.x - turn.y * world.z, world.y, turn.y * world.x + turn.x * world.z);
}

// What a white diffuse surface sends on: irradiance / π.
fn environment_diffuse(normal: vec3f) -> vec3f {
    return sh_irradiance(environment_direction(normal)) * (frame.environment_scale / 3.14159265358979);
}

// Radiance along a direction, as a mirror of this roughness sees it.
fn environment_mirrored(direction: vec3f, roughness: f32) -> vec3f {
    let level = environment_lod(roughness, textureNumLevels(environment_cube));
    return textureSampleLevel(environment_cube, environment_sampler, environment_direction(direction), level).rgb * frame.environment_scale;
}
