// Environment lighting as spherical harmonics of up to five bands. The importer binds `environment_sh`, a uniform
// array<vec4f, 50>. It holds 25 coefficients of radiance, then 25 of irradiance, zero past the order, as sum_sh writes
// them.
#import "environment/sh_basis.wgsl"

// Evaluates the 25 coefficients from `first` on in the unit direction v, with band l times g to the power of l. The
// result can be negative.
fn sh_sum_of_bands(first: u32, v: vec3f, g: f32) -> vec3f {
    let x = v.x;
    let y = v.y;
    let z = v.z;
    let xx = x * x;
    let yy = y * y;
    let zz = z * z;
    let g2 = g * g;
    let g3 = g2 * g;
    let g4 = g2 * g2;
    var sum = SH_0 * environment_sh[first].rgb;
    sum += g * SH_1 * (
        y * environment_sh[first + 1u].rgb
        + z * environment_sh[first + 2u].rgb
        + x * environment_sh[first + 3u].rgb
    );
    sum += g2 * SH_2_2 * (
        2.0 * x * y * environment_sh[first + 4u].rgb
        + (xx - yy) * environment_sh[first + 8u].rgb
    );
    sum += g2 * SH_2_1 * z * (y * environment_sh[first + 5u].rgb + x * environment_sh[first + 7u].rgb);
    sum += g2 * SH_2_0 * (3.0 * zz - 1.0) * environment_sh[first + 6u].rgb;
    sum += g3 * SH_3_3 * (
        y * (3.0 * xx - yy) * environment_sh[first + 9u].rgb
        + x * (xx - 3.0 * yy) * environment_sh[first + 15u].rgb
    );
    sum += g3 * SH_3_2 * z * (
        2.0 * x * y * environment_sh[first + 10u].rgb
        + (xx - yy) * environment_sh[first + 14u].rgb
    );
    sum += g3 * SH_3_1 * (5.0 * zz - 1.0) * (
        y * environment_sh[first + 11u].rgb
        + x * environment_sh[first + 13u].rgb
    );
    sum += g3 * SH_3_0 * z * (5.0 * zz - 3.0) * environment_sh[first + 12u].rgb;
    sum += g4 * SH_4_4 * (
        4.0 * x * y * (xx - yy) * environment_sh[first + 16u].rgb
        + (xx * xx - 6.0 * xx * yy + yy * yy) * environment_sh[first + 24u].rgb
    );
    sum += g4 * SH_4_3 * z * (
        y * (3.0 * xx - yy) * environment_sh[first + 17u].rgb
        + x * (xx - 3.0 * yy) * environment_sh[first + 23u].rgb
    );
    sum += g4 * SH_4_2 * (7.0 * zz - 1.0) * (
        2.0 * x * y * environment_sh[first + 18u].rgb
        + (xx - yy) * environment_sh[first + 22u].rgb
    );
    sum += g4 * SH_4_1 * z * (7.0 * zz - 3.0) * (
        y * environment_sh[first + 19u].rgb
        + x * environment_sh[first + 21u].rgb
    );
    sum += g4 * SH_4_0 * ((35.0 * zz - 30.0) * zz + 3.0) * environment_sh[first + 20u].rgb;
    return sum;
}

fn sh_sum(first: u32, v: vec3f) -> vec3f {
    return sh_sum_of_bands(first, v, 1.0);
}

// Returns the radiance convolved with the Henyey-Greenstein phase function about v. Its factor for band l is g to the
// power of l.
fn sh_scattered(v: vec3f, g: f32) -> vec3f {
    return max(sh_sum_of_bands(0u, v, g), vec3f(0.0));
}

// Returns the irradiance of a surface with the unit normal n, clamped to 0. Divided by π it is the radiance of a white
// diffuse surface.
fn sh_irradiance(n: vec3f) -> vec3f {
    return max(sh_sum(25u, n), vec3f(0.0));
}
