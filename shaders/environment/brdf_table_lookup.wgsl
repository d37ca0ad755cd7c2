// Split-sum table (Karis 2013): directional albedo of a specular lobe by perceptual roughness and n · v, without
// multiple scattering. An entry holds the albedo for a Fresnel reflectance of 1, and the fifth root of the fraction of
// it that Schlick's term contributes. That root is about 1 − n · v, so the albedo and the root are nearly linear
// between entries.
//
// The importer binds `brdf_table: array<vec4f, BRDF_TABLE_PAIRS>`, with two entries per vector, as a uniform. A row has
// one roughness. Along a row, n · v is spaced logarithmically. The spacing starts at the angle at which microfacets
// begin to shadow each other, which is proportional to α.

// Roughness of a row, from ROUGHNESS_MIN to 1.
fn brdf_table_roughness(row: f32) -> f32 {
    return mix(ROUGHNESS_MIN, 1.0, row / f32(BRDF_TABLE_ROWS - 1u));
}

fn brdf_table_steepness(roughness: f32) -> f32 {
    return 4.0 / (roughness * roughness);
}

fn brdf_table_cosine(column: f32, roughness: f32) -> f32 {
    let steepness = brdf_table_steepness(roughness);
    return (exp2(column / f32(BRDF_TABLE_COLUMNS - 1u) * log2(1.0 + steepness)) - 1.0) / steepness;
}

fn brdf_table_entry(row: u32, column: u32) -> vec2f {
    let at = row * BRDF_TABLE_COLUMNS + column;
    let pair = brdf_table[at / 2u];
    return select(pair.xy, pair.zw, (at & 1u) == 1u);
}

// Returns the scale x and bias y of the reflectance at normal incidence. The surface reflects f0 · x + y, and x + y is
// the albedo of single scattering.
fn brdf_table_at(roughness: f32, n_dot_v: f32) -> vec2f {
    let clamped = clamp(roughness, ROUGHNESS_MIN, 1.0);
    let row =
        (clamped - ROUGHNESS_MIN) / (1.0 - ROUGHNESS_MIN) * f32(BRDF_TABLE_ROWS - 1u);
    let steepness = brdf_table_steepness(clamped);
    let column =
        log2(1.0 + steepness * saturate(n_dot_v)) / log2(1.0 + steepness) * f32(BRDF_TABLE_COLUMNS - 1u);
    let above = min(u32(row), BRDF_TABLE_ROWS - 2u);
    let left = min(u32(column), BRDF_TABLE_COLUMNS - 2u);
    let across = saturate(column - f32(left));
    let upper = mix(brdf_table_entry(above, left), brdf_table_entry(above, left + 1u), across);
    let lower = mix(brdf_table_entry(above + 1u, left), brdf_table_entry(above + 1u, left + 1u), across);
    let entry = mix(upper, lower, saturate(row - f32(above)));
    let square = entry.y * entry.y;
    let bias = entry.x * square * square * entry.y;
    return vec2f(entry.x - bias, bias);
}
