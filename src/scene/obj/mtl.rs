//! MTL materials, mapped to metallic-roughness.

use super::parse::{lines, numbers, statement, utf8};
use crate::scene::{self, AlphaMode, Sampler, TextureRef, Wrap, files::shorten, image::Role};
use glam::{Affine2, Vec2, Vec3};

/// A material as its statements have it.
#[derive(Debug, Clone, Default)]
pub(super) struct Material {
    /// What `usemtl` calls it.
    pub(super) name: String,
    diffuse: Option<Vec3>,
    emissive: Option<Vec3>,
    alpha: Option<f32>,
    shininess: Option<f32>,
    roughness: Option<f32>,
    metallic: Option<f32>,
    /// map_Kd.
    pub(super) color_map: Option<Map>,
    /// map_Ke.
    pub(super) emissive_map: Option<Map>,
    /// map_d.
    pub(super) alpha_map: Option<Map>,
    /// map_Pr: roughness as grey, or in green where map_Pm names the same file.
    pub(super) roughness_map: Option<Map>,
    /// map_Pm: metalness as grey, or in blue where map_Pr names the same file.
    pub(super) metallic_map: Option<Map>,
    /// norm, or bump, which exporters use for normal maps as well.
    pub(super) normal_map: Option<Map>,
}

/// A file's warnings past this many lines are left out.
const MOST_WARNINGS: usize = 1000;

/// A texture statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Map {
    /// As the file has it.
    pub(super) path: String,
    offset: Vec2,
    scale: Vec2,
    strength: f32,
    clamp: bool,
}

/// The material of faces that have none.
pub(super) fn default_material(name: &str) -> scene::Material {
    scene::Material {
        name: name.to_owned(),
        // OBJ does not say which side of a face is seen.
        double_sided: true,
        ..scene::Material::stand_in()
    }
}

/// The materials of an MTL file called `file`.
pub(super) fn parse(file: &str, bytes: &[u8], warnings: &mut Vec<String>) -> Vec<Material> {
    let mut materials: Vec<Material> = Vec::new();
    for (number, line) in lines(&utf8(bytes)) {
        let Some((keyword, rest)) = statement(&line) else {
            continue;
        };
        if keyword == "newmtl" {
            materials.push(Material {
                name: rest.to_owned(),
                ..Material::default()
            });
        } else if let Some(material) = materials.last_mut()
            && let Err(what) = material.statement(keyword, rest)
            && warnings.len() < MOST_WARNINGS
        {
            warnings.push(format!(
                "{} line {number}: {what}; it is ignored",
                shorten(file)
            ));
        }
    }
    materials
}

impl Material {
    fn statement(&mut self, keyword: &str, rest: &str) -> Result<(), String> {
        match keyword {
            "Kd" => self.diffuse = Some(color(rest)?),
            "Ke" => self.emissive = Some(color(rest)?),
            "d" => self.alpha = Some(number(rest.trim_start_matches("-halo"))?.clamp(0.0, 1.0)),
            // Files that hold both disagree at times.
            "Tr" if self.alpha.is_none() => {
                self.alpha = Some(1.0 - number(rest)?.clamp(0.0, 1.0));
            }
            "Ns" => self.shininess = Some(number(rest)?.max(0.0)),
            "Pr" => self.roughness = Some(number(rest)?.clamp(0.0, 1.0)),
            "Pm" => self.metallic = Some(number(rest)?.clamp(0.0, 1.0)),
            "map_Kd" => self.color_map = Some(Map::parse(rest)?),
            "map_Ke" => self.emissive_map = Some(Map::parse(rest)?),
            "map_d" => self.alpha_map = Some(Map::parse(rest)?),
            "map_Pr" => self.roughness_map = Some(Map::parse(rest)?),
            "map_Pm" => self.metallic_map = Some(Map::parse(rest)?),
            "norm" | "map_Kn" => self.normal_map = Some(Map::parse(rest)?),
            "bump" | "map_bump" | "map_Bump" if self.normal_map.is_none() => {
                self.normal_map = Some(Map::parse(rest)?);
            }
            "map_Ns" | "map_Ps" | "map_Pc" | "map_Pcr" | "disp" | "map_disp" | "decal" | "refl" => {
                return Err(format!("canopy does not read {keyword}"));
            }
            // Exporters write zeros for what a material does not have.
            "Ps" | "Pc" | "aniso" if number(rest)? != 0.0 => {
                return Err(format!("canopy does not read {keyword}"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Every texture, and what it is.
    pub(super) fn maps(&self) -> impl Iterator<Item = (Role, &Map)> {
        [
            (Role::Color, &self.color_map),
            (Role::Color, &self.emissive_map),
            (Role::Number, &self.alpha_map),
            (Role::Number, &self.roughness_map),
            (Role::Number, &self.metallic_map),
            (Role::Number, &self.normal_map),
        ]
        .into_iter()
        .filter_map(|(role, map)| Some((role, map.as_ref()?)))
    }

    /// The material without the maps that `is_missing`, but for those of colours.
    pub(super) fn without(mut self, is_missing: impl Fn(&Map) -> bool) -> Self {
        let same = |a: &Option<Map>, b: &Option<Map>| matches!((a, b), (Some(a), Some(b)) if a.path == b.path);
        // One file that is missing is missing in both, and then shows as the colour that it is.
        let of_color = same(&self.color_map, &self.alpha_map);
        for map in [
            Some(&mut self.alpha_map).filter(|_| !of_color),
            Some(&mut self.roughness_map),
            Some(&mut self.metallic_map),
            Some(&mut self.normal_map),
        ]
        .into_iter()
        .flatten()
        {
            map.take_if(|map| is_missing(map));
        }
        self
    }

    /// Where no texture says.
    pub(super) fn metallic(&self) -> f32 {
        self.metallic.unwrap_or(0.0)
    }

    /// Perceptual, where no texture says.
    pub(super) fn roughness(&self) -> f32 {
        self.roughness
            .or(self.shininess.map(roughness_of))
            .unwrap_or(scene::Material::stand_in().roughness)
    }

    /// The material without its textures.
    pub(super) fn to_material(&self) -> scene::Material {
        // Exporters write black where only the texture counts.
        let or_white = |color: Option<Vec3>, map: &Option<Map>| {
            color.filter(|c| map.is_none() || *c != Vec3::ZERO)
        };
        let white =
            |map: &Option<Map>, otherwise: Vec3| if map.is_some() { Vec3::ONE } else { otherwise };
        let default = default_material(&self.name);
        let grey = default.base_color.truncate();
        let diffuse =
            or_white(self.diffuse, &self.color_map).unwrap_or_else(|| white(&self.color_map, grey));
        let alpha = self.alpha.unwrap_or(1.0);
        scene::Material {
            base_color: diffuse.clamp(Vec3::ZERO, Vec3::ONE).extend(alpha),
            emissive: or_white(self.emissive, &self.emissive_map)
                .unwrap_or_else(|| white(&self.emissive_map, Vec3::ZERO)),
            metallic: self.metallic(),
            roughness: self.roughness(),
            normal_scale: self.normal_map.as_ref().map_or(1.0, |m| m.strength),
            alpha_mode: match (&self.alpha_map, alpha < 1.0) {
                (_, true) => AlphaMode::Blend,
                (Some(_), false) => AlphaMode::Mask,
                (None, false) => AlphaMode::Opaque,
            },
            stand_in: false,
            ..default
        }
    }
}

/// The perceptual roughness whose microfacets are spread as a Phong exponent says (Walter et al. 2007, section 5.2, with α the square
/// of the perceptual roughness).
fn roughness_of(exponent: f32) -> f32 {
    (2.0 / (exponent + 2.0)).powf(0.25)
}

fn number(rest: &str) -> Result<f32, String> {
    match numbers::<1>(rest) {
        ([value], 1) if value.is_finite() => Ok(value),
        _ => Err(format!("\"{}\" is not a number", shorten(rest))),
    }
}

/// One number is grey; two repeat the last.
fn color(rest: &str) -> Result<Vec3, String> {
    let rgb = match numbers::<3>(rest) {
        ([grey, _, _], 1) => Vec3::splat(grey),
        ([red, green, _], 2) => Vec3::new(red, green, green),
        (rgb, 3) => Vec3::from(rgb),
        _ => return Err("a colour without numbers".into()),
    };
    if rgb.is_finite() {
        Ok(rgb.clamp(Vec3::ZERO, Vec3::splat(1e9)))
    } else {
        Err(format!("\"{}\" is no colour", shorten(rest)))
    }
}

impl Map {
    /// Options, then a path, which may hold spaces.
    fn parse(rest: &str) -> Result<Self, String> {
        let mut map = Self {
            path: String::new(),
            offset: Vec2::ZERO,
            scale: Vec2::ONE,
            strength: 1.0,
            clamp: false,
        };
        let mut rest = rest;
        while let Some((option, after)) = rest
            .split_once(char::is_whitespace)
            .filter(|(option, _)| option.starts_with('-'))
        {
            let wanted = match option {
                "-o" | "-s" | "-t" => 3,
                "-mm" => 2,
                "-blendu" | "-blendv" | "-boost" | "-bm" | "-cc" | "-clamp" | "-imfchan"
                | "-texres" | "-type" => 1,
                _ => break,
            };
            let mut after = after.trim_start();
            let mut values = Vec::new();
            while values.len() < wanted
                && let Some((value, next)) = after.split_once(char::is_whitespace)
                // The vectors may have fewer numbers than three.
                && (wanted == 1 || value.parse::<f32>().is_ok())
            {
                values.push(value);
                after = next.trim_start();
            }
            rest = after;
            let value = |at: usize, default: f32| {
                let parsed = values.get(at).and_then(|v| v.parse::<f32>().ok());
                parsed.filter(|v| v.abs() < 1e9).unwrap_or(default)
            };
            match option {
                "-o" => map.offset = Vec2::new(value(0, 0.0), value(1, 0.0)),
                "-s" => map.scale = Vec2::new(value(0, 1.0), value(1, 1.0)),
                "-bm" => map.strength = value(0, 1.0),
                "-clamp" => map.clamp = values.first() == Some(&"on"),
                _ => {}
            }
        }
        map.path = rest.trim().trim_matches(['"', '\'']).to_owned();
        if map.path.is_empty() {
            Err("a texture without a file".into())
        } else {
            Ok(map)
        }
    }

    /// How the texture is sampled.
    pub(super) fn sampler(&self) -> Sampler {
        let wrap = if self.clamp {
            Wrap::Clamp
        } else {
            Wrap::Repeat
        };
        Sampler {
            wrap_u: wrap,
            wrap_v: wrap,
            ..Sampler::default()
        }
    }

    /// The texture numbered `texture`, as this statement uses it.
    pub(super) fn reference(&self, texture: usize) -> TextureRef {
        // MTL moves coordinates whose v points up; by now it points down.
        let offset = Vec2::new(self.offset.x, 1.0 - self.scale.y - self.offset.y);
        TextureRef {
            texture,
            uv_set: 0,
            texture_from_uv: Affine2::from_translation(offset) * Affine2::from_scale(self.scale),
        }
    }
}
