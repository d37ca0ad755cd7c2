// brdf_table: integrates the split-sum table of environment/brdf_table_lookup.wgsl.
//
// out  brdf_table
// The BRDF has GGX and height-correlated Smith masking, like material/brdf.wgsl. Each entry is a mean of G2 / G1 over
// visible normals (Heitz 2018, "Sampling the GGX Distribution of Visible Normals"; sampled by spherical caps, Dupuy and
// Benyoub 2023). This leaves neither the distribution nor a small cosine in the integrand. One thread per two entries,
// because a thread may not write half a vector.
#import "environment/brdf_table_lookup.wgsl"

@group(0) @binding(0) var<storage, read_write> brdf_table: array<vec4f, BRDF_TABLE_PAIRS>;

fn brdf_table_integral(row: u32, column: u32) -> vec2f {
    let roughness = brdf_table_roughness(f32(row));
    let alpha = roughness * roughness;
    let cosine = saturate(brdf_table_cosine(f32(column), roughness));
    let eye = vec2f(sqrt(1.0 - cosine * cosine), cosine);
    let stretched = normalize(vec2f(alpha * eye.x, eye.y));
    let eye_lambda = sqrt(mix(cosine * cosine, 1.0, alpha * alpha));
    var albedo = 0.0;
    var schlick = 0.0;
    for (var i = 0u; i < BRDF_TABLE_SAMPLES; i++) {
        // A golden-ratio lattice, in integer units of 2⁻³² revolutions to keep its precision.
        let angle = 2.0 * PI * (f32((i * 2654435769u) >> 8u) / 16777216.0);
        let z = 1.0 - (f32(i) + 0.5) / f32(BRDF_TABLE_SAMPLES) * (1.0 + stretched.y);
        let radius = sqrt(saturate(1.0 - z * z));
        let half_vector = normalize(vec3f(
            alpha * (radius * cos(angle) + stretched.x),
            alpha * radius * sin(angle),
            z + stretched.y,
        ));
        let v_dot_h = eye.x * half_vector.x + eye.y * half_vector.z;
        let n_dot_l = 2.0 * v_dot_h * half_vector.z - cosine;
        let light_lambda = sqrt(mix(n_dot_l * n_dot_l, 1.0, alpha * alpha));
        let masking = n_dot_l * (cosine + eye_lambda) / (n_dot_l * eye_lambda + cosine * light_lambda);
        let weight = select(0.0, masking, n_dot_l > 0.0);
        let grazing = 1.0 - saturate(v_dot_h);
        let square = grazing * grazing;
        albedo += weight;
        schlick += weight * square * square * grazing;
    }
    return vec2f(albedo / f32(BRDF_TABLE_SAMPLES), pow(schlick / albedo, 0.2));
}

@compute @workgroup_size(32)
fn brdf_table_pass(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= BRDF_TABLE_PAIRS {
        return;
    }
    let first = 2u * id.x;
    let row = first / BRDF_TABLE_COLUMNS;
    let column = first % BRDF_TABLE_COLUMNS;
    brdf_table[id.x] = vec4f(brdf_table_integral(row, column), brdf_table_integral(row, column + 1u));
}
