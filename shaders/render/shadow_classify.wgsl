// shadow_classify: lists the shadow rays of a batch that have to be traced, densely.
//
// in   G-buffer (position, normal, ids), lights, the merged scene (group 2), the batch: its rows and lights;
//      `arguments` all zero
// out  list: an entry for every ray. Tiles come in any order; within a tile of 8 × 8 pixels rays are ordered
//      by light, then row by row, so that rays traced side by side are coherent.
//      arguments: the number of rays, and the workgroups of `shadow_rays` that trace them
//      shadow_words: the words of pixels that show points and lines, and the counts
// A thread per row of a tile, eight tiles a workgroup: two barriers are enough for 512 pixels. A tile without
// rays takes no space in the list. Threads of different workgroups meet only in atomicAdd; `shadow_arguments`
// is a dispatch of its own, of one thread.
#import "common/gbuffer.wgsl"
#import "common/ray_list.wgsl"
#import "common/shadow_start.wgsl"
#import "common/shadow_words.wgsl"

struct RayArguments {
    // Workgroups of the indirect dispatch.
    groups: vec3u,
    rays: atomic<u32>,
    // Tiles that have rays.
    tiles: atomic<u32>,
}

@group(1) @binding(0) var position_texture: texture_2d<f32>;
@group(1) @binding(1) var normal_texture: texture_2d<u32>;
@group(1) @binding(2) var ids_texture: texture_2d<u32>;
@group(1) @binding(3) var<uniform> batch: RayBatch;
@group(1) @binding(4) var<storage, read_write> arguments: RayArguments;
@group(1) @binding(5) var<storage, read_write> shadow_words: array<u32>;
@group(1) @binding(6) var list_out: texture_storage_2d<r32uint, write>;

// For each light of the batch and each row, a bit for each pixel that has a ray.
var<workgroup> row_masks: array<u32, 64 * RAY_BATCH_LIGHTS>;
// First entry of each tile that has rays.
var<workgroup> tile_first: array<u32, 8>;

@compute @workgroup_size(64)
fn shadow_classify(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let tile = thread / 8u;
    let row = thread % 8u;
    let first = vec2u(64u * workgroup.x + 8u * tile, batch.first_row + 8u * workgroup.y + row);
    for (var i = 0u; i < batch.light_count; i++) {
        row_masks[64u * i + thread] = 0u;
    }
    for (var column = 0u; column < 8u; column++) {
        let pixel = first + vec2u(column, 0u);
        if any(pixel >= frame.size) {
            break;
        }
        let seen = textureLoad(ids_texture, pixel, 0).r;
        if !gbuffer_is_triangle(seen) {
            if seen != 0u {
                // The lights of a batch span two words at most.
                shadow_words[shadow_word(batch.first_light, pixel)] = SHADOW_UNTRACED;
                let last_light = batch.first_light + batch.light_count - 1u;
                shadow_words[shadow_word(last_light, pixel)] = SHADOW_UNTRACED;
            }
            continue;
        }
        let position = textureLoad(position_texture, pixel, 0).xyz;
        let start = shadow_ray_start(seen - 1u, position);
        let normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
        for (var i = 0u; i < batch.light_count; i++) {
            let light = lights[batch.first_light + i];
            if shadow_ray_needed(start, normal, light_sample(light, start.position)) {
                row_masks[64u * i + thread] |= 1u << column;
            }
        }
    }
    workgroupBarrier();
    if row == 0u {
        var rays = 0u;
        for (var i = 0u; i < batch.light_count; i++) {
            for (var other = 0u; other < 8u; other++) {
                rays += countOneBits(row_masks[64u * i + thread + other]);
            }
        }
        if rays > 0u {
            tile_first[tile] = atomicAdd(&arguments.rays, rays);
            atomicAdd(&arguments.tiles, 1u);
        }
    }
    workgroupBarrier();
    var light_first = tile_first[tile];
    for (var i = 0u; i < batch.light_count; i++) {
        var entry = light_first;
        for (var other = 0u; other < 8u; other++) {
            let rays = countOneBits(row_masks[64u * i + 8u * tile + other]);
            light_first += rays;
            entry += select(0u, rays, other < row);
        }
        var mask = row_masks[64u * i + thread];
        while mask != 0u {
            let pixel = (first.y - batch.first_row) * frame.size.x + first.x + firstTrailingBit(mask);
            let packed = pixel | ((batch.first_light + i) << 24u);
            textureStore(list_out, ray_list_texel(entry), vec4u(packed, 0u, 0u, 0u));
            mask &= mask - 1u;
            entry++;
        }
    }
}

@compute @workgroup_size(1)
fn shadow_arguments() {
    let rays = atomicLoad(&arguments.rays);
    // Folded in the same way as gpu::pass::dispatch.
    let groups = (rays + RAY_BLOCK - 1u) / RAY_BLOCK;
    let rows = max((groups + 65534u) / 65535u, 1u);
    arguments.groups = vec3u((groups + rows - 1u) / rows, rows, 1u);
    shadow_words[SHADOW_RAYS_SENT] += rays;
    shadow_words[SHADOW_TILES_SENDING] += atomicLoad(&arguments.tiles);
}
