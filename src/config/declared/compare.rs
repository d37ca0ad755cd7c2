//! Settings of the tab `Compare`.

use super::setting::{Group, InactiveReason, Tab, idle, own};

const SIDES: Group = Group {
    tab: Some(Tab::Compare),
    title: "Side by side",
    help: "Two settings, scenes or pictures at the same time and from the same view",
    settings: &[own("sides", "side B")
        .words("compare wipe flicker difference flip diff ab")
        .keys(&["compare", "compare_mode", "compare_flip"])],
    more: &[],
};

const NO_FILE: InactiveReason = idle("no file to compare with is loaded", |s| !s.has_compared);

const DEVIATION: Group = Group {
    tab: Some(Tab::Compare),
    title: "Deviation",
    help: "Distance of the scene from the surface of another file",
    settings: &[
        own("deviation.file", "file").words("hausdorff distance surface metrology"),
        own("deviation.tolerance", "tolerance").idle(&[NO_FILE]),
        own("deviation", "result"),
    ],
    more: &[],
};

pub(super) const GROUPS: &[Group] = &[SIDES, DEVIATION];
