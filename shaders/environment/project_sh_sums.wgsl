// Common part of the variants of project_sh. Each variant defines `cube_face()`, the number of texels along an edge,
// and `cube_texel(at, face)`, the radiance of a texel.
//
// The basis of band l consists of monomials x^a y^b z^c of degree l over r^l. Because x² + y² + z² = r², a band also
// follows from monomials of a higher degree of the same parity. It is therefore enough to sum radiance × solid angle ×
// monomial / r^D over all texels. D is 2 and 1 (6 + 3 monomials) for three bands, and 4 and 3 (15 + 10) for five. Along
// the axis m of two opposite faces, a monomial is ±1 · s^j · t^k, where s and t are the other axes. The eight texels at
// (±1, ±s, ±t) have the same solid angle and |monomial|, so their sums and differences are weighted once. Powers of t
// are applied once per row of texels, along which s changes.

#import "environment/sh_basis.wgsl"

// Number of bands: 3 or 5.
override ORDER: u32 = 3u;

// Threads of a workgroup, at most 64.
override THREADS: u32 = 64u;
const MOMENTS = 25u;

// Coefficients of every workgroup, grouped by coefficient. w is the solid angle that the workgroup covered, counted
// once for each eight texels.
@group(0) @binding(1) var<storage, read_write> partials: array<vec4f>;

// Sums over a workgroup: fifteen monomials of even degree, by rising powers of s and t (1, s, t, s², st, t² and so on),
// then ten of odd degree.
var<workgroup> moments: array<vec4f, MOMENTS>;

const ODD = 15u;

// Sums of a thread, in the order of `moments`, and its solid angle.
struct Moments {
    even: array<vec3f, 15>,
    odd: array<vec3f, 10>,
    solid_angle: f32,
}

// Coordinates in a face of the texels at positive and negative s and t.
struct Mirror {
    s: vec2u,
    t: vec2u,
}

// Sums and differences over (±s, ±t): even in s and t, odd in s, odd in t, odd in s and t.
struct Parities {
    even: vec3f,
    odd_s: vec3f,
    odd_t: vec3f,
    odd: vec3f,
}

fn parities(mirror: Mirror, face: u32) -> Parities {
    let pp = cube_texel(vec2u(mirror.s.x, mirror.t.x), face);
    let mp = cube_texel(vec2u(mirror.s.y, mirror.t.x), face);
    let pm = cube_texel(vec2u(mirror.s.x, mirror.t.y), face);
    let mm = cube_texel(vec2u(mirror.s.y, mirror.t.y), face);
    let above = pp + mp;
    let below = pm + mm;
    let above_odd = pp - mp;
    let below_odd = pm - mm;
    return Parities(above + below, above_odd + below_odd, above - below, above_odd - below_odd);
}

// Returns the solid angle of the texel between the corners (s.x, t.x) and (s.y, t.y) on a plane at distance n, all in
// units of half a texel. It is the sum of two triangles (Van Oosterom and Strackee 1983), tan(Ω/2) = a·(b×c) /
// (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|), joined by the sum of arcs. Nothing cancels, and the dot products are
// integers that f32 holds exactly up to n = 2048.
fn texel_solid_angle(n: f32, s: vec2f, t: vec2f) -> f32 {
    let plane = n * n;
    let s_dots = vec3f(s.x * s.x, s.x * s.y, s.y * s.y) + plane;
    let t_dots = vec3f(t.x * t.x, t.x * t.y, t.y * t.y);
    let a = sqrt(s_dots.x + t_dots.x);
    let b = sqrt(s_dots.z + t_dots.x);
    let c = sqrt(s_dots.z + t_dots.z);
    let d = sqrt(s_dots.x + t_dots.z);
    let ac = s_dots.y + t_dots.y;
    let first = (a * b + s_dots.y + t_dots.x) * c + (s_dots.z + t_dots.y) * a + ac * b;
    let second = (a * c + ac) * d + (s_dots.y + t_dots.z) * a + (s_dots.x + t_dots.y) * c;
    let volume = 4.0 * n;
    let x = volume * (first + second) / (first * second - volume * volume);
    let xx = x * x;
    // The arc is at most 0.27. The exception is a face of one texel, which is a sixth of the sphere.
    let arc =
        x * (1.0 + xx * (-1.0 / 3.0 + xx * (1.0 / 5.0 + xx * (-1.0 / 7.0 + xx * (1.0 / 9.0 - xx / 11.0)))));
    return select(2.0 * arc, 2.0943951, n == 1.0);
}

// Returns the sums over a thread's texels in the rows of its workgroup: every THREADS-th column and its mirror images.
fn thread_moments(workgroup: vec3u, workgroups: vec3u, thread: u32) -> Moments {
    let size = cube_face();
    let half = (size + 1u) / 2u;
    let n = f32(size);
    let plane = n * n;
    let rows = (half + workgroups.x - 1u) / workgroups.x;
    let first = workgroup.x * rows;
    let end = min(first + rows, half);
    // To the right and down, the faces ±X have z and y, ±Y have x and z, and ±Z have x and y. Some of these axes are
    // reversed.
    let axis = workgroup.y;
    let s_reversed = vec2<bool>(axis == 0u, axis == 2u);
    let t_reversed = vec2<bool>(axis != 1u, true);

    var sums = Moments();
    // Rows start at the centre row. In faces of odd size, the centre row is its own mirror image and counts half.
    for (var row = first; row < end; row++) {
        let low = size - half + row;
        let t_texels = vec2u(low, size - 1u - low);
        let t_low = f32(2u * low) - n;
        let row_share = select(1.0, 0.5, 2u * low + 1u == size);
        let t_center = t_low + 1.0;
        let row_plane = plane + t_center * t_center;

        // Sums along the row, by rising powers of s. Names give the parities (even, odd) of the powers of m, s and t.
        var eee = array<vec3f, 3>();
        var ooe = array<vec3f, 2>();
        var oeo = array<vec3f, 2>();
        var eoo = array<vec3f, 2>();
        var oee = array<vec3f, 2>();
        var eoe = array<vec3f, 2>();
        var eeo = array<vec3f, 2>();
        var ooo = vec3f();
        var solid_angle = 0.0;
        for (var column = thread; column < half; column += THREADS) {
            let right = size - half + column;
            let s_texels = vec2u(right, size - 1u - right);
            let s_low = f32(2u * right) - n;
            let share = select(row_share, 0.5 * row_share, 2u * right + 1u == size);
            let omega = share * texel_solid_angle(n, vec2f(s_low, s_low + 2.0), vec2f(t_low, t_low + 2.0));
            solid_angle += omega;
            let s_center = s_low + 1.0;
            let near = plane / (row_plane + s_center * s_center);
            let s = s_center / n;
            let ss = s * s;
            var even_weight = omega * near;
            var odd_weight = omega * sqrt(near);
            if ORDER == 5u {
                even_weight *= near;
                odd_weight *= near;
            }
            let plus = parities(Mirror(
                select(s_texels, s_texels.yx, s_reversed.x),
                select(t_texels, t_texels.yx, t_reversed.x),
            ), 2u * axis);
            let minus = parities(Mirror(
                select(s_texels, s_texels.yx, s_reversed.y),
                select(t_texels, t_texels.yx, t_reversed.y),
            ), 2u * axis + 1u);
            let of_eee = even_weight * (plus.even + minus.even);
            let of_ooe = even_weight * s * (plus.odd_s - minus.odd_s);
            let of_oeo = even_weight * (plus.odd_t - minus.odd_t);
            let of_eoo = even_weight * s * (plus.odd + minus.odd);
            let of_oee = odd_weight * (plus.even - minus.even);
            let of_eoe = odd_weight * s * (plus.odd_s + minus.odd_s);
            let of_eeo = odd_weight * (plus.odd_t + minus.odd_t);
            eee[0] += of_eee;
            eee[1] += ss * of_eee;
            ooe[0] += of_ooe;
            oeo[0] += of_oeo;
            eoo[0] += of_eoo;
            oee[0] += of_oee;
            eoe[0] += of_eoe;
            eeo[0] += of_eeo;
            if ORDER == 5u {
                eee[2] += ss * ss * of_eee;
                ooe[1] += ss * of_ooe;
                oeo[1] += ss * of_oeo;
                eoo[1] += ss * of_eoo;
                oee[1] += ss * of_oee;
                eoe[1] += ss * of_eoe;
                eeo[1] += ss * of_eeo;
                ooo += odd_weight * s * (plus.odd - minus.odd);
            }
        }

        let t = t_center / n;
        let tt = t * t;
        sums.solid_angle += solid_angle;
        sums.even[0] += eee[0];
        sums.even[1] += ooe[0];
        sums.even[2] += t * oeo[0];
        sums.even[3] += eee[1];
        sums.even[4] += t * eoo[0];
        sums.even[5] += tt * eee[0];
        sums.odd[0] += oee[0];
        sums.odd[1] += eoe[0];
        sums.odd[2] += t * eeo[0];
        if ORDER == 5u {
            sums.even[6] += ooe[1];
            sums.even[7] += t * oeo[1];
            sums.even[8] += tt * ooe[0];
            sums.even[9] += t * tt * oeo[0];
            sums.even[10] += eee[2];
            sums.even[11] += t * eoo[1];
            sums.even[12] += tt * eee[1];
            sums.even[13] += t * tt * eoo[0];
            sums.even[14] += tt * tt * eee[0];
            sums.odd[3] += oee[1];
            sums.odd[4] += t * ooo;
            sums.odd[5] += tt * oee[0];
            sums.odd[6] += eoe[1];
            sums.odd[7] += t * eeo[1];
            sums.odd[8] += tt * eoe[0];
            sums.odd[9] += t * tt * eeo[0];
        }
    }
    return sums;
}

// Returns the sum of x^a y^b z^c in `moments`. Even degrees start at index 0, odd ones at ODD.
fn monomial(first: u32, axis: u32, a: u32, b: u32, c: u32) -> vec3f {
    let powers = select(select(vec2u(a, b), vec2u(a, c), axis == 1u), vec2u(c, b), axis == 0u);
    let both = powers.x + powers.y;
    return moments[first + both * (both + 1u) / 2u + powers.y].xyz;
}

// Writes the coefficients of the workgroup from its `moments`.
fn write_partials(workgroup: vec3u, workgroups: vec3u) {
    let axis = workgroup.y;
    let count = workgroups.x * workgroups.y;
    let slot = axis * workgroups.x + workgroup.x;
    let solid_angle = moments[0].w;
    var x = monomial(ODD, axis, 1u, 0u, 0u);
    var y = monomial(ODD, axis, 0u, 1u, 0u);
    var z = monomial(ODD, axis, 0u, 0u, 1u);
    var xx = monomial(0u, axis, 2u, 0u, 0u);
    var yy = monomial(0u, axis, 0u, 2u, 0u);
    var zz = monomial(0u, axis, 0u, 0u, 2u);
    var xy = monomial(0u, axis, 1u, 1u, 0u);
    var yz = monomial(0u, axis, 0u, 1u, 1u);
    var xz = monomial(0u, axis, 1u, 0u, 1u);
    if ORDER == 5u {
        let xxx = monomial(ODD, axis, 3u, 0u, 0u);
        let xxy = monomial(ODD, axis, 2u, 1u, 0u);
        let xxz = monomial(ODD, axis, 2u, 0u, 1u);
        let xyy = monomial(ODD, axis, 1u, 2u, 0u);
        let xyz = monomial(ODD, axis, 1u, 1u, 1u);
        let xzz = monomial(ODD, axis, 1u, 0u, 2u);
        let yyy = monomial(ODD, axis, 0u, 3u, 0u);
        let yyz = monomial(ODD, axis, 0u, 2u, 1u);
        let yzz = monomial(ODD, axis, 0u, 1u, 2u);
        let zzz = monomial(ODD, axis, 0u, 0u, 3u);
        let xxxx = monomial(0u, axis, 4u, 0u, 0u);
        let xxxy = monomial(0u, axis, 3u, 1u, 0u);
        let xxxz = monomial(0u, axis, 3u, 0u, 1u);
        let xxyy = monomial(0u, axis, 2u, 2u, 0u);
        let xxyz = monomial(0u, axis, 2u, 1u, 1u);
        let xxzz = monomial(0u, axis, 2u, 0u, 2u);
        let xyyy = monomial(0u, axis, 1u, 3u, 0u);
        let xyyz = monomial(0u, axis, 1u, 2u, 1u);
        let xyzz = monomial(0u, axis, 1u, 1u, 2u);
        let xzzz = monomial(0u, axis, 1u, 0u, 3u);
        let yyyy = monomial(0u, axis, 0u, 4u, 0u);
        let yyyz = monomial(0u, axis, 0u, 3u, 1u);
        let yyzz = monomial(0u, axis, 0u, 2u, 2u);
        let yzzz = monomial(0u, axis, 0u, 1u, 3u);
        let zzzz = monomial(0u, axis, 0u, 0u, 4u);
        // With r² = 1, monomials two degrees higher add up to these.
        x = xxx + xyy + xzz;
        y = xxy + yyy + yzz;
        z = xxz + yyz + zzz;
        xx = xxxx + xxyy + xxzz;
        yy = xxyy + yyyy + yyzz;
        zz = xxzz + yyzz + zzzz;
        xy = xxxy + xyyy + xyzz;
        yz = xxyz + yyyz + yzzz;
        xz = xxxz + xyyz + xzzz;
        partials[9u * count + slot] = vec4f(SH_3_3 * (3.0 * xxy - yyy), solid_angle);
        partials[10u * count + slot] = vec4f(2.0 * SH_3_2 * xyz, solid_angle);
        partials[11u * count + slot] = vec4f(SH_3_1 * (4.0 * yzz - xxy - yyy), solid_angle);
        partials[12u * count + slot] = vec4f(SH_3_0 * (2.0 * zzz - 3.0 * (xxz + yyz)), solid_angle);
        partials[13u * count + slot] = vec4f(SH_3_1 * (4.0 * xzz - xxx - xyy), solid_angle);
        partials[14u * count + slot] = vec4f(SH_3_2 * (xxz - yyz), solid_angle);
        partials[15u * count + slot] = vec4f(SH_3_3 * (xxx - 3.0 * xyy), solid_angle);
        partials[16u * count + slot] = vec4f(4.0 * SH_4_4 * (xxxy - xyyy), solid_angle);
        partials[17u * count + slot] = vec4f(SH_4_3 * (3.0 * xxyz - yyyz), solid_angle);
        partials[18u * count + slot] = vec4f(2.0 * SH_4_2 * (6.0 * xyzz - xxxy - xyyy), solid_angle);
        partials[19u * count + slot] = vec4f(SH_4_1 * (4.0 * yzzz - 3.0 * (xxyz + yyyz)), solid_angle);
        let even_powers = 8.0 * zzzz + 3.0 * (xxxx + yyyy) + 6.0 * xxyy - 24.0 * (xxzz + yyzz);
        partials[20u * count + slot] = vec4f(SH_4_0 * even_powers, solid_angle);
        partials[21u * count + slot] = vec4f(SH_4_1 * (4.0 * xzzz - 3.0 * (xxxz + xyyz)), solid_angle);
        partials[22u * count + slot] = vec4f(SH_4_2 * (6.0 * (xxzz - yyzz) - xxxx + yyyy), solid_angle);
        partials[23u * count + slot] = vec4f(SH_4_3 * (xxxz - 3.0 * xyyz), solid_angle);
        partials[24u * count + slot] = vec4f(SH_4_4 * (xxxx - 6.0 * xxyy + yyyy), solid_angle);
    }
    partials[slot] = vec4f(SH_0 * (xx + yy + zz), solid_angle);
    partials[count + slot] = vec4f(SH_1 * y, solid_angle);
    partials[2u * count + slot] = vec4f(SH_1 * z, solid_angle);
    partials[3u * count + slot] = vec4f(SH_1 * x, solid_angle);
    partials[4u * count + slot] = vec4f(2.0 * SH_2_2 * xy, solid_angle);
    partials[5u * count + slot] = vec4f(SH_2_1 * yz, solid_angle);
    partials[6u * count + slot] = vec4f(SH_2_0 * (2.0 * zz - xx - yy), solid_angle);
    partials[7u * count + slot] = vec4f(SH_2_1 * xz, solid_angle);
    partials[8u * count + slot] = vec4f(SH_2_2 * (xx - yy), solid_angle);
}
