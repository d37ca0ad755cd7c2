//! Sorting and BVH builds, stage by stage. Each stage is compared with its CPU reference on the previous
//! stage's output.

use super::{
    checks::{Checks, Verdict},
    implementations::Implementation,
};
use crate::{
    Result,
    accel::{
        Codes, Cost, Lbvh, MeshRange, Quality, Tree, Work, codes,
        layout::{NODE_ROWS, Node, TRIANGLE_ROWS},
        sort::RadixSort,
        tree::TreeData,
    },
    cli::bench::{
        inputs::{Input, TriangleKind, generate},
        trees::allocate,
    },
    gpu::{Array, Gpu, profiler::Stopwatch},
    reference,
    scene::bounds::Aabb,
};

/// Names of the build stages in a report.
const STAGES: [&str; 9] = [
    "bounds",
    "morton",
    "sort by code and mesh",
    "tlas",
    "leaves",
    "hierarchy",
    "cost",
    "refit, some meshes",
    "ploc",
];

/// First fault of each stage over all inputs.
type Faults = [Option<String>; STAGES.len()];

pub(super) fn check(checks: &mut Checks, implementations: &[Implementation]) {
    let inputs = inputs();
    let triangles: usize = inputs.iter().map(|(_, input)| input.indices.len()).sum();
    let what = format!("{} inputs of {triangles} triangles", inputs.len());
    let mut first: Option<Vec<Option<TreeData>>> = None;
    for Implementation { name, gpu } in implementations {
        checks.make(name, "sort", || sort(gpu));
        let stopwatch = Stopwatch::new();
        let mut faults = Faults::default();
        let built = builds(gpu, &inputs, &mut faults);
        // All stages are checked together, so the first stage reports the total time and the others 0.
        let mut secs = stopwatch.ms() / 1e3;
        for (stage, fault) in STAGES.iter().zip(faults) {
            let found = match (&built, fault) {
                (Err(error), _) => Err(error.to_string()),
                (Ok(_), Some(fault)) => Err(fault),
                (Ok(_), None) => Ok(what.clone()),
            };
            checks.add(name, stage, found, std::mem::take(&mut secs));
        }
        let Ok(built) = built else { continue };
        match &first {
            None => first = Some(built),
            Some(first) => checks.make(name, "bit for bit", || Ok(equal(first, &built))),
        }
    }
}

/// Passes if two implementations built the same trees.
fn equal(first: &[Option<TreeData>], second: &[Option<TreeData>]) -> Verdict {
    for (number, (a, b)) in first.iter().zip(second).enumerate() {
        let (Some(a), Some(b)) = (a, b) else { continue };
        let are_equal = bytes(&a.triangles) == bytes(&b.triangles)
            && a.nodes == b.nodes
            && bytes(&a.tlas) == bytes(&b.tlas);
        if !are_equal {
            return Err(format!(
                "BVH {number} differs from the BVH of the first implementation"
            ));
        }
    }
    Ok(format!("{} trees", first.len()))
}

/// Generates inputs of every kind. Triangle counts lie around the sizes of workgroups and blocks.
fn inputs() -> Vec<(String, Input)> {
    let mut inputs = Vec::new();
    for size in [0, 1, 2, 33, 256, 511, 512, 1023, 1024, 2049, 20_001] {
        let input = generate(TriangleKind::Soup, size, 1, 7);
        inputs.push((format!("soup of {size}"), input));
    }
    for kind in [TriangleKind::Terrain, TriangleKind::Slivers, TriangleKind::Equal] {
        let input = generate(kind, 3000, 1, 3);
        inputs.push((format!("{} of 3000", kind.name()), input));
    }
    // With keys that contain the mesh, and keys that do not.
    for (triangles, meshes) in [(6000, 5), (6000, 150), (40_000, 5)] {
        let input = generate(TriangleKind::Meshes, triangles, meshes, 5);
        inputs.push((format!("{meshes} meshes of {triangles}"), input));
    }
    let mut broken = generate(TriangleKind::Soup, 700, 1, 9);
    for (place, x) in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX]
        .into_iter()
        .enumerate()
    {
        if let Some(position) = broken.positions.get_mut(100 * place) {
            position[place % 3] = x;
        }
    }
    inputs.push(("numbers that are none".into(), broken));
    inputs
}

/// Builds the trees of all inputs and records faults. The result is `None` for inputs without a reference.
fn builds(gpu: &Gpu, inputs: &[(String, Input)], faults: &mut Faults) -> Result<Vec<Option<TreeData>>> {
    let (fast, high) = (Lbvh::new(gpu), Lbvh::with_quality(gpu, Quality::High));
    let cost = Cost::new(gpu);
    let mut built = Vec::new();
    for (name, input) in inputs {
        for (lbvh, bits, cutoff) in [(&high, 30, 1), (&fast, 63, 2)] {
            let mut tree = allocate(gpu, lbvh, input, bits)?;
            tree.set_leaf_cutoff(gpu, cutoff);
            tree.set_quality(Quality::Fast);
            record(gpu, lbvh, &mut tree, Work::Rebuild)?;
            let name = format!("{name}, {bits} bits");
            let data = stages(gpu, &name, input, &tree, bits, faults)?;
            if let Some(data) = &data {
                costs(gpu, &cost, &name, input, (&tree, data), faults)?;
                again(gpu, lbvh, &name, input, (&mut tree, data), faults)?;
                if bits == 30 {
                    ploc(gpu, lbvh, &name, input, &mut tree, faults)?;
                }
            }
            built.push(data);
        }
    }
    Ok(built)
}

fn record(gpu: &Gpu, lbvh: &Lbvh, tree: &mut Tree, work: Work) -> Result<()> {
    let mut encoder = gpu.encoder("selftest");
    lbvh.record(gpu, &mut encoder, tree, work)?;
    gpu.queue.submit([encoder.finish()]);
    Ok(gpu.wait()?)
}

fn note(faults: &mut Faults, stage: usize, name: &str, is_right: bool) {
    if !is_right {
        faults[stage].get_or_insert_with(|| format!("differs from its twin for {name}"));
    }
}

/// Compares each stage of a build with its reference. Leaves and nodes need sorted items, so the result is
/// `None` without them.
fn stages(
    gpu: &Gpu,
    name: &str,
    input: &Input,
    tree: &Tree,
    bits: u32,
    faults: &mut Faults,
) -> Result<Option<TreeData>> {
    let (triangles, meshes) = (input.triangles(), &input.meshes);
    let with_tlas = reference::lbvh::with_tlas(meshes);
    let words: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(tree.mesh_bounds())?);
    let mesh_bounds: Vec<(Aabb, Aabb)> = words
        .chunks_exact(12)
        .take(meshes.len())
        .map(|words| {
            (
                reference::lbvh::decode_bounds(words),
                reference::lbvh::decode_bounds(&words[6..]),
            )
        })
        .collect();
    let twin = reference::lbvh::bounds(&triangles, meshes);
    note(faults, 0, name, mesh_bounds == twin);

    let sorted_codes = tree.sorted_codes(gpu)?;
    let mut order: Vec<u32> = tree.order().read(gpu)?;
    order.truncate(sorted_codes.len());
    let mut item_codes = vec![u64::MAX; sorted_codes.len()];
    for (item, code) in order.iter().zip(&sorted_codes) {
        if let Some(place) = item_codes.get_mut(*item as usize) {
            *place = *code;
        }
    }
    let suits = Codes::of_bits(bits, []);
    let axis_bits = codes::axis_bits(meshes, suits);
    let twin = reference::lbvh::morton(&triangles, meshes, &mesh_bounds, axis_bits);
    let is_right = reference::lbvh::are_near(&item_codes, &twin, meshes.len(), axis_bits);
    note(faults, 1, name, is_right);
    let twin = reference::lbvh::order(&item_codes, &with_tlas);
    let is_sorted = order == twin;
    note(faults, 2, name, is_sorted);
    if !is_sorted {
        return Ok(None);
    }

    let data = tree.read(gpu)?;
    let twin = reference::lbvh::tlas(meshes, &mesh_bounds);
    note(faults, 3, name, data.tlas == twin);
    let leaves = reference::lbvh::leaves(&triangles, &input.triangle_info, &data.tlas, &order);
    note(faults, 4, name, bytes(&data.triangles) == bytes(&leaves));
    let twin = reference::lbvh::hierarchy(&sorted_codes, &leaves, &with_tlas, data.leaf_cutoff);
    let is_right = are_nodes(&data, &twin);
    note(faults, 5, name, is_right && data.validate(meshes).is_ok());
    Ok(is_right.then_some(data))
}

/// True if the tree has exactly the nodes of the reference.
fn are_nodes(data: &TreeData, twin: &[Option<(Node, f64)>]) -> bool {
    let made = data.nodes.iter().zip(&data.node_areas);
    let mut pairs = made.zip(twin);
    pairs.all(|((node, area), twin)| match twin {
        Some((twin, _)) => *area >= 0.0 && node == twin,
        None => *area < 0.0,
    })
}

/// Checks high-quality trees, built from an order that has already been checked.
fn ploc(
    gpu: &Gpu,
    lbvh: &Lbvh,
    name: &str,
    input: &Input,
    tree: &mut Tree,
    faults: &mut Faults,
) -> Result<()> {
    tree.build_only(gpu, None);
    tree.set_quality(Quality::High);
    clear(gpu, tree, &input.meshes, None);
    record(gpu, lbvh, tree, Work::Rebuild)?;
    let data = tree.read(gpu)?;
    let (triangles, meshes) = (input.triangles(), &input.meshes);
    let order: Vec<u32> = tree.order().read(gpu)?;
    let items = &order[..triangles.len() + meshes.len()];
    let sorted = reference::lbvh::leaves(&triangles, &input.triangle_info, &data.tlas, items);
    let with_tlas = reference::lbvh::with_tlas(meshes);
    let (leaves, nodes) = reference::ploc::hierarchy(&sorted, &with_tlas, data.leaf_cutoff);
    let is_right = bytes(&data.triangles) == bytes(&leaves) && are_nodes(&data, &nodes);
    note(faults, 8, name, is_right && data.validate(meshes).is_ok());
    Ok(())
}

/// Checks the expected traversal cost of a tree.
fn costs(
    gpu: &Gpu,
    cost: &Cost,
    name: &str,
    input: &Input,
    (tree, data): (&Tree, &TreeData),
    faults: &mut Faults,
) -> Result<()> {
    let room = cost.buffers(gpu, tree);
    let mut encoder = gpu.encoder("selftest");
    cost.record(gpu, &mut encoder, &room)?;
    gpu.queue.submit([encoder.finish()]);
    let found: Vec<f32> = bytemuck::pod_collect_to_vec(&gpu.read(&room.result)?);
    let meshes = reference::lbvh::with_tlas(&input.meshes);
    let codes = tree.sorted_codes(gpu)?;
    let nodes = reference::lbvh::hierarchy(&codes, &data.triangles, &meshes, data.leaf_cutoff);
    let twin = reference::lbvh::cost(&nodes, input.indices.len(), input.meshes.len());
    let near = |a: f32, b: f64| (f64::from(a) - b).abs() <= 1e-3 * b + 1e-30;
    let is_right = found.len() >= 2 && near(found[0], twin.0) && near(found[1], twin.1);
    note(faults, 6, name, is_right);
    Ok(())
}

/// Checks that a refit, and a rebuild of every second mesh, reproduce the same trees for unmoved triangles.
fn again(
    gpu: &Gpu,
    lbvh: &Lbvh,
    name: &str,
    input: &Input,
    (tree, before): (&mut Tree, &TreeData),
    faults: &mut Faults,
) -> Result<()> {
    let is_second = |(number, _): (usize, &MeshRange)| number % 2 == 1;
    let some: Vec<bool> = input.meshes.iter().enumerate().map(is_second).collect();
    for (work, meshes) in [(Work::Refit, None), (Work::Rebuild, Some(&some[..]))] {
        if meshes.is_some_and(|meshes| !meshes.contains(&true)) {
            continue;
        }
        tree.build_only(gpu, meshes);
        clear(gpu, tree, &input.meshes, meshes);
        record(gpu, lbvh, tree, work)?;
        let after = tree.read(gpu)?;
        let is_right = bytes(&after.triangles) == bytes(&before.triangles)
            && after.nodes == before.nodes
            && after.node_areas == before.node_areas;
        note(faults, 7, name, is_right);
    }
    Ok(())
}

/// Clears the data that will be rebuilt: some meshes, or all meshes and the TLAS.
fn clear(gpu: &Gpu, tree: &Tree, meshes: &[MeshRange], some: Option<&[bool]>) {
    let mut encoder = gpu.encoder("selftest");
    let arrays = [(&tree.triangles, TRIANGLE_ROWS), (&tree.nodes, NODE_ROWS)];
    for (array, rows) in arrays {
        let row = 16 * u64::from(rows);
        let Some(some) = some else {
            encoder.clear_buffer(array.buffer(), 0, None);
            continue;
        };
        for (range, _) in meshes.iter().zip(some).filter(|(_, is_built)| **is_built) {
            let [first, count] = [range.first_triangle, range.triangle_count].map(u64::from);
            encoder.clear_buffer(array.buffer(), first * row, Some(count * row));
        }
    }
    gpu.queue.submit([encoder.finish()]);
}

/// Casts to bytes, so that a comparison treats equal NaNs as equal.
fn bytes<T: bytemuck::NoUninit>(list: &[T]) -> &[u8] {
    bytemuck::cast_slice(list)
}

/// Compares the radix sort with the stable sort of the standard library.
fn sort(gpu: &Gpu) -> Result<Verdict> {
    let sort = RadixSort::new(gpu);
    let mut pairs = 0;
    for count in [1, 255, 2048, 2049, 4097, 100_003] {
        for bits in [32, 24, 8] {
            let mut state: u32 = count;
            let mut keys = Vec::new();
            for _ in 0..count {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Makes some keys frequent.
                keys.push(if state >> 30 == 0 { state >> 24 } else { state });
            }
            if sorted(gpu, &sort, &keys, bits)? != twin_order_of(&keys, bits) {
                return Ok(Err(format!("{count} keys of {bits} bits come in another order")));
            }
            pairs += count;
        }
    }
    Ok(Ok(format!("{pairs} pairs")))
}

fn twin_order_of(keys: &[u32], bits: u32) -> Vec<u32> {
    let mask = u32::MAX >> (32 - bits);
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    order.sort_by_key(|i| keys[*i as usize] & mask);
    order
}

/// Sorts the keys by their lowest `bits` on the GPU and returns the order.
fn sorted(gpu: &Gpu, sort: &RadixSort, keys: &[u32], bits: u32) -> Result<Vec<u32>> {
    let count = keys.len() as u32;
    let pairs = sort.buffers(gpu, count)?;
    let mut digits = sort.digits(gpu, &pairs, 0, bits, true);
    digits.set_count(gpu, count);
    gpu.queue
        .write_buffer(pairs.keys[0].buffer(), 0, bytemuck::cast_slice(keys));
    let mut encoder = gpu.encoder("selftest");
    pairs.keys[0].publish(&mut encoder, 0..count);
    sort.record(gpu, &mut encoder, &pairs, &digits)?;
    gpu.queue.submit([encoder.finish()]);
    let values: &Array = &pairs.values[digits.output()];
    let mut order: Vec<u32> = values.read(gpu)?;
    order.truncate(keys.len());
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accel::layout::{LeafTriangle, Node};

    #[test]
    fn differing_trees_are_detected() {
        let data = TreeData {
            leaf_cutoff: 1,
            tlas: Vec::new(),
            nodes: vec![Node::default()],
            node_areas: vec![1.0],
            triangles: vec![LeafTriangle::default()],
        };
        let tree = || Some(data.clone());
        assert!(equal(&[tree(), None], &[tree(), tree()]).is_ok());
        let mut other = data.clone();
        other.nodes[0].ends[2] = 1;
        assert!(equal(&[tree()], &[Some(other)]).is_err(), "another node passes");
        let mut other = data.clone();
        other.triangles[0].payload = 1;
        assert!(equal(&[tree()], &[Some(other)]).is_err(), "another leaf passes");
    }

    #[test]
    fn the_first_fault_of_a_stage_is_kept() {
        let mut faults = Faults::default();
        note(&mut faults, 1, "one", true);
        assert_eq!(faults[1], None);
        note(&mut faults, 1, "two", false);
        note(&mut faults, 1, "three", false);
        assert_eq!(faults[1].as_deref(), Some("differs from its twin for two"));
    }

    #[test]
    fn equal_keys_keep_their_order() {
        assert_eq!(twin_order_of(&[0x102, 0x201, 2, 1], 8), [1, 3, 0, 2]);
        assert_eq!(twin_order_of(&[0x102, 0x201, 2, 1], 32), [3, 2, 0, 1]);
    }
}
