// shadow_rays: one shadow ray per pixel and light.
//
// in   G-buffer (position, normal, ids), lights, the merged scene (group 2), the trees (group 1)
// out  visibility: bit i % 32 of layer i / 32 is set where light i arrives; cost: nodes (with rows of the TLAS) and triangles visited,
//      16 bits each, at most 65,535;
//      ray_count: rays sent, added to what it held
// One thread per pixel, in tiles of 8 × 8. No ray is sent to a light that is out of range, that the surface is turned away from as shaded, or
// that its triangle is turned away from. Threads of different workgroups meet only in atomicAdd.
#import "common/gbuffer.wgsl"
#import "common/shadow_ray.wgsl"

@group(3) @binding(0) var position_texture: texture_2d<f32>;
@group(3) @binding(1) var normal_texture: texture_2d<u32>;
@group(3) @binding(2) var ids_texture: texture_2d<u32>;
@group(3) @binding(3) var visibility_out: texture_storage_2d_array<r32uint, write>;
@group(3) @binding(4) var cost_out: texture_storage_2d<r32uint, write>;
@group(3) @binding(5) var<storage, read_write> ray_count: atomic<u32>;

var<workgroup> rays_of_group: atomic<u32>;

@compute @workgroup_size(8, 8)
fn shadow_rays(@builtin(global_invocation_id) pixel: vec3u, @builtin(local_invocation_index) thread: u32) {
    if thread == 0u {
        atomicStore(&rays_of_group, 0u);
    }
    workgroupBarrier();
    var rays = 0u;
    if all(pixel.xy < frame.size) {
        let texel = textureLoad(position_texture, pixel.xy, 0);
        let surface = texel.w != 0.0;
        var start = ShadowStart();
        var normal = vec3f(0.0);
        if surface {
            start = shadow_ray_start(textureLoad(ids_texture, pixel.xy, 0).r - 1u, texel.xyz);
            normal = octahedral_unpack(textureLoad(normal_texture, pixel.xy, 0).r);
        }
        for (var first = 0u; first < max(frame.light_count, 1u); first += 32u) {
            var word = 0u;
            if surface {
                for (var i = first; i < min(frame.light_count, first + 32u); i++) {
                    let sample = light_sample(lights[i], start.position);
                    if !light_reaches(sample) || dot(normal, sample.to_light) <= 0.0 || dot(start.geometric_normal, sample.to_light) <= 0.0 {
                        continue;
                    }
                    rays++;
                    if shadow_ray_arrives(start, sample) {
                        word |= 1u << (i - first);
                    }
                }
            }
            textureStore(visibility_out, pixel.xy, first / 32u, vec4u(word, 0u, 0u, 0u));
        }
        let cost = min(bvh_nodes_visited, 0xffffu) | (min(bvh_triangles_visited, 0xffffu) << 16u);
        textureStore(cost_out, pixel.xy, vec4u(cost, 0u, 0u, 0u));
    }
    atomicAdd(&rays_of_group, rays);
    workgroupBarrier();
    if thread == 0u {
        atomicAdd(&ray_count, atomicLoad(&rays_of_group));
    }
}
