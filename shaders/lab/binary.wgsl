// Nodes with two children, four rows each. The first and third row hold the lower corners of the children's boxes, the
// second and fourth the upper corners. The w components of the first two rows hold the children's references.
#import "lab/data.wgsl"
#import "lab/reference.wgsl"

struct LabChildren {
    // References, the nearer child first.
    references: vec2u,
    // Entry distances; EMPTY_BOX_EXTENT for a miss.
    enter: vec2f,
}

fn lab_children(node: u32, ray: Ray, inverse: vec3f, t_max: f32) -> LabChildren {
    let lower0 = nodes[4u * node];
    let upper0 = nodes[4u * node + 1u];
    let lower1 = nodes[4u * node + 2u];
    let upper1 = nodes[4u * node + 3u];
    let enter0 = lab_enter(bitcast<vec3f>(lower0.xyz), bitcast<vec3f>(upper0.xyz), ray, inverse, t_max);
    let enter1 = lab_enter(bitcast<vec3f>(lower1.xyz), bitcast<vec3f>(upper1.xyz), ray, inverse, t_max);
    let references = vec2u(lower0.w, upper0.w);
    if enter1 < enter0 {
        return LabChildren(references.yx, vec2f(enter1, enter0));
    }
    return LabChildren(references, vec2f(enter0, enter1));
}
