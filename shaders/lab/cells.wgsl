// Traversal of the cells of a grid by a ray (Amanatides and Woo 1987). Distances are computed from the cell's index
// each time, so that no error accumulates.
#import "lab/data.wgsl"

struct LabCells {
    lower: vec3f,
    // Size of a cell.
    size: vec3f,
    count: vec3i,
    // Current cell of the ray.
    cell: vec3i,
}

// Returns the grid of cells in a box, and the ray's cell at distance `t`.
fn lab_cells(lower: vec3f, upper: vec3f, count: vec3i, ray: Ray, t: f32) -> LabCells {
    let size = (upper - lower) / vec3f(count);
    let at = (ray.origin + t * ray.direction - lower) / size;
    let cell = clamp(vec3i(floor(at)), vec3i(0), count - 1);
    return LabCells(lower, size, count, cell);
}

// Returns the distances at which the ray leaves its cell, along each axis.
fn lab_leave(cells: LabCells, ray: Ray, inverse: vec3f) -> vec3f {
    let ahead = vec3f(cells.cell) + select(vec3f(0.0), vec3f(1.0), inverse > vec3f(0.0));
    return (cells.lower + ahead * cells.size - ray.origin) * inverse;
}

// Advances to the next cell. Returns false if the ray leaves the grid.
fn lab_advance(cells: ptr<function, LabCells>, leave: vec3f, inverse: vec3f) -> bool {
    let first = min(leave.x, min(leave.y, leave.z));
    let step = select(vec3i(-1), vec3i(1), inverse > vec3f(0.0));
    if leave.x == first {
        (*cells).cell.x += step.x;
    } else if leave.y == first {
        (*cells).cell.y += step.y;
    } else {
        (*cells).cell.z += step.z;
    }
    return all((*cells).cell >= vec3i(0)) && all((*cells).cell < (*cells).count);
}

fn lab_cell_number(cells: LabCells) -> u32 {
    return u32(cells.cell.x + cells.count.x * (cells.cell.y + cells.count.y * cells.cell.z));
}
