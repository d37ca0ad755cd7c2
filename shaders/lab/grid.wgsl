// grid: builds the triangle lists of a uniform grid, or of a two-level grid (Kalojanov, Billeter and Slusallek 2011),
// by counting and filling.
//
// grid_count        in   triangles; out begins: number of triangles that touch each cell, to be summed
//                        (bvh/build/scan.wgsl)
// grid_fill         in   the sums; cursors: zeros; out links: the triangles of each cell, from its sum on
// grid_inner        in   begins: the sums of the upper level; out firsts: number of inner cells of each cell, to be
//                        summed; cursors: number of inner cells along each axis, in ten bits each, x lowest
// grid_inner_count  in   the upper level's sums and links, and firsts; out begins of the inner cells, to be summed
// grid_inner_fill   in   the inputs of grid_inner_count, and the sums of begins; cursors: zeros; out links
// grid_order        out  links: sorted within each cell, since threads ran in any order. Cells with more than
//                        GRID_ORDERED triangles are not sorted.
// One thread per triangle; per cell in grid_inner and grid_order; per link of the upper level in grid_inner_count and
// grid_inner_fill. A triangle touches the cells that its box touches.
#import "bvh/dispatch.wgsl"

struct LabGrid {
    lower: vec3f,
    // Number of threads with work.
    count: u32,
    upper: vec3f,
    // Number of cells of the upper or only level.
    cells: u32,
    side: vec3u,
}

@group(0) @binding(0) var<uniform> grid: LabGrid;
@group(0) @binding(1) var<storage, read> corners: array<f32>;
@group(0) @binding(2) var<storage, read> upper_begins: array<u32>;
@group(0) @binding(3) var<storage, read> upper_links: array<u32>;
@group(0) @binding(4) var<storage, read_write> firsts: array<u32>;
@group(0) @binding(5) var<storage, read_write> begins: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> cursors: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> links: array<u32>;

struct GridBox {
    lower: vec3f,
    upper: vec3f,
    side: vec3u,
}

// First and last cell along each axis.
struct CellRange {
    first: vec3u,
    last: vec3u,
}

fn grid_corner(triangle: u32, corner: u32) -> vec3f {
    let at = 9u * triangle + 3u * corner;
    return vec3f(corners[at], corners[at + 1u], corners[at + 2u]);
}

fn grid_cell_range(cells: GridBox, triangle: u32) -> CellRange {
    let a = grid_corner(triangle, 0u);
    let b = grid_corner(triangle, 1u);
    let c = grid_corner(triangle, 2u);
    let side = vec3f(cells.side);
    let scale = side / (cells.upper - cells.lower);
    let low = (min(a, min(b, c)) - cells.lower) * scale - GRID_SLACK;
    let high = (max(a, max(b, c)) - cells.lower) * scale + GRID_SLACK;
    return CellRange(
        vec3u(clamp(floor(low), vec3f(0.0), side - 1.0)),
        vec3u(clamp(floor(high), vec3f(0.0), side - 1.0)),
    );
}

fn grid_whole() -> GridBox {
    return GridBox(grid.lower, grid.upper, grid.side);
}

// Returns the inner grid of a cell of the upper level, for its number of triangles.
fn grid_within(number: u32, triangles: u32) -> GridBox {
    let size = (grid.upper - grid.lower) / vec3f(grid.side);
    let at = vec3u(number, number / grid.side.x, number / (grid.side.x * grid.side.y)) % grid.side;
    let lower = grid.lower + vec3f(at) * size;
    let upper = lower + size;
    let given = upper - lower;
    let most = max(given.x, max(given.y, given.z));
    let extent = max(given, vec3f(max(most * 1.0e-3, GRID_MIN)));
    let scale = pow(GRID_LOWER_DENSITY * f32(triangles) / (extent.x * extent.y * extent.z), 1.0 / 3.0);
    return GridBox(lower, upper, vec3u(clamp(round(extent * scale), vec3f(1.0), vec3f(GRID_LOWER_SIDE))));
}

// Counts a triangle in each cell that it touches. With `fills`, stores it there instead.
fn grid_place(cells: GridBox, first: u32, triangle: u32, fills: bool) {
    let touched = grid_cell_range(cells, triangle);
    let span = touched.last - touched.first + 1u;
    let count = span.x * span.y * span.z;
    for (var i = 0u; i < count; i++) {
        let at = touched.first + vec3u(i % span.x, i / span.x % span.y, i / (span.x * span.y));
        let cell = first + at.x + cells.side.x * (at.y + cells.side.y * at.z);
        if fills {
            links[atomicLoad(&begins[cell]) + atomicAdd(&cursors[cell], 1u)] = triangle;
        } else {
            atomicAdd(&begins[cell], 1u);
        }
    }
}

fn grid_thread(workgroup: vec3u, workgroups: vec3u, thread: u32) -> u32 {
    return 64u * dispatch_workgroup(workgroup, workgroups) + thread;
}

@compute @workgroup_size(64)
fn grid_count(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let triangle = grid_thread(workgroup, workgroups, thread);
    if triangle < grid.count {
        grid_place(grid_whole(), 0u, triangle, false);
    }
}

@compute @workgroup_size(64)
fn grid_fill(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let triangle = grid_thread(workgroup, workgroups, thread);
    if triangle < grid.count {
        grid_place(grid_whole(), 0u, triangle, true);
    }
}

@compute @workgroup_size(64)
fn grid_inner(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let cell = grid_thread(workgroup, workgroups, thread);
    if cell >= grid.count {
        return;
    }
    let triangles = upper_begins[cell + 1u] - upper_begins[cell];
    let side = select(vec3u(0u), grid_within(cell, triangles).side, triangles > 0u);
    firsts[cell] = side.x * side.y * side.z;
    atomicStore(&cursors[cell], side.x | (side.y << 10u) | (side.z << 20u));
}

// Counts or stores the triangle of a link of the upper level in the inner cells of its cell.
fn grid_place_within(link: u32, fills: bool) {
    // Finds the last cell that begins at the link or before it. Empty cells begin where the next cell does.
    var low = 0u;
    var high = low + grid.cells;
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if upper_begins[middle] <= link {
            low = middle;
        } else {
            high = middle;
        }
    }
    let cells = grid_within(low, upper_begins[low + 1u] - upper_begins[low]);
    grid_place(cells, firsts[low], upper_links[link], fills);
}

@compute @workgroup_size(64)
fn grid_inner_count(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let link = grid_thread(workgroup, workgroups, thread);
    if link < grid.count {
        grid_place_within(link, false);
    }
}

@compute @workgroup_size(64)
fn grid_inner_fill(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let link = grid_thread(workgroup, workgroups, thread);
    if link < grid.count {
        grid_place_within(link, true);
    }
}

@compute @workgroup_size(64)
fn grid_order(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let cell = grid_thread(workgroup, workgroups, thread);
    if cell >= grid.count {
        return;
    }
    let first = atomicLoad(&begins[cell]);
    let count = atomicLoad(&begins[cell + 1u]) - first;
    if count > GRID_ORDERED {
        return;
    }
    // Heap sort.
    var heap = count / 2u;
    var end = count;
    while end > 1u {
        var moved = 0u;
        if heap > 0u {
            heap--;
            moved = links[first + heap];
        } else {
            end--;
            moved = links[first + end];
            links[first + end] = links[first];
        }
        var at = heap;
        loop {
            var child = 2u * at + 1u;
            if child >= end {
                break;
            }
            if child + 1u < end && links[first + child + 1u] > links[first + child] {
                child++;
            }
            if links[first + child] <= moved {
                break;
            }
            links[first + at] = links[first + child];
            at = child;
        }
        links[first + at] = moved;
    }
}
