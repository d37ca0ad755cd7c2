//! The words of the laboratory of ray tracing, in `[lab]`, on the command line and in reports.

use canopy_scene::{choice, section, settings::ZeroOr};
use std::ops::RangeInclusive;

choice! {
    /// A test of a ray against a triangle: `shaders/lab/test_….wgsl`, whose headers name the sources.
    LabTest {
        /// Plane, then three areas.
        Areas = "areas",
        /// Möller and Trumbore 1997.
        MollerTrumbore = "moller-trumbore",
        /// Baldwin and Weber 2016.
        BaldwinWeber = "baldwin-weber",
        /// The unit-triangle transform (Woop 2004).
        UnitTriangle = "unit-triangle",
        /// Edge functions by Plücker coordinates.
        Plucker = "plucker",
        /// Woop, Benthin and Wald 2013.
        Watertight = "watertight",
    }
}

choice! {
    /// A walk through a structure: `shaders/lab/walk_….wgsl`, whose headers name the sources.
    LabWalk {
        /// A stack in private memory.
        Private = "private-stack",
        /// A stack in workgroup memory.
        Workgroup = "workgroup-stack",
        /// A short stack in registers, and a trail to start again by.
        Restart = "short-stack",
        /// Links to parents and a trail of bits; no stack.
        Parents = "parent-links",
        /// Skip links, from left to right; no stack.
        Skip = "skip-links",
        /// Nodes of four children.
        Wide = "four-wide",
        /// The cells of a uniform grid.
        Grid = "cells",
        /// The cells of a grid of grids.
        TwoLevel = "cells-of-cells",
        /// A kd-tree with a short stack.
        KdTree = "kd-short-stack",
    }
}

choice! {
    /// What is built over the triangles.
    LabStructure {
        /// canopy's radix tree over Morton codes, built on the GPU.
        Radix = "radix",
        /// canopy's clustered tree, built on the GPU.
        Ploc = "ploc",
        /// A tree by the surface area heuristic with bins.
        Sah = "sah",
        /// A uniform grid.
        Grid = "grid",
        /// A grid of grids.
        TwoLevel = "two-level-grid",
        /// A kd-tree by the surface area heuristic.
        KdTree = "kd-tree",
    }
}

choice! {
    /// Who takes which ray.
    LabThreads {
        /// A thread a ray.
        PerRay = "per-ray",
        /// Persistent threads take rays from a counter (Aila and Laine 2009).
        Persistent = "persistent",
    }
}

choice! {
    /// The rays of the channel `lab`.
    LabRays {
        /// From the eye through the middles of pixels, to the closest hit.
        Primary = "primary",
        /// From what the eye sees to the first light that reaches it, to any hit.
        Shadow = "shadow",
    }
}

choice! {
    /// What the channel `lab` shows.
    LabShow {
        /// What the rays hit.
        Picture = "picture",
        /// Nodes, or cells, that rays visit.
        Nodes = "nodes",
        /// Triangles that rays are tested against.
        Triangles = "triangles",
        /// Nodes and triangles together.
        Both = "both",
        /// How much threads of 32 neighbours wait for the slowest.
        Divergence = "divergence",
        /// Hits that are not those of canopy's own trees.
        Difference = "difference",
    }
}

impl LabShow {
    /// What nodes and triangles count where their colours are shown.
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
    /// `[lab]`: the channel `lab`.
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
