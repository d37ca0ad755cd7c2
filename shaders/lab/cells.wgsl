// A ray's way through the cells of a grid (Amanatides and Woo 1987). Distances are made from the cell's
// number each time, so that no error adds up.
#import "lab/data.wgsl"

struct LabCells {
    lower: vec3f,
    // Of a cell.
    size: vec3f,
    count: vec3i,
    // Where the ray is.
    cell: vec3i,
}

// The cells within a box, and the one that the ray is in at `t`.
fn lab_cells(lower: vec3f, upper: vec3f, count: vec3i, ray: Ray, t: f32) -> LabCells {
    let size = (upper - lower) / vec3f(count);
    let at = (ray.origin + t * ray.direction - lower) / size;
    let cell = clamp(vec3i(floor(at)), vec3i(0), count - 1);
    return LabCells(lower, size, count, cell);
}

// Where the ray leaves its cell, along each axis.
fn lab_leave(cells: LabCells, ray: Ray, inverse: vec3f) -> vec3f {
    let ahead = vec3f(cells.cell) + select(vec3f(0.0), vec3f(1.0), inverse > vec3f(0.0));
    return (cells.lower + ahead * cells.size - ray.origin) * inverse;
}

// The next cell; false where the ray leaves the grid.
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
