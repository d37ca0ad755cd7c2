// reflection_classify: compacts the pixels whose surfaces cast reflection rays into a list.
//
// in   G-buffer (position, ids) and lobes, of the picture or of the previous bounce's hits; `arguments` all zero
// out  list: the pixels, with x in the lower 16 bits. Tiles come in any order. Within a tile of 8 × 8 pixels, entries
//      are in row order. For cost comparisons, pixels that cast no ray can be listed too
//      (reflections/reflection_params.wgsl).
//      arguments: workgroup counts of reflection_sort, the number of rays and of tiles that cast rays; SortParams; then
//      per batch of rays its workgroup counts, number of rays and first ray
//      hit_ids_out: zeros where no ray is cast
//      reflected_words, mean_out: at the first bounce, zeros where no ray is cast
//      sending: at the first bounce, the workgroup counts of reflection_filter and the tiles that cast rays, packed
//      like entries of the list
// One thread per row of a tile, eight tiles per workgroup. Workgroups share data only through atomicAdd.
// `reflection_arguments` is a separate dispatch of one thread.
#import "bvh/dispatch.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "material/lobes_at.wgsl"
#import "material/reflection.wgsl"
#import "reflections/reflection_params.wgsl"
#import "frame/ray_list.wgsl"
#import "reflections/sending_tiles.wgsl"

@group(1) @binding(0) var<uniform> params: ReflectionParams;
@group(1) @binding(1) var position_texture: texture_2d<f32>;
@group(1) @binding(2) var ids_texture: texture_2d<u32>;
@group(1) @binding(3) var<storage, read_write> arguments: array<atomic<u32>>;
@group(1) @binding(4) var<storage, read_write> reflected_words: array<vec2u>;
@group(1) @binding(5) var<storage, read_write> sending: SendingTiles;
@group(1) @binding(6) var list_out: texture_storage_2d<r32uint, write>;
@group(1) @binding(7) var hit_ids_out: texture_storage_2d<r32uint, write>;
@group(1) @binding(8) var mean_out: texture_storage_2d<rg32uint, write>;
@group(1) @binding(9) var layers_texture: texture_2d<u32>;
@group(1) @binding(10) var glass_texture: texture_2d<u32>;

// Bits 0 to 7 mark the pixels of a row that cast a ray, bits 8 to 15 the pixels inside the picture.
var<workgroup> row_masks: array<u32, 64>;
// First list entry of each tile that has rays.
var<workgroup> tile_first: array<u32, 8>;

fn sends(pixel: vec2u) -> bool {
    let s = gbuffer_unpack(gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel), 0u, 0u, 0u);
    return sends_ray(pixel, textureLoad(ids_texture, pixel, 0).r, s);
}

// Returns the bit mask of the pixels of a row that are listed.
fn listed_mask(row: u32, listing: u32, tile_sends: bool) -> u32 {
    let whole = listing == LIST_ALL || (listing == LIST_TILES && tile_sends);
    return select(row_masks[row], row_masks[row] >> 8u, whole) & 0xffu;
}

@compute @workgroup_size(64)
fn reflection_classify(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    let tile = thread / 8u;
    let row = thread % 8u;
    let first = vec2u(64u * workgroup.x + 8u * tile, 8u * workgroup.y + row);
    let is_first = params.bounce == 0u;
    let listing = params.listing;
    var mask = 0u;
    var seen = 0u;
    for (var column = 0u; column < 8u; column++) {
        let pixel = first + vec2u(column, 0u);
        if any(pixel >= frame.size) {
            break;
        }
        seen |= 1u << column;
        if sends(pixel) {
            mask |= 1u << column;
        } else {
            textureStore(hit_ids_out, pixel, vec4u(0u));
            if is_first {
                reflected_words[pixel.y * frame.size.x + pixel.x] = vec2u(0u);
                // The image is a single texel if nothing is averaged.
                if all(pixel < textureDimensions(mean_out)) {
                    textureStore(mean_out, pixel, vec4u(0u));
                }
            }
        }
    }
    row_masks[thread] = mask | (seen << 8u);
    workgroupBarrier();
    var sending_rows = 0u;
    for (var other = 0u; other < 8u; other++) {
        sending_rows |= row_masks[8u * tile + other] & 0xffu;
    }
    let tile_sends = sending_rows != 0u;
    if row == 0u {
        var rays = 0u;
        for (var other = 0u; other < 8u; other++) {
            rays += countOneBits(listed_mask(thread + other, listing, tile_sends));
        }
        if rays > 0u {
            tile_first[tile] = atomicAdd(&arguments[REFLECTION_RAYS], rays);
            let number = atomicAdd(&arguments[REFLECTION_TILES], 1u);
            if is_first {
                sending.tiles[number] = (first.x / 8u) | ((first.y / 8u) << 16u);
            }
        }
    }
    workgroupBarrier();
    var entry = tile_first[tile];
    for (var other = 0u; other < row; other++) {
        entry += countOneBits(listed_mask(8u * tile + other, listing, tile_sends));
    }
    mask = listed_mask(thread, listing, tile_sends);
    while mask != 0u {
        let pixel = first + vec2u(firstTrailingBit(mask), 0u);
        textureStore(list_out, ray_list_texel(entry), vec4u(pixel.x | (pixel.y << 16u), 0u, 0u, 0u));
        mask &= mask - 1u;
        entry++;
    }
}

// Words between two of the arguments. Uniform bindings begin at multiples of 256 bytes.
const STRIDE = 64u;

fn store_groups(word: u32, groups: u32) {
    let sides = dispatch_folded(groups);
    atomicStore(&arguments[word], sides.x);
    atomicStore(&arguments[word + 1u], sides.y);
    atomicStore(&arguments[word + 2u], sides.z);
}

@compute @workgroup_size(1)
fn reflection_arguments() {
    let rays = atomicLoad(&arguments[REFLECTION_RAYS]);
    let block = SORT_BLOCK * SORT_ROUNDS;
    let blocks = (rays + block - 1u) / block;
    store_groups(0u, blocks);
    if params.bounce == 0u {
        let tiles = atomicLoad(&arguments[REFLECTION_TILES]);
        sending.groups = dispatch_folded(tiles);
        sending.count = tiles;
    }
    // SortParams of bvh/build/sort_digit.wgsl.
    atomicStore(&arguments[STRIDE], rays);
    atomicStore(&arguments[STRIDE + 1u], blocks);
    var first = 0u;
    for (var word = 2u * STRIDE; word < arrayLength(&arguments); word += STRIDE) {
        let count = min(rays - min(rays, first), params.batch);
        store_groups(word, (count + RAY_BLOCK - 1u) / RAY_BLOCK);
        atomicStore(&arguments[word + 3u], count);
        atomicStore(&arguments[word + 4u], first);
        first += count;
    }
}
