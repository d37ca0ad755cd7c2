//! CPU reference of `sky`, in f64, with the same tables and integrals but finer steps for the transmittance.

use canopy_render::layout::{SKY_RAYS, SKY_STEPS, SkyParams};
use canopy_scene::atmosphere::{self, Air, GROUND_RADIUS, TOP};

use glam::{DVec3, DVec4};
use std::f64::consts::PI;

/// Lookup table over coordinates in [0, 1] across and down. The ends of the range are the centres of the
/// first and last texels.
#[derive(Debug, Clone)]
pub struct Table {
    /// Texels in a row.
    pub width: usize,
    /// Texels row by row.
    pub texels: Vec<DVec4>,
}

impl Table {
    fn new([width, height]: [usize; 2], texel: impl Fn(f64, f64) -> DVec4) -> Self {
        let place = |i: usize, size: usize| i as f64 / (size - 1).max(1) as f64;
        let rows = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        Self {
            width,
            texels: rows
                .map(|(x, y)| texel(place(x, width), place(y, height)))
                .collect(),
        }
    }

    /// Interpolates bilinearly.
    pub fn at(&self, x: f64, y: f64) -> DVec4 {
        let height = self.texels.len() / self.width;
        let split = |place: f64, size: usize| {
            let place = place.clamp(0.0, 1.0) * (size - 1) as f64;
            let first = (place as usize).min(size.saturating_sub(2));
            (first, (first + 1).min(size - 1), place - first as f64)
        };
        let (left, right, across) = split(x, self.width);
        let (top, bottom, down) = split(y, height);
        let row = |y: usize| {
            let [left, right] = [left, right].map(|x| self.texels[y * self.width + x]);
            left.lerp(right, across)
        };
        row(top).lerp(row(bottom), down)
    }
}

/// Tables that depend only on the atmosphere.
#[derive(Debug, Clone)]
pub struct Tables {
    /// Transmittance from outside the atmosphere to a height, along a ray.
    pub transmittance: Table,
    /// Multiple scattering, by the sun's cosine across and the height down.
    pub scattering: Table,
    /// Irradiance of the ground, by the sun's cosine across.
    pub irradiance: Table,
}

impl Tables {
    /// Computes the tables for `params`.
    pub fn new(params: &SkyParams) -> Self {
        let haze = f64::from(params.haze);
        let none = Table::new([1, 1], |_, _| DVec4::ZERO);
        let mut tables = Self {
            transmittance: Table::new([256, 64], |x, y| {
                let (height, mu) = transmittance_ray(x, y);
                atmosphere::transmittance(height, mu, haze)
            }),
            scattering: none.clone(),
            irradiance: none,
        };
        tables.scattering = Table::new([32, 32], |x, y| {
            scattering(params, &tables, TOP * y * y, cosine(x))
        });
        tables.irradiance = Table::new([64, 1], |x, _| irradiance(params, &tables, cosine(x)));
        tables
    }

    /// Returns the transmittance of sunlight from the table, like [`atmosphere::sunlight`].
    pub fn sunlight(&self, height: f64, mu: f64) -> DVec4 {
        let (x, y) = transmittance_coordinates(height, mu.max(atmosphere::horizon(height)));
        atmosphere::disc_share(height, mu) * self.transmittance.at(x, y)
    }

    /// Returns the isotropic multiple scattering at `height`.
    fn around(&self, height: f64, mu_sun: f64) -> DVec4 {
        self.scattering.at(coordinate(mu_sun), (height / TOP).sqrt())
    }
}

/// Returns the distance to the horizon.
fn to_horizon(height: f64) -> f64 {
    (height * (2.0 * GROUND_RADIUS + height)).sqrt()
}

/// Returns coordinates in the transmittance table (Bruneton 2017). The first is the distance to the top,
/// between the shortest and the longest. The second is the distance to the horizon.
fn transmittance_coordinates(height: f64, mu: f64) -> (f64, f64) {
    let (near, far) = (TOP - height, to_horizon(height) + to_horizon(TOP));
    let x = (atmosphere::exit(height, mu) - near) / (far - near);
    (x, to_horizon(height) / to_horizon(TOP))
}

/// Returns the height and zenith cosine at coordinates of that table.
fn transmittance_ray(x: f64, y: f64) -> (f64, f64) {
    let horizon = y * to_horizon(TOP);
    let radius = horizon.hypot(GROUND_RADIUS);
    let height = radius - GROUND_RADIUS;
    let length = (TOP - height) + x * (horizon + to_horizon(TOP) - (TOP - height));
    let top = GROUND_RADIUS + TOP;
    let mu = (top * top - radius * radius - length * length) / (2.0 * radius * length);
    // At the top of the atmosphere, straight up, numerator and denominator are zero.
    (height, if mu.is_nan() { 1.0 } else { mu.clamp(-1.0, 1.0) })
}

/// Returns the zenith cosine at a coordinate of the other tables.
fn cosine(coordinate: f64) -> f64 {
    let root = 2.0 * coordinate - 1.0;
    root * root.abs()
}

fn coordinate(cosine: f64) -> f64 {
    0.5 + 0.5 * cosine.signum() * cosine.abs().sqrt()
}

/// Step along a ray with its length, and the height and the sun's cosine at its midpoint.
struct Step {
    length: f64,
    height: f64,
    mu_sun: f64,
}

/// Ray through the atmosphere with the cosine `mu` to the zenith and `nu` to the sun.
#[derive(Clone, Copy)]
struct Ray {
    height: f64,
    mu: f64,
    mu_sun: f64,
    nu: f64,
}

impl Ray {
    fn length(&self) -> f64 {
        atmosphere::ground(self.height, self.mu).unwrap_or_else(|| atmosphere::exit(self.height, self.mu))
    }

    fn hits_ground(&self) -> bool {
        atmosphere::ground(self.height, self.mu).is_some()
    }

    fn sun_after(&self, length: f64, height: f64) -> f64 {
        let along = (GROUND_RADIUS + self.height) * self.mu_sun + length * self.nu;
        (along / (GROUND_RADIUS + height)).clamp(-1.0, 1.0)
    }

    fn steps(self, count: u32) -> impl Iterator<Item = Step> {
        let whole = self.length();
        (0..count).map(move |step| {
            let end = |i: u32| whole * (f64::from(i) / f64::from(count)).powi(2);
            let (start, end) = (end(step), end(step + 1));
            let middle = 0.5 * (start + end);
            let height = atmosphere::height_after(self.height, self.mu, middle).max(0.0);
            Step {
                length: end - start,
                height,
                mu_sun: self.sun_after(middle, height),
            }
        })
    }
}

/// Computes the multiple scattering Ψ of Hillaire 2020, section 5.5.
fn scattering(params: &SkyParams, tables: &Tables, height: f64, mu_sun: f64) -> DVec4 {
    let haze = f64::from(params.haze);
    let (mut light, mut share) = (DVec4::ZERO, DVec4::ZERO);
    for (i, j) in (0..8).flat_map(|i| (0..8).map(move |j| (i, j))) {
        let mu = (f64::from(i) + 0.5) / 4.0 - 1.0;
        let ray = Ray {
            height,
            mu,
            mu_sun,
            nu: between(mu, mu_sun, (f64::from(j) + 0.5) / 8.0 * PI),
        };
        let mut through = DVec4::ONE;
        for step in ray.steps(SKY_STEPS) {
            let air = Air::at(step.height, haze);
            let kept = (-air.extinction * step.length).exp();
            let seen = through * (air.rayleigh + air.mie) * (1.0 - kept) / air.extinction.max(MIN_EXTINCTION);
            light += seen * tables.sunlight(step.height, step.mu_sun) / (4.0 * PI);
            share += seen;
            through *= kept;
        }
        if ray.hits_ground() {
            let mu_sun = ray.sun_after(ray.length(), 0.0);
            let lit = tables.sunlight(0.0, mu_sun) * mu_sun.max(0.0);
            light += through * f64::from(params.ground_albedo) / PI * lit;
        }
    }
    light / (64.0 - share)
}

/// Minimum extinction per kilometre, because the integral divides by it.
const MIN_EXTINCTION: DVec4 = DVec4::splat(1e-9);

fn irradiance(params: &SkyParams, tables: &Tables, mu_sun: f64) -> DVec4 {
    let rows = 4 * SKY_RAYS;
    let mut light = DVec4::ZERO;
    for (i, j) in (0..rows).flat_map(|i| (0..16).map(move |j| (i, j))) {
        let mu = ((f64::from(i) + 0.5) / f64::from(rows)).sqrt();
        let ray = Ray {
            height: 0.0,
            mu,
            mu_sun,
            nu: between(mu, mu_sun, (f64::from(j) + 0.5) / 16.0 * PI),
        };
        light += radiance(params, tables, ray, SKY_STEPS);
    }
    PI * light / f64::from(16 * rows)
}

fn between(mu: f64, mu_sun: f64, azimuth: f64) -> f64 {
    mu * mu_sun + ((1.0 - mu * mu) * (1.0 - mu_sun * mu_sun)).max(0.0).sqrt() * azimuth.cos()
}

/// Returns the radiance of the atmosphere along a ray, and of the ground beyond it, per illuminance by the
/// sun.
fn radiance(params: &SkyParams, tables: &Tables, ray: Ray, steps: u32) -> DVec4 {
    const G: f64 = 0.8;
    let haze = f64::from(params.haze);
    let around = 1.0 + ray.nu * ray.nu;
    let rayleigh_phase = 3.0 / (16.0 * PI) * around;
    let mie_phase = 3.0 / (8.0 * PI) * (1.0 - G * G) * around
        / ((2.0 + G * G) * (1.0 + G * G - 2.0 * G * ray.nu).powf(1.5));
    let mut light = DVec4::ZERO;
    let mut through = DVec4::ONE;
    for step in ray.steps(steps) {
        let air = Air::at(step.height, haze);
        let once =
            tables.sunlight(step.height, step.mu_sun) * (air.rayleigh * rayleigh_phase + air.mie * mie_phase);
        let more = tables.around(step.height, step.mu_sun) * (air.rayleigh + air.mie);
        let kept = (-air.extinction * step.length).exp();
        light += through * (once + more) * (1.0 - kept) / air.extinction.max(MIN_EXTINCTION);
        through *= kept;
    }
    if ray.hits_ground() {
        let mu_sun = ray.sun_after(ray.length(), 0.0);
        let lit =
            tables.sunlight(0.0, mu_sun) * mu_sun.max(0.0) + tables.irradiance.at(coordinate(mu_sun), 0.0);
        light += through * f64::from(params.ground_albedo) / PI * lit;
    }
    light
}

/// Returns the radiance towards the eye from `direction`, integrated in `steps`. Directions are unit vectors.
pub fn sky(params: &SkyParams, tables: &Tables, direction: DVec3, steps: u32) -> DVec3 {
    let to_sun = DVec3::from(params.to_sun.map(f64::from));
    let ray = Ray {
        height: atmosphere::EYE,
        mu: direction.y,
        mu_sun: to_sun.y,
        nu: direction.dot(to_sun).clamp(-1.0, 1.0),
    };
    let illuminance = DVec3::from(params.illuminance.map(f64::from));
    illuminance * atmosphere::rgb(radiance(params, tables, ray, steps))
}
