//! `canopy export`: the merged world-space triangles, read back from the GPU.

use super::{TimeArgs, render};
use crate::{
    Result,
    config::Config,
    gpu::Gpu,
    output,
    render::{Channel, FrameInput, Merged, Renderer},
    scene::{self, Pose, Progress, Projection, Scene, bounds::Aabb, deform, framing::Viewpoint},
};
use clap::Args;
use std::{collections::HashSet, fmt::Write, ops::Range, path::PathBuf};

/// `canopy export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Scene files; several make one scene, none takes the built-in one
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The .obj file to write
    #[arg(short, long, value_name = "OUT.obj")]
    pub output: PathBuf,
    /// When.
    #[command(flatten)]
    pub time: TimeArgs,
}

/// The frame that is drawn so that the buffers are filled.
const SIZE: [u32; 2] = [16, 16];

/// Deforms the scene on the GPU and writes what is then in the buffers.
pub fn run(args: &ExportArgs, mut config: Config) -> Result<()> {
    args.time.apply(&mut config)?;
    output::extension(&args.output, &["obj"])?;
    output::check_writable(&args.output)?;
    let mut scene = scene::load(&args.files, &config.load, &Progress::default())?;
    scene.choose_variant(scene.variant(&config.scene.variant)?);
    scene.warnings.iter().for_each(|line| log::warn!("{line}"));
    let clip = scene.clip(&config.animation.clip)?;
    let pose = Pose::new(&scene, clip, config.animation.time);
    let merged = merge(&scene, &pose, &config)?;
    output::write(&args.output, obj(&scene, &pose, &merged).as_bytes())
}

fn merge(scene: &Scene, pose: &Pose, config: &Config) -> Result<Merged> {
    let gpu = Gpu::new(&config.gpu)?;
    let mut renderer = Renderer::new(&gpu)?;
    let mut uploaded = renderer.uploader().upload(&gpu, scene, config)?;
    let points = deform::positions(scene, pose);
    let lens = Projection::Perspective { fov_y: 1.0 };
    let target = render::target(&gpu, SIZE)?;
    let input = FrameInput {
        scene,
        pose,
        view: render::view(&Viewpoint::framing(&points, lens, 1.0), Aabb::of(points)),
        config,
        exposure_ev: 0.0,
        elapsed_secs: f32::INFINITY,
        channel: Channel::Lit,
        size: SIZE,
    };
    let mut encoder = gpu.encoder("export");
    let view = target.create_view(&wgpu::TextureViewDescriptor {
        label: Some("export"),
        ..Default::default()
    });
    renderer.record(&gpu, &mut encoder, &input, &mut uploaded, &view)?;
    renderer.submit(&gpu, encoder);
    gpu.wait()?;
    renderer.read_merged(&gpu, &uploaded.buffers)
}

/// Wavefront OBJ: an object for each mesh instance that shows, positions and normals with the digits that bring every f32 back.
fn obj(scene: &Scene, pose: &Pose, merged: &Merged) -> String {
    let shows = |((node, _), _): &((usize, usize), _)| pose.visible[*node];
    let shown = || scene.instances().zip(&merged.meshes).filter(shows);
    let triangles = |range: &Range<u32>| &merged.indices[range.start as usize..range.end as usize];
    // The numbers of the vertices in the file, from 1.
    let mut numbers = vec![0; merged.positions.len()];
    for vertex in shown().flat_map(|(_, range)| triangles(range).as_flattened()) {
        numbers[*vertex as usize] = 1;
    }
    let mut count = 0;
    for number in numbers.iter_mut().filter(|number| **number > 0) {
        count += 1;
        *number = count;
    }
    let mut text = String::from("# canopy: world-space triangles\n");
    // Writing to a String cannot fail.
    for (p, _) in merged
        .positions
        .iter()
        .zip(&numbers)
        .filter(|(_, number)| **number > 0)
    {
        writeln!(text, "v {} {} {}", p.x, p.y, p.z).ok();
    }
    for (n, _) in merged
        .normals
        .iter()
        .zip(&numbers)
        .filter(|(_, number)| **number > 0)
    {
        writeln!(text, "vn {} {} {}", n.x, n.y, n.z).ok();
    }
    let mut taken = HashSet::new();
    for ((node, mesh), range) in shown() {
        let names = [&scene.nodes[node].name, &scene.meshes[mesh].name];
        writeln!(text, "o {}", object_name(names, node, &mut taken)).ok();
        for triangle in triangles(range) {
            let [a, b, c] = triangle.map(|vertex| numbers[vertex as usize]);
            writeln!(text, "f {a}//{a} {b}//{b} {c}//{c}").ok();
        }
    }
    text
}

/// The first of `names` that is one, without what OBJ readers stumble over, and unlike those before it.
fn object_name(names: [&String; 2], node: usize, taken: &mut HashSet<String>) -> String {
    let clean = |name: &&String| -> String {
        let plain = |c: char| {
            if c.is_whitespace() || c.is_control() || c == '#' || c == '\\' {
                '_'
            } else {
                c
            }
        };
        name.chars().map(plain).collect()
    };
    let found = names.iter().map(clean).find(|name| !name.is_empty());
    let mut name = found.unwrap_or_else(|| format!("node_{node}"));
    if taken.contains(&name) {
        name = format!("{name}_{node}");
    }
    taken.insert(name.clone());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_names_are_clean_and_unique() {
        let mut taken = HashSet::new();
        let mut name =
            |a: &str, b: &str, node| object_name([&a.into(), &b.into()], node, &mut taken);
        assert_eq!(name("a b#c", "", 0), "a_b_c");
        assert_eq!(name("", "mesh", 1), "mesh");
        assert_eq!(name("", "", 2), "node_2");
        assert_eq!(name("", "mesh", 3), "mesh_3");
    }
}
