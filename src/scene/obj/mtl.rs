//! MTL materials, mapped to metallic-roughness.

use super::text::{decode, is_number, lines, statement, utf8, words};
use crate::scene::{
    files::shorten,
    image::Role,
    material::{self, AlphaMode},
    texture::{Sampler, TextureRef, Wrap},
};
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
pub(super) fn default_material(name: &str) -> material::Material {
    material::Material {
        name: name.to_owned(),
        // OBJ does not say which side of a face is seen.
        double_sided: true,
        ..material::Material::stand_in()
    }
}

/// The materials of an MTL file called `file`.
pub(super) fn parse(file: &str, bytes: &[u8], warnings: &mut Vec<String>) -> Vec<Material> {
    let mut screen = Screen::default();
    for (number, line) in lines(&utf8(bytes)) {
        if let Some((keyword, rest)) = statement(&line)
            && let Err(what) = screen.statement(&decode(keyword), rest)
            && warnings.len() < MOST_WARNINGS
        {
            warnings.push(format!(
                "{} line {number}: {what}; it is ignored",
                shorten(file)
            ));
        }
    }
    match tobj::load_mtl_buf(&mut screen.text.as_bytes()) {
        Ok((materials, _)) => screen
            .names
            .into_iter()
            .zip(materials)
            .map(Material::new)
            .collect(),
        Err(why) => {
            warnings.push(format!("{}: {why}; its materials are grey", shorten(file)));
            Vec::new()
        }
    }
}

/// An MTL file for tobj: the statements that canopy reads, without those that tobj would refuse.
#[derive(Default)]
struct Screen {
    text: String,
    /// In the text a material is called by its index here: tobj refuses one without a name.
    names: Vec<String>,
    has_alpha: bool,
    has_normal_map: bool,
}

impl Screen {
    fn statement(&mut self, keyword: &str, rest: &[u8]) -> Result<(), String> {
        if keyword == "newmtl" {
            self.write(keyword, &self.names.len().to_string());
            self.names.push(decode(rest).into_owned());
            (self.has_alpha, self.has_normal_map) = (false, false);
            return Ok(());
        }
        if self.names.is_empty() {
            return Ok(());
        }
        match keyword {
            "Kd" | "Ke" => self.write(keyword, &color(rest)?),
            "d" => {
                let halo = rest.strip_prefix(b"-halo").unwrap_or(rest);
                self.write("d", &number(halo)?);
                self.has_alpha = true;
            }
            // Files that hold both disagree at times.
            "Tr" if !self.has_alpha => {
                self.write("Tr", &number(rest)?);
                self.has_alpha = true;
            }
            "Ns" | "Pr" | "Pm" => self.write(keyword, &number(rest)?),
            "map_Kd" | "map_Ke" | "map_d" | "map_Pr" | "map_Pm" => {
                self.write(keyword, map(&decode(rest))?);
            }
            "norm" | "map_Kn" => {
                self.write("norm", map(&decode(rest))?);
                self.has_normal_map = true;
            }
            "bump" | "map_bump" | "map_Bump" if !self.has_normal_map => {
                self.write("bump", map(&decode(rest))?);
                self.has_normal_map = true;
            }
            "map_Ns" | "map_Ps" | "map_Pc" | "map_Pcr" | "disp" | "map_disp" | "decal" | "refl" => {
                return Err(format!("canopy does not read {keyword}"));
            }
            // Exporters write zeros for what a material does not have.
            "Ps" | "Pc" | "aniso" if number(rest)?.parse() != Ok(0.0_f32) => {
                return Err(format!("canopy does not read {keyword}"));
            }
            _ => {}
        }
        Ok(())
    }

    fn write(&mut self, keyword: &str, rest: &str) {
        for part in [keyword, " ", rest, "\n"] {
            self.text.push_str(part);
        }
    }
}

impl Material {
    /// The material called `name` from what tobj has read of it.
    fn new((name, read): (String, tobj::Material)) -> Self {
        let other = |keyword: &str| read.unknown_param.get(keyword).map(String::as_str);
        let number = |keyword: &str| other(keyword)?.parse::<f32>().ok();
        let map = |text: Option<&str>| text.map(Map::parse);
        let share = |value: f32| value.clamp(0.0, 1.0);
        let color = |rgb: [f32; 3]| Vec3::from(rgb).clamp(Vec3::ZERO, Vec3::splat(1e9));
        Self {
            diffuse: read.diffuse.map(color),
            emissive: read.emissive.map(color),
            alpha: read
                .dissolve
                .map(share)
                .or(number("Tr").map(|t| 1.0 - share(t))),
            shininess: read.shininess.map(|n| n.max(0.0)),
            roughness: number("Pr").map(share),
            metallic: number("Pm").map(share),
            color_map: map(read.diffuse_texture.as_deref()),
            emissive_map: map(other("map_Ke")),
            alpha_map: map(read.dissolve_texture.as_deref()),
            roughness_map: map(other("map_Pr")),
            metallic_map: map(other("map_Pm")),
            normal_map: map(other("norm").or(read.normal_texture.as_deref())),
            name,
        }
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

    /// The material in the colours of the image at `path`.
    pub(super) fn colored_by(self, path: &str) -> Self {
        Self {
            diffuse: None,
            color_map: Some(Map::parse(path)),
            ..self
        }
    }

    /// The material without the maps that `is_missing`, but for those of colours.
    pub(super) fn without(mut self, is_missing: impl Fn(&Map) -> bool) -> Self {
        let same = |a: &Option<Map>, b: &Option<Map>| {
            let both = a.as_ref().zip(b.as_ref());
            both.is_some_and(|(a, b)| a.path == b.path)
        };
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
            .unwrap_or(material::Material::stand_in().roughness)
    }

    /// The material without its textures.
    pub(super) fn to_material(&self) -> material::Material {
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
        let emissive = or_white(self.emissive, &self.emissive_map)
            .unwrap_or_else(|| white(&self.emissive_map, Vec3::ZERO));
        material::Material {
            base_color: diffuse.clamp(Vec3::ZERO, Vec3::ONE).extend(alpha),
            emissive,
            emissive_factor: emissive,
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

/// The perceptual roughness whose microfacets are spread as a Phong exponent says (Walter et al. 2007,
/// section 5.2, with α the square of the perceptual roughness).
fn roughness_of(exponent: f32) -> f32 {
    (2.0 / (exponent + 2.0)).powf(0.25)
}

/// The first number of `rest`.
fn number(rest: &[u8]) -> Result<String, String> {
    let first = words(rest).next().filter(|word| is_number(word));
    let first = first.ok_or_else(|| format!("\"{}\" is not a number", shorten(&decode(rest))))?;
    Ok(decode(first).replacen(',', ".", 1))
}

/// One number is grey; two repeat the last.
fn color(rest: &[u8]) -> Result<String, String> {
    let mut numbers: Vec<_> = words(rest).take(3).collect();
    let last = *numbers.last().ok_or("a colour without numbers")?;
    numbers.resize(3, last);
    let numbers: Result<Vec<_>, _> = numbers.into_iter().map(number).collect();
    let numbers = numbers.map_err(|_| format!("\"{}\" is no colour", shorten(&decode(rest))))?;
    Ok(numbers.join(" "))
}

/// A texture statement that names a file.
fn map(rest: &str) -> Result<&str, String> {
    if Map::parse(rest).path.is_empty() {
        Err("a texture without a file".into())
    } else {
        Ok(rest)
    }
}

impl Map {
    /// Options, then a path, which may hold spaces.
    fn parse(rest: &str) -> Self {
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
        map
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
