//! MTL materials, and their conversion to metallic-roughness.

use super::text::{decode, is_number, lines, statement, utf8, words};
use crate::{
    files::shorten,
    image::Role,
    material::{self, AlphaMode},
    texture::{Sampler, TextureRef, Wrap},
};
use glam::{Affine2, Vec2, Vec3};

/// A material with the values of its statements.
#[derive(Debug, Clone, Default)]
pub(super) struct Material {
    /// Name in `usemtl`.
    pub(super) name: String,
    diffuse: Option<Vec3>,
    emissive: Option<Vec3>,
    alpha: Option<f32>,
    shininess: Option<f32>,
    roughness: Option<f32>,
    metallic: Option<f32>,
    /// Texture of `map_Kd`.
    pub(super) color_map: Option<Map>,
    /// Texture of `map_Ke`.
    pub(super) emissive_map: Option<Map>,
    /// Texture of `map_d`.
    pub(super) alpha_map: Option<Map>,
    /// Texture of `map_Pr`: roughness as grey, or in green if `map_Pm` uses this file too.
    pub(super) roughness_map: Option<Map>,
    /// Texture of `map_Pm`: metalness as grey, or in blue if `map_Pr` uses this file too.
    pub(super) metallic_map: Option<Map>,
    /// Texture of `norm`, or of `bump`, which exporters also use for normal maps.
    pub(super) normal_map: Option<Map>,
}

/// Maximum number of warnings for a file. Further ones are dropped.
const MAX_WARNINGS: usize = 1000;

/// A texture statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Map {
    /// Path as the file has it.
    pub(super) path: String,
    offset: Vec2,
    scale: Vec2,
    strength: f32,
    clamp: bool,
    /// True for `-colorspace linear`, false for `-colorspace srgb`, else `None`.
    is_linear: Option<bool>,
}

/// Returns the material of faces without one.
pub(super) fn default_material(name: &str) -> material::Material {
    material::Material {
        name: name.to_owned(),
        // OBJ does not specify the visible side of a face.
        double_sided: true,
        ..material::Material::placeholder()
    }
}

/// Reads the materials of the MTL file `file`. If `is_file` is true for the full text of a map, that text is
/// its path, without options.
pub(super) fn parse(
    file: &str,
    bytes: &[u8],
    is_file: &dyn Fn(&str) -> bool,
    warnings: &mut Vec<String>,
) -> Vec<Material> {
    let mut sanitize = Sanitizer::default();
    for (number, line) in lines(&utf8(bytes)) {
        if let Some((keyword, rest)) = statement(&line)
            && let Err(what) = sanitize.statement(&decode(keyword), rest)
            && warnings.len() < MAX_WARNINGS
        {
            warnings.push(format!("{} line {number}: {what}; it is ignored", shorten(file)));
        }
    }
    match tobj::load_mtl_buf(&mut sanitize.text.as_bytes()) {
        Ok((materials, _)) => sanitize
            .names
            .into_iter()
            .zip(materials)
            .map(|(name, read)| {
                let material = Material::new(name, &read, is_file);
                if material.alpha.is_none()
                    && read.unknown_param.contains_key("Tr")
                    && warnings.len() < MAX_WARNINGS
                {
                    warnings.push(format!(
                        "{}: material \"{}\" has Tr 1 or more and no d, which would hide it; it is opaque",
                        shorten(file),
                        shorten(&material.name)
                    ));
                }
                material
            })
            .collect(),
        Err(why) => {
            warnings.push(format!("{}: {why}; its materials are grey", shorten(file)));
            Vec::new()
        }
    }
}

/// An MTL file rewritten for tobj, with the statements that canopy reads and without those that tobj would
/// refuse.
#[derive(Default)]
struct Sanitizer {
    text: String,
    /// Names of the materials. The text refers to each by its index in this list, because tobj refuses empty
    /// names.
    names: Vec<String>,
    has_alpha: bool,
    has_normal_map: bool,
}

impl Sanitizer {
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
            // `d` takes precedence over `Tr`, because they disagree in some files that have both.
            "Tr" if !self.has_alpha => {
                self.write("Tr", &number(rest)?);
                self.has_alpha = true;
            }
            "Ns" | "Pr" | "Pm" => self.write(keyword, &number(rest)?),
            "map_Kd" | "map_Ke" | "map_d" | "map_Pr" | "map_Pm" => {
                return self.map(keyword, &decode(rest));
            }
            "norm" | "map_Kn" => return self.map("norm", &decode(rest)),
            "bump" | "map_bump" | "map_Bump" if !self.has_normal_map => {
                return self.map("bump", &decode(rest));
            }
            "map_Ns" | "map_Ps" | "map_Pc" | "map_Pcr" | "disp" | "map_disp" | "decal" | "refl" => {
                return Err(format!("canopy does not read {keyword}"));
            }
            // Exporters write zeros for properties that a material does not have.
            "Ps" | "Pc" | "aniso" if number(rest)?.parse() != Ok(0.0_f32) => {
                return Err(format!("canopy does not read {keyword}"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes a texture statement with a file.
    fn map(&mut self, keyword: &str, rest: &str) -> Result<(), String> {
        let map = Map::parse(rest, &|_| false);
        if map.path.is_empty() {
            return Err("a texture without a file".into());
        }
        self.write(keyword, rest);
        self.has_normal_map |= matches!(keyword, "norm" | "bump");
        let is_color = matches!(keyword, "map_Kd" | "map_Ke");
        match map.is_linear {
            Some(true) if is_color => Err(format!("-colorspace linear is ignored: {keyword} is always sRGB")),
            Some(false) if !is_color => {
                Err(format!("-colorspace sRGB is ignored: {keyword} is always linear"))
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self, keyword: &str, rest: &str) {
        for part in [keyword, " ", rest, "\n"] {
            self.text.push_str(part);
        }
    }
}

impl Material {
    /// Creates the material `name` from the statements that tobj has read.
    fn new(name: String, read: &tobj::Material, is_file: &dyn Fn(&str) -> bool) -> Self {
        let other = |keyword: &str| read.unknown_param.get(keyword).map(String::as_str);
        let number = |keyword: &str| other(keyword)?.parse::<f32>().ok();
        let map = |text: Option<&str>| text.map(|text| Map::parse(text, is_file));
        let share = |value: f32| value.clamp(0.0, 1.0);
        let color = |rgb: [f32; 3]| Vec3::from(rgb).clamp(Vec3::ZERO, Vec3::splat(1e9));
        Self {
            diffuse: read.diffuse.map(color),
            emissive: read.emissive.map(color),
            // `Tr 1` without `d` comes from programs that confuse `Tr` with `d`, because nobody exports
            // invisible materials.
            alpha: read
                .dissolve
                .map(share)
                .or(number("Tr").filter(|t| *t < 1.0).map(|t| 1.0 - share(t))),
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

    /// Iterates over the textures and their roles.
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

    /// Returns the material with the image at `path` as its colour.
    pub(super) fn colored_by(self, path: &str) -> Self {
        Self {
            diffuse: None,
            color_map: Some(Map::plain(path)),
            ..self
        }
    }

    /// Returns the material without the maps for which `is_missing` is true. Colour maps are kept.
    pub(super) fn without(mut self, is_missing: impl Fn(&Map) -> bool) -> Self {
        let same = |a: &Option<Map>, b: &Option<Map>| {
            let both = a.as_ref().zip(b.as_ref());
            both.is_some_and(|(a, b)| a.path == b.path)
        };
        // If colour and alpha use the same file, both keep it when it is missing, so that the placeholder is
        // visible.
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

    /// Returns the metalness that applies without a texture.
    pub(super) fn metallic(&self) -> f32 {
        self.metallic.unwrap_or(0.0)
    }

    /// Returns the perceptual roughness that applies without a texture.
    pub(super) fn roughness(&self) -> f32 {
        self.roughness
            .or(self.shininess.map(roughness_of))
            .unwrap_or(material::Material::placeholder().roughness)
    }

    /// Converts the material without its textures.
    pub(super) fn to_material(&self) -> material::Material {
        // Exporters write black if only the texture counts.
        let or_white =
            |color: Option<Vec3>, map: &Option<Map>| color.filter(|c| map.is_none() || *c != Vec3::ZERO);
        let white = |map: &Option<Map>, otherwise: Vec3| if map.is_some() { Vec3::ONE } else { otherwise };
        let default = default_material(&self.name);
        let grey = default.base_color.truncate();
        let diffuse = or_white(self.diffuse, &self.color_map).unwrap_or_else(|| white(&self.color_map, grey));
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
            is_placeholder: false,
            ..default
        }
    }
}

/// Returns the perceptual roughness whose microfacet distribution matches a Phong exponent (Walter et al.
/// 2007, section 5.2, with α the square of the perceptual roughness).
fn roughness_of(exponent: f32) -> f32 {
    (2.0 / (exponent + 2.0)).powf(0.25)
}

/// Returns the first number of `rest`.
fn number(rest: &[u8]) -> Result<String, String> {
    let first = words(rest).next().filter(|word| is_number(word));
    let first = first.ok_or_else(|| format!("\"{}\" is not a number", shorten(&decode(rest))))?;
    Ok(decode(first).replacen(',', ".", 1))
}

/// Parses a colour. One number is grey, and two repeat the last.
fn color(rest: &[u8]) -> Result<String, String> {
    let mut numbers: Vec<_> = words(rest).take(3).collect();
    let last = *numbers.last().ok_or("a colour without numbers")?;
    numbers.resize(3, last);
    let numbers: Result<Vec<_>, _> = numbers.into_iter().map(number).collect();
    let numbers = numbers.map_err(|_| format!("\"{}\" is not a colour", shorten(&decode(rest))))?;
    Ok(numbers.join(" "))
}

/// Values that an option of a texture statement takes.
#[derive(Debug, Clone, Copy)]
enum Values {
    /// At most this many numbers.
    Numbers(usize),
    Switch,
    Word,
}

impl Values {
    /// Returns the values of the option `word`, or `None` if it is no option.
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "-o" | "-s" | "-t" => Self::Numbers(3),
            "-mm" => Self::Numbers(2),
            "-bm" | "-boost" => Self::Numbers(1),
            "-blendu" | "-blendv" | "-cc" | "-clamp" => Self::Switch,
            "-colorspace" | "-imfchan" | "-texres" | "-type" => Self::Word,
            _ => return None,
        })
    }

    /// True if `word` can be the value at index `at`.
    fn takes(self, word: &str, at: usize) -> bool {
        match self {
            Self::Numbers(most) => at < most && option_number(word).is_some(),
            Self::Switch => at < 1 && matches!(word, "on" | "off" | "1" | "0"),
            Self::Word => at < 1 && !word.is_empty(),
        }
    }
}

/// Parses a number that may have a decimal comma.
fn option_number(word: &str) -> Option<f32> {
    word.replacen(',', ".", 1).parse().ok()
}

/// Splits off the first word of `text`. Returns the word and the remaining text.
fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

impl Map {
    /// Creates the map of a file without options.
    fn plain(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            offset: Vec2::ZERO,
            scale: Vec2::ONE,
            strength: 1.0,
            clamp: false,
            is_linear: None,
        }
    }

    /// Parses options before or after a path, which may contain spaces. If `is_file` is true for text that
    /// looks like options and a path, the full text is the path.
    fn parse(text: &str, is_file: &dyn Fn(&str) -> bool) -> Self {
        let unquoted = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
        let text = text.trim();
        let mut map = Self::plain("");
        let mut rest = map.options(text);
        if rest.is_empty() {
            // If no path is left, the last word is the path.
            rest = text.rsplit(char::is_whitespace).next().unwrap_or(text);
        }
        if rest.len() < text.len() && is_file(&unquoted(text)) {
            return Self::plain(&unquoted(text));
        }
        // Trailing options begin after the last word that is not part of one.
        let (mut path, mut last) = (rest, rest);
        while !last.is_empty() {
            let after = Self::plain("").options(last);
            if after.is_empty() {
                path = &rest[..rest.len() - last.len()];
            }
            last = first_word(after).1;
        }
        // An option within quotes is part of the name.
        let is_quoted = path.matches('"').count() % 2 == 1;
        if path.len() < rest.len() && (path.is_empty() || is_quoted || is_file(&unquoted(rest))) {
            path = rest;
        }
        map.options(&rest[path.len()..]);
        map.path = unquoted(path);
        map
    }

    /// Parses the options at the start of `text`, and returns the remaining text.
    fn options<'a>(&mut self, mut text: &'a str) -> &'a str {
        loop {
            let (option, mut rest) = first_word(text);
            let Some(kind) = Values::of(option) else {
                return text;
            };
            let mut values = Vec::new();
            let mut next = first_word(rest);
            while kind.takes(next.0, values.len()) {
                values.push(next.0);
                rest = next.1;
                next = first_word(rest);
            }
            text = rest;
            let value = |at: usize, default: f32| {
                let parsed = values.get(at).and_then(|value| option_number(value));
                parsed.filter(|v| v.abs() < 1e9).unwrap_or(default)
            };
            match option {
                "-o" => self.offset = Vec2::new(value(0, 0.0), value(1, 0.0)),
                "-s" => self.scale = Vec2::new(value(0, 1.0), value(1, 1.0)),
                "-bm" => self.strength = value(0, 1.0),
                "-clamp" => self.clamp = matches!(values.first(), Some(&("on" | "1"))),
                "-colorspace" => {
                    let name = values.first().map(|name| name.to_ascii_lowercase());
                    self.is_linear = match name.as_deref() {
                        Some("linear") => Some(true),
                        Some("srgb") => Some(false),
                        _ => None,
                    };
                }
                _ => {}
            }
        }
    }

    /// Returns the sampler of the texture.
    pub(super) fn sampler(&self) -> Sampler {
        let wrap = if self.clamp { Wrap::Clamp } else { Wrap::Repeat };
        Sampler {
            wrap_u: wrap,
            wrap_v: wrap,
            ..Sampler::default()
        }
    }

    /// Returns a reference to the texture with index `texture`, with the transform of this statement.
    pub(super) fn reference(&self, texture: usize) -> TextureRef {
        // MTL transforms coordinates with v up, but they have been converted to v down.
        let offset = Vec2::new(self.offset.x, 1.0 - self.scale.y - self.offset.y);
        TextureRef {
            texture,
            uv_set: 0,
            texture_from_uv: Affine2::from_translation(offset) * Affine2::from_scale(self.scale),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str, is_file: &dyn Fn(&str) -> bool) -> Map {
        Map::parse(text, is_file)
    }

    fn parsed(text: &str) -> (Vec<Material>, Vec<String>) {
        let mut warnings = Vec::new();
        let materials = parse("a.mtl", text.as_bytes(), &|_| false, &mut warnings);
        (materials, warnings)
    }

    #[test]
    fn options_are_parsed_before_and_after_a_path() {
        let plain = Map::plain("my tex.png");
        let scaled = Map {
            scale: Vec2::new(2.0, 3.0),
            ..plain.clone()
        };
        let clamped = Map {
            clamp: true,
            ..plain.clone()
        };
        let bumped = Map {
            strength: 0.5,
            ..plain.clone()
        };
        let both = Map {
            clamp: true,
            ..scaled.clone()
        };
        for (text, expected) in [
            ("my tex.png", &plain),
            ("my tex.png -clamp on", &clamped),
            ("my tex.png\t-clamp on ", &clamped),
            ("-clamp on my tex.png", &clamped),
            ("my tex.png -bm 0.5", &bumped),
            ("my tex.png -bm 0.5 -imfchan r -type sphere", &bumped),
            ("-mm 0 1 my tex.png -bm 0.5", &bumped),
            ("-bm 0,5 my tex.png", &bumped),
            ("my tex.png -s 2 3", &scaled),
            ("my tex.png -s 2 3 1", &scaled),
            ("my tex.png -s 2 3 -clamp on", &both),
            ("-s 2 3 my tex.png -clamp on", &both),
            ("\"my tex.png\" -s 2 3 1 -clamp on", &both),
            ("my tex.png -blendu off -boost 2 -texres 512 -cc on", &plain),
            ("my tex.png -bm", &plain),
            ("-bm my tex.png", &plain),
        ] {
            assert_eq!(map(text, &|_| false), *expected, "{text}");
        }
        // None of these has options.
        for path in [
            "my-clamp on",
            "a -unknown 1",
            "a -s file.png",
            "a -bm 1.png",
            "-x/a.png",
            "-s.png",
            "a - s.png",
            "a -Clamp on",
            "-bm",
        ] {
            assert_eq!(map(path, &|_| false), Map::plain(path), "{path}");
        }
        let path = map("\"a -clamp on\"", &|_| false);
        assert_eq!(path, Map::plain("a -clamp on"));
    }

    #[test]
    fn a_text_that_names_a_file_is_not_parsed_for_options() {
        for path in ["tex.png -clamp on", "-s 2 tex.png", "-bm 1", "a -s 2 -o 1"] {
            let is_file = |text: &str| text == path;
            assert_eq!(map(path, &is_file), Map::plain(path), "{path}");
            assert_ne!(map(path, &|_| false), Map::plain(path), "{path}");
        }
        let is_file = |text: &str| text == "a -bm 2";
        let expected = Map {
            clamp: true,
            ..Map::plain("a -bm 2")
        };
        assert_eq!(map("-clamp on a -bm 2", &is_file), expected);
    }

    #[test]
    fn many_options_are_parsed_in_linear_time() {
        let text = "-s ".repeat(300_000) + "x " + &"-bm y ".repeat(300_000) + "z";
        assert!(map(&text, &|_| false).path.ends_with('z'));
    }

    #[test]
    fn unsupported_color_spaces_of_maps_are_warned_about() {
        for (text, path, warns) in [
            ("map_Kd -colorspace sRGB a b.png", "a b.png", false),
            ("map_Kd a b.png -colorspace sRGB", "a b.png", false),
            ("map_Kd -colorspace linear a.png", "a.png", true),
        ] {
            let (materials, warnings) = parsed(&format!("newmtl m\n{text}\n"));
            let map = materials[0].color_map.as_ref().unwrap();
            assert_eq!((map.path.as_str(), !warnings.is_empty()), (path, warns));
        }
        let (materials, warnings) = parsed("newmtl m\nmap_Pr -colorspace srgb a.png\n");
        assert_eq!(materials[0].roughness_map.as_ref().unwrap().path, "a.png");
        assert!(warnings[0].contains("-colorspace"), "{warnings:?}");
    }

    #[test]
    fn tr_1_without_d_is_read_as_opaque() {
        for (text, alpha, warns) in [
            ("Tr 1", 1.0, true),
            ("Tr 1.000000", 1.0, true),
            ("Tr 3", 1.0, true),
            ("Tr 0.75", 0.25, false),
            ("Tr 0", 1.0, false),
            ("d 0", 0.0, false),
            ("d 0\nTr 1", 0.0, false),
            ("Tr 1\nd 0.5", 0.5, false),
            ("d 1\nTr 1", 1.0, false),
            ("", 1.0, false),
        ] {
            let (materials, warnings) = parsed(&format!("newmtl m\n{text}\n"));
            let material = materials[0].to_material();
            assert_eq!(material.base_color.w, alpha, "{text}");
            let mode = match alpha < 1.0 {
                true => AlphaMode::Blend,
                false => AlphaMode::Opaque,
            };
            assert_eq!(material.alpha_mode, mode, "{text}");
            let told = warnings.iter().filter(|line| line.contains("\"m\" has Tr 1"));
            assert_eq!(told.count(), usize::from(warns), "{text}: {warnings:?}");
        }
    }
}
