// Readers of the boxes that bvh/build/bounds.wgsl writes. The includer declares `mesh_bounds: array<u32>`.

fn mesh_bounds_at(word: u32) -> Box {
    return bounds_box(
        vec3u(mesh_bounds[word], mesh_bounds[word + 1u], mesh_bounds[word + 2u]),
        vec3u(mesh_bounds[word + 3u], mesh_bounds[word + 4u], mesh_bounds[word + 5u]),
    );
}

// Returns the bounds of the centres of a mesh's triangle boxes. For index `mesh_count`, returns the scene's box.
fn mesh_bounds_centroids(mesh: u32) -> Box {
    return mesh_bounds_at(BOUNDS_WORDS * mesh);
}

// Returns the box of a mesh.
fn mesh_bounds_box(mesh: u32) -> Box {
    return mesh_bounds_at(BOUNDS_WORDS * mesh + BOUNDS_BOX);
}
