//! Scenes of materials and lights, described once. They are written as glTF for canopy to draw. They are
//! evaluated here in f64 by the formulas of the specifications (glTF 2.0, appendix B; KHR_lights_punctual;
//! the KHR_materials extensions). Spheres and rectangles are intersected analytically, with exact normals and
//! texture coordinates. Textures are looked up by texel.

use super::gltf_builder::{Builder, U32};
use glam::{DMat2, DVec2, DVec3, DVec4};
use serde_json::{Map, Value, json};
use std::f64::consts::PI;

/// A texture's texels, rows from the top. The texture is sampled at the nearest texel and repeats.
#[derive(Debug, Clone)]
pub(crate) struct Texels {
    pub size: [u32; 2],
    pub rgba8: Vec<[u8; 4]>,
}

impl Texels {
    pub(crate) fn new(size: [u32; 2], texel: impl Fn(u32, u32) -> [u8; 4]) -> Self {
        let at = |i| texel(i % size[0], i / size[0]);
        let rgba8 = (0..size[0] * size[1]).map(at).collect();
        Self { size, rgba8 }
    }

    fn index(&self, uv: DVec2) -> usize {
        let wrap = |x: f64, size: u32| {
            let size = f64::from(size);
            (x * size).floor().rem_euclid(size) as usize
        };
        wrap(uv.y, self.size[1]) * self.size[0] as usize + wrap(uv.x, self.size[0])
    }
}

/// The use of a texture, by the path of its textureInfo in the JSON of a material.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    BaseColor,
    MetallicRoughness,
    Normal,
    Emissive,
    Specular,
    SpecularColor,
    Clearcoat,
    ClearcoatRoughness,
    ClearcoatNormal,
    SheenColor,
    SheenRoughness,
    Anisotropy,
    Iridescence,
    IridescenceThickness,
    Transmission,
    Thickness,
    Diffuse,
    SpecularGlossiness,
}

impl Slot {
    /// The extension or object that holds the texture (empty for the material itself), and its key.
    fn path(self) -> (&'static str, &'static str) {
        match self {
            Self::BaseColor => ("pbrMetallicRoughness", "baseColorTexture"),
            Self::MetallicRoughness => ("pbrMetallicRoughness", "metallicRoughnessTexture"),
            Self::Normal => ("", "normalTexture"),
            Self::Emissive => ("", "emissiveTexture"),
            Self::Specular => ("KHR_materials_specular", "specularTexture"),
            Self::SpecularColor => ("KHR_materials_specular", "specularColorTexture"),
            Self::Clearcoat => ("KHR_materials_clearcoat", "clearcoatTexture"),
            Self::ClearcoatRoughness => ("KHR_materials_clearcoat", "clearcoatRoughnessTexture"),
            Self::ClearcoatNormal => ("KHR_materials_clearcoat", "clearcoatNormalTexture"),
            Self::SheenColor => ("KHR_materials_sheen", "sheenColorTexture"),
            Self::SheenRoughness => ("KHR_materials_sheen", "sheenRoughnessTexture"),
            Self::Anisotropy => ("KHR_materials_anisotropy", "anisotropyTexture"),
            Self::Iridescence => ("KHR_materials_iridescence", "iridescenceTexture"),
            Self::IridescenceThickness => ("KHR_materials_iridescence", "iridescenceThicknessTexture"),
            Self::Transmission => ("KHR_materials_transmission", "transmissionTexture"),
            Self::Thickness => ("KHR_materials_volume", "thicknessTexture"),
            Self::Diffuse => ("KHR_materials_pbrSpecularGlossiness", "diffuseTexture"),
            Self::SpecularGlossiness => ("KHR_materials_pbrSpecularGlossiness", "specularGlossinessTexture"),
        }
    }

    /// True if its colours are sRGB. Alpha never is.
    fn srgb(self) -> bool {
        matches!(
            self,
            Self::BaseColor
                | Self::Emissive
                | Self::SpecularColor
                | Self::SheenColor
                | Self::Diffuse
                | Self::SpecularGlossiness
        )
    }
}

/// A textureInfo, with KHR_texture_transform and, for normals, its scale.
#[derive(Debug, Clone)]
pub(crate) struct Map2 {
    pub slot: Slot,
    pub texels: Texels,
    pub uv_set: usize,
    pub offset: DVec2,
    pub rotation: f64,
    pub scale: DVec2,
    pub normal_scale: f64,
}

impl Map2 {
    pub(crate) fn new(slot: Slot, texels: Texels) -> Self {
        Self {
            slot,
            texels,
            uv_set: 0,
            offset: DVec2::ZERO,
            rotation: 0.0,
            scale: DVec2::ONE,
            normal_scale: 1.0,
        }
    }

    /// KHR_texture_transform. The extension's first example selects the lower left quadrant of the image,
    /// rotated clockwise by 90°.
    fn uv(&self, uvs: [DVec2; 2]) -> DVec2 {
        let (sin, cos) = self.rotation.sin_cos();
        let scaled = self.scale * uvs[self.uv_set];
        DMat2::from_cols(DVec2::new(cos, -sin), DVec2::new(sin, cos)) * scaled + self.offset
    }

    fn sample(&self, uvs: [DVec2; 2]) -> DVec4 {
        let texel = self.texels.rgba8[self.texels.index(self.uv(uvs))];
        let [r, g, b, a] = texel.map(|byte| f64::from(byte) / 255.0);
        let decode = |c: f64| {
            if !self.slot.srgb() {
                c
            } else if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        DVec4::new(decode(r), decode(g), decode(b), a)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Alpha {
    Opaque,
    Mask(f64),
    Blend,
}

/// A material, with factors under the names of the specifications.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    pub base_color: DVec4,
    pub metallic: f64,
    pub roughness: f64,
    pub emissive: DVec3,
    pub emissive_strength: f64,
    pub alpha: Alpha,
    pub double_sided: bool,
    pub maps: Vec<Map2>,
    pub unlit: bool,
    pub ior: Option<f64>,
    /// Factor and colour.
    pub specular: Option<(f64, DVec3)>,
    /// Factor and roughness.
    pub clearcoat: Option<(f64, f64)>,
    /// Colour and roughness.
    pub sheen: Option<(DVec3, f64)>,
    /// Strength and rotation.
    pub anisotropy: Option<(f64, f64)>,
    /// Factor, index of refraction, minimum and maximum thickness in nanometres.
    pub iridescence: Option<[f64; 4]>,
    pub transmission: Option<f64>,
    /// Thickness, attenuation distance and colour.
    pub volume: Option<(f64, f64, DVec3)>,
    /// Diffuse, specular, glossiness.
    pub specular_glossiness: Option<(DVec4, DVec3, f64)>,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            base_color: DVec4::ONE,
            metallic: 0.0,
            roughness: 0.5,
            emissive: DVec3::ZERO,
            emissive_strength: 1.0,
            alpha: Alpha::Opaque,
            double_sided: false,
            maps: Vec::new(),
            unlit: false,
            ior: None,
            specular: None,
            clearcoat: None,
            sheen: None,
            anisotropy: None,
            iridescence: None,
            transmission: None,
            volume: None,
            specular_glossiness: None,
        }
    }
}

/// The shape that shows a look.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    /// The half that faces +Z and a little more, in this many rings.
    Sphere { center: DVec3, radius: f64, rings: u32 },
    /// A rectangle that faces `u × v`, and a square if its texture is rotated. Each set of texture
    /// coordinates has the value at the corner, then the changes along `u` and `v`.
    Quad {
        corner: DVec3,
        u: DVec3,
        v: DVec3,
        uvs: [[DVec2; 3]; 2],
    },
}

impl Shape {
    /// A rectangle with the texture coordinates of an upright image: u to the right, v downwards.
    pub(crate) fn quad(corner: DVec3, u: DVec3, v: DVec3) -> Self {
        let upright = [DVec2::Y, DVec2::X, DVec2::NEG_Y];
        Self::Quad {
            corner,
            u,
            v,
            uvs: [upright; 2],
        }
    }
}

/// An object of a scene.
#[derive(Debug, Clone)]
pub(crate) struct Specimen {
    pub shape: Shape,
    pub look: Look,
    /// Vertex colours of a rectangle: the value at the corner, then the changes along `u` and `v`.
    pub colors: Option<[DVec4; 3]>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Lamp {
    Directional,
    Point,
    /// Inner and outer angle.
    Spot(f64, f64),
}

/// A light of KHR_lights_punctual, in lux or candela.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beam {
    pub lamp: Lamp,
    pub color: DVec3,
    pub intensity: f64,
    pub range: Option<f64>,
    pub from: DVec3,
    /// A point that the light is aimed at.
    pub to: DVec3,
}

impl Beam {
    pub(crate) fn new(lamp: Lamp, intensity: f64, from: DVec3, to: DVec3) -> Self {
        Self {
            lamp,
            color: DVec3::ONE,
            intensity,
            range: None,
            from,
            to,
        }
    }

    /// Unit vector to the light, and its irradiance on a surface that faces it.
    fn incident(&self, at: DVec3) -> (DVec3, DVec3) {
        let along = (self.to - self.from).normalize();
        let power = self.color * self.intensity;
        if matches!(self.lamp, Lamp::Directional) {
            return (-along, power);
        }
        let offset = self.from - at;
        let distance = offset.length();
        let to_light = offset / distance;
        // "attenuation = max( min( 1.0 - ( current_distance / range )^4, 1 ), 0 ) / current_distance^2"
        let window = self
            .range
            .map_or(1.0, |range| (1.0 - (distance / range).powi(4)).clamp(0.0, 1.0));
        let mut attenuation = window / (distance * distance);
        if let Lamp::Spot(inner, outer) = self.lamp {
            let scale = 1.0 / (inner.cos() - outer.cos()).max(0.001);
            let angular = along.dot(-to_light) * scale - outer.cos() * scale;
            attenuation *= angular.clamp(0.0, 1.0).powi(2);
        }
        (to_light, power * attenuation)
    }
}

/// A scene and the camera, whose field of view is vertical and in radians.
#[derive(Debug, Clone)]
pub(crate) struct Still {
    pub specimens: Vec<Specimen>,
    pub beams: Vec<Beam>,
    pub eye: DVec3,
    pub target: DVec3,
    pub fov: f64,
}

/// A surface hit by a ray.
struct Intersection {
    specimen: usize,
    distance: f64,
    position: DVec3,
    /// Geometric normal, on the outer side of the shape.
    normal: DVec3,
    /// Directions of the texture's +u and of its up.
    tangent: DVec3,
    bitangent: DVec3,
    uvs: [DVec2; 2],
    color: DVec4,
}

/// The radiance of a pixel, and the surfaces and texels that determine it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    /// The surfaces hit and the texels read. They are equal for neighbouring pixels that no edge separates.
    pub trail: Vec<usize>,
    /// The nearest surface hit.
    pub specimen: Option<usize>,
    pub radiance: DVec3,
}

impl Still {
    /// The radiance of the pixel at `x`, `y` on a black background. Coordinates are in pixels from the top
    /// left, with pixel centres at halves.
    pub(crate) fn look(&self, size: [u32; 2], x: f64, y: f64) -> Seen {
        self.follow(size, x, y, true)
    }

    /// The surfaces hit there and the texels read.
    pub(crate) fn trail(&self, size: [u32; 2], x: f64, y: f64) -> Vec<usize> {
        self.follow(size, x, y, false).trail
    }

    fn follow(&self, [width, height]: [u32; 2], x: f64, y: f64, shade: bool) -> Seen {
        let forward = (self.target - self.eye).normalize();
        let right = forward.cross(DVec3::Y).normalize();
        let up = right.cross(forward);
        let half = (0.5 * self.fov).tan();
        let (w, h) = (f64::from(width), f64::from(height));
        let direction =
            (forward + right * (2.0 * x / w - 1.0) * half * w / h + up * (1.0 - 2.0 * y / h) * half)
                .normalize();
        let mut hits: Vec<Intersection> = (0..self.specimens.len())
            .filter_map(|index| self.intersect(index, direction))
            .collect();
        hits.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        let mut seen = Seen {
            trail: Vec::new(),
            specimen: None,
            radiance: DVec3::ZERO,
        };
        // Transmittance of the nearer surfaces for light from behind.
        let mut through = DVec3::ONE;
        for hit in hits {
            let look = &self.specimens[hit.specimen].look;
            seen.trail.push(hit.specimen);
            let texels = look.maps.iter().map(|map| map.texels.index(map.uv(hit.uvs)));
            seen.trail.extend(texels);
            let surface = Surface::new(look, &hit, direction);
            if matches!(look.alpha, Alpha::Mask(cutoff) if surface.alpha < cutoff) {
                continue;
            }
            let coverage = match look.alpha {
                Alpha::Blend => surface.alpha,
                Alpha::Opaque | Alpha::Mask(_) => 1.0,
            };
            seen.specimen = seen.specimen.or(Some(hit.specimen));
            if shade {
                seen.radiance += through * coverage * surface.radiance(&self.beams, -direction);
            }
            through *= 1.0 - coverage + coverage * surface.transmittance(-direction);
            if through == DVec3::ZERO {
                break;
            }
        }
        seen
    }

    fn intersect(&self, specimen: usize, direction: DVec3) -> Option<Intersection> {
        let Specimen { shape, look, colors } = &self.specimens[specimen];
        match *shape {
            Shape::Sphere { center, radius, .. } => {
                let offset = self.eye - center;
                let b = offset.dot(direction);
                let discriminant = b * b - offset.length_squared() + radius * radius;
                if discriminant < 0.0 {
                    return None;
                }
                let distance = -b - discriminant.sqrt();
                let position = self.eye + distance * direction;
                let normal = (position - center) / radius;
                // Along the circles of latitude about Y.
                let tangent = DVec3::Y.cross(normal).normalize_or(DVec3::X);
                Some(Intersection {
                    specimen,
                    distance,
                    position,
                    normal,
                    tangent,
                    bitangent: normal.cross(tangent),
                    uvs: [DVec2::ZERO; 2],
                    color: DVec4::ONE,
                })
            }
            Shape::Quad { corner, u, v, uvs } => {
                let normal = u.cross(v).normalize();
                let facing = normal.dot(direction);
                if facing == 0.0 || (facing > 0.0 && !look.double_sided) {
                    return None;
                }
                let distance = (corner - self.eye).dot(normal) / facing;
                let position = self.eye + distance * direction;
                let offset = position - corner;
                let (s, t) = (
                    offset.dot(u) / u.length_squared(),
                    offset.dot(v) / v.length_squared(),
                );
                if distance <= 0.0 || !(0.0..=1.0).contains(&s) || !(0.0..=1.0).contains(&t) {
                    return None;
                }
                let normal_map = look.maps.iter().find(|map| map.slot == Slot::Normal);
                let (tangent, bitangent) = match normal_map {
                    // The gradients of its texture coordinates give the directions of +u and +v.
                    Some(map) => {
                        let [_, du, dv] = uvs[map.uv_set];
                        let (u, v) = (u / u.length_squared(), v / v.length_squared());
                        let tangent = (u * du.x + v * dv.x).normalize();
                        (tangent, -(u * du.y + v * dv.y).normalize())
                    }
                    // The values of the file.
                    None => (u.normalize(), normal.cross(u.normalize())),
                };
                let at = |set: [DVec2; 3]| set[0] + s * set[1] + t * set[2];
                Some(Intersection {
                    specimen,
                    distance,
                    position,
                    normal,
                    tangent,
                    bitangent,
                    uvs: uvs.map(at),
                    color: colors.map_or(DVec4::ONE, |c| c[0] + s * c[1] + t * c[2]),
                })
            }
        }
    }
}

/// A look evaluated at a point.
struct Surface {
    position: DVec3,
    normal: DVec3,
    coat_normal: DVec3,
    /// The normal without normal textures.
    smooth_normal: DVec3,
    /// Direction of the anisotropy.
    along: DVec3,
    across: DVec3,
    alpha: f64,
    base_color: DVec3,
    metallic: f64,
    roughness: f64,
    emissive: DVec3,
    unlit: bool,
    /// Reflectance of the dielectric at normal incidence, without its weight.
    f0: DVec3,
    specular: f64,
    clearcoat: f64,
    clearcoat_roughness: f64,
    sheen_color: DVec3,
    sheen_roughness: f64,
    anisotropy: f64,
    /// Strength, index of refraction, thickness.
    iridescence: [f64; 3],
    transmission: f64,
    attenuation: DVec3,
}

impl Surface {
    fn new(look: &Look, at: &Intersection, direction: DVec3) -> Self {
        let map = |slot| look.maps.iter().find(|map| map.slot == slot);
        let sample = |slot| map(slot).map_or(DVec4::ONE, |map| map.sample(at.uvs));
        let front = at.normal.dot(direction) < 0.0;
        let side = if front { 1.0 } else { -1.0 };
        let mapped = |slot| {
            map(slot).map_or(at.normal, |map| {
                let [x, y, z] = (map.sample(at.uvs).truncate() * 2.0 - 1.0).to_array();
                let (x, y) = (x * map.normal_scale, y * map.normal_scale);
                (x * at.tangent + y * at.bitangent + z * at.normal).normalize()
            })
        };
        let metallic_roughness = sample(Slot::MetallicRoughness);
        let mut base_color = look.base_color * sample(Slot::BaseColor) * at.color;
        let mut metallic = look.metallic * metallic_roughness.z;
        let mut roughness = look.roughness * metallic_roughness.y;
        let ior = look.ior.unwrap_or(1.5);
        let mut f0 = DVec3::splat(((1.0 - ior) / (1.0 + ior)).powi(2));
        let (mut specular, specular_color) = look.specular.unwrap_or((1.0, DVec3::ONE));
        specular *= sample(Slot::Specular).w;
        f0 = (f0 * specular_color * sample(Slot::SpecularColor).truncate()).min(DVec3::ONE);
        if let Some((diffuse, color, glossiness)) = look.specular_glossiness {
            let texel = sample(Slot::SpecularGlossiness);
            base_color = diffuse * sample(Slot::Diffuse) * at.color;
            metallic = 0.0;
            roughness = 1.0 - glossiness * texel.w;
            f0 = (color * texel.truncate()).min(DVec3::ONE);
        }
        let (clearcoat, clearcoat_roughness) = look.clearcoat.unwrap_or_default();
        let (sheen_color, sheen_roughness) = look.sheen.unwrap_or_default();
        let (strength, rotation) = look.anisotropy.unwrap_or_default();
        // Without a texture the direction is +X at full strength.
        let grain = map(Slot::Anisotropy).map_or(DVec3::new(1.0, 0.0, 1.0), |map| {
            let texel = map.sample(at.uvs);
            let direction = (texel.truncate().truncate() * 2.0 - 1.0).normalize();
            direction.extend(texel.z)
        });
        let (sin, cos) = rotation.sin_cos();
        let turned = DMat2::from_cols(DVec2::new(cos, sin), DVec2::new(-sin, cos)) * grain.truncate();
        let along = (turned.x * at.tangent + turned.y * at.bitangent).normalize();
        let [film, film_ior, thinnest, thickest] = look.iridescence.unwrap_or_default();
        let film_thickness = thinnest + (thickest - thinnest) * sample(Slot::IridescenceThickness).y;
        let (thickness, distance, color) = look.volume.unwrap_or((0.0, 1.0, DVec3::ONE));
        let path = thickness * sample(Slot::Thickness).y;
        Self {
            position: at.position,
            normal: side * mapped(Slot::Normal),
            coat_normal: side * mapped(Slot::ClearcoatNormal),
            smooth_normal: side * at.normal.normalize(),
            along,
            across: at.normal.cross(along).normalize(),
            alpha: base_color.w,
            base_color: base_color.truncate(),
            metallic,
            roughness,
            emissive: look.emissive * look.emissive_strength * sample(Slot::Emissive).truncate(),
            unlit: look.unlit,
            f0,
            specular,
            clearcoat: clearcoat * sample(Slot::Clearcoat).x,
            clearcoat_roughness: clearcoat_roughness * sample(Slot::ClearcoatRoughness).y,
            sheen_color: sheen_color * sample(Slot::SheenColor).truncate(),
            sheen_roughness: sheen_roughness * sample(Slot::SheenRoughness).w,
            anisotropy: strength * grain.z,
            iridescence: [film * sample(Slot::Iridescence).x, film_ior, film_thickness],
            transmission: look.transmission.unwrap_or(0.0) * sample(Slot::Transmission).x,
            attenuation: color.powf(path / distance),
        }
    }

    fn radiance(&self, beams: &[Beam], to_eye: DVec3) -> DVec3 {
        if self.unlit {
            return self.base_color;
        }
        let mut sum = self.emissive * (1.0 - self.coat_weight(to_eye));
        for beam in beams {
            let (to_light, irradiance) = beam.incident(self.position);
            sum += self.scatter(to_eye, to_light) * irradiance;
        }
        sum
    }

    /// Transmitted fraction of the radiance straight behind: KHR_materials_transmission's base layer, and
    /// Beer's law.
    fn transmittance(&self, to_eye: DVec3) -> DVec3 {
        let n_dot_v = self.normal.dot(to_eye).abs();
        let [dielectric, _] = self.fresnel(n_dot_v, n_dot_v);
        let refracted = (1.0 - dielectric.max_element()) * (1.0 - self.metallic);
        let passed = self.base_color * self.transmission * refracted * self.attenuation;
        passed * (1.0 - self.coat_weight(to_eye))
    }

    /// clearcoat * clearcoat_fresnel
    fn coat_weight(&self, to_eye: DVec3) -> f64 {
        let v_dot_nc = to_eye.dot(self.coat_normal).abs();
        self.clearcoat * (0.04 + (1.0 - 0.04) * (1.0 - v_dot_nc).powi(5))
    }

    /// The BRDF times the cosine of each layer's own normal.
    fn scatter(&self, to_eye: DVec3, to_light: DVec3) -> DVec3 {
        let half = (to_eye + to_light).normalize();
        let v_dot_h = to_eye.dot(half).abs();
        let n_dot_l = self.normal.dot(to_light);
        let mut below = DVec3::ZERO;
        if n_dot_l > 0.0 {
            let lobe = self.lobe(to_eye, to_light, half);
            let [dielectric, metal] = self.fresnel(v_dot_h, self.normal.dot(to_eye).abs());
            let diffuse = self.base_color / PI * (1.0 - self.transmission);
            let dielectric = dielectric * lobe + (1.0 - dielectric.max_element()) * diffuse;
            below = dielectric.lerp(metal * lobe, self.metallic);
            if self.sheen_color != DVec3::ZERO {
                let n_dot_v = self.normal.dot(to_eye).abs();
                let most = self.sheen_color.max_element();
                let scaling = |cosine| (1.0 - most * sheen_albedo(cosine, self.sheen_roughness)).max(0.0);
                below *= scaling(n_dot_v).min(scaling(n_dot_l));
                let n_dot_h = self.normal.dot(half);
                below += self.sheen_color * charlie(n_dot_l, n_dot_v, n_dot_h, self.sheen_roughness);
            }
            below *= n_dot_l * self.kept(self.normal, to_light);
        }
        let weight = self.coat_weight(to_eye);
        let coat_cosine = self.coat_normal.dot(to_light).max(0.0);
        let alpha = self.clearcoat_roughness.powi(2);
        let coat = if weight > 0.0 && coat_cosine > 0.0 {
            trowbridge_reitz(self.coat_normal, half, alpha)
                * smith(self.coat_normal, to_eye, to_light, alpha)
                * coat_cosine
                * self.kept(self.coat_normal, to_light)
        } else {
            0.0
        };
        below.lerp(DVec3::splat(coat), weight)
    }

    /// A factor that no specification defines. A light fades towards the horizon of the surface without
    /// normal textures (Chiang, Li and Burley 2019, "Taming the Shadow Terminator").
    fn kept(&self, normal: DVec3, to_light: DVec3) -> f64 {
        let turned = normal.dot(to_light) * self.smooth_normal.dot(normal);
        let g = (self.smooth_normal.dot(to_light) / turned).clamp(0.0, 1.0);
        -g.powi(3) + g.powi(2) + g
    }

    /// specular_brdf of the base: isotropic by appendix B, otherwise by KHR_materials_anisotropy.
    fn lobe(&self, to_eye: DVec3, to_light: DVec3, half: DVec3) -> f64 {
        let alpha = self.roughness.powi(2);
        if self.anisotropy == 0.0 {
            return trowbridge_reitz(self.normal, half, alpha) * smith(self.normal, to_eye, to_light, alpha);
        }
        let strength = self.anisotropy.powi(2);
        let along = alpha * (1.0 - strength) + strength;
        let (t, b, n) = (self.along, self.across, self.normal);
        let squares = (half.dot(t) / along).powi(2) + (half.dot(b) / alpha).powi(2) + half.dot(n).powi(2);
        let distribution = 1.0 / (PI * along * alpha * squares.powi(2));
        let stretch = |v: DVec3| DVec3::new(along * t.dot(v), alpha * b.dot(v), n.dot(v)).length();
        let (n_dot_l, n_dot_v) = (n.dot(to_light), n.dot(to_eye).abs());
        distribution * 0.5 / (n_dot_l * stretch(to_eye) + n_dot_v * stretch(to_light))
    }

    /// Fresnel terms of the dielectric and of the metal. The film's term uses the viewing angle.
    fn fresnel(&self, v_dot_h: f64, n_dot_v: f64) -> [DVec3; 2] {
        let grazing = (1.0 - v_dot_h).powi(5);
        let schlick = |f0: DVec3| f0 + (DVec3::ONE - f0) * grazing;
        let [strength, ior, thickness] = self.iridescence;
        let film = |f0: DVec3, plain: DVec3| {
            if strength == 0.0 {
                return plain;
            }
            plain.lerp(iridescent_fresnel(ior, f0, thickness, n_dot_v), strength)
        };
        [
            film(self.specular * self.f0, self.specular * schlick(self.f0)),
            film(self.base_color, schlick(self.base_color)),
        ]
    }
}

/// Fraction of uniform light that a look without textures reflects in a direction at this cosine to its
/// normal, in the plane of its tangent. It is a sum over `steps` × `steps` directions, with equal parts of
/// the cosine.
pub(crate) fn reflected(look: &Look, cosine: f64, steps: u32) -> DVec3 {
    let to_eye = DVec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine);
    let at = Intersection {
        specimen: 0,
        distance: 1.0,
        position: DVec3::ZERO,
        normal: DVec3::Z,
        tangent: DVec3::X,
        bitangent: DVec3::Y,
        uvs: [DVec2::ZERO; 2],
        color: DVec4::ONE,
    };
    let surface = Surface::new(look, &at, -to_eye);
    let middle = |i: u32| (f64::from(i) + 0.5) / f64::from(steps);
    let scattered = |i: u32| {
        let (radius2, turn) = (middle(i / steps), 2.0 * PI * middle(i % steps));
        let (sine, up) = (radius2.sqrt(), (1.0 - radius2).sqrt());
        let to_light = DVec3::new(sine * turn.cos(), sine * turn.sin(), up);
        surface.scatter(to_eye, to_light) / up
    };
    PI / f64::from(steps * steps) * (0..steps * steps).map(scattered).sum::<DVec3>()
}

/// D of appendix B.
fn trowbridge_reitz(normal: DVec3, half: DVec3, alpha: f64) -> f64 {
    let (a2, n_dot_h) = (alpha * alpha, normal.dot(half));
    a2 / (PI * (n_dot_h * n_dot_h * (a2 - 1.0) + 1.0).powi(2))
}

/// The visibility function of appendix B: height-correlated Smith.
fn smith(normal: DVec3, to_eye: DVec3, to_light: DVec3, alpha: f64) -> f64 {
    let (l, v) = (normal.dot(to_light).abs(), normal.dot(to_eye).abs());
    let a2 = alpha * alpha;
    let root = |cosine: f64| (a2 + (1.0 - a2) * cosine * cosine).sqrt();
    1.0 / (2.0 * (v * root(l) + l * root(v)))
}

/// sheen_brdf: Charlie's distribution and visibility.
fn charlie(n_dot_l: f64, n_dot_v: f64, n_dot_h: f64, roughness: f64) -> f64 {
    let alpha = roughness * roughness;
    let inverse = 1.0 / alpha;
    let sin2 = 1.0 - n_dot_h * n_dot_h;
    let distribution = (2.0 + inverse) * sin2.max(0.0).powf(inverse * 0.5) / (2.0 * PI);
    let masking = 1.0 + lambda_sheen(n_dot_v, alpha) + lambda_sheen(n_dot_l, alpha);
    distribution / (masking * 4.0 * n_dot_v * n_dot_l)
}

fn lambda_sheen(cosine: f64, alpha: f64) -> f64 {
    let rest = (1.0 - alpha).powi(2);
    let mix = |x: f64, y: f64| x * (1.0 - rest) + y * rest;
    let (a, b) = (mix(21.5473, 25.3245), mix(3.82987, 3.32435));
    let (c, d) = (mix(0.19823, 0.16801), mix(-1.97760, -1.27393));
    let e = mix(-4.32054, -4.85967);
    let l = |x: f64| a / (1.0 + b * x.powf(c)) + d * x + e;
    if cosine.abs() < 0.5 {
        l(cosine).exp()
    } else {
        (2.0 * l(0.5) - l(1.0 - cosine)).exp()
    }
}

/// E of KHR_materials_sheen: the fraction of light from one direction that the sheen scatters in all
/// directions, summed over the hemisphere.
pub(crate) fn sheen_albedo(cosine: f64, roughness: f64) -> f64 {
    const STEPS: u32 = 48;
    let sine = (1.0 - cosine * cosine).sqrt();
    let middle = |i: u32| (f64::from(i) + 0.5) / f64::from(STEPS);
    let mut sum = 0.0;
    for i in 0..STEPS {
        // Cosines are denser at grazing light.
        let root = middle(i);
        let out_cosine = root * root;
        let out_sine = (1.0 - out_cosine * out_cosine).sqrt();
        for j in 0..STEPS {
            let (sin, cos) = (PI * middle(j)).sin_cos();
            let half = DVec3::new(sine + out_sine * cos, out_sine * sin, cosine + out_cosine);
            let n_dot_h = half.z / half.length();
            let weight = 2.0 * root * out_cosine;
            sum += weight * charlie(out_cosine, cosine, n_dot_h, roughness);
        }
    }
    2.0 * PI * sum / f64::from(STEPS * STEPS)
}

/// iridescent_fresnel of KHR_materials_iridescence (Belcour and Barla 2017), in air.
fn iridescent_fresnel(film_ior: f64, base_f0: DVec3, thickness: f64, cosine1: f64) -> DVec3 {
    let cosine2_squared = 1.0 - (1.0 / film_ior).powi(2) * (1.0 - cosine1 * cosine1);
    if cosine2_squared < 0.0 {
        return DVec3::ONE;
    }
    let cosine2 = cosine2_squared.sqrt();
    let schlick = |f0: f64, cosine: f64| f0 + (1.0 - f0) * (1.0 - cosine).powi(5);
    let ior_to_f0 =
        |transmitted: f64, incident: f64| ((transmitted - incident) / (transmitted + incident)).powi(2);
    let r12 = schlick(ior_to_f0(film_ior, 1.0), cosine1);
    let t121 = 1.0 - r12;
    let phi21 = if film_ior < 1.0 { 0.0 } else { PI };
    let path = 2.0 * film_ior * thickness * cosine2;
    let (mut constant, mut rs, mut r123, mut phi) = ([0.0; 3], [0.0; 3], [0.0; 3], [0.0; 3]);
    for i in 0..3 {
        let root = (base_f0[i] + 0.0001).min(0.9999).sqrt();
        let base_ior = (1.0 + root) / (1.0 - root);
        let r23 = schlick(ior_to_f0(base_ior, film_ior), cosine2);
        phi[i] = phi21 + if base_ior < film_ior { PI } else { 0.0 };
        let product = (r12 * r23).clamp(1e-5, 0.9999);
        r123[i] = product.sqrt();
        rs[i] = t121 * t121 * r23 / (1.0 - product);
        constant[i] = r12 + rs[i];
    }
    let mut sum = DVec3::from(constant);
    let mut amplitude: [f64; 3] = std::array::from_fn(|i| rs[i] - t121);
    for order in 1..=2 {
        let order = f64::from(order);
        for i in 0..3 {
            amplitude[i] *= r123[i];
        }
        let sensitivity = sensitivity(order * path, phi.map(|phi| order * phi));
        sum += DVec3::from(amplitude) * 2.0 * sensitivity;
    }
    sum.max(DVec3::ZERO)
}

/// evalSensitivity of KHR_materials_iridescence.
fn sensitivity(path_nm: f64, shift: [f64; 3]) -> DVec3 {
    const VALUE: [f64; 3] = [5.4856e-13, 4.4201e-13, 5.2481e-13];
    const POSITION: [f64; 3] = [1.6810e+06, 1.7953e+06, 2.2084e+06];
    const VARIANCE: [f64; 3] = [4.3278e+09, 9.3046e+09, 6.6121e+09];
    let phase = 2.0 * PI * path_nm * 1e-9;
    let bump = |value: f64, position: f64, variance: f64, shift: f64| {
        let wave = (position * phase + shift).cos() * (-phase * phase * variance).exp();
        value * (2.0 * PI * variance).sqrt() * wave
    };
    let mut xyz = DVec3::from(std::array::from_fn::<_, 3, _>(|i| {
        bump(VALUE[i], POSITION[i], VARIANCE[i], shift[i])
    }));
    xyz.x += bump(9.7470e-14, 2.2399e+06, 4.5282e+09, shift[0]);
    xyz /= 1.0685e-7;
    let to_rec709 = glam::DMat3::from_cols_array(&[
        3.2404542, -0.9692660, 0.0556434, -1.5371385, 1.8760108, -0.2040259, -0.4985314, 0.0415560, 1.0572252,
    ]);
    to_rec709 * xyz
}

impl Look {
    /// The material's JSON. Textures are added to `file`.
    fn write(&self, file: &mut Builder) -> Value {
        let mut json = json!({
            "pbrMetallicRoughness": {
                "baseColorFactor": self.base_color.to_array(),
                "metallicFactor": self.metallic,
                "roughnessFactor": self.roughness,
            },
            "emissiveFactor": self.emissive.to_array(),
            "doubleSided": self.double_sided,
        });
        match self.alpha {
            Alpha::Opaque => {}
            Alpha::Blend => json["alphaMode"] = json!("BLEND"),
            Alpha::Mask(cutoff) => {
                json["alphaMode"] = json!("MASK");
                json["alphaCutoff"] = json!(cutoff);
            }
        }
        let mut extensions = Map::new();
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                extensions.insert(name.into(), value);
            }
        };
        add("KHR_materials_unlit", self.unlit.then(|| json!({})));
        let strength = self.emissive_strength;
        add(
            "KHR_materials_emissive_strength",
            (strength != 1.0).then(|| json!({ "emissiveStrength": strength })),
        );
        add("KHR_materials_ior", self.ior.map(|ior| json!({ "ior": ior })));
        add(
            "KHR_materials_specular",
            self.specular.map(|(factor, color)| {
                json!({ "specularFactor": factor, "specularColorFactor": color.to_array() })
            }),
        );
        add(
            "KHR_materials_clearcoat",
            self.clearcoat.map(|(factor, roughness)| {
                json!({ "clearcoatFactor": factor, "clearcoatRoughnessFactor": roughness })
            }),
        );
        add(
            "KHR_materials_sheen",
            self.sheen.map(|(color, roughness)| {
                json!({ "sheenColorFactor": color.to_array(), "sheenRoughnessFactor": roughness })
            }),
        );
        add(
            "KHR_materials_anisotropy",
            self.anisotropy.map(|(strength, rotation)| {
                json!({ "anisotropyStrength": strength, "anisotropyRotation": rotation })
            }),
        );
        add(
            "KHR_materials_iridescence",
            self.iridescence.map(|[factor, ior, thinnest, thickest]| {
                json!({
                    "iridescenceFactor": factor,
                    "iridescenceIor": ior,
                    "iridescenceThicknessMinimum": thinnest,
                    "iridescenceThicknessMaximum": thickest,
                })
            }),
        );
        add(
            "KHR_materials_transmission",
            self.transmission
                .map(|factor| json!({ "transmissionFactor": factor })),
        );
        add(
            "KHR_materials_volume",
            self.volume.map(|(thickness, distance, color)| {
                json!({
                    "thicknessFactor": thickness,
                    "attenuationDistance": distance,
                    "attenuationColor": color.to_array(),
                })
            }),
        );
        add(
            "KHR_materials_pbrSpecularGlossiness",
            self.specular_glossiness.map(|(diffuse, specular, glossiness)| {
                json!({
                    "diffuseFactor": diffuse.to_array(),
                    "specularFactor": specular.to_array(),
                    "glossinessFactor": glossiness,
                })
            }),
        );
        if !extensions.is_empty() {
            json["extensions"] = Value::Object(extensions);
        }
        for map in &self.maps {
            let info = map.write(file);
            match map.slot.path() {
                ("", key) => json[key] = info,
                ("pbrMetallicRoughness", key) => json["pbrMetallicRoughness"][key] = info,
                (extension, key) => json["extensions"][extension][key] = info,
            }
        }
        json
    }
}

impl Map2 {
    fn write(&self, file: &mut Builder) -> Value {
        const NEAREST: u32 = 9728;
        let [width, height] = self.texels.size;
        let mut png = std::io::Cursor::new(Vec::new());
        let bytes = self.texels.rgba8.as_flattened().to_vec();
        image::RgbaImage::from_raw(width, height, bytes)
            .unwrap()
            .write_to(&mut png, image::ImageFormat::Png)
            .unwrap();
        let view = file.view(&png.into_inner());
        let source = file.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
        let sampler = file.push("samplers", json!({ "magFilter": NEAREST, "minFilter": NEAREST }));
        let texture = file.push("textures", json!({ "source": source, "sampler": sampler }));
        let mut info = json!({ "index": texture, "texCoord": self.uv_set });
        if self.normal_scale != 1.0 {
            info["scale"] = json!(self.normal_scale);
        }
        if (self.offset, self.rotation, self.scale) != (DVec2::ZERO, 0.0, DVec2::ONE) {
            info["extensions"]["KHR_texture_transform"] = json!({
                "offset": self.offset.to_array(),
                "rotation": self.rotation,
                "scale": self.scale.to_array(),
            });
        }
        info
    }
}

impl Specimen {
    pub(crate) fn new(shape: Shape, look: Look) -> Self {
        Self {
            shape,
            look,
            colors: None,
        }
    }

    fn write(&self, file: &mut Builder) {
        let material = self.look.write(file);
        let material = file.push("materials", material);
        let (vertices, indices) = self.shape.tessellate();
        let floats = |get: &dyn Fn(&Vertex) -> Vec<f64>| -> Vec<f32> {
            vertices.iter().flat_map(get).map(|x| x as f32).collect()
        };
        let mut attributes = json!({
            "POSITION": file.floats("VEC3", &floats(&|v| v.position.to_array().to_vec())),
            "NORMAL": file.floats("VEC3", &floats(&|v| v.normal.to_array().to_vec())),
            "TEXCOORD_0": file.floats("VEC2", &floats(&|v| v.uvs[0].to_array().to_vec())),
            "TEXCOORD_1": file.floats("VEC2", &floats(&|v| v.uvs[1].to_array().to_vec())),
        });
        let has_normal_map = self.look.maps.iter().any(|map| map.slot == Slot::Normal);
        // Otherwise the loader generates them.
        if !has_normal_map {
            attributes["TANGENT"] = json!(file.floats("VEC4", &floats(&|v| v.tangent.to_array().to_vec())));
        }
        if let Some(c) = self.colors {
            let color = |v: &Vertex| c[0] + v.st[0] * c[1] + v.st[1] * c[2];
            attributes["COLOR_0"] = json!(file.floats("VEC4", &floats(&|v| color(v).to_array().to_vec())));
        }
        let bytes: Vec<u8> = indices.iter().flat_map(|i| i.to_le_bytes()).collect();
        let indices = file.accessor("SCALAR", U32, indices.len(), &bytes);
        file.primitive(json!({ "attributes": attributes, "indices": indices, "material": material }));
    }
}

struct Vertex {
    position: DVec3,
    normal: DVec3,
    tangent: DVec4,
    uvs: [DVec2; 2],
    /// Position along a rectangle's sides.
    st: [f64; 2],
}

impl Shape {
    fn tessellate(&self) -> (Vec<Vertex>, Vec<u32>) {
        match *self {
            Self::Sphere {
                center,
                radius,
                rings,
            } => {
                let sectors = 2 * rings;
                let mut vertices = Vec::new();
                let mut indices = Vec::new();
                for ring in 0..=rings {
                    for sector in 0..=sectors {
                        let polar = 0.6 * PI * f64::from(ring) / f64::from(rings);
                        let azimuth = 2.0 * PI * f64::from(sector) / f64::from(sectors);
                        let (sin, cos) = polar.sin_cos();
                        let normal = DVec3::new(sin * azimuth.cos(), sin * azimuth.sin(), cos);
                        vertices.push(Vertex {
                            position: center + radius * normal,
                            normal,
                            tangent: DVec3::Y.cross(normal).normalize_or(DVec3::X).extend(1.0),
                            uvs: [DVec2::ZERO; 2],
                            st: [0.0; 2],
                        });
                        if ring < rings && sector < sectors {
                            let a = ring * (sectors + 1) + sector;
                            let b = a + sectors + 1;
                            indices.extend([a, b, b + 1, a, b + 1, a + 1]);
                        }
                    }
                }
                (vertices, indices)
            }
            Self::Quad { corner, u, v, uvs } => {
                let vertex = |(s, t): (f64, f64)| Vertex {
                    position: corner + s * u + t * v,
                    normal: u.cross(v).normalize(),
                    tangent: u.normalize().extend(1.0),
                    uvs: uvs.map(|set| set[0] + s * set[1] + t * set[2]),
                    st: [s, t],
                };
                let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
                (corners.map(vertex).into(), vec![0, 1, 2, 0, 2, 3])
            }
        }
    }
}

impl Still {
    /// The scene as a GLB.
    pub(crate) fn glb(&self) -> Vec<u8> {
        let mut file = Builder::new();
        for specimen in &self.specimens {
            specimen.write(&mut file);
        }
        let mut lights = Vec::new();
        for beam in &self.beams {
            let mut light = json!({
                "color": beam.color.to_array(),
                "intensity": beam.intensity,
                "type": match beam.lamp {
                    Lamp::Directional => "directional",
                    Lamp::Point => "point",
                    Lamp::Spot(..) => "spot",
                },
            });
            if let Lamp::Spot(inner, outer) = beam.lamp {
                light["spot"] = json!({ "innerConeAngle": inner, "outerConeAngle": outer });
            }
            if let Some(range) = beam.range {
                light["range"] = json!(range);
            }
            let along = (beam.to - beam.from).normalize();
            let rotation = glam::DQuat::from_rotation_arc(DVec3::NEG_Z, along);
            file.push(
                "nodes",
                json!({
                    "translation": beam.from.to_array(),
                    "rotation": rotation.to_array(),
                    "extensions": { "KHR_lights_punctual": { "light": lights.len() } },
                }),
            );
            lights.push(light);
        }
        file.json["extensions"] = json!({ "KHR_lights_punctual": { "lights": lights } });
        file.glb()
    }
}
