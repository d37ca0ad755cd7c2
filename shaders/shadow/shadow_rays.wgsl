// shadow_rays: traces shadow rays through the BVHs.
//
// in   G-buffer (position, normal, ids), lights, the chosen lights, the merged scene (group 2), the BVHs (group 1); for
//      `shadow_rays`, the batch's list from shadow_classify; for `shadow_rays_by_pixel`, the last frame's shadow edges,
//      and tiles where something has changed
// out  shadow_words: the visible fraction of each light, the traversal cost if it is counted, and the number of rays
//      (shadow/shadow_words.wgsl)
//      blocked_out: for lights with a size, the filter's input, with the penumbra width and a bit set if more rays were
//      cast; once anything moves, also the blocking triangles
// `shadow_rays` uses one thread per list entry. It adds fractions and cost to words that are zero before the first
// batch, because several threads may trace rays of one pixel. `shadow_rays_by_pixel` uses one thread per pixel, in
// tiles of 8 × 8, which writes all words of the pixel. Workgroups share data only through atomicOr and atomicAdd.
#import "shadow/blocked_light.wgsl"
#import "shadow/blocked_light_store.wgsl"
#import "shadow/chosen_lights.wgsl"
#import "bvh/bvh_rays.wgsl"
#import "bvh/dispatch.wgsl"
#import "frame/gbuffer.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "frame/ray_list.wgsl"
#import "light/light_table.wgsl"
#import "shadow/light_visibility.wgsl"
#import "shadow/shadow_edges.wgsl"
#import "shadow/shadow_words.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(0) var<uniform> batch: RayBatch;
#texels 3 1 position_texture: rgba32float
#texels 3 2 normal_texture: r32uint
#texels 3 3 ids_texture: r32uint
@group(3) @binding(4) var<storage, read_write> shadow_words: array<atomic<u32>>;
@group(3) @binding(5) var blocked_out: texture_storage_2d_array<r32uint, write>;
#texels 3 6 list_texture: r32uint
// Workgroup counts, and the number of entries in w. A uniform, because the limit of eight storage buffers is reached.
@group(3) @binding(7) var<uniform> arguments: vec4u;
#texels 3 6 reprojected_texture: rg32uint
#texels 3 7 edges_texture: r32uint array
#texels 3 8 tiles_texture: rg32uint

fn light_of(slot: u32, pixel: vec2u) -> ChosenLight {
    return chosen_light(slot, atomicLoad(&shadow_words[chosen_light_word(slot, pixel)]));
}

// Stores the index of the triangle that blocks a slot's light, plus 1. The layers of these indices follow the layers of
// the blocked fractions.
fn blocker_store(pixel: vec2u, slot: u32, leaf: u32) {
    let layer = ((frame.light_slots + 1u) & ~1u) + slot;
    if leaf != BVH_MISS && layer < textureNumLayers(blocked_out) && all(pixel < textureDimensions(blocked_out)) {
        let triangle = tree_triangle_rows(TRIANGLE_ROWS * leaf).w;
        textureStore(blocked_out, pixel, layer, vec4u(triangle + 1u, 0u, 0u, 0u));
    }
}

// Traces the rays of a slot, and stores the filter's input and the blocker. Returns the visible fraction in the slot's
// byte of a word.
fn traced(start: ShadowStart, pixel: vec2u, slot: u32, light: Light, sample: LightSample, rays: u32) -> u32 {
    let is_edge = rays > light_rays(light);
    let dimension = frame.first_dimension + SAMPLE_LIGHTS + slot;
    let visible = light_visible_share(start, light, sample, pixel, rays, dimension);
    let blocked = blocked_light_pack(light, sample, visible, start.position);
    blocked_light_store(pixel, slot, select(blocked, blocked | SIGNAL_EDGE, is_edge));
    blocker_store(pixel, slot, visible.blocker);
    return shadow_share_pack(visible.share, slot);
}

@compute @workgroup_size(RAY_BLOCK)
fn shadow_rays(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    bvh_ray_begin(thread);
    let ray = RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread;
    if ray >= arguments.w {
        return;
    }
    let entry = textureLoad(list_texture, ray_list_texel(ray), 0).r;
    let slot = ((entry >> 24u) & 0x7fu) + batch.first_slot;
    let offset = entry & 0xffffffu;
    let pixel = vec2u(offset % frame.size.x, batch.row_offset + offset / frame.size.x);
    let surface_id = textureLoad(ids_texture, pixel, 0).r;
    let start = shadow_ray_start(surface_id, gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel).xyz);
    let light = light_at(light_of(slot, pixel).light);
    let rays = rays_to_light(light, entry >= 0x80000000u);
    let share = traced(start, pixel, slot, light, light_sample(light, start.position), rays);
    atomicOr(&shadow_words[shadow_word(slot, pixel)], share);
    if frame.counts_cost != 0u {
        let cost = shadow_cost_word(pixel);
        atomicAdd(&shadow_words[cost], bvh_nodes_visited);
        atomicAdd(&shadow_words[cost + 1u], bvh_triangles_visited);
    }
}

var<workgroup> rays_of_group: atomic<u32>;

@compute @workgroup_size(8, 8)
fn shadow_rays_by_pixel(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    bvh_ray_begin(thread);
    if thread == 0u {
        atomicStore(&rays_of_group, 0u);
    }
    workgroupBarrier();
    var rays = 0u;
    let pixel = id.xy + vec2u(0u, row_offset);
    if all(pixel < frame.size) {
        let surface_id = textureLoad(ids_texture, pixel, 0).r;
        let surface = gbuffer_is_triangle(surface_id);
        var start = ShadowStart();
        var normal = vec3f(0.0);
        if surface {
            start = shadow_ray_start(surface_id, gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel).xyz);
            normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
        }
        let edges = shadow_edges(pixel);
        for (var first = 0u; first < frame.light_slots; first += 4u) {
            // Points and lines trace no rays.
            var word = select(SHADOW_UNTRACED, 0u, surface || surface_id == 0u);
            if !surface {
                for (var slot = first; slot < min(frame.light_slots, first + 4u); slot++) {
                    blocked_light_store(pixel, slot, SIGNAL_UNSENT);
                }
            } else {
                for (var slot = first; slot < min(frame.light_slots, first + 4u); slot++) {
                    let chosen = light_of(slot, pixel);
                    let light = light_at(chosen.light);
                    let sample = light_sample(light, start.position);
                    if chosen.weight == 0.0 || !shadow_ray_needed(start, normal, sample) {
                        blocked_light_store(pixel, slot, SIGNAL_UNSENT);
                        continue;
                    }
                    if shadow_edges_has_settled(edges, slot) {
                        blocked_light_store(pixel, slot, shadow_edges_kept(edges, slot));
                        continue;
                    }
                    let sent = rays_to_light(light, slot == edges.slot);
                    rays += sent;
                    word |= traced(start, pixel, slot, light, sample, sent);
                }
            }
            atomicStore(&shadow_words[shadow_word(first, pixel)], word);
        }
        if frame.counts_cost != 0u {
            let cost = shadow_cost_word(pixel);
            atomicStore(&shadow_words[cost], bvh_nodes_visited);
            atomicStore(&shadow_words[cost + 1u], bvh_triangles_visited);
        }
    }
    atomicAdd(&rays_of_group, rays);
    workgroupBarrier();
    if thread == 0u {
        atomicAdd(&shadow_words[SHADOW_RAYS_SENT], atomicLoad(&rays_of_group));
    }
}
