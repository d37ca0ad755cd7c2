//! Generates canopy's built-in scene, a courtyard with a pavilion, as binary glTF:
//!
//! ```text
//! cargo run --example builtin_scene -- assets/builtin.glb
//! ```
//!
//! Everything is generated from shapes and seeded noise, so the file can be regenerated and modified. The
//! scene shows the renderer's main features in one view: architecture with thin shadows, a skinned creature,
//! a flower of morph targets, alpha-masked leaves, blended water, an emissive lantern, normal-mapped stone,
//! metal, and lights of all three types.

mod architecture;
mod creature;
mod mesh;
mod noise;
mod plants;
mod scene;
mod texture;
mod writer;

use anyhow::{Context, Result};

#[expect(clippy::print_stdout, reason = "the summary is what the program says")]
fn main() -> Result<()> {
    let path = std::env::args()
        .nth(1)
        .context("usage: builtin_scene OUTPUT.glb")?;
    let scene = scene::build()?;
    let (triangles, nodes) = scene.counts();
    let file = scene.finish("garden");
    std::fs::write(&path, &file).with_context(|| format!("cannot write {path}"))?;
    println!(
        "{path}: {} bytes, {triangles} triangles in {nodes} mesh nodes",
        file.len()
    );
    Ok(())
}
