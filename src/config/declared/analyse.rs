//! Settings of the tab `Analyse`.

use super::setting::{
    Group, InactiveReason, Tab, choice, digits, idle, list, named, number, own, same, slider, switch, whole,
};
use crate::config::{BoxDepths, LabWalk, Rebuild};

const VIEW: Group = Group {
    tab: Some(Tab::Analyse),
    title: "Channel",
    help: "Channel of the picture, measuring, and hidden meshes",
    settings: &[
        own("channel", "channel")
            .words("normals depth albedo uv ids roughness heat map debug aov")
            .keys(&["next_channel", "previous_channel"]),
        own("measure", "measure")
            .words("distance ruler")
            .keys(&["measure"]),
        own("hidden", "hidden")
            .words("isolate show all")
            .keys(&["show_all"]),
    ],
    more: &[],
};

const TIMINGS: Group = Group {
    tab: Some(Tab::Analyse),
    title: "Timings",
    help: "GPU and CPU time of every pass",
    settings: &[own("timings", "timings")
        .words("profile ms performance passes")
        .keys(&["profiler"])],
    more: &[],
};

const NO_REFIT: InactiveReason = idle("tree.rebuild is not refit", |s| {
    s.config.tree.rebuild != Rebuild::Refit
});

const TREES: Group = Group {
    tab: Some(Tab::Analyse),
    title: "BVH",
    help: "BVH build and statistics",
    settings: &[
        choice(
            "tree.quality",
            "quality",
            &[same("auto"), same("fast"), same("high")],
        )
        .words("bvh lbvh ploc"),
        choice(
            "tree.rebuild",
            "rebuild",
            &[same("frame"), same("changed"), same("refit")],
        )
        .words("bvh rebuild update"),
    ],
    more: &[
        slider("tree.refit_growth", "refit growth", [1.0, 4.0], digits(2, "×")).idle(&[NO_REFIT]),
        list(
            "tree.code_bits",
            "Morton bits",
            &[named("0", "automatic"), same("30"), same("63")],
        )
        .words("bvh codes"),
        own("tree figures", "statistics").words("bvh sah nodes leaves depth"),
    ],
};

const NO_BOXES: InactiveReason = idle("no boxes are shown", |s| {
    s.config.tree_boxes.show == BoxDepths::Off
});

const BOXES: Group = Group {
    tab: Some(Tab::Analyse),
    title: "BVH boxes",
    help: "BVH node boxes over the picture",
    settings: &[own("tree_boxes.show", "boxes")
        .words("bvh aabb bounding volumes depth")
        .keys(&["tree_boxes", "next_tree_boxes"])],
    more: &[
        own("tree_boxes.of", "BVH")
            .words("bvh tlas mesh")
            .idle(&[NO_BOXES]),
        slider("tree_boxes.hidden", "hidden lines", [0.0, 1.0], digits(2, "")).idle(&[NO_BOXES]),
        slider("tree_boxes.width", "line width", [0.5, 4.0], digits(2, " px")).idle(&[NO_BOXES]),
        own("boxes drawn", "drawn"),
    ],
};

const NO_COST: InactiveReason = idle("the channel cost is not shown", |s| !s.shows_cost);

const RAYS: Group = Group {
    tab: Some(Tab::Analyse),
    title: "Ray cost",
    help: "Nodes and triangles that rays visit: a heat map, or one ray step by step",
    settings: &[
        own("heat map", "heat map").words("cost traversal nodes triangles"),
        own("ray path", "one ray")
            .words("trace steps debug")
            .keys(&["trace_ray"]),
    ],
    more: &[
        choice(
            "cost.count",
            "count",
            &[same("both"), same("nodes"), same("triangles")],
        )
        .words("heat map")
        .idle(&[NO_COST]),
        number("cost.range", "range", whole("").or_auto(256.0).speed(4.0))
            .words("heat map")
            .idle(&[NO_COST]),
    ],
};

const NO_LINES: InactiveReason = idle("no lines are shown", |s| !s.config.overlay.shows_any());
const NO_NORMALS: InactiveReason = idle("no normals or tangents are shown", |s| {
    let overlay = &s.config.overlay;
    !(overlay.normals || overlay.tangents || overlay.face_normals)
});

const OVERLAYS: Group = Group {
    tab: Some(Tab::Analyse),
    title: "Mesh overlays",
    help: "Wireframe, vertices, normals and tangents of meshes over the picture",
    settings: &[
        switch("overlay.wireframe", "wireframe", "edges")
            .words("wire lines topology")
            .keys(&["wireframe"]),
        switch("overlay.normals", "normals", "per vertex")
            .words("vertex normals")
            .keys(&["normals"]),
    ],
    more: &[
        switch("overlay.face_normals", "face normals", "per triangle"),
        switch("overlay.vertices", "vertices", "dots").words("points"),
        switch("overlay.tangents", "tangents", "and bitangents").words("tbn"),
        own("overlay.mesh", "mesh").idle(&[NO_LINES]),
        slider("overlay.length", "length", [0.0, 0.1], digits(3, "")).idle(&[NO_NORMALS]),
        slider("overlay.hidden", "hidden lines", [0.0, 1.0], digits(2, "")).idle(&[NO_LINES]),
        slider("overlay.width", "line width", [0.5, 4.0], digits(2, " px")).idle(&[NO_LINES]),
        own("lines drawn", "drawn"),
    ],
};

const INTERSECTIONS: Group = Group {
    tab: Some(Tab::Analyse),
    title: "Intersections",
    help: "Triangles that intersect triangles of other meshes",
    settings: &[own("intersections", "intersections")
        .words("clipping collisions overlap")
        .keys(&["intersections"])],
    more: &[],
};

const NO_LAB: InactiveReason = idle("the channel lab is not shown", |s| !s.shows_lab);
const NO_COUNTS: InactiveReason = idle("lab.show does not show counts", |s| {
    s.config.lab.show.weights().is_none()
});
const NO_LEAVES: InactiveReason = idle("the structure is not a BVH", |s| {
    !s.config.lab.structure.has(LabWalk::Private)
});

const LAB: Group = Group {
    tab: Some(Tab::Analyse),
    title: "Laboratory",
    help: "Rays through other acceleration structures, traversals and triangle tests",
    settings: &[own("laboratory", "laboratory").words("structures grid kd-tree traversal")],
    more: &[
        choice("lab.rays", "rays", &[same("primary"), same("shadow")]).idle(&[NO_LAB]),
        list(
            "lab.structure",
            "structure",
            &[
                same("radix"),
                same("ploc"),
                same("sah"),
                same("grid"),
                same("two-level-grid"),
                same("kd-tree"),
            ],
        )
        .words("bvh")
        .idle(&[NO_LAB]),
        list(
            "lab.walk",
            "traversal",
            &[
                same("private-stack"),
                same("workgroup-stack"),
                same("short-stack"),
                same("parent-links"),
                same("skip-links"),
                same("four-wide"),
                same("cells"),
                same("cells-of-cells"),
                same("kd-short-stack"),
            ],
        )
        .words("traversal stackless")
        .idle(&[NO_LAB]),
        list(
            "lab.test",
            "test",
            &[
                same("areas"),
                same("moller-trumbore"),
                same("baldwin-weber"),
                same("unit-triangle"),
                same("plucker"),
                same("watertight"),
            ],
        )
        .words("triangle intersection")
        .idle(&[NO_LAB]),
        choice(
            "lab.threads",
            "scheduling",
            &[same("per-ray"), same("persistent")],
        )
        .idle(&[NO_LAB]),
        number("lab.leaf", "leaf size", whole("").speed(0.05)).idle(&[NO_LAB, NO_LEAVES]),
        list(
            "lab.show",
            "show",
            &[
                same("picture"),
                same("nodes"),
                same("triangles"),
                named("both", "nodes + triangles"),
                named("divergence", "lockstep divergence"),
                same("difference"),
            ],
        )
        .idle(&[NO_LAB]),
        number("lab.range", "range", whole("").or_auto(256.0).speed(4.0)).idle(&[NO_LAB, NO_COUNTS]),
        own("lab figures", "statistics"),
    ],
};

pub(super) const GROUPS: &[Group] = &[VIEW, TIMINGS, TREES, RAYS, BOXES, OVERLAYS, INTERSECTIONS, LAB];
