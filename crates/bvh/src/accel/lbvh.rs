//! Builds the LBVH of every mesh in a scene and the TLAS above them in one batch (Karras 2012).

use super::{
    codes::{Codes, axis_bits, is_one_key, mesh_bits},
    geometry::Geometry,
    hierarchy::LEAF_LIMIT,
    implementation::NodeKernels,
    layout::{
        BOUNDS_WORDS, BuildParams, CODE_WORDS, MORTON_RUN, MORTON_THREADS, MeshRange, Objects, TlasEntry,
        TreeInfo,
    },
    pairs::SortBuffers,
    ploc::{self, Ploc},
    sort::RadixSort,
    stages::{self, Bound, StageLayouts, Stages, TreeBuffers},
    tree::{Quality, Regroup, Selection, Sort, Tree, TreeRayNodes, TreeStages, bounds_workgroups},
};
use crate::{
    Error, Result,
    gpu::{
        Array, Gpu, Kernel, Passes, PipelineSet, Recorder, bind_group,
        pass::Binding::{self, Read, ReadArray, Uniform, Write},
    },
};
use std::sync::Arc;

/// Part of a build to repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Work {
    /// Everything: the order and the nodes.
    #[default]
    Rebuild,
    /// Only the boxes. The sorted order stays, so this is cheaper, but the tree's quality degrades as the
    /// triangles move. Trees of [`Quality::High`] are clustered again in that order.
    Refit,
}

/// Kernels of an LBVH build.
#[derive(Debug)]
pub struct Lbvh {
    layouts: StageLayouts,
    bounds: Kernel,
    /// Kernel for keys without code records, and kernel for keys with them: see [`is_one_key`].
    tlas: [Kernel; 2],
    /// Writes the TLAS rows only, for refits, which reuse the sorted codes.
    tlas_rows: Kernel,
    morton: [Kernel; 2],
    sort: RadixSort,
    regroup_code: Kernel,
    regroup_mesh_short: Kernel,
    regroup_mesh_wide: Kernel,
    nodes: [NodeKernels; 2],
    /// Kernels for [`Quality::High`].
    ploc: Option<[Arc<Ploc>; 2]>,
}

impl Lbvh {
    /// Creates the kernels that suit the device, for [`Quality::Fast`]. They are compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_quality(gpu, Quality::Fast)
    }

    /// Creates the kernels like [`Lbvh::new`]. Trees have the quality `best` until [`Tree::set_quality`] is
    /// called.
    pub fn with_quality(gpu: &Gpu, best: Quality) -> Self {
        let layouts = StageLayouts::new(gpu);
        let geometry = [(1, &layouts.geometry)];
        let regroup = |by_code: bool, shift: u32| {
            let bindings = [Uniform, ReadArray(1), ReadArray(1), Write];
            let constants = [
                ("REGROUP_BY_CODE", f64::from(u8::from(by_code))),
                ("REGROUP_MESH_SHIFT", f64::from(shift)),
            ];
            let path = "bvh/build/regroup.wgsl";
            Kernel::with_constants(gpu, path, "regroup", &[], &bindings, &constants)
        };
        let tlas = |with_codes: bool, with_records: bool| {
            let bindings = [Uniform, Read, Read, Write, Write, Write];
            let constants = [
                ("TLAS_CODES", f64::from(u8::from(with_codes))),
                ("TLAS_RECORDS", f64::from(u8::from(with_records))),
            ];
            let path = "bvh/build/tlas.wgsl";
            Kernel::with_constants(gpu, path, "tlas", &[], &bindings, &constants)
        };
        let bounds: &[Binding] = &[Uniform, Read, Write];
        let morton = |with_records: bool| {
            let bindings = [Uniform, Read, Read, Write, Write];
            let constants = [("HAS_RECORDS", f64::from(u8::from(with_records)))];
            let path = "bvh/build/morton.wgsl";
            Kernel::with_constants(gpu, path, "morton", &geometry, &bindings, &constants)
        };
        let records_or_not = [0.0, 1.0].map(|has_records| ("HAS_RECORDS", has_records));
        Self {
            bounds: Kernel::new(gpu, "bvh/build/bounds.wgsl", "bounds", &geometry, bounds),
            tlas: [false, true].map(|with_records| tlas(true, with_records)),
            tlas_rows: tlas(false, false),
            morton: [false, true].map(morton),
            sort: RadixSort::new(gpu),
            regroup_code: regroup(true, 0),
            regroup_mesh_short: regroup(false, 2),
            regroup_mesh_wide: regroup(false, 1),
            nodes: records_or_not.map(|records| NodeKernels::new(gpu, &layouts, records)),
            ploc: (best == Quality::High)
                .then(|| records_or_not.map(|records| Arc::new(Ploc::new(gpu, &layouts, records)))),
            layouts,
        }
    }

    /// Adds the kernels that every build needs to the set of pipelines to compile. Kernels of
    /// [`Lbvh::refit_pipelines`] and of [`Quality::High`] are not included. [`Lbvh::tree`] compiles those for
    /// many meshes or wide codes if its trees need them.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        self.bounds.pipelines(set);
        self.sort.pipelines(set);
        self.pipelines_of(0, set);
    }

    /// Adds the kernels for keys without code records (`records` is 0) or with them (1).
    fn pipelines_of(&self, records: usize, set: &mut PipelineSet) {
        self.tlas[records].pipelines(set);
        self.morton[records].pipelines(set);
        self.nodes[records].pipelines(set);
    }

    /// Adds the kernel that only refits need.
    pub fn refit_pipelines(&self, set: &mut PipelineSet) {
        self.tlas_rows.pipelines(set);
    }

    /// Compiles the kernels that [`Lbvh::pipelines`] adds, on all CPU cores, and waits for them.
    ///
    /// # Errors
    ///
    /// The first compilation error.
    pub fn compile(&self, gpu: &Gpu) -> Result<()> {
        let mut set = PipelineSet::default();
        self.pipelines(&mut set);
        set.compile(gpu)
    }

    /// Creates the buffers for the trees of `geometry`. Record a build before you use them.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the trees exceed the device's limits. [`Error::Tree`] if there are gaps between
    /// meshes or a mesh extends beyond a buffer. [`Error::Gpu`] if the device is out of memory or a buffer
    /// lacks a usage.
    pub fn tree(&self, gpu: &Gpu, geometry: &Geometry<'_>, codes: Codes) -> Result<Tree> {
        gpu.catch(|| self.make_tree(gpu, geometry, codes))?
    }

    fn make_tree(&self, gpu: &Gpu, geometry: &Geometry<'_>, codes: Codes) -> Result<Tree> {
        let triangle_count = geometry.triangle_count()?;
        let mesh_count = u32::try_from(geometry.meshes.len()).unwrap_or(u32::MAX);
        let leaf_count = triangle_count.saturating_add(mesh_count);
        if leaf_count > LEAF_LIMIT {
            return Err(Error::Limit {
                what: "the tree".into(),
                needed: format!("{leaf_count} triangles and meshes"),
                allowed: LEAF_LIMIT.to_string(),
                by: "canopy's builder".into(),
            });
        }
        let axis_bits = axis_bits(geometry.meshes, codes);
        let has_records = !is_one_key(axis_bits, mesh_count);
        let records = usize::from(has_records);
        let mut params_all = BuildParams {
            triangle_count,
            mesh_count,
            item_count: leaf_count,
            item_triangles: triangle_count,
            all_items: 1,
            axis_bits,
            leaf_cutoff: 1,
            ..BuildParams::default()
        };
        let mut scratch_words = self.nodes[records].scratch_words(&mut params_all);
        if self.ploc.is_some() {
            scratch_words = ploc::scratch_words(&mut params_all, scratch_words);
        }
        let info = TreeInfo {
            triangle_count,
            mesh_count,
            leaf_cutoff: 1,
        };
        let uniform = wgpu::BufferUsages::UNIFORM;
        let params = gpu.buffer_with("lbvh.params", &[params_all], uniform);
        let info = gpu.buffer_with("lbvh.info", &[info], uniform);
        let buffer = |label, count, bytes| stages::buffer(gpu, label, triangle_count, count, bytes);
        let array = |label, words, len| stages::array(gpu, label, triangle_count, words, len);
        let bounds_words = mesh_count * BOUNDS_WORDS + BOUNDS_WORDS / 2;
        let mesh_bounds = buffer("lbvh.mesh_bounds", bounds_words, 4)?;
        let tlas = buffer("tlas", mesh_count, size_of::<TlasEntry>())?;
        let items = buffer("lbvh.items", leaf_count, 4)?;
        let nothing = [MeshRange::default()];
        let meshes = match geometry.meshes {
            [] => &nothing,
            meshes => meshes,
        };
        let meshes = gpu.buffer_with("lbvh.meshes", meshes, wgpu::BufferUsages::STORAGE);
        let record_count = if has_records { leaf_count.max(1) } else { 1 };
        let codes = array("lbvh.codes", 1, u64::from(CODE_WORDS * record_count))?;
        let nodes = array("lbvh.nodes", 4, 4 * u64::from(leaf_count))?;
        let scratch = buffer("lbvh.scratch", scratch_words, 4)?;
        let triangles = array("lbvh.triangles", 4, 3 * u64::from(leaf_count))?;
        let arrays = geometry.arrays(gpu, triangle_count)?;

        let pairs = self.sort.buffers(gpu, leaf_count)?;
        let sorts = self.sorts(gpu, &pairs, &params, &codes, &params_all);
        let mut set = PipelineSet::default();
        if has_records {
            self.pipelines_of(records, &mut set);
        }
        for (regroup, _) in sorts.iter().filter_map(|sort| sort.regroup.as_ref()) {
            self.regroup(*regroup).pipelines(&mut set);
        }
        set.compile(gpu)?;
        let output = sorts.last().map_or(0, |sort| sort.digits.output());
        let (order, sorted_keys) = (&pairs.values[output], &pairs.keys[output]);
        let code_words = if has_records { &codes } else { sorted_keys };

        let geometry_group = bind_group(
            gpu,
            "geometry",
            &self.layouts.geometry,
            &[&arrays.positions, &arrays.indices, &arrays.triangle_info],
        );
        let sorted_group = bind_group(
            gpu,
            "sorted",
            &self.layouts.sorted,
            &[order, code_words, &scratch],
        );
        let buffers = TreeBuffers {
            triangle_count,
            mesh_count,
            params: &params,
            tlas: &tlas,
            nodes: &nodes,
            scratch: &scratch,
            triangles: &triangles,
            geometry: &geometry_group,
            sorted: &sorted_group,
        };
        let shared = [(1, &geometry_group)];
        let (code_buffer, keys) = (codes.buffer(), pairs.keys[0].buffer());
        let stages = TreeStages {
            bounds: Bound::new(gpu, &self.bounds, &shared, &[&params, &items, &mesh_bounds]),
            // `tlas_rows` has the same bindings.
            tlas: Bound::new(
                gpu,
                &self.tlas[records],
                &[],
                &[&params, &meshes, &mesh_bounds, code_buffer, keys, &tlas],
            ),
            morton: Bound::new(
                gpu,
                &self.morton[records],
                &shared,
                &[&params, &items, &mesh_bounds, code_buffer, keys],
            ),
            nodes: self.nodes[records].stages(gpu, &buffers)?,
            ploc: match &self.ploc {
                Some(ploc) => Some(ploc[records].stages(gpu, &buffers, &params_all)?),
                None => None,
            },
        };
        let mut tree = Tree {
            tlas,
            nodes,
            triangles,
            ray_nodes: TreeRayNodes::default(),
            info,
            triangle_count,
            objects: Objects::Triangles,
            leaf_cutoff: 1,
            quality: match self.ploc {
                Some(_) => Quality::High,
                None => Quality::Fast,
            },
            built_quality: Quality::Fast,
            meshes: geometry.meshes.to_vec(),
            mesh_bounds,
            codes,
            scratch,
            geometry: arrays,
            pairs,
            params,
            params_all,
            items,
            sorts,
            selection: Selection::default(),
            sorted: None,
            dispatches: 0,
            passes: 0,
            stages,
        };
        tree.build_only(gpu, None);
        Ok(tree)
    }

    /// Creates the sorts of a build. The first sorts by code, and later ones by the bits that the first key
    /// has no room for.
    fn sorts(
        &self,
        gpu: &Gpu,
        buffers: &SortBuffers,
        params: &wgpu::Buffer,
        codes: &Array,
        &BuildParams {
            mesh_count,
            axis_bits,
            ..
        }: &BuildParams,
    ) -> Vec<Sort> {
        let mesh_bits = mesh_bits(mesh_count);
        let key_bits = (3 * axis_bits + mesh_bits).min(32);
        let mut sorts = vec![Sort {
            regroup: None,
            digits: self.sort.digits(gpu, buffers, 0, key_bits, true),
        }];
        let mut add = |regroup: Regroup, bits: u32| {
            let input = sorts.last().map_or(0, |sort| sort.digits.output());
            let (values, keys) = (&buffers.values[input], buffers.keys[input].buffer());
            let kernel = self.regroup(regroup);
            let bound = Bound::new(gpu, kernel, &[], &[params, values, codes, keys]);
            sorts.push(Sort {
                regroup: Some((regroup, bound)),
                digits: self.sort.digits(gpu, buffers, input, bits, false),
            });
        };
        let (in_key, by_mesh) = match axis_bits {
            ..=10 => (32 - 3 * axis_bits, Regroup::MeshAfterShortCode),
            _ => {
                add(Regroup::Code, 32);
                (1, Regroup::MeshAfterWideCode)
            }
        };
        if mesh_bits > in_key {
            add(by_mesh, mesh_bits - in_key);
        }
        sorts
    }

    fn regroup(&self, regroup: Regroup) -> &Kernel {
        match regroup {
            Regroup::Code => &self.regroup_code,
            Regroup::MeshAfterShortCode => &self.regroup_mesh_short,
            Regroup::MeshAfterWideCode => &self.regroup_mesh_wide,
        }
    }

    /// Records a build of every selected tree from the current positions, or with [`Work::Refit`] everything
    /// after the sort. It takes a handful of dispatches ([`Tree::dispatches`]), without readback or waiting.
    /// The first build must include all meshes. A refit of a different selection than the last sort is a
    /// rebuild of that selection.
    ///
    /// # Errors
    ///
    /// A compilation error, if the kernels were not compiled before.
    pub fn record(&self, gpu: &Gpu, recorder: &mut impl Recorder, tree: &mut Tree, work: Work) -> Result<()> {
        let mut scope = recorder.scope("lbvh");
        let work = if tree.sorted.as_ref() == Some(&tree.selection.meshes) {
            work
        } else {
            Work::Rebuild
        };
        let mut stages = Stages {
            gpu,
            passes: Passes::new(&mut scope),
            dispatches: 0,
        };
        let geometry = &tree.geometry;
        stages.publish_all(&[&geometry.positions, &geometry.indices, &geometry.triangle_info]);
        tree.clear_bounds(stages.passes.recorder());
        self.bounds(&mut stages, tree)?;
        self.tlas(&mut stages, tree, work)?;
        if work == Work::Rebuild {
            self.morton(&mut stages, tree)?;
            self.sort(&mut stages, tree)?;
        }
        let triangles = tree.selection.item_triangles;
        match (&tree.stages.ploc, tree.quality) {
            (Some(ploc), Quality::High) => ploc.record(&mut stages, tree.selection.item_count)?,
            _ => {
                let nodes = &tree.stages.nodes;
                nodes.record(&mut stages, triangles, tree.mesh_count())?;
            }
        }
        tree.built_quality = tree.quality;
        tree.invalidate_selected_ray_nodes();
        tree.dispatches = stages.dispatches;
        tree.passes = stages.passes.begun();
        tree.sorted = Some(tree.selection.meshes.clone());
        Ok(())
    }

    fn bounds(&self, stages: &mut Stages<'_, '_>, tree: &Tree) -> Result<()> {
        let triangles = tree.selection.item_triangles;
        let workgroups = bounds_workgroups(stages.gpu, triangles);
        stages.run("bounds", &self.bounds, &tree.stages.bounds, workgroups)
    }

    fn tlas(&self, stages: &mut Stages<'_, '_>, tree: &Tree, work: Work) -> Result<()> {
        let kernel = match work {
            Work::Rebuild => &self.tlas[tree.records()],
            Work::Refit => &self.tlas_rows,
        };
        let workgroups = tree.mesh_count().div_ceil(256);
        stages.run("tlas", kernel, &tree.stages.tlas, workgroups)?;
        if work == Work::Rebuild {
            let Selection {
                item_count,
                item_triangles,
                ..
            } = tree.selection;
            tree.publish_records(stages, item_triangles..item_count);
            stages.publish(&tree.pairs.keys[0], item_triangles..item_count);
        }
        Ok(())
    }

    fn morton(&self, stages: &mut Stages<'_, '_>, tree: &Tree) -> Result<()> {
        let triangles = tree.selection.item_triangles;
        let workgroups = triangles.div_ceil(MORTON_THREADS * MORTON_RUN);
        stages.run(
            "morton",
            &self.morton[tree.records()],
            &tree.stages.morton,
            workgroups,
        )?;
        tree.publish_records(stages, 0..triangles);
        stages.publish(&tree.pairs.keys[0], 0..triangles);
        Ok(())
    }

    fn sort(&self, stages: &mut Stages<'_, '_>, tree: &Tree) -> Result<()> {
        let items = tree.selection.item_count;
        for sort in &tree.sorts {
            if let Some((regroup, bound)) = &sort.regroup {
                let workgroups = items.div_ceil(256);
                stages.run("regroup", self.regroup(*regroup), bound, workgroups)?;
                stages.publish(&tree.pairs.keys[sort.digits.input()], 0..items);
            }
            let passes = &mut stages.passes;
            let dispatches = self.sort.record_in(stages.gpu, passes, &tree.pairs, &sort.digits);
            stages.dispatches += dispatches?;
        }
        if tree.records() == 0 {
            stages.publish(&tree.pairs.keys[tree.sorted_side()], 0..items);
        }
        Ok(())
    }
}
