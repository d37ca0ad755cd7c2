//! Settings of the laboratory of ray tracing, in `[lab]`, on the command line and in reports.

use canopy_scene::{choice, section, settings::ZeroOr};
use std::ops::RangeInclusive;

choice! {
    /// Ray-triangle test. The headers of `shaders/lab/test_….wgsl` cite the papers.
    LabTest {
        /// Plane intersection, then three areas.
        Areas = "areas",
        /// Möller and Trumbore 1997.
        MollerTrumbore = "moller-trumbore",
        /// Baldwin and Weber 2016.
        BaldwinWeber = "baldwin-weber",
        /// Unit-triangle transform (Woop 2004).
        UnitTriangle = "unit-triangle",
        /// Edge functions in Plücker coordinates.
        Plucker = "plucker",
        /// Woop, Benthin and Wald 2013.
        Watertight = "watertight",
    }
}

choice! {
    /// Traversal of a structure. The headers of `shaders/lab/walk_….wgsl` cite the papers.
    LabWalk {
        /// Stack in private memory.
        Private = "private-stack",
        /// Stack in workgroup memory.
        Workgroup = "workgroup-stack",
        /// Short stack in registers, with a restart trail.
        Restart = "short-stack",
        /// Parent links and a bit trail, without a stack.
        Parents = "parent-links",
        /// Skip links from left to right, without a stack.
        Skip = "skip-links",
        /// Four-wide nodes.
        Wide = "four-wide",
        /// Cells of a uniform grid.
        Grid = "cells",
        /// Cells of a two-level grid.
        TwoLevel = "cells-of-cells",
        /// Kd-tree with a short stack.
        KdTree = "kd-short-stack",
    }
}

choice! {
    /// Acceleration structure over the triangles.
    LabStructure {
        /// Radix tree over Morton codes, canopy's own, built on the GPU.
        Radix = "radix",
        /// PLOC tree, canopy's own, built on the GPU.
        Ploc = "ploc",
        /// Binned SAH tree.
        Sah = "sah",
        /// Uniform grid.
        Grid = "grid",
        /// Two-level grid.
        TwoLevel = "two-level-grid",
        /// SAH kd-tree.
        KdTree = "kd-tree",
    }
}

choice! {
    /// Assignment of rays to threads.
    LabThreads {
        /// One thread per ray.
        PerRay = "per-ray",
        /// Persistent threads take rays from a counter (Aila and Laine 2009).
        Persistent = "persistent",
    }
}

choice! {
    /// Rays of the channel `lab`.
    LabRays {
        /// Closest-hit rays from the eye through pixel centres.
        Primary = "primary",
        /// Any-hit rays from visible points to the first light that illuminates them.
        Shadow = "shadow",
    }
}

choice! {
    /// Image of the channel `lab`.
    LabShow {
        /// Shaded hits.
        Picture = "picture",
        /// Nodes or cells that rays visit.
        Nodes = "nodes",
        /// Triangles that rays are tested against.
        Triangles = "triangles",
        /// Sum of nodes and triangles.
        Both = "both",
        /// Fraction of steps in which a thread idles until the slowest of 32 neighbours is done.
        Divergence = "divergence",
        /// Number of hits that differ from the hits in canopy's own BVHs.
        Difference = "difference",
    }
}

impl LabShow {
    /// Returns the weights of nodes and triangles in the heat map, or `None` for an image that shows no
    /// counts.
    pub fn weights(self) -> Option<[f32; 2]> {
        match self {
            Self::Nodes => Some([1.0, 0.0]),
            Self::Triangles => Some([0.0, 1.0]),
            Self::Both => Some([1.0, 1.0]),
            Self::Picture | Self::Divergence | Self::Difference => None,
        }
    }
}

section! {
    /// Section `[lab]`, for the channel `lab`.
    Lab {
        rays: LabRays,
        test: LabTest,
        walk: LabWalk,
        structure: LabStructure,
        threads: LabThreads,
        leaf: u32 => LEAF: RangeInclusive<u32> = 1..=8,
        show: LabShow,
        range: f32 => RANGE: ZeroOr<f32> = ZeroOr(1.0..=1e6),
    }
}
