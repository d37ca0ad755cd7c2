// equirect: converts an equirectangular image to mip level 0 of a cube. `resample` converts the faces of a cube of
// another size.
//
// in   source: the rows of the image, u = ½ + atan2(z, x) / 2π, v = acos(y) / π. Below the image are the rows near the
//      poles again, box-filtered over 2^k columns, so that a column stays about as wide as a row is high. Rows of the
//      upper half start at the first column, and rows of the lower half at the centre column.
// out  faces
// A texel is the mean of samples² boxes that cover its area. A box is at least one row high, which amounts to linear
// interpolation between texels of the image. Longitudes wrap around, and across a pole a row continues half a
// revolution away. One thread per texel of all six faces, from row_offset on.
#import "bvh/angle.wgsl"
#import "environment/cube_box.wgsl"
#import "math/half_float.wgsl"

struct EquirectParams {
    // Size of the image.
    size: vec2u,
    // First row of each face that the dispatch writes.
    row_offset: u32,
    // Samples along each side of a texel.
    samples: u32,
}

@group(0) @binding(0) var<uniform> params: EquirectParams;
@group(0) @binding(1) var source: texture_2d<f32>;
@group(0) @binding(1) var finer: texture_2d_array<f32>;
@group(0) @binding(2) var faces: texture_storage_2d_array<rgba16float, write>;

// Returns the mean of a row over the width `span` around the longitude `turn`. `texel` is the width of a texel of the
// cube. All three parameters are in revolutions.
fn equirect_row(row: i32, turn: f32, span: f32, texel: f32) -> vec3f {
    let size = vec2i(params.size);
    let is_beyond = row < 0 || row >= size.y;
    let y = select(row, select(-1 - row, 2 * size.y - 1 - row, row > 0), is_beyond);
    let from_pole = min(y, size.y - 1 - y);
    // The exact factor is π. The host rounds integers in the same way, so 3 is used.
    let shift = firstLeadingBit(max(params.size.x / (3u * u32(2 * from_pole + 1)), 1u));
    let columns = size.x >> shift;
    let reduced = vec2i(select(0, size.x / 2, y != from_pole), size.y + from_pole);
    let start = select(vec2i(0, y), reduced, shift > 0u);

    let count = f32(columns);
    let width = min(max(span * count, 1.0 - texel * count), count);
    let middle = (turn + select(0.0, 0.5, is_beyond)) * count;
    let left = middle - 0.5 * width;
    let right = middle + 0.5 * width;
    let end = i32(ceil(right));
    var sum = vec3f(0.0);
    for (var column = i32(floor(left)); column < end; column++) {
        let share = min(f32(column + 1), right) - max(f32(column), left);
        let wrapped = (column + columns) % columns;
        sum += share * textureLoad(source, start + vec2i(wrapped, 0), 0).rgb;
    }
    return sum / width;
}

// Returns the mean over a box around a unit vector, `height` rows high and about as wide. `texel` is the angle that a
// texel of the cube covers.
fn equirect_box(direction: vec3f, height: f32, texel: f32) -> vec3f {
    let sine = max(length(direction.xz), 1.0e-7);
    let is_pole = all(direction.xz == vec2f(0.0));
    let longitude = angle_of(direction.z, select(direction.x, 1.0, is_pole));
    // acos(y) would lose all precision near a pole.
    let colatitude = atan2(sine, direction.y);
    let rows = f32(params.size.y);
    let turn = 0.5 + longitude / (2.0 * PI);
    let span = 0.5 * height / (rows * sine);
    let circle = texel / (2.0 * PI * sine);

    let middle = colatitude / PI * rows;
    let above = floor(middle - 0.5 * height);
    let below_share = saturate((middle + 0.5 * height - above - 1.0) / height);
    let upper = equirect_row(i32(above), turn, span, circle);
    let lower = equirect_row(i32(above) + 1, turn, span, circle);
    return mix(upper, lower, below_share);
}

@compute @workgroup_size(8, 8)
fn equirect(@builtin(global_invocation_id) id: vec3u) {
    let face_size = textureDimensions(faces).x;
    let at = vec2u(id.x, id.y + params.row_offset);
    if any(at >= vec2u(face_size)) {
        return;
    }
    let samples = params.samples;
    let step = 2.0 / f32(face_size);
    let rows_per_radian = f32(params.size.y) / PI;
    var sum = vec3f(0.0);
    var weights = 0.0;
    for (var y = 0u; y < samples; y++) {
        for (var x = 0u; x < samples; x++) {
            let coords = (vec2f(at) + (vec2f(f32(x), f32(y)) + 0.5) / f32(samples)) * step - 1.0;
            let along = cube_map_direction(id.z, coords);
            let square = dot(along, along);
            let weight = 1.0 / (square * sqrt(square));
            let texel = step * sqrt(weight);
            let rows = texel * rows_per_radian;
            // Adjacent boxes fill the texel. If the texel is smaller than a row, they are widened to one row.
            let height = max(1.0 - rows, 0.0) + rows / f32(samples);
            sum += weight * equirect_box(along * inverseSqrt(square), height, texel);
            weights += weight;
        }
    }
    textureStore(faces, at, id.z, half_float_round(vec4f(sum / weights, 1.0)));
}

@compute @workgroup_size(8, 8)
fn resample(@builtin(global_invocation_id) id: vec3u) {
    let face_size = textureDimensions(faces).x;
    let at = vec2u(id.x, id.y + params.row_offset);
    if any(at >= vec2u(face_size)) {
        return;
    }
    textureStore(faces, at, id.z, half_float_round(vec4f(cube_box(id.z, at, face_size).rgb, 1.0)));
}
