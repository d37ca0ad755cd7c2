//! The sky: the shader compared with its twin, and both with published measurements of skies.

use crate::common;
use canopy::{
    gpu::{Gpu, bind_group, pass, profiler::Profiler, shader},
    reference::environment::sky::{self as twin, Tables},
    render::{
        SHADERS,
        environment::{
            Cube,
            sky::{self, Sky, SkyParams},
        },
        layout::SKY_STEPS,
    },
    scene::atmosphere,
};

use common::{gpu, portable_gpu};
use glam::{DVec3, Vec3};
use half::f16;

/// Direction to a sun at this elevation in degrees, in the XY plane.
fn sun(degrees: f32) -> Vec3 {
    let (sin, cos) = degrees.to_radians().sin_cos();
    Vec3::new(cos, sin, 0.0)
}

fn params(to_sun: Vec3) -> SkyParams {
    SkyParams {
        to_sun: to_sun.to_array(),
        haze: 1.0,
        illuminance: [1.0; 3],
        ground_albedo: 0.3,
    }
}

/// Direction through the centre of a texel.
fn direction(face: u32, size: u32, x: u32, y: u32) -> Vec3 {
    let [s, t] = [x, y].map(|i| (2 * i + 1) as f32 / size as f32 - 1.0);
    let axes = [
        (Vec3::X, Vec3::NEG_Z, Vec3::NEG_Y),
        (Vec3::NEG_X, Vec3::Z, Vec3::NEG_Y),
        (Vec3::Y, Vec3::X, Vec3::Z),
        (Vec3::NEG_Y, Vec3::X, Vec3::NEG_Z),
        (Vec3::Z, Vec3::X, Vec3::NEG_Y),
        (Vec3::NEG_Z, Vec3::NEG_X, Vec3::NEG_Y),
    ];
    let (middle, right, down) = axes[face as usize];
    (middle + s * right + t * down).normalize()
}

/// Direction of every texel.
fn directions(size: u32) -> impl Iterator<Item = Vec3> {
    let row = move |face, y| (0..size).map(move |x| direction(face, size, x, y));
    (0..6).flat_map(move |face| (0..size).flat_map(move |y| row(face, y)))
}

/// Draws skies into cubes of `size`. Its tables are reused while the atmosphere stays the same.
struct Stage<'a> {
    gpu: &'a Gpu,
    sky: Sky,
    cube: Cube,
}

impl<'a> Stage<'a> {
    fn new(gpu: &'a Gpu, size: u32) -> Self {
        let format = wgpu::TextureFormat::Rgba16Float;
        Self {
            gpu,
            sky: Sky::new(gpu),
            cube: Cube::new(gpu, "sky", size, 1, format).unwrap(),
        }
    }

    /// Radiance in the order of [`directions`], and the stages that ran.
    fn draw(&mut self, params: &SkyParams) -> (Vec<Vec3>, Vec<String>) {
        let mut profiler = Profiler::new(self.gpu).unwrap();
        let mut encoder = self.gpu.encoder("sky");
        let mut scope = profiler.scope("test", &mut encoder);
        self.sky.record(self.gpu, &mut scope, params, &self.cube).unwrap();
        drop(scope);
        profiler.submit(self.gpu, encoder);
        self.gpu.wait().unwrap();
        profiler.collect(self.gpu);
        let names = profiler.timings().iter().map(|pass| pass.name.clone());
        (self.texels(), names.collect())
    }

    fn texels(&self) -> Vec<Vec3> {
        let size = self.cube.face;
        let row = size * 8;
        let padded = row.next_multiple_of(256);
        let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let bytes = u64::from(padded * size * 6);
        let buffer = self.gpu.buffer("texels", bytes, usage);
        let mut encoder = self.gpu.encoder("texels");
        encoder.copy_texture_to_buffer(
            self.cube.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(padded),
                    rows_per_image: Some(size),
                },
            },
            wgpu::Extent3d {
                width: size,
                height: size,
                depth_or_array_layers: 6,
            },
        );
        self.gpu.queue.submit([encoder.finish()]);
        let bytes = self.gpu.read(&buffer).unwrap();
        let rows = bytes[..(padded * size * 6) as usize].chunks(padded as usize);
        rows.flat_map(|padded| padded[..row as usize].chunks(8))
            .map(|texel| {
                let half = |i: usize| f16::from_le_bytes([texel[i], texel[i + 1]]).to_f32();
                assert_eq!(half(6), 1.0);
                Vec3::new(half(0), half(2), half(4))
            })
            .collect()
    }
}

/// The sun at an elevation of `degrees`, rotated about the zenith.
fn turned_sun(degrees: f32, azimuth: f32) -> Vec3 {
    glam::Quat::from_rotation_y(azimuth) * sun(degrees)
}

/// Scales the sky of any time of day by a power of two into the range of half floats.
fn bright(mut params: SkyParams) -> SkyParams {
    let scale = sky::daylight(Vec3::from(params.to_sun)).log2().round();
    params.illuminance = params.illuminance.map(|c| c * (-scale).exp2());
    params
}

fn luminance(color: Vec3) -> f64 {
    f64::from(color.dot(Vec3::new(0.2126, 0.7152, 0.0722)))
}

/// Irradiance of level ground from the upper half of a cube.
fn irradiance(texels: &[Vec3], size: u32) -> DVec3 {
    let mut sum = DVec3::ZERO;
    for (texel, direction) in texels.iter().zip(directions(size)) {
        let largest = f64::from(direction.abs().max_element());
        // Solid angle of a square of 2 × 2 seen from one unit below its centre.
        let solid_angle = largest.powi(3) * 4.0 / f64::from(size * size);
        sum += texel.as_dvec3() * solid_angle * f64::from(direction.y.max(0.0));
    }
    sum
}

#[test]
fn the_sky_shader_matches_the_cpu_reference() {
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, 9);
    for (haze, ground_albedo) in [(1.0, 0.3), (12.0, 0.0)] {
        let air = SkyParams {
            haze,
            ground_albedo,
            illuminance: [1.0, 2.0, 0.5],
            ..params(Vec3::Y)
        };
        let tables = Tables::new(&air);
        for (degrees, azimuth) in [
            (90.0, 0.0),
            (45.0, 0.4),
            (5.0, 2.0),
            (0.0, -1.0),
            (-4.0, 3.0),
            (-10.0, 1.0),
        ] {
            let sky = bright(SkyParams {
                to_sun: turned_sun(degrees, azimuth).to_array(),
                ..air
            });
            let texels = stage.draw(&sky).0;
            let mut worst = 0.0f64;
            for (texel, direction) in texels.iter().zip(directions(9)) {
                let exact = twin::sky(&sky, &tables, direction.as_dvec3(), SKY_STEPS);
                let error = (texel.as_dvec3() - exact).abs().max_element();
                worst = worst.max(error / exact.max_element());
            }
            // At night, the light falls off so steeply that samplers, which blend in steps of 1/256, have
            // larger errors.
            let allowed = if degrees < -5.0 { 0.02 } else { 0.01 };
            assert!(worst < allowed, "haze {haze}, sun at {degrees}°: {worst}");
        }
    }
}

/// The integration steps and the tables are fine enough.
#[test]
fn integration_steps_and_tables_have_converged() {
    let air = params(Vec3::Y);
    let tables = Tables::new(&air);
    for degrees in [90.0, 30.0, 3.0, 0.0, -6.0] {
        let sky = SkyParams {
            to_sun: sun(degrees).to_array(),
            ..air
        };
        let (mut worst, mut sum, mut error_sum) = (0.0f64, 0.0, 0.0);
        for direction in directions(6) {
            let [few, many] =
                [SKY_STEPS, 1024].map(|steps| twin::sky(&sky, &tables, direction.as_dvec3(), steps));
            let error = (few - many).abs().max_element();
            worst = worst.max(error / many.max_element());
            sum += many.max_element();
            error_sum += error;
        }
        assert!(
            worst < 0.02 && error_sum < 0.005 * sum,
            "sun at {degrees}°: {worst}"
        );
    }
    for (height, mu) in [(0.0, 0.3), (0.5, 0.02), (3.0, -0.01), (20.0, -0.05), (60.0, 0.8)] {
        let [table, exact] = [tables.sunlight(height, mu), atmosphere::sunlight(height, mu, 1.0)];
        let error = (table - exact).abs().max_element();
        assert!(error < 2e-3, "{height} km, {mu}: {table} instead of {exact}");
    }
}

/// Air masses after Kasten and Young 1989, with the optical depths of plane layers.
#[test]
fn sunlight_is_attenuated_by_its_air_mass() {
    let air = atmosphere::Air::at(0.0, 1.0);
    let depth = 8.0 * atmosphere::RAYLEIGH + 1.2 * atmosphere::MIE_EXTINCTION + 15.0 * atmosphere::OZONE;
    let zenith = atmosphere::transmittance(0.0, 1.0, 1.0);
    assert!(
        (zenith - (-depth).exp()).abs().max_element() < 1e-3,
        "{zenith} {depth}"
    );
    assert!(air.extinction.cmpgt(air.rayleigh + air.mie).all());
    for degrees in [60.0f64, 30.0, 10.0, 5.0, 2.0] {
        let mass = 1.0 / (degrees.to_radians().sin() + 0.50572 * (degrees + 6.07995).powf(-1.6364));
        let through = atmosphere::transmittance(0.0, degrees.to_radians().sin(), 1.0);
        let ratio = through.to_array().map(f64::ln)[3] / zenith.to_array().map(f64::ln)[3] / mass;
        assert!((ratio - 1.0).abs() < 0.05, "{degrees}°: {ratio}");
    }
    let sky = params(Vec3::Y);
    let mut above = sky::transmittance(Vec3::Y, &sky);
    for degrees in [45.0, 20.0, 5.0, 1.0, 0.0, -0.6] {
        let here = sky::transmittance(7.0 * sun(degrees), &sky);
        assert!(here.x > here.y && here.y >= here.z, "{degrees}°: {here}");
        assert!(here.x / here.y > above.x / above.y, "{degrees}°: {here}");
        assert!(
            here.cmple(above).all() && here.min_element() >= 0.0,
            "{degrees}°: {here}"
        );
        above = here;
    }
    assert!(above.x > 0.0);
    assert_eq!(sky::transmittance(sun(-1.0), &sky), Vec3::ZERO);
    assert_eq!(sky::transmittance(Vec3::NEG_Y, &sky), Vec3::ZERO);
}

/// The CIE 1931 observer, approximated by the lobes of Wyman, Sloan and Shirley 2013, under a black body,
/// wavelength by wavelength.
#[test]
fn four_wavelengths_match_the_full_spectrum() {
    let lobe = |x: f64, height: f64, middle: f64, left: f64, right: f64| {
        let slope = if x < middle { left } else { right };
        height * (-0.5 * ((x - middle) * slope).powi(2)).exp()
    };
    let observer = |x: f64| {
        DVec3::new(
            lobe(x, 0.362, 442.0, 0.0624, 0.0374) + lobe(x, 1.056, 599.8, 0.0264, 0.0323)
                - lobe(x, 0.065, 501.1, 0.0490, 0.0382),
            lobe(x, 0.821, 568.8, 0.0213, 0.0247) + lobe(x, 0.286, 530.9, 0.0613, 0.0322),
            lobe(x, 1.217, 437.0, 0.0845, 0.0278) + lobe(x, 0.681, 459.0, 0.0385, 0.0725),
        )
    };
    let rgb_from_xyz = glam::DMat3::from_cols(
        DVec3::new(3.240_454_2, -0.969_266, 0.055_643_4),
        DVec3::new(-1.537_138_5, 1.876_010_8, -0.204_025_9),
        DVec3::new(-0.498_531_4, 0.041_556, 1.057_225_2),
    );
    let black_body = |x: f64| x.powi(-5) / ((1.438_8e7 / (x * 5778.0)).exp() - 1.0);
    let rgb = |spectrum: &dyn Fn(f64) -> f64| {
        let wavelengths = || (380..=780).map(f64::from);
        let sum = |spectrum: &dyn Fn(f64) -> f64| -> DVec3 {
            wavelengths()
                .map(|x| observer(x) * black_body(x) * spectrum(x))
                .sum()
        };
        (rgb_from_xyz * sum(spectrum)) / (rgb_from_xyz * sum(&|_| 1.0))
    };
    let rayleigh = |x: f64| 1.240_62e-3 * (x / 1000.0).powi(-4);
    for (wavelength, scattered) in atmosphere::WAVELENGTHS
        .into_iter()
        .zip(atmosphere::RAYLEIGH.to_array())
    {
        assert!(
            (scattered / rayleigh(wavelength) - 1.0).abs() < 1e-3,
            "{wavelength} nm"
        );
    }
    for mass in [0.0, 1.0, 3.0, 10.0, 30.0] {
        for is_scattered in [false, true] {
            let spectrum = |x: f64| {
                let through = (-mass * 8.0 * rayleigh(x)).exp();
                through * if is_scattered { rayleigh(x) } else { 1.0 }
            };
            let all = rgb(&spectrum).max(DVec3::ZERO);
            let four = atmosphere::rgb(glam::DVec4::from(atmosphere::WAVELENGTHS.map(spectrum)));
            let error = (all - four).abs().max_element() / all.max_element();
            assert!(error < 0.02, "{mass} air masses: {four} instead of {all}");
        }
    }
}

#[test]
fn sky_irradiance_matches_measurements() {
    let gpu = gpu();
    let size = 32;
    let mut stage = Stage::new(&gpu, size);
    let mut level = |sky: &SkyParams| {
        let bright = bright(*sky);
        let scale = f64::from(sky.illuminance[0] / bright.illuminance[0]);
        let up = irradiance(&stage.draw(&bright).0, size) * scale;
        let height = f64::from(sky.to_sun[1].max(0.0));
        let direct = sky::transmittance(Vec3::from(sky.to_sun), sky).as_dvec3() * height;
        (up, direct)
    };
    // With clear air, and with typical haze over land.
    for (haze, least, most) in [(1.0, 0.05, 0.15), (15.0, 0.1, 0.25)] {
        for degrees in [45.0, 60.0] {
            let (up, direct) = level(&SkyParams {
                haze,
                ..params(sun(degrees))
            });
            let share = luminance(up.as_vec3()) / luminance(direct.as_vec3());
            assert!((least..most).contains(&share), "haze {haze}, {degrees}°: {share}");
        }
    }
    // No more light reaches the ground than enters the atmosphere, which absorbs a part.
    for degrees in [90.0, 45.0, 10.0, 3.0] {
        let sky = SkyParams {
            ground_albedo: 0.0,
            ..params(sun(degrees))
        };
        let (up, direct) = level(&sky);
        let comes_in = f64::from(sky.to_sun[1]);
        assert!(
            (up + direct).max_element() < comes_in,
            "{degrees}°: {up} and {direct}"
        );
    }
    // Measurements from noon to the end of nautical twilight, over seven decades.
    let mut before = f64::INFINITY;
    for degrees in [
        90.0, 60.0, 30.0, 10.0, 3.0, 0.0, -1.0, -3.0, -6.0, -9.0, -12.0, -15.0, -18.0,
    ] {
        let (up, direct) = level(&params(sun(degrees)));
        let here = luminance((up + direct).as_vec3());
        let measured = f64::from(sky::daylight(sun(degrees)));
        assert!(here < before, "{degrees}°: {here} is no darker");
        if degrees >= -12.0 {
            let ratio = here / measured;
            assert!(
                (0.33..3.0).contains(&ratio),
                "{degrees}°: {here} instead of {measured}"
            );
        }
        before = here;
    }
}

#[test]
fn the_sky_looks_like_one() {
    let gpu = gpu();
    let size = 64;
    let mut stage = Stage::new(&gpu, size);
    let texels = stage.draw(&params(sun(60.0))).0;
    // The column of +Z from the horizon up, then the ground below it; both away from the sun.
    let column = |x: u32| {
        let texels = &texels;
        (0..size).map(move |y| texels[((4 * size + y) * size + x) as usize])
    };
    let above: Vec<_> = column(20).take(size as usize / 2).collect();
    let below: Vec<_> = column(20).skip(size as usize / 2 + 1).collect();
    let blueness = |color: &Vec3| color.z / color.x;
    assert!(blueness(&above[0]) > 1.5 * blueness(&above[30]), "{above:?}");
    for pair in above[..30].windows(2) {
        let brighter = luminance(pair[1]) / luminance(pair[0]);
        assert!((1.0..1.2).contains(&brighter), "a step of {brighter}");
    }
    // The ground is not black, and has no sharp edge.
    for pair in below.windows(2) {
        let step = luminance(pair[1]) / luminance(pair[0]);
        assert!((0.9..1.1).contains(&step), "a step of {step}");
    }
    let seam = luminance(below[0]) / luminance(above[30]);
    assert!((0.5..2.0).contains(&seam), "{seam}");
    // Brightest around the sun, and nowhere green.
    let brightest = texels
        .iter()
        .zip(directions(size))
        .filter(|(_, direction)| direction.y > 0.5)
        .max_by(|a, b| luminance(*a.0).total_cmp(&luminance(*b.0)))
        .unwrap();
    assert!(brightest.1.dot(sun(60.0)) > 0.99, "{brightest:?}");
    for (texel, direction) in texels.iter().zip(directions(size)) {
        let is_green = texel.y > 1.02 * texel.x.max(texel.z);
        assert!(!is_green, "{texel} at {direction}");
    }
}

#[test]
fn the_sky_includes_multiple_scattering() {
    let gpu = gpu();
    let sky = params(sun(30.0));
    let mut once = Tables::new(&sky);
    once.scattering.texels.fill(glam::DVec4::ZERO);
    let texels = Stage::new(&gpu, 4).draw(&sky).0;
    for (texel, direction) in texels.iter().zip(directions(4)) {
        if direction.y > 0.1 {
            let single = twin::sky(&sky, &once, direction.as_dvec3(), SKY_STEPS);
            let more = luminance(*texel) / luminance(single.as_vec3());
            assert!((1.05..2.0).contains(&more), "{direction}: {more}");
        }
    }
}

#[test]
fn the_sky_rotates_with_the_sun_and_is_symmetric_about_it() {
    let gpu = gpu();
    let size = 16;
    let mut stage = Stage::new(&gpu, size);
    let mut draw = |to_sun: Vec3| stage.draw(&params(to_sun)).0;
    let texels = draw(sun(20.0));
    let at = |wanted: Vec3| {
        let found = directions(size).position(|d| d.distance(wanted) < 1e-3);
        texels[found.unwrap()]
    };
    let equal = |a: Vec3, b: Vec3| (a - b).abs().max_element() < 2e-3 * a.max_element();
    // A quarter turn maps texels onto texels.
    let turned = draw(Vec3::new(0.0, sun(20.0).y, sun(20.0).x));
    for (texel, direction) in turned.iter().zip(directions(size)) {
        let back = Vec3::new(direction.z, direction.y, -direction.x);
        assert!(equal(*texel, at(back)), "{direction}");
    }
    for (texel, direction) in texels.iter().zip(directions(size)) {
        let across = direction * Vec3::new(1.0, 1.0, -1.0);
        assert!(equal(*texel, at(across)), "{direction}");
    }
    assert!(!equal(
        at(direction(4, size, 3, 5)),
        at(direction(4, size, 12, 5))
    ));
}

#[test]
fn sky_radiance_is_proportional_to_sunlight() {
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, 8);
    let one = stage.draw(&params(sun(30.0))).0;
    let mut more = params(sun(30.0));
    more.illuminance = [2.0, 4.0, 0.0];
    let more = stage.draw(&more).0;
    for (one, more) in one.iter().zip(more) {
        assert_eq!(more, *one * Vec3::new(2.0, 4.0, 0.0));
    }
}

#[test]
fn the_sky_is_finite_for_any_parameters() {
    let gpu = portable_gpu();
    let mut stage = Stage::new(&gpu, 6);
    let nan = f32::NAN;
    let mut checked = 0;
    for (haze, ground_albedo) in [(0.0, 0.0), (1.0, 1.0), (1e30, 2.0), (nan, nan), (-3.0, -1.0)] {
        for to_sun in [
            Vec3::Y,
            Vec3::NEG_Y,
            Vec3::X,
            Vec3::Z,
            sun(-0.72),
            sun(-17.9),
            sun(-30.0),
            Vec3::ZERO,
            Vec3::splat(nan),
            Vec3::splat(f32::INFINITY),
            Vec3::new(1.0, 1e-30, 0.0),
            Vec3::splat(-1e-20),
        ] {
            let sky = SkyParams {
                to_sun: to_sun.to_array(),
                haze,
                ground_albedo,
                illuminance: [1e5, 1e30, nan],
            };
            for texel in stage.draw(&sky).0 {
                assert!(
                    texel.is_finite() && texel.min_element() >= 0.0,
                    "{sky:?}: {texel}"
                );
                checked += 1;
            }
            let sun = sky::transmittance(to_sun, &sky);
            assert!(
                sun.is_finite() && sun.min_element() >= 0.0 && sun.max_element() <= 1.0,
                "{sky:?}: {sun}"
            );
            let daylight = sky::daylight(to_sun);
            assert!(daylight > 0.0 && daylight < 1.0, "{to_sun}: {daylight}");
        }
    }
    assert_eq!(checked, 5 * 12 * 6 * 36);
    // Out-of-range values are clamped, and a direction may have any length.
    let sky = SkyParams {
        haze: 0.0,
        illuminance: [1.0, 0.0, 0.0],
        ..params(sun(10.0))
    };
    let odd = SkyParams {
        haze: nan,
        illuminance: [1.0, -1.0, nan],
        ..params(7.0 * sun(10.0))
    };
    assert_eq!(stage.draw(&odd).0, stage.draw(&sky).0);
    gpu.check().unwrap();
}

#[test]
fn sky_tables_are_recomputed_only_when_the_atmosphere_changes() {
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, 8);
    let all = [
        "test",
        "sky_transmittance",
        "sky_scattering",
        "sky_irradiance",
        "sky",
    ];
    let sky = params(sun(30.0));
    let first = stage.draw(&sky);
    assert_eq!(first.1, all);
    assert_eq!(stage.draw(&params(sun(50.0))).1, ["test", "sky"]);
    let hazy = SkyParams { haze: 2.0, ..sky };
    assert_eq!(stage.draw(&hazy).1, all);
    let snow = SkyParams {
        ground_albedo: 0.8,
        ..sky
    };
    let on_snow = stage.draw(&snow);
    assert_eq!(on_snow.1, all);
    let ratio = luminance(on_snow.0[0]) / luminance(first.0[0]);
    assert!(ratio > 1.02, "snow brightens the sky by {ratio}");
    assert_eq!(stage.draw(&sky).0, first.0);
}

/// Results of `sky_sun_disc` for each direction (x, y, z, pixel).
fn disc(gpu: &Gpu, to_sun: Vec3, rays: &[[f32; 4]]) -> Vec<f32> {
    let source = format!(
        "#import \"environment/sky_disc.wgsl\"
        @group(0) @binding(0) var<storage, read> rays: array<vec4f>;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(64)
        fn test(@builtin(global_invocation_id) thread: vec3u) {{
            if thread.x < arrayLength(&rays) {{
                let ray = rays[thread.x];
                out[thread.x] = sky_sun_disc(ray.xyz, vec3f({:?}, {:?}, {:?}), {:?}, ray.w, -0.0125385);
            }}
        }}",
        to_sun.x,
        to_sun.y,
        to_sun.z,
        atmosphere::SUN_RADIUS
    );
    let arrays = gpu.capabilities.arrays;
    let composed = shader::compose_text(&SHADERS, "test", &source, arrays).unwrap();
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("sky"),
        source: wgpu::ShaderSource::Wgsl(composed.text.into()),
    });
    let pipeline = pass::compute_pipeline_of(gpu, &module, "test", None, &[]).unwrap();
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let rays_buffer = gpu.buffer_with("rays", rays, usage);
    let out = gpu.buffer("out", 4 * rays.len() as u64, usage);
    let layout = pipeline.get_bind_group_layout(0);
    let group = bind_group(gpu, "test", &layout, &[&rays_buffer, &out]);
    let mut encoder = gpu.encoder("test");
    let mut compute = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    compute.set_pipeline(&pipeline);
    compute.set_bind_group(0, &group, &[]);
    pass::dispatch(&mut compute, (rays.len() as u32).div_ceil(64));
    drop(compute);
    gpu.queue.submit([encoder.finish()]);
    let values: Vec<f32> = bytemuck::pod_collect_to_vec(&gpu.read(&out).unwrap());
    values[..rays.len()].to_vec()
}

#[test]
fn the_sun_disc_has_the_suns_irradiance_and_sets_at_the_horizon() {
    const SIDE: i32 = 160;
    const STEP: f32 = 1e-4;
    let gpu = gpu();
    let sum = |degrees: f32, pixel: f32| {
        let to_sun = sun(degrees);
        let up = Vec3::new(-to_sun.y, to_sun.x, 0.0);
        let grid = (0..SIDE * SIDE).map(|i| {
            let [across, along] = [i % SIDE, i / SIDE].map(|i| (i - SIDE / 2) as f32 * STEP);
            let ray = (to_sun + across * Vec3::Z + along * up).normalize();
            ray.extend(pixel).to_array()
        });
        let values = disc(&gpu, to_sun, &grid.collect::<Vec<_>>());
        assert!(values.iter().all(|value| *value >= 0.0));
        let sum = values.iter().map(|value| f64::from(*value)).sum::<f64>();
        sum * f64::from(STEP).powi(2)
    };
    for (degrees, pixel) in [(50.0, 1e-5), (50.0, 1e-3), (3.0, 1e-3)] {
        let whole = sum(degrees, pixel);
        assert!((whole - 1.0).abs() < 0.01, "{degrees}°, {pixel}: {whole}");
    }
    // The visible fraction equals the fraction of light in `sky::transmittance`.
    let horizon = atmosphere::horizon(atmosphere::EYE).asin().to_degrees() as f32;
    for (below, share) in [(0.0, 0.5), (0.15, 0.162), (0.3, 0.0), (-0.3, 1.0)] {
        let seen = sum(horizon - below, 1e-4);
        assert!((seen - share).abs() < 0.02, "{below}° below: {seen}");
        let mu = f64::from(sun(horizon - below).y);
        let lit = atmosphere::disc_share(atmosphere::EYE, mu);
        assert!((lit - share).abs() < 0.05, "{below}° below: {lit}");
    }
    let to_sun = sun(40.0);
    let radius = atmosphere::SUN_RADIUS as f32;
    let around = [0.99, 1.01].map(|share| turned(to_sun, share * radius).extend(1e-6).to_array());
    let values = disc(&gpu, to_sun, &around);
    assert!(
        (values[0] * 6.8017e-5 - 1.0).abs() < 1e-3 && values[1] == 0.0,
        "{values:?}"
    );
}

/// The direction, rotated by an angle.
fn turned(direction: Vec3, angle: f32) -> Vec3 {
    let (sin, cos) = angle.sin_cos();
    cos * direction + sin * Vec3::Z
}
