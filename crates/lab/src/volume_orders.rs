//! `volume_orders` of the laboratory: marches the rays of a list through a volume, front to back or back to
//! front.

use crate::data::LabMarchResult;
use canopy_bvh::{
    Result,
    accel::{Ray, layout::TRACE_BLOCK},
    gpu::{
        Gpu, Kernel, Recorder, Workgroups,
        pass::Binding::{Filtered3d, Float3d, Read, Sampler, Write},
    },
};
use canopy_render::{
    layout::VolumeParams,
    volumes::volume_grids::{VolumeGrids, sampler},
};
use canopy_scene::{Progress, volume_lattice::VolumeLattice};
use wgpu::BufferUsages as Usage;

/// Label of the pass in timings.
pub const LABEL: &str = "volume_orders";

/// Order in which the steps of a ray are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VolumeOrder {
    /// Front to back, until transmittance is negligible.
    FrontToBack,
    /// Back to front, over all steps.
    BackToFront,
}

/// Kernels for the two orders.
#[derive(Debug)]
pub struct VolumeOrders {
    front_to_back: Kernel,
    back_to_front: Kernel,
}

/// Volume in GPU memory.
#[derive(Debug)]
pub struct MarchedVolume {
    grids: VolumeGrids,
    params: wgpu::Buffer,
    majorants: wgpu::TextureView,
    sampler: wgpu::Sampler,
}

/// Rays in GPU memory, with a buffer for their results.
#[derive(Debug)]
pub struct MarchedRays {
    rays: wgpu::Buffer,
    seen: wgpu::Buffer,
    count: u32,
}

impl VolumeOrder {
    /// Both orders.
    pub const ALL: [Self; 2] = [Self::FrontToBack, Self::BackToFront];

    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::FrontToBack => "front to back",
            Self::BackToFront => "back to front",
        }
    }
}

impl VolumeOrders {
    /// Creates the kernels without compiling them.
    pub fn new(gpu: &Gpu) -> Self {
        let kernel = |entry| {
            let grids = [Filtered3d, Filtered3d, Float3d, Sampler];
            let bindings = [&[Read, Read], &grids[..], &[Write]].concat();
            Kernel::new(gpu, "lab/volume_orders.wgsl", entry, &[], &bindings)
        };
        Self {
            front_to_back: kernel("volume_front_to_back"),
            back_to_front: kernel("volume_back_to_front"),
        }
    }

    /// Records the marching of all rays of a list in one order.
    ///
    /// # Errors
    ///
    /// Any error of compiling the kernel if it is not compiled yet.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        volume: &MarchedVolume,
        rays: &MarchedRays,
        order: VolumeOrder,
    ) -> Result<()> {
        let kernel = match order {
            VolumeOrder::FrontToBack => &self.front_to_back,
            VolumeOrder::BackToFront => &self.back_to_front,
        };
        let workgroups = Workgroups::Count(rays.count.div_ceil(TRACE_BLOCK));
        let mut pass = recorder.scoped_compute_pass(LABEL);
        kernel.dispatch(
            gpu,
            &mut pass,
            &[],
            &[
                &rays.rays,
                &volume.params,
                &volume.grids.density,
                &volume.grids.color_temperature,
                &volume.majorants,
                &volume.sampler,
                &rays.seen,
            ],
            workgroups,
        )
    }
}

impl MarchedVolume {
    /// Uploads the lattice of the volume `name`, to be marched with `params`.
    ///
    /// # Errors
    ///
    /// Any error of [`VolumeGrids::upload`].
    pub fn new(gpu: &Gpu, name: &str, lattice: &VolumeLattice, params: &VolumeParams) -> Result<Self> {
        let grids = VolumeGrids::upload(gpu, name, lattice, &Progress::default())?;
        gpu.catch(|| Self {
            params: gpu.buffer_with("volume.params", bytemuck::bytes_of(params), Usage::STORAGE),
            majorants: grids.majorant_texture(gpu, params),
            sampler: sampler(gpu),
            grids,
        })
    }

    /// Returns the number of bytes of the voxels.
    pub fn bytes(&self) -> u64 {
        let voxels = self.grids.facts.size.map(u64::from).iter().product::<u64>();
        voxels
            * if self.grids.facts.has_color_temperature {
                10
            } else {
                2
            }
    }
}

impl MarchedRays {
    /// Uploads `rays`.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Limit`] if the rays exceed a limit of the device.
    pub fn new(gpu: &Gpu, rays: &[Ray]) -> Result<Self> {
        let count = rays.len();
        let bytes = (count * size_of::<LabMarchResult>()) as u64;
        gpu.check_binding(&format!("a list of {count} rays"), bytes)?;
        gpu.catch(|| Self {
            rays: gpu.buffer_with("lab.rays", rays, Usage::STORAGE),
            seen: gpu.buffer("lab.seen", bytes, Usage::STORAGE | Usage::COPY_SRC),
            count: count as u32,
        })
    }

    /// Reads back the results of the last kernel and blocks until they arrive.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the device is lost.
    pub fn results(&self, gpu: &Gpu) -> Result<Vec<LabMarchResult>> {
        let bytes = gpu.read(&self.seen)?;
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }
}
