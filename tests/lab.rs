//! The laboratory: every triangle test against its twin, every combination against every triangle in f64, and
//! columns of wrong hits that are not always 0.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod common;

use canopy::{
    accel::{
        Lbvh, Query, Ray,
        layout::{BVH_MISS, Visits},
    },
    gpu::{Gpu, layout::LabHit},
    lab::{
        Built, Kernels, RayList, Structure, Triangle, TriangleTest, Uploaded, Walk,
        binary_tree::BinaryTree,
        exact::{self, Exact, Wrong},
        grid_build::GridBuild,
        kernels::Threads,
        ray_order::RayOrder,
    },
    reference::{
        lab_tests::{self as twin, Counted, Found, Number},
        lab_walks::{self, Walked},
    },
};
use common::{Random, Soup, gpu};
use glam::Vec3;
use serde_json::Value;
use std::{
    path::Path,
    process::{Command, Output},
};

fn twin_of<N: Number>(test: TriangleTest) -> fn(&[[f32; 4]; 3], &Ray) -> Found<N> {
    match test {
        TriangleTest::Areas => twin::areas,
        TriangleTest::MollerTrumbore => twin::moller_trumbore,
        TriangleTest::BaldwinWeber => twin::baldwin_weber,
        TriangleTest::UnitTriangle => twin::unit_triangle,
        TriangleTest::Plucker => twin::plucker,
        TriangleTest::Watertight => twin::watertight,
    }
}

/// Rays of all directions from around the cube of ±1 into it.
fn rays(count: usize, seed: u64) -> Vec<Ray> {
    let mut random = Random(seed);
    let mut ray = |_| {
        let origin = 2.0 * random.cube();
        let direction = (random.cube() - origin).normalize();
        Ray {
            origin: origin.to_array(),
            t_min: 0.0,
            direction: direction.to_array(),
            t_max: 10.0,
        }
    };
    (0..count).map(&mut ray).collect()
}

fn exact(triangles: &[Triangle], rays: &[Ray]) -> Vec<Option<Exact>> {
    rays.iter()
        .map(|ray| exact::closest(triangles, ray))
        .collect()
}

/// One leaf that holds up to eight triangles.
fn one_leaf(triangles: &[Triangle]) -> Built {
    let tree = Structure::Sah.tree(triangles).unwrap().with_leaves(8);
    tree.binary().unwrap()
}

fn trace(
    gpu: &Gpu,
    built: &Built,
    triangles: &[Triangle],
    rays: &[Ray],
    test: TriangleTest,
) -> Vec<LabHit> {
    let scene = Uploaded::new(gpu, built, triangles, test, Walk::Private).unwrap();
    let list = RayList::new(gpu, rays).unwrap();
    let kernels = Kernels::new(gpu, test, Walk::Private);
    kernels
        .run(gpu, &scene, &list, Query::ClosestHit, Threads::PerRay)
        .unwrap()
}

/// A row of triangles that share edges, seen along −z, far from the origin; and rays exactly at points of
/// those edges.
fn strip(far: f32) -> (Vec<Triangle>, Vec<Ray>) {
    let corner = |i: usize, random: &mut Random| {
        let x = i as f32 * 0.37 + 0.1 * random.unit();
        Vec3::new(
            far + x,
            far + (i % 2) as f32 + 0.1 * random.unit(),
            far + 0.05 * random.unit(),
        )
    };
    let mut random = Random(5);
    let corners: Vec<Vec3> = (0..10).map(|i| corner(i, &mut random)).collect();
    let triangles: Vec<Triangle> = (0..8)
        .map(|i| [corners[i], corners[i + 1], corners[i + 2]])
        .collect();
    let mut ray = |i: usize| {
        // The edges between two triangles.
        let edge = 1 + i % 8;
        let (a, b) = (corners[edge], corners[edge + 1]);
        let at = a + (b - a) * (0.05 + 0.9 * random.unit());
        let away = (random.cube() * 0.5 + 1.5 * Vec3::Z).normalize();
        let origin = at + 3.0 * away;
        Ray {
            origin: origin.to_array(),
            t_min: 0.0,
            direction: (at - origin).to_array(),
            t_max: 10.0,
        }
    };
    // Edge 8 has a triangle on one side alone.
    let rays = (0..8 * 600).filter(|i| i % 8 != 7).map(&mut ray).collect();
    (triangles, rays)
}

#[test]
fn tests_do_what_their_twins_do() {
    let gpu = gpu();
    let mut soup = Soup::random(6, 3).triangles();
    for triangle in &mut soup {
        // Large enough to be hit often.
        let center = (triangle[0] + triangle[1] + triangle[2]) / 3.0;
        *triangle = triangle.map(|corner| center + 3.0 * (corner - center));
    }
    // One without an area, which nothing hits.
    soup.push([Vec3::ZERO, Vec3::X, 2.0 * Vec3::X]);
    let built = one_leaf(&soup);
    let rays = rays(4000, 7);
    for test in TriangleTest::ALL {
        let hits = trace(&gpu, &built, &soup, &rays, test);
        let twin = twin_of::<f32>(test);
        let mut differ = 0;
        for (ray, hit) in rays.iter().zip(&hits) {
            let mut nearest = (
                LabHit {
                    t: ray.t_max,
                    leaf: BVH_MISS,
                    ..LabHit::default()
                },
                *ray,
            );
            for (leaf, triangle) in (0..).zip(&built.order) {
                let rows = test.rows(&soup[*triangle as usize]);
                if let Some([t, u, v]) = twin(&rows, &nearest.1) {
                    nearest = (LabHit { t, u, v, leaf }, Ray { t_max: t, ..*ray });
                }
            }
            let (expected, _) = nearest;
            let near = |a: f32, b: f32| (a - b).abs() < 1e-3;
            let same = hit.leaf == expected.leaf
                && near(hit.t, expected.t)
                && near(hit.u, expected.u)
                && near(hit.v, expected.v);
            differ += u32::from(!same);
        }
        let found = hits.iter().filter(|hit| hit.leaf != BVH_MISS).count();
        assert!(found > 300, "{}: {found} hits", test.name());
        assert!(
            hits.iter()
                .all(|hit| hit.leaf == BVH_MISS || built.order[hit.leaf as usize] != 6)
        );
        // Where they round differently, a ray at an edge may fall to the other side.
        assert!(differ <= 4, "{}: {differ} differ", test.name());
    }
}

#[test]
fn cracks_are_counted_and_the_watertight_test_has_none() {
    let gpu = gpu();
    let mut cracks = 0;
    for far in [0.0, 1000.0] {
        let (triangles, rays) = strip(far);
        let built = one_leaf(&triangles);
        let exact = exact(&triangles, &rays);
        assert!(exact.iter().all(Option::is_some));
        let wrong = |test| -> Wrong {
            let hits = trace(&gpu, &built, &triangles, &rays, test);
            exact::compare(hits, &exact, Query::ClosestHit, 1e-3)
        };
        let all = TriangleTest::ALL.map(|test| (test.name(), wrong(test)));
        let of =
            |test: TriangleTest| all[TriangleTest::ALL.iter().position(|t| *t == test).unwrap()].1;
        assert_eq!(of(TriangleTest::Watertight).missed, 0, "{all:?}");
        // It has few: those of both strips count.
        cracks += of(TriangleTest::MollerTrumbore).cracks;
        assert!(of(TriangleTest::UnitTriangle).cracks > 0, "{far}: {all:?}");
    }
    assert!(cracks > 0);
}

#[test]
fn operations_are_counted() {
    let triangle = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let ray = Ray {
        origin: [0.25, 0.25, 1.0],
        t_min: 0.0,
        direction: [0.0, 0.0, -1.0],
        t_max: 5.0,
    };
    let count = |test: TriangleTest| {
        let rows = test.rows(&triangle);
        Counted::operations(|| assert!(twin_of::<Counted>(test)(&rows, &ray).is_some()))
    };
    // Two crosses (9 each), four dots (5 each), three differences (3 each), a division, three products and a
    // sum.
    assert_eq!(count(TriangleTest::MollerTrumbore), 18 + 20 + 9 + 1 + 3 + 1);
    let counts = TriangleTest::ALL.map(count);
    assert!(
        counts.iter().all(|count| (20..120).contains(count)),
        "{counts:?}"
    );
    assert!(count(TriangleTest::BaldwinWeber) < count(TriangleTest::UnitTriangle));
    assert!(count(TriangleTest::UnitTriangle) < count(TriangleTest::MollerTrumbore));
}

/// The structure as `walk` reads it.
fn built(gpu: &Gpu, soup: &Soup, structure: Structure, walk: Walk) -> Built {
    let triangles = soup.triangles();
    if let Some(built) = structure.cells(&triangles).unwrap() {
        return built;
    }
    let tree = match structure.on_gpu() {
        Some(quality) => {
            let lbvh = Lbvh::with_quality(gpu, quality);
            let data = soup.build(gpu, &lbvh).read(gpu).unwrap();
            BinaryTree::of(&data, &triangles).unwrap()
        }
        None => structure.tree(&triangles).unwrap(),
    };
    let tree = tree.with_leaves(4);
    check_tree(&tree, &triangles);
    tree.laid_out(walk.layout()).unwrap().unwrap()
}

/// Every triangle once, in boxes that hold it.
fn check_tree(tree: &BinaryTree, triangles: &[Triangle]) {
    let mut seen = vec![0; triangles.len()];
    for node in &tree.nodes {
        if node.children.is_none() {
            for leaf in node.leaves.clone() {
                let triangle = tree.order[leaf as usize] as usize;
                seen[triangle] += 1;
                for corner in triangles[triangle] {
                    assert!(
                        corner.cmpge(node.bounds.min).all() && corner.cmple(node.bounds.max).all()
                    );
                }
            }
        }
        for child in node.children.into_iter().flatten() {
            let child = &tree.nodes[child as usize];
            assert_eq!(child.bounds.union(node.bounds), node.bounds);
        }
    }
    assert!(seen.iter().all(|times| *times == 1));
}

#[test]
fn every_walk_through_every_structure_hits_what_every_triangle_does() {
    let gpu = gpu();
    let soup = Soup::random(700, 11);
    let triangles = soup.triangles();
    let mut rays = rays(900, 13);
    // Along the axes, and a gap.
    for (i, axis) in [Vec3::X, Vec3::NEG_Y, Vec3::Z].into_iter().enumerate() {
        rays[i].origin = (-2.0 * axis).to_array();
        rays[i].direction = axis.to_array();
    }
    rays[3].t_max = -1.0;
    let expected = exact(&triangles, &rays);
    let list = RayList::new(&gpu, &rays).unwrap();
    let test = TriangleTest::Watertight;
    for walk in Walk::ALL {
        let kernels = Kernels::new(&gpu, test, walk);
        for structure in Structure::ALL.into_iter().filter(|s| s.has(walk)) {
            let what = format!("{} through {}", walk.name(), structure.name());
            let built = built(&gpu, &soup, structure, walk);
            let scene = Uploaded::new(&gpu, &built, &triangles, test, walk).unwrap();
            for query in [Query::ClosestHit, Query::AnyHit] {
                let run = |threads| kernels.run(&gpu, &scene, &list, query, threads).unwrap();
                let hits = run(Threads::PerRay);
                let wrong = exact::compare(hits.clone(), &expected, query, 1e-5);
                assert_eq!(wrong.all(), 0, "{what}, {query:?}: {wrong:?}");
                let found = hits.iter().filter(|hit| hit.leaf != BVH_MISS).count();
                assert!(found > 100, "{what}: {found}");
                if structure == Structure::Sah || walk == Walk::Grid {
                    assert_eq!(run(Threads::Persistent), hits, "{what}");
                }
            }
            let visits = kernels
                .count(&gpu, &scene, &list, Query::ClosestHit)
                .unwrap();
            assert_eq!(visits[3].nodes + visits[3].triangles, 0, "a gap is no ray");
            check_visits(&what, (&built, walk), (&triangles, test), &rays, &visits);
            let nodes: u32 = visits.iter().map(|v| v.nodes).sum();
            assert!(nodes > 900 && nodes < 900 * 200, "{what}: {nodes} nodes");
        }
    }
}

/// What rays visit is what the walk's twin visits, and not what another walk's does. Where they round differently, a ray
/// may pass a box or a cell otherwise.
fn check_visits(
    what: &str,
    (built, walk): (&Built, Walk),
    (triangles, test): (&[Triangle], TriangleTest),
    rays: &[Ray],
    visits: &[Visits],
) {
    let rows = built
        .order
        .iter()
        .map(|number| test.rows(&triangles[*number as usize]));
    let rows: Vec<_> = rows.collect();
    let on = Walked {
        rows: &built.rows,
        links: &built.links,
        triangles: &rows,
        bounds: [built.bounds.min, built.bounds.max],
        root: built.root,
        cells: built.cells,
    };
    let differing = |by: fn(&mut lab_walks::Walk<'_>)| {
        let differs = |(ray, visited): (&Ray, &Visits)| {
            let mut twin = lab_walks::Walk::new(on, twin_of(test), *ray, false);
            if ray.t_max > ray.t_min {
                by(&mut twin);
            }
            (twin.nodes, twin.triangles) != (visited.nodes, visited.triangles)
        };
        rays.iter()
            .zip(visits)
            .filter(|pair| differs(*pair))
            .count()
    };
    let own = differing(match walk {
        Walk::Private | Walk::Workgroup => lab_walks::Walk::with_stack,
        Walk::Restart => lab_walks::Walk::with_restarts,
        Walk::Parents => lab_walks::Walk::by_parent_links,
        Walk::Skip => lab_walks::Walk::by_skip_links,
        Walk::Wide => lab_walks::Walk::wide,
        Walk::Grid => lab_walks::Walk::cells,
        Walk::TwoLevel => lab_walks::Walk::cells_of_cells,
        Walk::KdTree => lab_walks::Walk::kd_tree,
    });
    assert!(
        own * 100 <= rays.len(),
        "{what}: {own} rays visit something else"
    );
    if walk == Walk::Private {
        let other = differing(lab_walks::Walk::by_parent_links);
        assert!(other * 4 > rays.len(), "{what}: {other}");
    }
}

#[test]
fn grids_of_the_gpu_are_those_of_their_twin() {
    let gpu = gpu();
    let build = GridBuild::new(&gpu);
    let soup = |count, seed| Soup::random(count, seed).triangles();
    let flat = |triangle: Triangle| triangle.map(|corner| corner.with_y(0.25));
    let mut wide = soup(300, 2);
    wide.push([
        Vec3::splat(-1.0),
        Vec3::splat(1.0),
        Vec3::new(1.0, -1.0, 0.5),
    ]);
    let inputs = [
        ("one", soup(1, 1)),
        ("two", soup(2, 1)),
        ("65", soup(65, 3)),
        ("2,000", soup(2000, 4)),
        ("flat", soup(257, 5).into_iter().map(flat).collect()),
        ("equal", vec![soup(1, 6)[0]; 130]),
        ("a point", vec![[Vec3::ONE; 3]; 3]),
        ("one is wide", wide),
    ];
    for (what, triangles) in &inputs {
        for structure in [Structure::Grid, Structure::TwoLevel] {
            let two_level = structure.grid_levels().unwrap();
            let found = build.run(&gpu, triangles, two_level).unwrap();
            let twin = structure.cells(triangles).unwrap().unwrap();
            let differs = |a: &Built, b: &Built| {
                (a.rows != b.rows)
                    .then_some("rows")
                    .or((a.links != b.links).then_some("links"))
                    .or(((a.cells, a.node_count) != (b.cells, b.node_count)).then_some("cells"))
            };
            assert_eq!(differs(&found, &twin), None, "{what}: {}", structure.name());
            let numbers = twin.links.len() - triangles.len();
            assert!(numbers > 1, "{what}: {} links", twin.links.len());
            if triangles.len() > 1 && *what != "equal" && *what != "a point" {
                // The triangles in another order are another grid.
                let turned: Vec<_> = triangles.iter().rev().copied().collect();
                let other = build.run(&gpu, &turned, two_level).unwrap();
                assert_eq!(differs(&other, &twin), Some("links"), "{what}");
            }
        }
    }
    assert!(build.run(&gpu, &[], false).is_err());
}

#[test]
fn trees_are_rated_by_closed_forms() {
    // Two unit squares in a box of 1 × 1 × 2, one at each end: nothing overlaps.
    let square = |z: f32| {
        let corner = |x, y| Vec3::new(x, y, z);
        [
            [corner(0.0, 0.0), corner(1.0, 0.0), corner(1.0, 1.0)],
            [corner(0.0, 0.0), corner(1.0, 1.0), corner(0.0, 1.0)],
        ]
    };
    let triangles = [square(0.0), square(2.0)].concat();
    let tree = Structure::Sah.tree(&triangles).unwrap().with_leaves(2);
    assert_eq!(tree.nodes.len(), 3);
    let quality = tree.quality(&triangles);
    // The root has an area of 10, each leaf one of 2 and two triangles.
    assert!(
        (quality.sah - (1.0 + 2.0 * 2.0 * 2.0 / 10.0)).abs() < 1e-9,
        "{quality:?}"
    );
    assert_eq!(quality.epo, 0.0);
    // A triangle that stands in the other leaf's box.
    let mut crossing = triangles.clone();
    crossing[2] = [Vec3::ZERO, Vec3::X, Vec3::new(0.0, 0.5, 2.0)];
    let crossed = Structure::Sah.tree(&crossing).unwrap().with_leaves(1);
    assert!(crossed.quality(&crossing).epo > 0.0);
    assert_eq!(tree.levels(), 1);
}

#[test]
fn orders_change_nothing_but_the_order() {
    let gpu = gpu();
    let soup = Soup::random(200, 2);
    let triangles = soup.triangles();
    let rays = rays(300, 4);
    let built = one_leaf(&triangles);
    for order in RayOrder::ALL {
        let ordered = order.of(&rays);
        let hits = trace(&gpu, &built, &triangles, &ordered, TriangleTest::Plucker);
        let expected = exact(&triangles, &ordered);
        assert_eq!(
            exact::compare(hits, &expected, Query::ClosestHit, 1e-5).all(),
            0
        );
    }
}

/// Runs `canopy lab` in `folder`, away from the settings of whoever runs the tests.
fn lab(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_canopy"));
    command
        .arg("lab")
        .args(line.split_whitespace())
        .current_dir(folder)
        .env("HOME", folder)
        .env("XDG_CONFIG_HOME", folder)
        .env("XDG_RUNTIME_DIR", folder)
        .env_remove("RUST_LOG");
    command.output().unwrap()
}

fn succeeds(folder: &Path, line: &str) -> String {
    let output = lab(folder, line);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_command_measures_writes_rays_and_reads_them() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let scene = "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 4 3 2 1\n\
                 v -0.3 0.5 -0.3\nv 0.3 0.5 -0.3\nv 0 0.5 0.3\nf 7 6 5\n";
    std::fs::write(folder.join("scene.obj"), scene).unwrap();
    let size = "--size 24x16 --samples 2 --warm-up 0";
    succeeds(folder, &format!("scene.obj {size} -q --write-rays rays"));
    let sets = std::fs::read_dir(folder.join("rays")).unwrap().count();
    assert_eq!(sets, 16);
    let measured = format!(
        "scene.obj {size} -q --rays rays/primary.rays --rays rays/shadow-hard-shuffled.rays \
         --walk private-stack,cells --leaf 1 --json --html page.html"
    );
    let report: Value = serde_json::from_str(&succeeds(folder, &measured)).unwrap();
    assert_eq!(report["skipped"], serde_json::json!([]));
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2 * 2);
    for run in runs {
        assert_eq!(run["wrong"], 0, "{run}");
        assert!(run["checked"].as_u64().unwrap() > 100, "{run}");
        for key in [
            "mrays_per_s",
            "nodes_per_ray",
            "lockstep_steps",
            "hit_share",
            "bytes",
            "operations",
        ] {
            assert!(run[key].as_f64().unwrap() > 0.0, "{key}: {run}");
        }
    }
    // The same rays hit the same share of what is there, whatever they go through.
    assert_eq!(runs[0]["hit_share"], runs[2]["hit_share"]);
    assert!(runs[0]["hit_share"].as_f64().unwrap() > 0.1);
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(
        page.contains("shadow-hard-shuffled")
            && page.contains("<script>")
            && !page.contains("src=")
    );

    let mut broken = std::fs::read(folder.join("rays/primary.rays")).unwrap();
    broken[100] ^= 1;
    std::fs::write(folder.join("broken.rays"), broken).unwrap();
    for (line, code, expected) in [
        (
            "scene.obj --rays broken.rays",
            1,
            "broken.rays: its rays do not have the hash",
        ),
        (
            "scene.obj --rays scene.obj",
            1,
            "scene.obj: is no file of rays",
        ),
        ("scene.obj --rays none.rays", 1, "none.rays: "),
        (
            "scene.obj --sets sideways",
            2,
            "there is no set \"sideways\"",
        ),
        (
            "scene.obj --walk cells --structure sah",
            2,
            "none of these walks",
        ),
        (
            "scene.obj --walk ladder",
            2,
            "expected one of private-stack",
        ),
    ] {
        let output = lab(folder, line);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {stderr}");
        assert!(stderr.contains(expected), "{line}: {stderr}");
    }
}
