// Sorted items, and the scratch buffer shared by the kernels that make nodes: group 2, next to the geometry in group 1.
//
// scratch  [node]                  area of a node's box as a float, −1 for an unused slot; stays valid after a build
//          [params.spans_word …]   a Span per mesh and one for the TLAS, written by the host
//          [params.across_word …]  per block, the number of nodes that extend beyond it (bvh/build/hierarchy.wgsl)
//          [params.list_word …]    positions of those nodes, BLOCK words per block
//          [params.level_word …]   boxes of the pyramid (bvh/build/pyramid_levels.wgsl)
//          [params.link_word …]    data of PLOC trees (bvh/build/ploc_links.wgsl)
// They share one buffer, because the weakest devices bind only eight.
#import "bvh/geometry.wgsl"

// True if the keys are too small for the code and the mesh index, so that morton.wgsl writes records of CODE_WORDS
// words. It is a constant, because llvmpipe executes both sides of a branch that is not known at compile time.
override HAS_RECORDS: bool = false;

#array read 2 0 order: u32
#array read 2 1 code_words: u32
@group(2) @binding(2) var<storage, read_write> scratch: array<u32>;

// Sorted item: its code, which is only comparable within a mesh, and its mesh.
struct Sorted {
    code: vec2u,
    mesh: u32,
}

// Range of a mesh in the sorted items of a build, and the offset from these positions to its leaves.
struct Span {
    first: u32,
    count: u32,
    shift: u32,
}

fn sorted_item(k: u32) -> Sorted {
    if HAS_RECORDS {
        let word = CODE_WORDS * order(k);
        return Sorted(vec2u(code_words(word), code_words(word + 1u)), code_words(word + 2u));
    }
    // The key holds the mesh index above the code.
    let key = code_words(k);
    return Sorted(vec2u(key, 0u), key >> (3u * params.axis_bits));
}

fn mesh_span(mesh: u32) -> Span {
    let word = params.spans_word + 3u * mesh;
    return Span(scratch[word], scratch[word + 1u], scratch[word + 2u]);
}

fn node_area_store(node: u32, area: f32) {
    scratch[node] = bitcast<u32>(area);
}
