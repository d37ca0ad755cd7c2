//! `canopy export`: writes the merged world-space triangles, read back from the GPU.

use super::{offscreen, options::TimeArgs, report::Report};
use crate::{
    Result,
    config::Config,
    output::{self, numbers},
    render::Merged,
    scene::{Pose, Scene},
};
use clap::Args;
use glam::Vec3;
use std::{collections::HashSet, fmt::Write, ops::Range, path::PathBuf};

/// Arguments of `canopy export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Scene files, merged into one scene, or - for standard input; default: the built-in scene
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Output file (.obj)
    #[arg(short, long, value_name = "OUT.obj")]
    pub output: PathBuf,
    /// Time and material variant.
    #[command(flatten)]
    pub time: TimeArgs,
}

/// Deforms the scene on the GPU and writes the merged buffers as OBJ.
///
/// # Errors
///
/// [`crate::Error::Usage`] if the output is not an .obj file. Any error of loading and drawing.
pub fn run(args: &ExportArgs, mut config: Config, quiet: bool) -> Result<()> {
    args.time.apply(&mut config)?;
    output::extension(&args.output, &["obj"])?;
    output::check_writable(&args.output)?;
    let report = Report::new(quiet);
    let (offscreen, moment) = offscreen::deformed(&report, &args.files, config)?;
    report.line.stage("writing");
    let text = report.stage("write", "reading back and writing", || {
        let (merged, origin) = offscreen.merged_from_origin()?;
        let text = obj(&offscreen.scene, &moment.pose, &merged, origin);
        output::write(&args.output, text.as_bytes()).map(|()| text)
    })?;
    let bytes = numbers::bytes(text.len() as u64);
    let triangles = text.matches("\nf ").count() as u64;
    let triangles = numbers::grouped(triangles);
    let out = args.output.display();
    report.wrote(&format!("{out} ({triangles} triangles, {bytes})"));
    Ok(())
}

/// Formats the Wavefront OBJ text, with an object for each visible mesh instance. Positions and normals have
/// enough digits to reproduce every f32. Positions are relative to `origin`. If that is not the world origin,
/// the sums are printed with the digits of an f64.
fn obj(scene: &Scene, pose: &Pose, merged: &Merged, origin: Vec3) -> String {
    let shows = |((node, _), _): &((usize, usize), _)| pose.visible[*node];
    let shown = || scene.instances().zip(&merged.meshes).filter(shows);
    let triangles = |range: &Range<u32>| &merged.indices[range.start as usize..range.end as usize];
    // Vertex numbers in the file, from 1, or 0 if no visible triangle uses the vertex.
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
        if origin == Vec3::ZERO {
            writeln!(text, "v {} {} {}", p.x, p.y, p.z).ok();
        } else {
            let p = p.as_dvec3() + origin.as_dvec3();
            writeln!(text, "v {} {} {}", p.x, p.y, p.z).ok();
        }
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

/// Returns the first of `names` that is not empty. Makes it unique and replaces characters that OBJ readers
/// reject.
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
    fn exported_object_names_are_sanitized_and_unique() {
        let mut taken = HashSet::new();
        let mut name = |a: &str, b: &str, node| object_name([&a.into(), &b.into()], node, &mut taken);
        assert_eq!(name("a b#c", "", 0), "a_b_c");
        assert_eq!(name("", "mesh", 1), "mesh");
        assert_eq!(name("", "", 2), "node_2");
        assert_eq!(name("", "mesh", 3), "mesh_3");
    }
}
