// A right-handed orthonormal basis whose third axis is a unit vector (Duff et al. 2017, "Building an
// Orthonormal Basis, Revisited").

struct Basis {
    tangent: vec3f,
    bitangent: vec3f,
}

fn basis_about(normal: vec3f) -> Basis {
    let side = select(-1.0, 1.0, normal.z >= 0.0);
    let a = -1.0 / (side + normal.z);
    let b = normal.x * normal.y * a;
    return Basis(
        vec3f(1.0 + side * normal.x * normal.x * a, side * b, -side * normal.x),
        vec3f(b, side + normal.y * normal.y * a, -normal.y),
    );
}
