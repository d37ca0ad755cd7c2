// shadow_classify: compacts the shadow rays of a batch that have to be traced into a list.
//
// in   G-buffer (position, normal, ids), lights, the chosen lights, the merged scene (group 2), rows and slots of the
//      batch, the last frame's shadow edges, tiles where something has changed; `arguments` all zero
// out  list: an entry for each pixel and slot that casts rays. Tiles come in any order. Within a tile of 8 × 8 pixels,
//      entries are ordered by slot, then edges first, then by row. Neighbouring threads thus trace coherent rays, in
//      equal numbers.
//      arguments: the number of entries and of rays, and the workgroup counts of `shadow_rays`
//      shadow_words: the words of pixels that show points and lines, and the counts
//      blocked_out: the known result where no ray is cast
// One thread per row of a tile, eight tiles per workgroup, so two barriers are enough for 512 pixels. A tile without
// rays takes no space in the list. Workgroups share data only through atomicAdd. `shadow_arguments` is a separate
// dispatch of one thread.
#import "shadow/blocked_light_store.wgsl"
#import "shadow/chosen_lights.wgsl"
#import "bvh/dispatch.wgsl"
#import "frame/gbuffer.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "frame/ray_list.wgsl"
#import "light/light_table.wgsl"
#import "shadow/shadow_edges.wgsl"
#import "shadow/shadow_start.wgsl"
#import "shadow/shadow_words.wgsl"

struct RayArguments {
    // Workgroups of the indirect dispatch.
    groups: vec3u,
    // Entries of the list.
    rays: atomic<u32>,
    // Tiles that cast rays.
    tiles: atomic<u32>,
    // Number of rays. An entry casts several rays to a light with a size.
    sent: atomic<u32>,
}

#texels 1 0 position_texture: rgba32float
#texels 1 1 normal_texture: r32uint
#texels 1 2 ids_texture: r32uint
@group(1) @binding(3) var<uniform> batch: RayBatch;
@group(1) @binding(4) var<storage, read_write> arguments: RayArguments;
@group(1) @binding(5) var<storage, read_write> shadow_words: array<u32>;
@group(1) @binding(6) var list_out: texture_storage_2d<r32uint, write>;
@group(1) @binding(7) var blocked_out: texture_storage_2d_array<r32uint, write>;
#texels 1 8 reprojected_texture: rg32uint
#texels 1 9 edges_texture: r32uint array
#texels 1 10 tiles_texture: rg32uint

// Per slot of the batch and per row: bits 0 to 7 mark the pixels that cast rays, bits 8 to 15 the pixels at shadow
// edges, which cast more.
var<workgroup> row_masks: array<u32, 64 * RAY_BATCH_SLOTS>;
// First list entry of each tile that casts rays.
var<workgroup> tile_first: array<u32, 8>;
// Number of rays of each row.
var<workgroup> row_sent: array<u32, 64>;

@compute @workgroup_size(64)
fn shadow_classify(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let tile = thread / 8u;
    let row = thread % 8u;
    let slots = batch.slot_count;
    let first_slot = batch.first_slot;
    let first = vec2u(64u * workgroup.x + 8u * tile, batch.row_offset + 8u * workgroup.y + row);
    for (var i = 0u; i < slots; i++) {
        row_masks[64u * i + thread] = 0u;
    }
    var sent = 0u;
    for (var column = 0u; column < 8u; column++) {
        let pixel = first + vec2u(column, 0u);
        if any(pixel >= frame.size) {
            break;
        }
        let surface_id = textureLoad(ids_texture, pixel, 0).r;
        if !gbuffer_is_triangle(surface_id) {
            for (var i = 0u; i < slots; i++) {
                let slot = first_slot + i;
                blocked_light_store(pixel, slot, SIGNAL_UNSENT);
                if surface_id != 0u {
                    shadow_words[shadow_word(slot, pixel)] = SHADOW_UNTRACED;
                }
            }
            continue;
        }
        let position = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel).xyz;
        let start = shadow_ray_start(surface_id, position);
        let normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
        let edges = shadow_edges(pixel);
        for (var i = 0u; i < slots; i++) {
            let slot = first_slot + i;
            let chosen = chosen_light(slot, shadow_words[chosen_light_word(slot, pixel)]);
            let sample = light_sample(light_at(chosen.light), start.position);
            let needed = chosen.weight > 0.0 && shadow_ray_needed(start, normal, sample);
            if needed && !shadow_edges_has_settled(edges, slot) {
                let is_edge = slot == edges.slot;
                row_masks[64u * i + thread] |= select(1u, 257u, is_edge) << column;
                sent += rays_to_light(light_at(chosen.light), is_edge);
            } else {
                let known = select(SIGNAL_UNSENT, shadow_edges_kept(edges, slot), needed);
                blocked_light_store(pixel, slot, known);
            }
        }
    }
    row_sent[thread] = sent;
    workgroupBarrier();
    if row == 0u {
        var rays = 0u;
        for (var i = 0u; i < slots; i++) {
            for (var other = 0u; other < 8u; other++) {
                rays += countOneBits(row_masks[64u * i + thread + other] & 255u);
            }
        }
        if rays > 0u {
            tile_first[tile] = atomicAdd(&arguments.rays, rays);
            atomicAdd(&arguments.tiles, 1u);
            var tile_sent = 0u;
            for (var other = 0u; other < 8u; other++) {
                tile_sent += row_sent[thread + other];
            }
            atomicAdd(&arguments.sent, tile_sent);
        }
    }
    workgroupBarrier();
    var slot_first = tile_first[tile];
    for (var i = 0u; i < slots; i++) {
        var edge_entry = slot_first;
        var entry = slot_first;
        for (var other = 0u; other < 8u; other++) {
            let masks = row_masks[64u * i + 8u * tile + other];
            let edges = countOneBits(masks >> 8u);
            let rays = countOneBits(masks & 255u);
            slot_first += rays;
            edge_entry += select(0u, edges, other < row);
            entry += edges + select(0u, rays - edges, other < row);
        }
        let edges = row_masks[64u * i + thread] >> 8u;
        var mask = row_masks[64u * i + thread] & 255u;
        while mask != 0u {
            let column = firstTrailingBit(mask);
            let is_edge = ((edges >> column) & 1u) != 0u;
            let pixel = (first.y - batch.row_offset) * frame.size.x + first.x + column;
            let texel = ray_list_texel(select(entry, edge_entry, is_edge));
            textureStore(list_out, texel, vec4u(ray_list_pack(pixel, i, is_edge), 0u, 0u, 0u));
            mask &= mask - 1u;
            entry += select(1u, 0u, is_edge);
            edge_entry += select(0u, 1u, is_edge);
        }
    }
}

@compute @workgroup_size(1)
fn shadow_arguments() {
    let rays = atomicLoad(&arguments.rays);
    arguments.groups = dispatch_folded((rays + RAY_BLOCK - 1u) / RAY_BLOCK);
    shadow_words[SHADOW_RAYS_SENT] += atomicLoad(&arguments.sent);
    shadow_words[SHADOW_TILES_SENDING] += atomicLoad(&arguments.tiles);
}
