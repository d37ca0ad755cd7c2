// Walk from cell to cell of a two-level grid (Kalojanov, Billeter and Slusallek 2011). `nodes` has a row per upper
// cell: where its inner cells begin in `links`, and their number along each axis in ten bits each, x lowest. The number
// is 0 if the cell is empty. `links` has the layout of lab/walk_grid.wgsl. Cells of either level count as nodes.
#import "lab/cells.wgsl"

fn lab_walk(ray: Ray, any: bool) -> LabHit {
    let prepared = lab_ray(ray);
    let inverse = lab_inverse(ray.direction);
    var hit = lab_miss(ray);
    var enter = lab_enter(query.lower, query.upper, ray, inverse, ray.t_max);
    var is_inside = enter < EMPTY_BOX_EXTENT;
    var cells = lab_cells(query.lower, query.upper, vec3i(query.cells), ray, enter);
    var inner = cells;
    var is_within = false;
    var inner_enter = enter;
    var first = 0u;
    var leaf = vec2u(0u);
    loop {
        if leaf.x != leaf.y {
            lab_triangles_visited++;
            let is_hit = lab_intersect(links[leaf.x], prepared, &hit);
            leaf.x++;
            if is_hit && any {
                break;
            }
        } else if is_within && inner_enter <= hit.t {
            lab_nodes_visited++;
            let number = first + lab_cell_number(inner);
            leaf = vec2u(links[number], links[number + 1u]);
            let leave = lab_leave(inner, ray, inverse);
            inner_enter = min(leave.x, min(leave.y, leave.z));
            is_within = lab_advance(&inner, leave, inverse);
        } else {
            if !is_inside || enter > hit.t {
                break;
            }
            lab_nodes_visited++;
            let row = nodes[lab_cell_number(cells)];
            first = row.x;
            is_within = row.y != 0u;
            let count = vec3i(vec3u(row.y, row.y >> 10u, row.y >> 20u) & vec3u(1023u));
            let lower = cells.lower + vec3f(cells.cell) * cells.size;
            inner = lab_cells(lower, lower + cells.size, max(count, vec3i(1)), ray, enter);
            inner_enter = enter;
            let leave = lab_leave(cells, ray, inverse);
            enter = min(leave.x, min(leave.y, leave.z));
            is_inside = lab_advance(&cells, leave, inverse);
        }
    }
    return hit;
}
