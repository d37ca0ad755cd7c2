// volume_light: visibility of each light, and of the surroundings, at the cells of a coarse grid in a volume.
//
// in   the volume, the BVHs (group 1), the merged scene (group 2), lights
// out  light_out: four channels per texel, in slabs of `cells.z` texels along z. Channel 0 is the mean over eight
//      directions, for ambient light; channel i + 1 is light i. Cells that are never read hold ones.
// One thread per cell and slab. A ray from the cell's centre through the BVHs finds occluding surfaces. The volume's
// own transmittance is marched along the same ray.
#import "bvh/bvh_rays.wgsl"
#import "shadow/shadow_ray.wgsl"
#import "volume/volume.wgsl"

@group(3) @binding(0) var<uniform> first_slice: u32;
@group(3) @binding(1) var<storage, read> volume: VolumeParams;
@group(3) @binding(2) var density_texture: texture_3d<f32>;
@group(3) @binding(3) var majorant_texture: texture_3d<f32>;
@group(3) @binding(4) var volume_sampler: sampler;
@group(3) @binding(5) var light_out: texture_storage_3d<rgba16float, write>;

const AROUND = 8u;

// True if the light near a cell is read, which is not the case where all bricks around are empty. An isosurface reads
// cells up to three away.
fn is_needed(at: vec3f) -> bool {
    let reach = select(1.0, 3.0, volume.isovalue >= 0.0) * volume.size / vec3f(volume.cells);
    let low = vec3u(clamp(at - reach, vec3f(0.0), volume.size - 0.5) / VOLUME_BRICK);
    let high = vec3u(clamp(at + reach, vec3f(0.0), volume.size - 0.5) / VOLUME_BRICK);
    for (var z = low.z; z <= high.z; z++) {
        for (var y = low.y; y <= high.y; y++) {
            for (var x = low.x; x <= high.x; x++) {
                if textureLoad(majorant_texture, vec3u(x, y, z), 0).r > 0.0 {
                    return true;
                }
            }
        }
    }
    return false;
}

@compute @workgroup_size(4, 4, 4)
fn volume_light(
    @builtin(global_invocation_id) thread: vec3u,
    @builtin(local_invocation_index) index: u32,
) {
    bvh_ray_begin(index);
    let id = thread + vec3u(0u, 0u, first_slice);
    let slab = id.z / volume.cells.z;
    let cell = vec3u(id.xy, id.z % volume.cells.z);
    if any(id.xy >= volume.cells.xy) || 4u * slab > volume.lights {
        return;
    }
    let at = (vec3f(cell) + 0.5) / vec3f(volume.cells) * volume.size;
    if !is_needed(at) {
        textureStore(light_out, id, vec4f(1.0));
        return;
    }
    let position = (volume.world_from_voxel * vec4f(at, 1.0)).xyz;
    var channels = vec4f(0.0);
    // A single loop over all rays, so that the traversal appears once in the source.
    let around = select(0u, AROUND, slab == 0u);
    let channel_end = min(4u * slab + 4u, volume.lights + 1u);
    let rays = around + channel_end - max(4u * slab, 1u);
    for (var i = 0u; i < rays; i++) {
        var channel = 0u;
        var share = 1.0 / f32(AROUND);
        var direction = vec3f(0.57735027);
        var distance = 1.0e30;
        if i < around {
            let signs = vec3f(f32(i & 1u), f32((i >> 1u) & 1u), f32(i >> 2u));
            direction *= 2.0 * signs - 1.0;
        } else {
            channel = max(4u * slab, 1u) + i - around;
            let sample = light_sample(first_lights[channel - 1u], position);
            share = select(0.0, 1.0, light_reaches(sample));
            direction = sample.to_light;
            distance = sample.distance;
        }
        if share > 0.0 {
            var open = 1.0;
            if (bitcast<u32>(share) >> 31u) + frame.shadow_mode != 0u {
                open = shadow_ray_share(Ray(position, 0.0, direction, distance));
            }
            if open > 0.0 {
                open *= volume_transmittance(position, direction, distance);
            }
            channels[channel % 4u] += share * open;
        }
    }
    textureStore(light_out, id, channels);
}
