// path_voxels: copies voxels of a volume into the table of the path tracer, as fractions of the largest value with 16
// bits each.
//
// in   densities or colours of a volume, and the destination
// out  table: each voxel of a level is the mean of the voxels it covers (path/path_volume.wgsl)
// One thread per word, which holds two densities of a row or half a colour.

struct PathVoxels {
    // Size in voxels of the volume.
    size: vec3u,
    // First word of its voxels in the table.
    word: u32,
    level: u32,
    // Nonzero for colours. Then `brightest` is the largest component of a colour, which scales to 1.
    colored: u32,
    brightest: f32,
    row_offset: u32,
}

@group(0) @binding(0) var<uniform> copied: PathVoxels;
@group(0) @binding(1) var voxels: texture_3d<f32>;
@group(0) @binding(2) var<storage, read_write> table: array<u32>;

fn mean(voxel: vec3u) -> vec4f {
    let low = voxel << vec3u(copied.level);
    let high = min((voxel + 1u) << vec3u(copied.level), copied.size);
    var sum = vec4f(0.0);
    for (var z = low.z; z < high.z; z++) {
        for (var y = low.y; y < high.y; y++) {
            for (var x = low.x; x < high.x; x++) {
                sum += textureLoad(voxels, vec3u(x, y, z), 0);
            }
        }
    }
    let count = max(high, low) - low;
    return sum / f32(max(count.x * count.y * count.z, 1u));
}

@compute @workgroup_size(8, 8)
fn path_voxels(@builtin(global_invocation_id) id: vec3u) {
    let stored = (copied.size + (1u << copied.level) - 1u) >> vec3u(copied.level);
    let is_colored = copied.colored != 0u;
    let row_words = select((stored.x + 1u) / 2u, 2u * stored.x, is_colored);
    let row = id.y + copied.row_offset;
    if id.x >= row_words || row >= stored.y * stored.z {
        return;
    }
    let voxel = vec3u(select(2u * id.x, id.x / 2u, is_colored), row % stored.y, row / stored.y);
    let first = mean(voxel);
    let color = vec4f(first.rgb / copied.brightest, first.a);
    var pair = select(color.xy, color.zw, (id.x & 1u) != 0u);
    if !is_colored {
        pair = vec2f(first.x, mean(voxel + vec3u(1u, 0u, 0u)).x);
    }
    table[copied.word + row * row_words + id.x] = pack2x16unorm(pair);
}
