//! A walking person in small scenes, on every implementation of the BVHs, and against the twin.

use crate::common;
use canopy::{
    accel::{Codes, Geometry, Lbvh, MeshRange, Tree, Work, layout::BVH_MISS},
    gpu::Gpu,
    reference::walk::Solids,
    render::{
        bindings::Layouts,
        layout::{WalkParams, WalkState},
        queries::walk::{self, CollisionGeometry, Walk},
    },
};

use glam::Vec3;
use std::time::Duration;

/// Devices whose trees lie in textures, and in buffers. The quick lane leaves out buffers, because the
/// results are the same.
fn implementations() -> Vec<(&'static str, common::Shared)> {
    let all = common::implementations().into_iter();
    all.take(common::by_lane(1, 2)).collect()
}

type Triangle = [Vec3; 3];

/// Two triangles from `corner` along `u` and `v`.
fn quad(corner: Vec3, u: Vec3, v: Vec3) -> Vec<Triangle> {
    vec![
        [corner, corner + u, corner + u + v],
        [corner, corner + u + v, corner + v],
    ]
}

/// A box between two corners.
fn block(low: Vec3, high: Vec3) -> Vec<Triangle> {
    let size = high - low;
    let [x, y, z] = [Vec3::X * size.x, Vec3::Y * size.y, Vec3::Z * size.z];
    let faces = [
        (low, x, y),
        (low, y, z),
        (low, z, x),
        (high, -x, -y),
        (high, -y, -z),
        (high, -z, -x),
    ];
    faces
        .into_iter()
        .flat_map(|(corner, u, v)| quad(corner, u, v))
        .collect()
}

/// A floor at the height 0.
fn floor() -> Vec<Triangle> {
    quad(Vec3::new(-50.0, 0.0, -50.0), 100.0 * Vec3::Z, 100.0 * Vec3::X)
}

/// Meshes on the GPU, and a person in them.
struct World<'g> {
    gpu: &'g Gpu,
    layouts: Layouts,
    lbvh: Lbvh,
    walk: Walk,
    tree: Tree,
    positions: wgpu::Buffer,
    indices: wgpu::Buffer,
    person: WalkParams,
}

impl<'g> World<'g> {
    /// A person of 1.8 m whose feet are at `feet`.
    fn new(gpu: &'g Gpu, meshes: &[Vec<Triangle>], feet: Vec3) -> Self {
        let corners: Vec<[f32; 3]> = meshes.iter().flatten().flatten().map(|p| p.to_array()).collect();
        let count = corners.len() as u32 / 3;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let positions = gpu.buffer_with("positions", &corners, usage);
        let numbers: Vec<u32> = (0..3 * count).collect();
        let indices = gpu.buffer_with("indices", &numbers, usage);
        let mut ranges = Vec::new();
        let mut first_triangle = 0;
        for mesh in meshes {
            ranges.push(MeshRange {
                first_triangle,
                triangle_count: mesh.len() as u32,
                first_vertex: 3 * first_triangle,
            });
            first_triangle += mesh.len() as u32;
        }
        let geometry = Geometry {
            positions: &positions,
            indices: &indices,
            meshes: &ranges,
            triangle_info: None,
        };
        let lbvh = Lbvh::new(gpu);
        let layouts = Layouts::new(gpu);
        let tree = lbvh.tree(gpu, &geometry, Codes::Bits30).unwrap();
        let mut world = Self {
            gpu,
            walk: Walk::new(gpu, &layouts),
            layouts,
            tree,
            lbvh,
            positions,
            indices,
            person: WalkParams {
                position: feet.to_array(),
                ..walk::params_for_height(walk::PERSON_HEIGHT)
            },
        };
        world.build();
        world
    }

    fn build(&mut self) {
        common::record(self.gpu, &self.lbvh, &mut self.tree, Work::Rebuild);
    }

    /// Replaces triangles from number `first` on.
    fn move_to(&mut self, first: usize, triangles: &[Triangle]) {
        let corners: Vec<[f32; 3]> = triangles.iter().flatten().map(|p| p.to_array()).collect();
        let bytes = bytemuck::cast_slice(&corners);
        self.gpu
            .queue
            .write_buffer(&self.positions, 36 * first as u64, bytes);
        self.build();
    }

    fn ask(&mut self, start: bool) -> WalkState {
        let trees = self.tree.bind_group(self.gpu, &self.layouts.tree);
        let walked = CollisionGeometry {
            trees: &trees,
            positions: &self.positions,
            indices: &self.indices,
        };
        self.walk.submit(self.gpu, walked, &self.person, start).unwrap();
        let state = self.walk.answer(self.gpu, Duration::from_secs(60)).unwrap();
        self.gpu.check().unwrap();
        self.person = walk::from_state(self.person, &state);
        state
    }

    /// Walks for `seconds` in frames of a sixtieth.
    fn walk(&mut self, desired_velocity: Vec3, seconds: f32) -> Vec3 {
        self.person.desired_velocity = desired_velocity.to_array();
        for _ in 0..(60.0 * seconds).round() as u32 {
            (self.person.steps, self.person.step_secs) = walk::steps(1.0 / 60.0);
            self.ask(false);
        }
        self.feet()
    }

    fn feet(&self) -> Vec3 {
        self.person.position.into()
    }

    fn is_grounded(&self) -> bool {
        self.person.is_grounded != 0
    }
}

/// True if `feet` are at this height, to within the skin.
fn stands_at(feet: Vec3, height: f32) -> bool {
    (height..height + 0.02).contains(&feet.y)
}

#[test]
fn a_walker_falls_to_the_floor_and_slides_along_a_wall() {
    for (kernels, gpu) in implementations() {
        let wall = quad(Vec3::new(2.0, -1.0, -50.0), 100.0 * Vec3::Z, 5.0 * Vec3::Y);
        let mut world = World::new(&gpu, &[floor(), wall], Vec3::new(0.0, 1.0, 0.0));
        let feet = world.walk(Vec3::ZERO, 1.0);
        assert!(stands_at(feet, 0.0) && world.is_grounded(), "{kernels}: {feet}");
        let rest = world.walk(Vec3::ZERO, 0.2);
        assert!(rest.distance(feet) < 1e-4, "{kernels}: at rest {feet} {rest}");
        // At 45 degrees against the wall.
        let feet = world.walk(Vec3::new(2.0, 0.0, 2.0), 2.0);
        assert!((1.66..=1.7).contains(&feet.x), "{kernels}: {feet}");
        assert!((3.5..4.1).contains(&feet.z), "{kernels}: {feet}");
        assert!(stands_at(feet, 0.0), "{kernels}: {feet}");
        // Away from the wall.
        let feet = world.walk(Vec3::new(-2.0, 0.0, 0.0), 1.0);
        assert!(feet.x < 0.0, "{kernels}: {feet}");
    }
}

#[test]
fn corners_stop_a_walker_and_release_it() {
    let gpu = common::gpu();
    let walls = [
        quad(Vec3::new(2.0, -1.0, -9.0), 18.0 * Vec3::Z, 5.0 * Vec3::Y),
        quad(Vec3::new(-9.0, -1.0, 3.0), 18.0 * Vec3::X, 5.0 * Vec3::Y),
    ];
    let mut world = World::new(&gpu, &[floor(), walls.concat()], Vec3::ZERO);
    let feet = world.walk(Vec3::new(3.0, 0.0, 2.0), 3.0);
    assert!(
        feet.x <= 1.7 && feet.z <= 2.7 && feet.x > 1.6 && feet.z > 2.6,
        "{feet}"
    );
    let feet = world.walk(Vec3::new(-1.0, 0.0, -1.0), 1.0);
    assert!(feet.x < 1.0 && feet.z < 2.0, "{feet}");
}

#[test]
fn low_steps_are_climbed_and_high_ones_are_not() {
    for (kernels, gpu) in implementations() {
        for (height, climbs) in [
            (0.05, true),
            (0.2, true),
            (0.3, true),
            (0.38, false),
            (0.5, false),
            (1.0, false),
        ] {
            let step = block(Vec3::new(1.0, -1.0, -9.0), Vec3::new(9.0, height, 9.0));
            let mut world = World::new(&gpu, &[floor(), step], Vec3::ZERO);
            let feet = world.walk(Vec3::new(1.5, 0.0, 0.2), 2.0);
            let expected = if climbs { height } else { 0.0 };
            assert!(stands_at(feet, expected), "{kernels}, {height}: {feet}");
            assert_eq!(feet.x > 1.0, climbs, "{kernels}, {height}: {feet}");
            // Down again without a fall.
            let feet = world.walk(Vec3::new(-2.0, 0.0, 0.0), 2.0);
            assert!(
                stands_at(feet, 0.0) && feet.x < 0.5 && world.is_grounded(),
                "{kernels}, {height}: {feet}"
            );
        }
    }
}

#[test]
fn stairs_and_gentle_slopes_are_climbed() {
    let gpu = common::gpu();
    let stairs = (0..10).flat_map(|i| {
        let (x, y) = (1.0 + 0.3 * i as f32, 0.2 * (i + 1) as f32);
        block(Vec3::new(x, -1.0, -2.0), Vec3::new(9.0, y, 2.0))
    });
    let mut world = World::new(&gpu, &[floor(), stairs.collect()], Vec3::ZERO);
    let feet = world.walk(Vec3::new(1.5, 0.0, 0.0), 4.0);
    assert!(stands_at(feet, 2.0), "{feet}");
    for _ in 0..30 {
        let feet = world.walk(Vec3::new(-1.5, 0.0, 0.0), 0.1);
        assert!(world.is_grounded(), "it falls down the stairs at {feet}");
    }
    for (degrees, climbs) in [(30.0_f32, true), (48.0, true), (53.0, false), (75.0, false)] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let slope = quad(
            Vec3::new(1.0, 0.0, -9.0),
            18.0 * Vec3::Z,
            20.0 * Vec3::new(cos, sin, 0.0),
        );
        let mut world = World::new(&gpu, &[floor(), slope], Vec3::ZERO);
        let feet = world.walk(Vec3::new(1.5, 0.0, 0.0), 4.0);
        assert_eq!(feet.y > 1.0, climbs, "{degrees}: {feet}");
        assert!(climbs || feet.y < 0.1, "{degrees}: {feet}");
        // A person placed on the slope slides down or stays.
        world.person.position = [3.0, 2.0 * sin / cos + 0.5, 0.0];
        world.person.is_grounded = 0;
        let before = world.walk(Vec3::ZERO, 1.0);
        let after = world.walk(Vec3::ZERO, 2.0);
        assert_eq!(
            before.distance(after) < 0.01,
            climbs,
            "{degrees}: {before} {after}"
        );
    }
}

#[test]
fn fast_walkers_do_not_tunnel_through_thin_walls() {
    for (kernels, gpu) in implementations() {
        let wall = quad(Vec3::new(7.0, -1.0, -50.0), 100.0 * Vec3::Z, 9.0 * Vec3::Y);
        let mut world = World::new(&gpu, &[floor(), wall], Vec3::ZERO);
        world.person.acceleration = 1e4;
        for desired_velocity in [Vec3::new(30.0, 0.0, 0.0), Vec3::new(30.0, 0.0, 4.0)] {
            let feet = world.walk(desired_velocity, 1.0);
            assert!(feet.x <= 6.7, "{kernels}: {feet}");
        }
        // The floor stops a fall from a great height too.
        world.person.position = [0.0, 40.0, 0.0];
        world.person.is_grounded = 0;
        let feet = world.walk(Vec3::ZERO, 4.0);
        assert!(stands_at(feet, 0.0), "{kernels}: {feet}");
    }
}

#[test]
fn moving_platforms_carry_and_moving_walls_push() {
    for (kernels, gpu) in implementations() {
        let platform = |x: f32, y: f32| block(Vec3::new(x - 2.0, y - 0.2, -2.0), Vec3::new(x + 2.0, y, 2.0));
        let mut world = World::new(&gpu, &[floor(), platform(0.0, 0.1)], Vec3::new(0.5, 0.1, 0.5));
        world.walk(Vec3::ZERO, 0.3);
        // Up, at 1 m/s in frames of a tenth, then along, then down.
        for frame in 1..=20 {
            world.move_to(2, &platform(0.0, 0.1 + 0.1 * frame as f32));
            world.walk(Vec3::ZERO, 0.1);
        }
        let feet = world.feet();
        assert!(
            stands_at(feet, 2.1) && world.is_grounded(),
            "{kernels}, up: {feet}"
        );
        for frame in 1..=20 {
            world.move_to(2, &platform(0.2 * frame as f32, 2.1));
            world.walk(Vec3::ZERO, 0.1);
        }
        let feet = world.feet();
        assert!(
            (feet.x - 4.5).abs() < 0.05 && stands_at(feet, 2.1),
            "{kernels}, along: {feet}"
        );
        for frame in 1..=18 {
            world.move_to(2, &platform(4.0, 2.1 - 0.1 * frame as f32));
            world.walk(Vec3::ZERO, 0.1);
            assert!(world.is_grounded(), "{kernels}, down");
        }
        let feet = world.feet();
        assert!(stands_at(feet, 0.3), "{kernels}, down: {feet}");
        // A platform that rises through the feet of a person standing elsewhere pushes too.
        let mut world = World::new(&gpu, &[floor(), platform(0.0, -1.0)], Vec3::ZERO);
        world.walk(Vec3::ZERO, 0.2);
        world.move_to(2, &platform(0.0, 0.5));
        let feet = world.walk(Vec3::ZERO, 0.1);
        assert!(stands_at(feet, 0.5), "{kernels}, through: {feet}");
        // A wall that approaches pushes along the floor.
        let wall = |x: f32| block(Vec3::new(x, -1.0, -9.0), Vec3::new(x + 0.2, 3.0, 9.0));
        let mut world = World::new(&gpu, &[floor(), wall(-2.0)], Vec3::ZERO);
        for frame in 0..30 {
            world.move_to(2, &wall(-2.0 + 0.1 * frame as f32));
            world.walk(Vec3::ZERO, 0.1);
        }
        let feet = world.feet();
        assert!(
            (1.4..1.5).contains(&feet.x) && stands_at(feet, 0.0),
            "{kernels}, wall: {feet}"
        );
    }
}

#[test]
fn walkers_jump_and_stop_at_the_ceiling() {
    let gpu = common::gpu();
    for (ceiling, expected) in [(9.0, 0.3..0.6), (2.0, 0.15..0.2)] {
        let roof = quad(Vec3::new(-9.0, ceiling, -9.0), 18.0 * Vec3::X, 18.0 * Vec3::Z);
        let mut world = World::new(&gpu, &[floor(), roof], Vec3::ZERO);
        world.walk(Vec3::ZERO, 0.2);
        world.person.jump = walk::jump_speed(walk::PERSON_HEIGHT);
        let mut highest = 0.0_f32;
        for _ in 0..20 {
            highest = highest.max(world.walk(Vec3::ZERO, 0.02).y);
            world.person.jump = 0.0;
        }
        assert!(expected.contains(&highest), "{ceiling}: {highest}");
        let feet = world.walk(Vec3::ZERO, 1.0);
        assert!(stands_at(feet, 0.0) && world.is_grounded(), "{ceiling}: {feet}");
    }
}

#[test]
fn a_walk_starts_on_the_ground_below_or_ahead() {
    let gpu = common::gpu();
    let start = |meshes: &[Vec<Triangle>], from: Vec3, ahead: Vec3| {
        let mut world = World::new(&gpu, meshes, from);
        world.person.view_offset = (100.0 * ahead).to_array();
        world.person.top = [0.0, 50.0, 0.0];
        let state = world.ask(true);
        (state.is_grounded != 0).then(|| Vec3::from(state.position))
    };
    let island = block(Vec3::new(-2.0, -1.0, -2.0), Vec3::new(2.0, 1.0, 2.0));
    let island = std::slice::from_ref(&island);
    // Below the camera.
    let feet = start(island, Vec3::new(1.0, 9.0, 1.0), Vec3::X).unwrap();
    assert!(stands_at(feet, 1.0) && (feet.x, feet.z) == (1.0, 1.0), "{feet}");
    // At the point the camera looks at.
    let eye = Vec3::new(0.0, 5.0, 9.0);
    let feet = start(island, eye, (Vec3::new(0.0, 1.0, 1.0) - eye).normalize()).unwrap();
    assert!(stands_at(feet, 1.0) && (feet.z - 1.0).abs() < 0.5, "{feet}");
    // On top of everything if the camera looks away. Without any surface, there is no start.
    let feet = start(island, eye, Vec3::Z).unwrap();
    assert!(stands_at(feet, 1.0) && feet.z.abs() < 0.1, "{feet}");
    assert_eq!(start(&[], eye, Vec3::NEG_Z), None);
    assert_eq!(start(island, Vec3::splat(f32::NAN), Vec3::splat(f32::NAN)), None);
}

/// A courtyard with steps, slopes, pillars and a low roof.
fn courtyard() -> Vec<Vec<Triangle>> {
    let mut random = common::Random(5);
    let mut all = vec![floor()];
    for i in 0..24 {
        let low = 5.0 * random.cube().with_y(0.0) - 0.2 * Vec3::Y;
        let size = 0.4 + 1.2 * random.unit();
        let height = [0.1, 0.25, 0.34, 0.6, 2.5][i % 5];
        all.push(block(low, low + Vec3::new(size, height + 0.2, size)));
    }
    for degrees in [20.0_f32, 45.0, 60.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let corner = 5.0 * random.cube().with_y(0.0);
        all.push(quad(corner, 2.0 * Vec3::Z, 3.0 * Vec3::new(cos, sin, 0.0)));
    }
    all.push(quad(Vec3::new(-2.0, 1.95, -2.0), 3.0 * Vec3::X, 3.0 * Vec3::Z));
    all
}

/// Every step starts from the state that the GPU has reached.
#[test]
fn the_shader_matches_the_cpu_reference() {
    let gpu = common::gpu();
    let meshes = courtyard();
    let triangles = meshes.concat();
    let mut world = World::new(&gpu, &meshes, Vec3::new(0.0, 1.0, 0.0));
    let mut random = common::Random(8);
    let (mut walls, mut climbed, mut flown) = (0, 0, 0);
    for frame in 0..600 {
        if frame % 20 == 0 {
            world.person.desired_velocity = (4.0 * random.cube().with_y(0.0)).to_array();
            world.person.jump = if frame % 80 == 60 { 3.0 } else { 0.0 };
        }
        if frame % 150 == 149 {
            world.person.position = (4.0 * random.cube().with_y(0.1)).to_array();
        }
        world.person.steps = 1 + frame % 3;
        world.person.step_secs = 1.0 / 60.0;
        let before = world.person;
        let expected = Solids(&triangles).walk(&before);
        let state = world.ask(false);
        let [ours, theirs] = [state.position, expected.position].map(Vec3::from);
        let what = format!("{frame}: {before:?} {state:?} {expected:?}");
        assert!(ours.distance(theirs) < 3e-3, "{what}");
        assert_eq!(state.is_grounded, expected.is_grounded, "{what}");
        let [ours, theirs] = [state.velocity, expected.velocity].map(Vec3::from);
        assert!(ours.distance(theirs) < 0.2, "{what}");
        let speed = Vec3::from(before.desired_velocity).length();
        walls += u32::from(state.is_grounded == 1 && theirs.length() < 0.7 * speed);
        climbed += u32::from(state.position[1] > before.position[1] + 0.05);
        flown += u32::from(state.is_grounded == 0);
    }
    assert!(
        walls > 50 && climbed > 5 && flown > 20,
        "{walls}, {climbed}, {flown}"
    );
}

#[test]
fn empty_scenes_and_nan_input_keep_the_walker_finite() {
    let gpu = common::gpu();
    let mut empty = World::new(&gpu, &[], Vec3::Y);
    let feet = empty.walk(Vec3::X, 0.5);
    assert!(feet.y < 1.0 && feet.is_finite(), "{feet}");
    // The ground below the scene supports a walker without any triangle.
    empty.person.floor = -2.0;
    let feet = empty.walk(Vec3::X, 2.0);
    assert!(stands_at(feet, -2.0) && empty.is_grounded(), "{feet}");
    let nothing = [f32::NAN; 3];
    for broken in 0..6 {
        let mut world = World::new(
            &gpu,
            &[floor(), vec![[Vec3::NAN; 3], [Vec3::INFINITY; 3], [Vec3::X; 3]]],
            Vec3::Y,
        );
        let person = &mut world.person;
        match broken {
            0 => person.position = nothing,
            1 => person.velocity = [1e30; 3],
            2 => person.desired_velocity = nothing,
            3 => person.radius = f32::NAN,
            4 => (person.is_grounded, person.ground_triangle) = (1, 1_000_000),
            _ => {}
        }
        (world.person.steps, world.person.step_secs) = (u32::MAX, 1.0 / 60.0);
        let state = world.ask(false);
        if broken == 5 {
            assert!(Vec3::from(state.position).is_finite() && state.ground_triangle != BVH_MISS - 1);
        }
    }
}
