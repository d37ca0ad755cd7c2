//! Draw lists of an uploaded scene: runs of triangles, lines and points, sorted by how they are drawn.

use canopy_bvh::accel::layout::ANY_HIT_TEST;
use canopy_scene::{AlphaMode, Scene};
use std::{collections::HashSet, ops::Range};

/// Run of consecutive triangles of one material in the merged buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Index of the material.
    pub material: usize,
    /// First triangle.
    pub first_triangle: u32,
    /// Number of triangles.
    pub triangle_count: u32,
}

impl Run {
    /// Returns the range of vertices to draw.
    pub fn corners(self) -> Range<u32> {
        3 * self.first_triangle..3 * (self.first_triangle + self.triangle_count)
    }
}

/// Run of consecutive lines or points of one part. They come after the triangles of the merged buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentRun {
    /// Index of the material.
    pub material: usize,
    /// True for points, false for lines.
    pub is_points: bool,
    /// Index of the first line or point among all lines and points of the scene.
    pub first: u32,
    /// Number of lines or points.
    pub count: u32,
    /// Index of the part in [`Bounds::parts`](canopy_scene::bounds::Bounds::parts).
    pub part: usize,
    /// Mesh instance that it belongs to.
    pub mesh: u32,
}

impl SegmentRun {
    /// Returns the range of vertices to draw. `line_vertex` takes two vertices per line, `point_vertex` one
    /// per point.
    pub fn corners(self) -> Range<u32> {
        let vertices = if self.is_points { 1 } else { 2 };
        vertices * self.first..vertices * (self.first + self.count)
    }
}

/// Mesh and material of everything that is drawn, and the runs of triangles, lines and points of each part.
#[derive(Debug, Default)]
pub(crate) struct Surfaces {
    /// Mesh and material of each triangle, then of each line and point.
    pub(crate) info: Vec<[u32; 2]>,
    /// Run of each part, which is empty for a part without triangles.
    pub(crate) runs: Vec<Run>,
    /// Runs of lines and points, up to two per part.
    pub(crate) segments: Vec<SegmentRun>,
}

/// Runs that each pass draws.
#[derive(Debug)]
pub struct DrawLists {
    /// Opaque and masked runs, for the G-buffer.
    solid: Vec<Run>,
    /// Transmissive runs without alpha blending. They belong in the G-buffer if rays find the surfaces behind
    /// them.
    glass: Vec<Run>,
    /// Solid runs of each part, with its index in [`Bounds::parts`](canopy_scene::bounds::Bounds::parts).
    solid_by_part: Vec<(Run, usize)>,
    glass_by_part: Vec<(Run, usize)>,
    /// Runs of blended and transmissive parts, with the part's index in
    /// [`Bounds::parts`](canopy_scene::bounds::Bounds::parts).
    blended: Vec<(Run, usize)>,
    /// Indices of the parts in `blended` without alpha blending.
    glass_parts: HashSet<usize>,
    /// Runs that cast shadows regardless of alpha, each with the material of its first triangle.
    pub opaque_casters: Vec<Run>,
    /// Masked runs.
    pub masked_casters: Vec<Run>,
    /// Blended runs that are not clear. They cast shadows if `shadows.blended_cast` is set.
    pub blended_casters: Vec<Run>,
    /// Opaque and masked lines and points, for the G-buffer.
    pub segments: Vec<SegmentRun>,
    /// Blended lines and points.
    pub blended_segments: Vec<SegmentRun>,
}

impl Surfaces {
    /// Collects the runs of all instances of `scene`.
    pub(crate) fn new(scene: &Scene) -> Self {
        let (mut info, mut runs) = (Vec::new(), Vec::new());
        let parts = || {
            let instances = scene.instances().enumerate();
            instances.flat_map(|(instance, (_, mesh))| {
                let primitives = &scene.meshes[mesh].primitives;
                primitives.iter().map(move |p| (instance as u32, p))
            })
        };
        for (instance, primitive) in parts() {
            let material = &scene.materials[primitive.material];
            let solid = material.alpha_mode == AlphaMode::Opaque && !material.is_blended();
            let test = if solid { 0 } else { ANY_HIT_TEST };
            runs.push(Run {
                material: primitive.material,
                first_triangle: info.len() as u32,
                triangle_count: primitive.indices.len() as u32,
            });
            let of_triangle = [instance | test, primitive.material as u32];
            info.extend(std::iter::repeat_n(of_triangle, primitive.indices.len()));
        }
        let (triangle_count, mut segments) = (info.len(), Vec::new());
        for (part, (instance, primitive)) in parts().enumerate() {
            for (is_points, count) in [(false, primitive.lines.len()), (true, primitive.points.len())] {
                if count > 0 {
                    segments.push(SegmentRun {
                        material: primitive.material,
                        is_points,
                        first: (info.len() - triangle_count) as u32,
                        count: count as u32,
                        part,
                        mesh: instance,
                    });
                    let of_segment = [instance, primitive.material as u32];
                    info.extend(std::iter::repeat_n(of_segment, count));
                }
            }
        }
        Self { info, runs, segments }
    }
}

impl DrawLists {
    /// Sorts the runs of all parts into draw lists.
    pub(crate) fn new(scene: &Scene, surfaces: &Surfaces) -> Self {
        let material = |run: &Run| &scene.materials[run.material];
        let by_part = |(part, run)| (run, part);
        let parts = || surfaces.runs.iter().copied().enumerate();
        let parts = || parts().filter(|(_, run)| run.triangle_count > 0);
        let runs = || parts().map(|(_, run)| run);
        let solid = |run: &Run| !material(run).is_blended();
        let of_mode = |mode| runs().filter(move |run| solid(run) && material(run).alpha_mode == mode);
        let blended = parts().filter(|(_, run)| !solid(run));
        // Points and lines transmit no light.
        let is_blended = |run: &&SegmentRun| scene.materials[run.material].alpha_mode == AlphaMode::Blend;
        let (blended_segments, segments) = surfaces.segments.iter().partition(is_blended);
        let is_glass = |run: &Run| !solid(run) && material(run).alpha_mode != AlphaMode::Blend;
        let casts = |run: &Run| !solid(run) && !material(run).is_clear();
        Self {
            solid: joined(runs().filter(solid), same),
            glass: joined(runs().filter(is_glass), same),
            solid_by_part: parts().filter(|(_, run)| solid(run)).map(by_part).collect(),
            glass_by_part: parts().filter(|(_, run)| is_glass(run)).map(by_part).collect(),
            glass_parts: parts()
                .filter(|(_, run)| is_glass(run))
                .map(|(part, _)| part)
                .collect(),
            blended: blended.map(|(part, run)| (run, part)).collect(),
            opaque_casters: joined(of_mode(AlphaMode::Opaque), |_, _| true),
            masked_casters: joined(of_mode(AlphaMode::Mask), same),
            blended_casters: runs().filter(casts).collect(),
            segments,
            blended_segments,
        }
    }

    /// True if any triangle has an any-hit test.
    pub fn has_hit_tests(&self) -> bool {
        !self.masked_casters.is_empty() || !self.blended.is_empty()
    }

    /// Returns the runs of the G-buffer. If rays `see_through` glass, transmissive runs are included.
    pub fn surfaces(&self, see_through: bool) -> impl Iterator<Item = &Run> {
        let glass = self.glass.iter().filter(move |_| see_through);
        self.solid.iter().chain(glass)
    }

    /// Returns the runs of the G-buffer of parts for which `is_seen` is true.
    pub(crate) fn surfaces_of(&self, see_through: bool, is_seen: impl Fn(usize) -> bool) -> Vec<Run> {
        let glass = self.glass_by_part.iter().filter(|_| see_through);
        let seen = self.solid_by_part.iter().chain(glass);
        joined(seen.filter(|(_, part)| is_seen(*part)).map(|(run, _)| *run), same)
    }

    /// Returns the runs that are blended over the G-buffer, with the index of each part.
    pub fn blended_runs(&self, see_through: bool) -> impl Iterator<Item = &(Run, usize)> {
        let is_surface = move |part| see_through && self.glass_parts.contains(part);
        self.blended.iter().filter(move |(_, part)| !is_surface(part))
    }
}

/// Divides the triangles of `runs` in order into slices of up to `most` triangles. Without triangles there is
/// one empty slice.
pub(crate) fn slices<'a>(runs: impl IntoIterator<Item = &'a Run>, most: u32) -> Vec<Vec<Run>> {
    let (mut slices, mut room) = (vec![Vec::new()], most);
    for run in runs {
        let mut left = *run;
        while left.triangle_count > 0 {
            if room == 0 {
                slices.push(Vec::new());
                room = most;
            }
            let triangle_count = left.triangle_count.min(room);
            if let Some(slice) = slices.last_mut() {
                slice.push(Run {
                    triangle_count,
                    ..left
                });
            }
            room -= triangle_count;
            left.first_triangle += triangle_count;
            left.triangle_count -= triangle_count;
        }
    }
    slices
}

/// True if two runs have the same material.
fn same(a: &Run, b: &Run) -> bool {
    a.material == b.material
}

/// Merges consecutive runs that `agree`.
fn joined(runs: impl Iterator<Item = Run>, agree: impl Fn(&Run, &Run) -> bool) -> Vec<Run> {
    let mut joined: Vec<Run> = Vec::new();
    for run in runs.filter(|run| run.triangle_count > 0) {
        match joined.last_mut() {
            Some(last)
                if last.first_triangle + last.triangle_count == run.first_triangle && agree(last, &run) =>
            {
                last.triangle_count += run.triangle_count;
            }
            _ => joined.push(run),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draw_slices_hold_every_triangle_once_and_in_order() {
        let run = |material, first_triangle, triangle_count| Run {
            material,
            first_triangle,
            triangle_count,
        };
        let runs = [run(0, 5, 7), run(1, 20, 3), run(0, 12, 2)];
        let triangles = |runs: &[Run]| {
            let of_run = |r: &Run| {
                let material = r.material;
                (r.first_triangle..r.first_triangle + r.triangle_count).map(move |t| (material, t))
            };
            runs.iter().flat_map(of_run).collect::<Vec<_>>()
        };
        for most in [1, 2, 3, 5, 7, 12, u32::MAX] {
            let slices = slices(&runs, most);
            assert_eq!(slices.len() as u32, 12_u32.div_ceil(most));
            assert!(slices.iter().all(|s| triangles(s).len() as u32 <= most));
            assert_eq!(triangles(&slices.concat()), triangles(&runs));
        }
        assert_eq!(slices(&[], 3), [vec![]]);
    }
}
