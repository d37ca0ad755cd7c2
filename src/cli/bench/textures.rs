//! `canopy bench textures`: hits on many materials, shaded by a dispatch for each material with textures of
//! its own, or by one dispatch with the textures of all in arrays.

use super::{
    inputs::Random,
    report::{Column, Format, Run},
    session::Session,
    timing::{Summary, Timings},
};
use crate::{
    Error, Result,
    gpu::{
        Bind, Gpu, Kernel, UniformArray, Workgroups,
        pass::Binding::{Filtered, FilteredArray, Read, Sampler, Uniform, Write},
    },
    render::layout::{HitSpan, TextureBounds, TextureHit},
};

use serde_json::json;
use wgpu::{BufferUsages, TextureFormat};

/// Columns of the table.
pub(super) const COLUMNS: &[Column] = &[
    ("textures", "name", Format::Text),
    ("hits", "hits", Format::Count),
    ("order", "order", Format::Text),
    ("materials", "materials", Format::Count),
    ("dispatches", "dispatches", Format::Count),
    ("MiB", "texture_mib", Format::Count),
    ("min ms", "gpu_ms/min", Format::Ms),
    ("median ms", "gpu_ms/median", Format::Ms),
    ("ratio", "ratio", Format::Ratio),
];

/// Materials that hits are on. All their textures are layers of two arrays, of which adapters have 256
/// layers.
const MATERIALS: [u32; 3] = [1, 8, 64];
/// Colour textures and others of a material.
const COLORS: u32 = 2;
const NUMBERS: u32 = 3;
/// Texels along a side of a layer. Textures fill it or half of it.
const SIDE: u32 = 256;
const LEVELS: u32 = 4;
/// Most that sums of five samples differ: filters have eight bits of weight.
const TOLERANCE: f32 = 0.06;
const BLOCK: u32 = 64;

/// A picture's hits, tile after tile: neighbours look at neighbouring texels of a few materials.
fn hits(count: u32, materials: u32, seed: u64) -> Vec<TextureHit> {
    let mut random = Random(seed);
    let mut tile = ([0; 3], [0.0; 2], 0.0);
    let hit = |i: u32| {
        if i.is_multiple_of(64) {
            let known = [(); 3].map(|()| random.bits() % materials);
            // Away from seams, where a clamped coordinate differs from a wrapped one.
            let corner = [(); 2].map(|()| 0.1 + 0.7 * random.unit());
            tile = (known, corner, 2.0 * random.unit());
        }
        let (known, [u, v], level) = tile;
        let step = level.exp2() / SIDE as f32;
        TextureHit {
            uv: [u + step * (i % 8) as f32, v + step * (i / 8 % 8) as f32],
            level,
            material: known[(random.bits() % 3) as usize],
        }
    };
    (0..count).map(hit).collect()
}

/// The textures of `materials` materials, twice.
struct Textures {
    own: Vec<Vec<wgpu::TextureView>>,
    colors: wgpu::TextureView,
    numbers: wgpu::TextureView,
    bounds: wgpu::Buffer,
    /// Mebibytes of each.
    own_mib: f64,
    array_mib: f64,
}

impl Textures {
    fn new(gpu: &Gpu, materials: u32, seed: u64) -> Self {
        let mut random = Random(seed);
        let array = |label, layers: u32, format| texture(gpu, label, SIDE, layers, format);
        let colors = array(
            "bench.colors",
            COLORS * materials,
            TextureFormat::Rgba8UnormSrgb,
        );
        let numbers = array(
            "bench.numbers",
            NUMBERS * materials,
            TextureFormat::Rgba8Unorm,
        );
        let (mut own, mut bounds, mut own_texels) = (Vec::new(), Vec::new(), 0);
        for material in 0..materials {
            let side = SIDE >> (random.bits() % 2);
            let mut views = Vec::new();
            for slot in 0..COLORS + NUMBERS {
                let (array, layer) = match slot.checked_sub(COLORS) {
                    None => (&colors, COLORS * material + slot),
                    Some(slot) => (&numbers, NUMBERS * material + slot),
                };
                let single = texture(gpu, "bench.own", side, 1, array.format());
                for level in 0..LEVELS {
                    let side = side >> level;
                    let texels: Vec<u32> = (0..side * side).map(|_| random.bits()).collect();
                    own_texels += texels.len();
                    write(gpu, &single, 0, level, side, &texels);
                    write(gpu, array, layer, level, side, &texels);
                }
                views.push(single.create_view(&wgpu::TextureViewDescriptor::default()));
            }
            own.push(views);
            let first = NUMBERS * material;
            bounds.push(TextureBounds {
                colors: [COLORS * material, COLORS * material + 1],
                numbers: [first, first + 1, first + 2],
                side: side as f32,
                ..TextureBounds::default()
            });
        }
        let mib = |texels: usize| 4.0 * texels as f64 / f64::from(1 << 20);
        let layer: u32 = (0..LEVELS).map(|level| (SIDE >> level).pow(2)).sum();
        let view = wgpu::TextureViewDescriptor {
            dimension: Some(wgpu::TextureViewDimension::D2Array),
            ..Default::default()
        };
        Self {
            own,
            colors: colors.create_view(&view),
            numbers: numbers.create_view(&view),
            bounds: gpu.buffer_with("bench.bounds", &bounds, BufferUsages::STORAGE),
            own_mib: mib(own_texels),
            array_mib: mib((layer * (COLORS + NUMBERS) * materials) as usize),
        }
    }
}

fn texture(gpu: &Gpu, label: &str, side: u32, layers: u32, format: TextureFormat) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d {
            width: side,
            height: side,
            depth_or_array_layers: layers,
        },
        mip_level_count: LEVELS,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    })
}

fn write(gpu: &Gpu, to: &wgpu::Texture, layer: u32, level: u32, side: u32, texels: &[u32]) {
    let to = wgpu::TexelCopyTextureInfo {
        mip_level: level,
        origin: wgpu::Origin3d {
            x: 0,
            y: 0,
            z: layer,
        },
        ..to.as_image_copy()
    };
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(4 * side),
        rows_per_image: Some(side),
    };
    let size = wgpu::Extent3d {
        width: side,
        height: side,
        depth_or_array_layers: 1,
    };
    gpu.queue
        .write_texture(to, bytemuck::cast_slice(texels), layout, size);
}

/// How the hits are shaded.
struct Shading<'a> {
    kernel: &'a Kernel,
    /// A bind group and the hits of each dispatch.
    dispatches: Vec<(wgpu::BindGroup, u32)>,
    sums: wgpu::Buffer,
}

impl Shading<'_> {
    fn time(&self, session: &mut Session<'_>) -> Result<Timings> {
        session.meter.time(
            |_| {},
            |gpu, scope| {
                let mut pass = scope.scoped_compute_pass("textures");
                for (group, count) in &self.dispatches {
                    let blocks = Workgroups::Count(count.div_ceil(BLOCK));
                    self.kernel
                        .dispatch_bound(gpu, &mut pass, &[], group, blocks)?;
                }
                Ok(())
            },
        )
    }

    fn sums(&self, gpu: &Gpu) -> Result<Vec<[f32; 4]>> {
        Ok(bytemuck::pod_collect_to_vec(&gpu.read(&self.sums)?))
    }
}

/// Measures every number of materials.
pub(super) fn run(session: &mut Session<'_>) -> Result<()> {
    let gpu = &session.meter.gpu;
    let count = if session.software { 64 << 10 } else { 4 << 20 };
    let list = [Uniform, Read, Write, Sampler];
    let kernel = |entry, rest: &[_]| {
        let bindings = [&list[..], rest].concat();
        Kernel::new(gpu, "bench/textures.wgsl", entry, &[], &bindings)
    };
    let own = kernel("textures_own", &[Filtered; 5]);
    let arrays = kernel("textures_arrays", &[Read, FilteredArray, FilteredArray]);
    let mut progress = session.progress(MATERIALS.len());
    for materials in MATERIALS {
        progress.step(&format!("{materials} materials"));
        measure(session, [&own, &arrays], count, materials)?;
    }
    session.report.notes.push(format!(
        "Five textures of {SIDE}² texels or half that side for each material, sampled at a given level. order: hits sorted by \
         material, or as\nthe rays of a picture hit them. ratio: the minimum over that of textures of their own."
    ));
    Ok(())
}

fn measure(
    session: &mut Session<'_>,
    [own, arrays]: [&Kernel; 2],
    count: u32,
    materials: u32,
) -> Result<()> {
    let gpu = &session.meter.gpu;
    let seed = session.args.seed;
    let textures = gpu.catch(|| Textures::new(gpu, materials, seed))?;
    let by_ray = hits(count, materials, seed);
    let mut sorted = by_ray.clone();
    sorted.sort_by_key(|hit| hit.material);
    gpu.check_binding("the hits", size_of_val(&by_ray[..]) as u64)?;
    let [by_ray, by_material] =
        [&by_ray, &sorted].map(|hits| gpu.buffer_with("bench.hits", hits, BufferUsages::STORAGE));
    let sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("bench.sampler"),
        address_mode_u: wgpu::AddressMode::Repeat,
        address_mode_v: wgpu::AddressMode::Repeat,
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        mipmap_filter: wgpu::MipmapFilterMode::Linear,
        ..Default::default()
    });
    // The span of all hits, and then that of each material.
    let mut spans = vec![HitSpan { first: 0, count }];
    for material in 0..materials {
        let first = sorted.partition_point(|hit| hit.material < material) as u32;
        let end = sorted.partition_point(|hit| hit.material <= material) as u32;
        let count = end - first;
        spans.push(HitSpan { first, count });
    }
    let uniforms = UniformArray::new(gpu, "bench.spans", spans.iter().copied())?;
    let sums = || {
        let bytes = u64::from(count) * size_of::<[f32; 4]>() as u64;
        gpu.buffer(
            "bench.sums",
            bytes,
            BufferUsages::STORAGE | BufferUsages::COPY_SRC,
        )
    };
    let each = |sums: wgpu::Buffer| {
        let dispatch = |(views, index): (&Vec<wgpu::TextureView>, usize)| {
            let span = uniforms.at(index);
            let mut bound: Vec<&dyn Bind> = vec![&span, &by_material, &sums, &sampler];
            bound.extend(views.iter().map(|view| view as &dyn Bind));
            (own.bind(gpu, &bound), spans[index].count)
        };
        let dispatches = textures.own.iter().zip(1..).map(dispatch);
        Shading {
            kernel: own,
            dispatches: dispatches.filter(|(_, count)| *count > 0).collect(),
            sums,
        }
    };
    let all = |hits: &wgpu::Buffer, sums: wgpu::Buffer| {
        let span = uniforms.at(0);
        let [colors, numbers] = [&textures.colors, &textures.numbers];
        let bound: &[&dyn Bind] = &[
            &span,
            hits,
            &sums,
            &sampler,
            &textures.bounds,
            colors,
            numbers,
        ];
        Shading {
            kernel: arrays,
            dispatches: vec![(arrays.bind(gpu, bound), count)],
            sums,
        }
    };
    let ways = [
        ("own", "material", textures.own_mib, each(sums())),
        (
            "arrays",
            "material",
            textures.array_mib,
            all(&by_material, sums()),
        ),
        ("arrays", "ray", textures.array_mib, all(&by_ray, sums())),
    ];
    let mut least_ms = None;
    for (name, order, mib, way) in &ways {
        let timings = way.time(session)?;
        let least = Summary::of(&timings.gpu_ms).min;
        let mut run = Run::new(json!({
            "name": name,
            "order": order,
            "hits": count,
            "materials": materials,
            "dispatches": way.dispatches.len(),
            "texture_mib": mib.ceil(),
            "ratio": least / *least_ms.get_or_insert(least),
        }));
        run.time(&timings, |_, _| None);
        session.report.runs.push(run);
    }
    let gpu = &session.meter.gpu;
    let (own, arrays) = (ways[0].3.sums(gpu)?, ways[1].3.sums(gpu)?);
    let components = own.as_flattened().iter().zip(arrays.as_flattened());
    let off = components.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    if off > TOLERANCE || own.iter().all(|sum| sum[0] == 0.0) {
        return Err(Error::WrongResult(format!(
            "textures in arrays are {off} off those of their own"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_lie_within_textures_and_on_their_materials() {
        let hits = hits(6400, 8, 1);
        assert!(hits.iter().all(|hit| hit.material < 8));
        let within = |hit: &TextureHit| hit.uv.iter().all(|at| (0.1..0.95).contains(at));
        assert!(hits.iter().all(within));
        let mut known: Vec<_> = hits.iter().map(|hit| hit.material).collect();
        known.dedup();
        assert!(known.len() > 3000, "neighbours differ");
    }
}
