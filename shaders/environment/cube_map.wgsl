// Cube maps as textures of six layers. `Cube` in crates/render/src/environment/cube.rs defines the order and the axes
// of the faces.

// Returns the direction through a point of a face, with coordinates from −1 to 1 to the right and down. Its largest
// component is ±1.
fn cube_map_direction(face: u32, coords: vec2f) -> vec3f {
    let sign = select(1.0, -1.0, (face & 1u) == 1u);
    let x = vec3f(sign, -coords.y, -sign * coords.x);
    let y = vec3f(coords.x, sign, sign * coords.y);
    let z = vec3f(sign * coords.x, -coords.y, sign);
    return select(select(z, y, face < 4u), x, face < 2u);
}

// Cube face that a direction passes through, and the coordinates on it.
struct CubeMapPlace {
    face: u32,
    coords: vec2f,
}

fn cube_map_place(direction: vec3f) -> CubeMapPlace {
    let a = abs(direction);
    let by_x = a.x >= a.y && a.x >= a.z;
    let by_y = !by_x && a.y >= a.z;
    let along = select(select(direction.z, direction.y, by_y), direction.x, by_x);
    let e = direction / max(abs(along), 1.0e-20);
    let sign = select(-1.0, 1.0, along >= 0.0);
    let coords = select(
        select(vec2f(sign * e.x, -e.y), vec2f(e.x, sign * e.z), by_y),
        vec2f(-sign * e.z, -e.y),
        by_x,
    );
    return CubeMapPlace(select(select(4u, 2u, by_y), 0u, by_x) + select(1u, 0u, along >= 0.0), coords);
}

// Returns the length of the direction through a point of a face.
fn cube_map_length(x: f32, y: f32) -> f32 {
    return sqrt(1.0 + x * x + y * y);
}

// Returns tan(Ω / 2) of a right-angled triangle on a face (van Oosterom and Strackee 1983), in a form without
// cancellation. `area` is twice the area of the triangle; `a` and `c` are the ends of the hypotenuse.
fn cube_map_triangle(area: f32, a: vec2f, b: vec2f, c: vec2f) -> f32 {
    let la = cube_map_length(a.x, a.y);
    let lb = cube_map_length(b.x, b.y);
    let lc = cube_map_length(c.x, c.y);
    return area / (la * lb * lc + (1.0 + dot(a, b)) * lc + (1.0 + dot(a, c)) * lb + (1.0 + dot(b, c)) * la);
}

// Returns the solid angle of a rectangle of at most a quarter of a face, accurate to a few ulp.
fn cube_map_solid_angle(low: vec2f, high: vec2f) -> f32 {
    let size = high - low;
    let area = size.x * size.y;
    let t = cube_map_triangle(area, low, vec2f(high.x, low.y), high);
    let u = cube_map_triangle(area, low, vec2f(low.x, high.y), high);
    // Adds the angles by the sum of tangents. The series replaces WGSL's atan, whose error may be 4096 ulp.
    let tangent = (t + u) / (1.0 - t * u);
    let square = tangent * tangent;
    let tail = 1.0 / 7.0 - square * (1.0 / 9.0 - square * (1.0 / 11.0 - square / 13.0));
    return 2.0 * tangent * (1.0 - square * (1.0 / 3.0 - square * (1.0 / 5.0 - square * tail)));
}
