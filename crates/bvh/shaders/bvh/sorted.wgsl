// What was sorted, and the words that the kernels which make nodes share: group 2, beside the geometry's.
//
// scratch  [node]                 the area of a node's box as a float, −1 where no node lies: it stays after a build
//          [params.spans_word …]  a Span per mesh and for the TLAS, which the host writes
//          [params.across_word …] a word per block: how many nodes reach beyond it (hierarchy.wgsl)
//          [params.list_word …]   their positions, in BLOCK words a block
//          [params.level_word …]  the pyramid's boxes (bvh/build/pyramid_levels.wgsl)
//          [params.link_word …]   those of trees of high quality (bvh/build/ploc_links.wgsl)
// One buffer, because the weakest devices bind eight.
#import "bvh/geometry.wgsl"

// Whether keys do not hold the whole code and mesh, so that morton.wgsl leaves records of CODE_WORDS words. A constant,
// because software adapters run both sides of a branch that they cannot foresee.
override HAS_RECORDS: bool = false;

#array read 2 0 order: u32
#array read 2 1 code_words: u32
@group(2) @binding(2) var<storage, read_write> scratch: array<u32>;

// A sorted item: its code, to be compared within a mesh, and its mesh.
struct Sorted {
    code: vec2u,
    mesh: u32,
}

// A mesh's positions among the items of a build, and how far its leaves lie behind them.
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
    // Keys hold the mesh above the code.
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
