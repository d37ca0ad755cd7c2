// shadow_rays: traces shadow rays through the trees.
//
// in   G-buffer (position, normal, ids), lights, the merged scene (group 2), the trees (group 1); for
//      `shadow_rays` the list of a batch, which shadow_classify writes
// out  shadow_words: a bit where a light is visible, the cost of finding out, and the number of rays
//      (common/shadow_words.wgsl)
// shadow_rays: a thread per entry of the list. It adds bits and cost to words that are zero before the first
// batch, because several threads may trace rays of one pixel. shadow_rays_by_pixel: a thread per pixel, in
// tiles of 8 × 8, writes all words of the pixel. Threads of different workgroups meet only in atomicOr and
// atomicAdd.
#import "common/dispatch.wgsl"
#import "common/gbuffer.wgsl"
#import "common/ray_list.wgsl"
#import "common/shadow_ray.wgsl"
#import "common/shadow_words.wgsl"

@group(3) @binding(0) var<uniform> first_row: u32;
@group(3) @binding(0) var<uniform> batch: RayBatch;
@group(3) @binding(1) var position_texture: texture_2d<f32>;
@group(3) @binding(2) var normal_texture: texture_2d<u32>;
@group(3) @binding(3) var ids_texture: texture_2d<u32>;
@group(3) @binding(4) var<storage, read_write> shadow_words: array<atomic<u32>>;
@group(3) @binding(5) var list_texture: texture_2d<u32>;
// Workgroups, and in w the number of entries. A uniform, because eight storage buffers are bound already.
@group(3) @binding(6) var<uniform> arguments: vec4u;

@compute @workgroup_size(RAY_BLOCK)
fn shadow_rays(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let ray = RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread;
    if ray >= arguments.w {
        return;
    }
    let entry = textureLoad(list_texture, ray_list_texel(ray), 0).r;
    let light = entry >> 24u;
    let offset = entry & 0xffffffu;
    let pixel = vec2u(offset % frame.size.x, batch.first_row + offset / frame.size.x);
    let triangle = textureLoad(ids_texture, pixel, 0).r - 1u;
    let start = shadow_ray_start(triangle, textureLoad(position_texture, pixel, 0).xyz);
    if shadow_ray_visible(start, light_sample(lights[light], start.position)) {
        atomicOr(&shadow_words[shadow_word(light, pixel)], 1u << (light % 32u));
    }
    let cost = shadow_cost_word(pixel);
    atomicAdd(&shadow_words[cost], bvh_nodes_visited);
    atomicAdd(&shadow_words[cost + 1u], bvh_triangles_visited);
}

var<workgroup> rays_of_group: atomic<u32>;

@compute @workgroup_size(8, 8)
fn shadow_rays_by_pixel(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    if thread == 0u {
        atomicStore(&rays_of_group, 0u);
    }
    workgroupBarrier();
    var rays = 0u;
    let pixel = id.xy + vec2u(0u, first_row);
    if all(pixel < frame.size) {
        let seen = textureLoad(ids_texture, pixel, 0).r;
        let surface = gbuffer_is_triangle(seen);
        var start = ShadowStart();
        var normal = vec3f(0.0);
        if surface {
            start = shadow_ray_start(seen - 1u, textureLoad(position_texture, pixel, 0).xyz);
            normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
        }
        for (var first = 0u; first < frame.light_count; first += 32u) {
            // Points and lines trace no rays.
            var word = select(SHADOW_UNTRACED, 0u, surface || seen == 0u);
            if surface {
                for (var i = first; i < min(frame.light_count, first + 32u); i++) {
                    let sample = light_sample(lights[i], start.position);
                    if !shadow_ray_needed(start, normal, sample) {
                        continue;
                    }
                    rays++;
                    if shadow_ray_visible(start, sample) {
                        word |= 1u << (i - first);
                    }
                }
            }
            atomicStore(&shadow_words[shadow_word(first, pixel)], word);
        }
        let cost = shadow_cost_word(pixel);
        atomicStore(&shadow_words[cost], bvh_nodes_visited);
        atomicStore(&shadow_words[cost + 1u], bvh_triangles_visited);
    }
    atomicAdd(&rays_of_group, rays);
    workgroupBarrier();
    if thread == 0u {
        atomicAdd(&shadow_words[SHADOW_RAYS_SENT], atomicLoad(&rays_of_group));
    }
}
