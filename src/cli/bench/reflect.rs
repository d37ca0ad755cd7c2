//! `canopy bench reflect`: what it gains to skip tiles, to compact rays and to sort hits by material.
//!
//! Whole frames are drawn with each step left out. What GPUs gain is counted on the CPU besides: rays like those of the
//! frame go through the same trees in lockstep, and their hits are shaded so.

use super::{
    inputs::{Input, Random},
    lockstep::{GROUP, Replay, Width},
    report::{Column, Format},
    session::Session,
    timing::{Repetition, Summary, Timings},
    trees,
    workloads::{DefaultWorkloads, Workload, triangles, workloads},
};
use crate::{
    Error, Result,
    accel::{
        Lbvh, Tree, Work,
        layout::{SORT_BLOCK, SORT_ROUNDS},
        trace::{Query, Ray, RayBatch, Trace},
        tree::TreeData,
    },
    cli::offscreen::{Moment, Offscreen},
    config::{HitOrder, RayListing, ReflectionMode},
    reference::reflections::ggx_sample,
    render::{
        Channel, FrameSample, ReflectionCounts,
        geometry::tree_policy,
        layout::{REFLECTION_BINS, REFLECTION_MIRROR},
        materials::hit_materials,
    },
    scene::{Layers, Material, Projection},
};

use glam::{DVec3, Vec3};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

/// Columns of the table.
pub(super) const COLUMNS: &[Column] = &[
    ("name", "name", Format::Text),
    ("list", "list", Format::Text),
    ("sort", "sort", Format::Text),
    ("listed", "listed", Format::Count),
    ("hits", "hits", Format::Count),
    ("bins", "bins", Format::Count),
    ("trace 1", "first/trace_steps", Format::Count),
    ("trace 2", "second/trace_steps", Format::Count),
    ("trace 1 ms", "first/trace_ms", Format::Ms),
    ("trace 2 ms", "second/trace_ms", Format::Ms),
    ("shade 1", "first/shade_steps", Format::Count),
    ("shade 2", "second/shade_steps", Format::Count),
    ("min ms", "gpu_ms/min", Format::Ms),
    ("median ms", "gpu_ms/median", Format::Ms),
    ("frame ms", "wall_ms/median", Format::Ms),
    ("ratio", "ratio", Format::Ratio),
];

/// What is drawn: everything as by default, and then each step left out or replaced.
const VARIANTS: [(RayListing, HitOrder); 6] = [
    (RayListing::Pixels, HitOrder::Material),
    (RayListing::Tiles, HitOrder::Material),
    (RayListing::All, HitOrder::Material),
    (RayListing::Pixels, HitOrder::Workgroup),
    (RayListing::Pixels, HitOrder::Ray),
    (RayListing::Pixels, HitOrder::Off),
];
/// The bounces that are replayed.
const BOUNCES: [&str; 2] = ["first", "second"];
/// Pixels along the side of a tile.
const TILE: u32 = 8;
/// Where rays start, off the surface, over half the scene's diagonal.
const STEP: f32 = 1e-4;

/// A surface that a ray is sent from.
#[derive(Debug, Clone, Copy)]
struct Source {
    position: Vec3,
    /// On the side of the eye.
    normal: Vec3,
    to_eye: Vec3,
    roughness: f32,
}

/// The rays of a bounce and the bins of what they hit: pixel by pixel.
struct Bounce {
    rays: Vec<Option<Ray>>,
    bins: Vec<Option<u32>>,
}

/// Pixels of a picture, tile after tile.
struct Tiles(Vec<Vec<usize>>);

/// What traces a scene's rays, on a device that draws nothing.
struct Scene<'a> {
    input: &'a Input,
    materials: &'a [Material],
    /// The bin of each material.
    bins: Vec<u32>,
    tree: Tree,
    built: TreeData,
    trace: Trace,
    leaf_cutoff: u32,
    /// Metres from a surface at which rays start.
    step: f32,
    /// As [`Reflections::below`](crate::config::Reflections::below).
    reflect_below: f32,
}

/// Measures every scene.
pub(super) fn run(session: &mut Session<'_>) -> Result<()> {
    let software = session.software;
    let size: [u32; 2] = if software { [320, 180] } else { [1920, 1080] };
    let size = session.args.size.unwrap_or(size);
    let defaults = DefaultWorkloads {
        builtin: true,
        kinds: &[],
        soup: &[],
        others: &[],
    };
    let workloads = workloads(session.args, defaults);
    let mut progress = session.progress(workloads.len());
    for workload in &workloads {
        progress.step(&workload.name());
        match measure(session, workload, size) {
            Err(why @ Error::Limit { .. }) => session.report.skip(workload.run(), &why),
            done => done?,
        }
    }
    let [width, height] = size;
    let block = SORT_BLOCK * SORT_ROUNDS;
    session.report.notes.push(format!(
        "{width}×{height} pixels, one ray a pixel. list and sort are those of the settings. trace 1 and 2: steps of \
         groups of {GROUP} rays in\nlockstep, at the first and the second bounce, replayed on the CPU, and ms of the \
         same rays traced on a device that draws\nnothing. Their directions are drawn from the lobes by other numbers \
         than the frame's; at the second bounce surfaces are\nflat and as rough as their material's factor. shade: \
         materials that each group of {GROUP} hits waits for, summed; a\nworkgroup sorts the hits of {block} rays. ms: all \
         reflection passes of a frame, variants in turns; ratio: their minimum over\nthat of the first row."
    ));
    if software {
        session.report.notes.push(
            "On a software adapter ms of passes are off by what the adapter does late; trust steps and ratios.".into(),
        );
    }
    Ok(())
}

fn measure(session: &mut Session<'_>, workload: &Workload, size: [u32; 2]) -> Result<()> {
    workload.check(&session.meter.gpu)?;
    let mut config = session.config.clone();
    config.reflections.mode = ReflectionMode::Rays;
    let mut offscreen = workload.open(&config, size)?;
    // Frames trace reflections even if nothing sends any.
    offscreen.reads = vec![Channel::ReflectionDistance];
    let moment = offscreen.moment(config.animation.time);
    let drawn = draw(session, &mut offscreen, &moment)?;
    let least_ms: Vec<_> = drawn.iter().map(|drawn| drawn.least_ms()).collect();
    let sources = sources(&mut offscreen, &moment)?;
    let input = triangles(&offscreen)?;
    let tiles = Tiles::new(size);
    let mut scene = Scene::new(session, &offscreen, &moment, &input)?;
    let mut bounces = Vec::new();
    let mut sources = sources;
    for _ in BOUNCES {
        let (bounce, further) = scene.bounce(session, &sources)?;
        bounces.push(bounce);
        sources = further;
    }
    // They depend on what is listed alone.
    let mut replayed: BTreeMap<_, Replayed> = BTreeMap::new();
    for ((listing, order), (drawn, least)) in VARIANTS.into_iter().zip(drawn.iter().zip(&least_ms))
    {
        let mut run = workload.run();
        run.set("triangles", input.indices.len());
        run.set("size", size.to_vec());
        run.set("list", listing.name());
        run.set("sort", order.name());
        run.set("listed", drawn.counts.rays);
        run.set("tiles", drawn.counts.tiles);
        run.set("hits", drawn.counts.hits);
        run.set("bins", drawn.counts.bins);
        run.time(&drawn.timings, |_, _| None);
        run.set("ratio", least / least_ms[0]);
        for (name, bounce) in BOUNCES.into_iter().zip(&bounces) {
            let pixels = tiles.listed(&bounce.rays, listing);
            let replayed = match replayed.entry((name, listing.name())) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    let rays: Vec<_> = pixels.iter().map(|pixel| bounce.rays[*pixel]).collect();
                    *new.insert(scene.replay(session, &rays)?)
                }
            };
            let bins = pixels.iter().map(|pixel| bounce.bins[*pixel]).collect();
            run.set(
                name,
                json!({
                    "rays": bounce.rays.iter().flatten().count(),
                    "listed": pixels.len(),
                    "hits": bounce.bins.iter().flatten().count(),
                    "trace_steps": replayed.steps,
                    "trace_ms": replayed.ms,
                    "shade_steps": shade_steps(bins, order),
                }),
            );
        }
        session.report.runs.push(run);
    }
    Ok(())
}

/// Frames of one variant.
struct Drawn {
    timings: Timings,
    counts: ReflectionCounts,
}

impl Drawn {
    fn least_ms(&self) -> f64 {
        Summary::of(&self.timings.gpu_ms).min
    }
}

/// What a list of rays costs to trace: steps in lockstep, and milliseconds.
#[derive(Clone, Copy)]
struct Replayed {
    steps: f64,
    ms: f64,
}

/// Draws the same frame by every variant in turns.
fn draw(session: &Session<'_>, offscreen: &mut Offscreen, moment: &Moment) -> Result<Vec<Drawn>> {
    let sampling = &session.meter.sampling;
    let mut all: Vec<_> = VARIANTS
        .iter()
        .map(|_| Drawn {
            timings: Timings::default(),
            counts: ReflectionCounts::default(),
        })
        .collect();
    let mut rounds = 0;
    session.meter.heat()?;
    sampling.repeat(|| {
        let is_warm = rounds >= sampling.warm_up;
        rounds += 1;
        let mut took_ms = 0.0;
        for ((listing, order), drawn) in VARIANTS.into_iter().zip(&mut all) {
            offscreen.config.reflections.list = listing;
            offscreen.config.reflections.sort = order;
            let wall_ms = offscreen.draw(moment, FrameSample::SINGLE)?.wall_ms;
            took_ms += wall_ms;
            let stats = offscreen.stats();
            let mut repetition = Repetition::new(&stats.passes, wall_ms);
            repetition
                .stages
                .retain(|(name, _)| name == "lobes" || name.starts_with("reflection"));
            repetition.gpu_ms = repetition.stages.iter().map(|(_, ms)| ms).sum();
            drawn.counts = stats.reflections;
            if is_warm {
                drawn.timings.add(repetition);
            }
        }
        Ok((took_ms, Repetition::default()))
    })?;
    Ok(all)
}

/// The surfaces of a drawn frame that send rays: pixel by pixel.
fn sources(offscreen: &mut Offscreen, moment: &Moment) -> Result<Vec<Option<Source>>> {
    let mut channel = |channel| offscreen.channel(channel).map(|image| image.texels);
    let (positions, normals) = (channel(Channel::Position)?, channel(Channel::Normal)?);
    let (roughness, distances) = (
        channel(Channel::Roughness)?,
        channel(Channel::ReflectionDistance)?,
    );
    let view = moment.view;
    let source = |pixel: usize| {
        let [position, normal] =
            [&positions, &normals].map(|texels| Vec3::from_slice(&texels[pixel]));
        let to_eye = match view.projection {
            Projection::Perspective { .. } => view.eye() - position,
            Projection::Orthographic { .. } => -view.forward(),
        };
        let sends = distances[pixel][0] > 0.0 && position.is_finite();
        sends.then(|| Source {
            position,
            normal,
            to_eye: to_eye.normalize_or(normal),
            roughness: roughness[pixel][0],
        })
    };
    Ok((0..positions.len()).map(source).collect())
}

impl Tiles {
    fn new([width, height]: [u32; 2]) -> Self {
        let tile = |column: u32, row: u32| {
            let rows = TILE * row..height.min(TILE * (row + 1));
            let columns =
                move |y| (TILE * column..width.min(TILE * (column + 1))).map(move |x| (x, y));
            rows.flat_map(columns)
                .map(|(x, y)| (y * width + x) as usize)
                .collect()
        };
        let rows = 0..height.div_ceil(TILE);
        let columns = |row| (0..width.div_ceil(TILE)).map(move |column| (column, row));
        Self(
            rows.flat_map(columns)
                .map(|(column, row)| tile(column, row))
                .collect(),
        )
    }

    /// The pixels that are listed.
    fn listed(&self, rays: &[Option<Ray>], listing: RayListing) -> Vec<usize> {
        let sends = |pixel: &usize| rays[*pixel].is_some();
        let tiles = self.0.iter();
        match listing {
            RayListing::Pixels => tiles.flatten().copied().filter(sends).collect(),
            RayListing::Tiles => {
                let tiles = tiles.filter(|tile| tile.iter().any(sends));
                tiles.flatten().copied().collect()
            }
            RayListing::All => tiles.flatten().copied().collect(),
        }
    }
}

/// Materials that groups wait for, where those of a list's rays have hit these bins.
fn shade_steps(mut bins: Vec<Option<u32>>, order: HitOrder) -> usize {
    let each = |bins: &[Option<u32>]| -> usize {
        let groups = bins.chunks(GROUP);
        groups
            .map(|group| group.iter().flatten().collect::<BTreeSet<_>>().len())
            .sum()
    };
    match order {
        // Each bin begins with a group of its own.
        HitOrder::Material => {
            let mut counts = BTreeMap::new();
            for bin in bins.into_iter().flatten() {
                *counts.entry(bin).or_insert(0_usize) += 1;
            }
            counts.values().map(|count| count.div_ceil(GROUP)).sum()
        }
        HitOrder::Workgroup => {
            for block in bins.chunks_mut((SORT_BLOCK * SORT_ROUNDS) as usize) {
                block.sort();
            }
            bins.retain(Option::is_some);
            each(&bins)
        }
        HitOrder::Ray => {
            bins.retain(Option::is_some);
            each(&bins)
        }
        HitOrder::Off => each(&bins),
    }
}

impl<'a> Scene<'a> {
    fn new(
        session: &mut Session<'_>,
        offscreen: &'a Offscreen,
        moment: &Moment,
        input: &'a Input,
    ) -> Result<Self> {
        let gpu = &session.meter.gpu;
        let config = session.config;
        let lbvh = Lbvh::with_quality(gpu, tree_policy::quality(gpu, config, false));
        let mut tree = trees::allocate(gpu, &lbvh, input, config.tree.code_bits)?;
        let leaf_cutoff = config.tree.leaf_cutoff;
        tree.set_leaf_cutoff(gpu, leaf_cutoff);
        let trace = Trace::new(gpu);
        session
            .meter
            .once(|gpu, scope| Ok(lbvh.record(gpu, scope, &mut tree, Work::Rebuild)?))?;
        let built = tree.read(&session.meter.gpu)?;
        let materials = &offscreen.scene.materials[..];
        let mut bins = vec![0; materials.len()];
        for (bin, material) in (1..).zip(hit_materials::has_own(materials)) {
            bins[material] = u32::min(bin, REFLECTION_BINS - 1);
        }
        Ok(Self {
            input,
            materials,
            bins,
            tree,
            built,
            trace,
            leaf_cutoff,
            step: STEP * moment.bounds.radius(),
            reflect_below: config.reflections.below(),
        })
    }

    fn cast(&self, session: &mut Session<'_>, batch: &RayBatch) -> Result<Timings> {
        session.meter.time(
            |_| {},
            |gpu, scope| {
                let (trace, query) = (&self.trace, Query::ClosestHit);
                Ok(trace.record(gpu, scope, &self.tree, batch, query, self.leaf_cutoff)?)
            },
        )
    }

    /// The rays of `sources` with what they hit, and the surfaces there that send further ones.
    fn bounce(
        &mut self,
        session: &mut Session<'_>,
        sources: &[Option<Source>],
    ) -> Result<(Bounce, Vec<Option<Source>>)> {
        let mut random = Random(session.args.seed);
        let rays: Vec<_> = sources
            .iter()
            .map(|source| Some(source.as_ref()?.ray(self.step, &mut random)))
            .collect();
        let sent: Vec<_> = rays.iter().flatten().copied().collect();
        let mut bins = vec![None; rays.len()];
        let mut further = vec![None; rays.len()];
        if sent.is_empty() {
            return Ok((Bounce { rays, bins }, further));
        }
        let batch = RayBatch::new(&session.meter.gpu, &sent)?;
        session.meter.once(|gpu, scope| {
            let (trace, query) = (&self.trace, Query::ClosestHit);
            Ok(trace.record(gpu, scope, &self.tree, &batch, query, self.leaf_cutoff)?)
        })?;
        let hits = batch.read(&session.meter.gpu)?;
        let pixels = (0..rays.len()).filter(|pixel| rays[*pixel].is_some());
        for ((pixel, ray), hit) in pixels.zip(&sent).zip(hits) {
            if hit.is_miss() {
                continue;
            }
            let first = self.input.meshes[hit.mesh as usize].first_triangle;
            let triangle = (first + hit.triangle) as usize;
            let material = self.input.triangle_info[triangle][1] as usize;
            bins[pixel] = Some(self.bins[material]);
            let corners = self.input.indices[triangle];
            let [a, b, c] = corners.map(|corner| Vec3::from(self.input.positions[corner as usize]));
            let direction = Vec3::from(ray.direction);
            let normal = (b - a).cross(c - a).normalize_or(-direction);
            let material = &self.materials[material];
            further[pixel] = self.sends(material).then(|| Source {
                position: Vec3::from(ray.origin) + hit.t * direction,
                normal: if normal.dot(direction) > 0.0 {
                    -normal
                } else {
                    normal
                },
                to_eye: -direction,
                roughness: material.roughness,
            });
        }
        Ok((Bounce { rays, bins }, further))
    }

    /// Whether a surface of this material sends rays, by its factors.
    fn sends(&self, material: &Material) -> bool {
        let has_lobes = |layers: &Layers| layers.clearcoat > 0.0 || layers.transmission > 0.0;
        let has_lobes = material.layers.as_deref().is_some_and(has_lobes);
        !material.unlit && (material.roughness < self.reflect_below || has_lobes)
    }

    /// Counts the steps of a list of rays in lockstep, and times it.
    fn replay(&self, session: &mut Session<'_>, rays: &[Option<Ray>]) -> Result<Replayed> {
        if rays.iter().all(Option::is_none) {
            return Ok(Replayed {
                steps: 0.0,
                ms: 0.0,
            });
        }
        let query = Query::ClosestHit;
        let replay = Replay::new(&self.built, self.leaf_cutoff, Width::Four);
        let steps = replay.run(rays.iter().copied(), query).all;
        let batch: Vec<_> = rays.iter().map(|ray| ray.unwrap_or(IDLE)).collect();
        let batch = RayBatch::new(&session.meter.gpu, &batch)?;
        let timings = self.cast(session, &batch)?;
        Ok(Replayed {
            steps,
            ms: Summary::of(&timings.gpu_ms).min,
        })
    }
}

/// What a thread without a ray traces: it ends at the root.
const IDLE: Ray = Ray {
    origin: [0.0; 3],
    t_min: 0.0,
    direction: [0.0, 0.0, 1.0],
    t_max: -1.0,
};

impl Source {
    /// A ray by the lobe of its roughness.
    fn ray(&self, step: f32, random: &mut Random) -> Ray {
        let normal = match self.normal.dot(self.to_eye) < 0.0 {
            true => -self.normal,
            false => self.normal,
        };
        let (tangent, bitangent) = normal.any_orthonormal_pair();
        let local_eye = [tangent, bitangent, normal].map(|axis| f64::from(self.to_eye.dot(axis)));
        let local_eye = DVec3::from(local_eye).normalize_or(DVec3::Z);
        let alpha = match f64::from(self.roughness) < REFLECTION_MIRROR {
            true => 0.0,
            false => f64::from(self.roughness * self.roughness),
        };
        let u = [random.unit(), random.unit()].map(f64::from);
        let (direction, ..) = ggx_sample(local_eye, alpha, u);
        let [x, y, z] = direction.as_vec3().to_array();
        let direction = x * tangent + y * bitangent + z.abs() * normal;
        Ray {
            origin: (self.position + step * normal).to_array(),
            t_min: 0.0,
            direction: direction.normalize_or(normal).to_array(),
            t_max: 1e30,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_the_pixels_of_sending_tiles() {
        let tiles = Tiles::new([20, 10]);
        let mut rays = vec![None; 200];
        rays[9 * 20 + 17] = Some(IDLE);
        rays[2] = Some(IDLE);
        let listed = |listing| tiles.listed(&rays, listing);
        assert_eq!(listed(RayListing::Pixels), [2, 197]);
        // A whole tile, and one that ends with the picture.
        assert_eq!(listed(RayListing::Tiles).len(), 64 + 4 * 2);
        assert_eq!(listed(RayListing::Tiles)[8], 20);
        let mut all = listed(RayListing::All);
        all.sort();
        assert_eq!(all, (0..200).collect::<Vec<_>>());
    }

    #[test]
    fn groups_wait_for_each_of_their_materials() {
        // Two materials in turns, and a miss behind each pair.
        let bins: Vec<_> = (0..96).map(|i| [Some(0), Some(1), None][i % 3]).collect();
        let steps = |order| shade_steps(bins.clone(), order);
        assert_eq!(steps(HitOrder::Off), 3 * 2);
        assert_eq!(steps(HitOrder::Ray), 2 * 2);
        assert_eq!(steps(HitOrder::Workgroup), 2);
        assert_eq!(steps(HitOrder::Material), 2);
        assert_eq!(shade_steps(vec![None; 40], HitOrder::Off), 0);
    }
}
