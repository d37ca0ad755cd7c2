// Walk from cell to cell of a uniform grid. For each cell and one more, `links` holds where its triangles begin in
// `links`; the triangle numbers follow. Cells count as nodes. A triangle in several cells is tested in each.
#import "lab/cells.wgsl"

fn lab_walk(ray: Ray, any: bool) -> LabHit {
    let prepared = lab_ray(ray);
    let inverse = lab_inverse(ray.direction);
    var hit = lab_miss(ray);
    var enter = lab_enter(query.lower, query.upper, ray, inverse, ray.t_max);
    var is_inside = enter < EMPTY_BOX_EXTENT;
    var cells = lab_cells(query.lower, query.upper, vec3i(query.cells), ray, enter);
    var leaf = vec2u(0u);
    loop {
        if leaf.x != leaf.y {
            lab_triangles_visited++;
            let is_hit = lab_intersect(links[leaf.x], prepared, &hit);
            leaf.x++;
            if is_hit && any {
                break;
            }
        } else {
            if !is_inside || enter > hit.t {
                break;
            }
            lab_nodes_visited++;
            let number = lab_cell_number(cells);
            leaf = vec2u(links[number], links[number + 1u]);
            let leave = lab_leave(cells, ray, inverse);
            enter = min(leave.x, min(leave.y, leave.z));
            is_inside = lab_advance(&cells, leave, inverse);
        }
    }
    return hit;
}
