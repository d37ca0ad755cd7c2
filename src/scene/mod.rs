//! The scene on the CPU: nodes, meshes, skins, morph targets, materials, clips, lights and cameras. Knows no wgpu.
//!
//! Conventions are glTF's: right-handed, +Y up, metres, radians, counter-clockwise front faces, and lights and cameras that look
//! along their node's −Z. Every index in a [`Scene`] is in range and every attribute has its primitive's vertex count: the
//! loaders check this once, so that nothing after them has to.

pub mod animation;
pub mod atmosphere;
pub mod bounds;
pub mod environment;
mod files;
pub mod framing;
mod gltf;
mod image;
mod load;
mod obj;
mod surface;

pub use animation::Pose;
pub use image::{Image, Takes, TexelFormat};
pub use load::{Progress, load, load_bytes, load_for};

use glam::{Affine2, Mat4, Quat, Vec2, Vec3, Vec4};
use std::f32::consts::FRAC_PI_2;

/// Everything that files hold, in one place.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// Nodes, parents before their children.
    pub nodes: Vec<Node>,
    /// Meshes; several nodes may share one.
    pub meshes: Vec<Mesh>,
    /// Skins, referred to by nodes.
    pub skins: Vec<Skin>,
    /// Materials, referred to by primitives.
    pub materials: Vec<Material>,
    /// Textures: an image with a sampler.
    pub textures: Vec<Texture>,
    /// Decoded images.
    pub images: Vec<Image>,
    /// Animation clips.
    pub clips: Vec<Clip>,
    /// Lights, referred to by nodes.
    pub lights: Vec<Light>,
    /// Cameras, referred to by nodes.
    pub cameras: Vec<Camera>,
    /// Names of KHR_materials_variants; primitives have the materials.
    pub variants: Vec<String>,
    /// The extensions that the files list, by name.
    pub extensions: Vec<ExtensionUse>,
    /// What was ignored, replaced or repaired, one line each, naming the file and the thing.
    pub warnings: Vec<String>,
}

/// A glTF extension that a file lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensionUse {
    /// Its name.
    pub name: String,
    /// Whether a file says that it cannot be shown without.
    pub required: bool,
    /// What canopy does with it.
    pub treatment: Treatment,
    /// What that means for the picture.
    pub note: &'static str,
}

/// What canopy does with an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// All that it says is shown.
    Full,
    /// It is shown as far as the frame can.
    Approximate,
    /// It changes nothing.
    Ignored,
}

impl Treatment {
    /// The name in JSON and on the panel.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Approximate => "approximate",
            Self::Ignored => "ignored",
        }
    }
}

/// A node of the hierarchy.
#[derive(Debug, Clone)]
pub struct Node {
    /// Name in the file; may be empty.
    pub name: String,
    /// Parent, always of a lower index.
    pub parent: Option<usize>,
    /// `parent_from_node` at rest.
    pub transform: Transform,
    /// Index into [`Scene::meshes`].
    pub mesh: Option<usize>,
    /// Index into [`Scene::skins`]; only beside a mesh.
    pub skin: Option<usize>,
    /// Morph weights at rest: as many as the mesh has targets, or empty.
    pub weights: Vec<f32>,
    /// Index into [`Scene::lights`].
    pub light: Option<usize>,
    /// Index into [`Scene::cameras`].
    pub camera: Option<usize>,
    /// Whether it shows at rest, if all nodes above it do (KHR_node_visibility).
    pub visible: bool,
    /// Whether it is one of its parent's many, and takes the parent's morph weights (EXT_mesh_gpu_instancing).
    pub instance: bool,
}

impl Default for Node {
    /// A node that holds nothing, and shows.
    fn default() -> Self {
        Self {
            name: String::new(),
            parent: None,
            transform: Transform::Matrix(Mat4::IDENTITY),
            mesh: None,
            skin: None,
            weights: Vec::new(),
            light: None,
            camera: None,
            visible: true,
            instance: false,
        }
    }
}

/// A node's local transform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transform {
    /// Translation, rotation and scale: what clips can move.
    Trs {
        /// Translation in metres.
        translation: Vec3,
        /// Unit quaternion.
        rotation: Quat,
        /// Scale per axis.
        scale: Vec3,
    },
    /// A matrix given as such.
    Matrix(Mat4),
}

/// Triangles, lines and points with one set of morph weights, of one or more primitives.
#[derive(Debug, Clone)]
pub struct Mesh {
    /// Name in the file; may be empty.
    pub name: String,
    /// Parts, each with one material.
    pub primitives: Vec<Primitive>,
}

/// A part of a mesh: one material, one vertex range.
#[derive(Debug, Clone, Default)]
pub struct Primitive {
    /// Index into [`Scene::materials`].
    pub material: usize,
    /// The material without a variant, and that of each of [`Scene::variants`] which gives it one; empty where none does.
    pub variants: Vec<(Option<usize>, usize)>,
    /// Positions in mesh space, all finite.
    pub positions: Vec<Vec3>,
    /// Unit normals, one per vertex.
    pub normals: Vec<Vec3>,
    /// Unit tangents with the bitangent's sign in w, one per vertex.
    pub tangents: Vec<Vec4>,
    /// First texture coordinates, one per vertex or empty.
    pub uv0: Vec<Vec2>,
    /// Second texture coordinates, one per vertex or empty.
    pub uv1: Vec<Vec2>,
    /// Linear vertex colours, one per vertex or empty.
    pub colors: Vec<Vec4>,
    /// Triangle list.
    pub indices: Vec<[u32; 3]>,
    /// Lines between two vertices each, one pixel wide.
    pub lines: Vec<[u32; 2]>,
    /// Vertices that are seen as points, of one pixel.
    pub points: Vec<u32>,
    /// How its lines and points are lit.
    pub shading: Shading,
    /// Joints that move each vertex: `vertex * influences_per_vertex ..`, indices into the skin's joints; empty when rigid.
    pub joints: Vec<u32>,
    /// Weights of `joints`, summing to 1 for each vertex.
    pub joint_weights: Vec<f32>,
    /// Joints per vertex: 0, or a multiple of four.
    pub influences_per_vertex: usize,
    /// Morph targets; every primitive of a mesh has equally many.
    pub targets: Vec<MorphTarget>,
}

/// How points and lines are lit, which follows from what the file gives of their surface (glTF 2.0, 3.9.7 "Point and Line Materials").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shading {
    /// Not at all: what is seen is base colour and emission. They have no normals.
    Unlit,
    /// As surfaces are, without the material's normal texture: they have normals and no tangents.
    Plain,
    /// As surfaces are: they have both.
    #[default]
    Mapped,
}

/// Offsets that a morph target adds at weight 1; each list has one entry per vertex or is empty.
#[derive(Debug, Clone, Default)]
pub struct MorphTarget {
    /// Added to positions.
    pub positions: Vec<Vec3>,
    /// Added to normals.
    pub normals: Vec<Vec3>,
    /// Added to the xyz of tangents.
    pub tangents: Vec<Vec3>,
}

/// Joints of a skin with their inverse bind matrices.
#[derive(Debug, Clone)]
pub struct Skin {
    /// Indices into [`Scene::nodes`].
    pub joints: Vec<usize>,
    /// `joint_from_mesh` at bind time, one per joint.
    pub joint_from_mesh: Vec<Mat4>,
}

/// How alpha is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AlphaMode {
    /// Alpha is ignored.
    #[default]
    Opaque,
    /// Cut out where alpha is below the cutoff.
    Mask,
    /// Blended over what lies behind.
    Blend,
}

/// A texture as a material uses it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextureRef {
    /// Index into [`Scene::textures`].
    pub texture: usize,
    /// Which texture coordinates: 0 or 1.
    pub uv_set: u32,
    /// `texture_from_uv` (KHR_texture_transform).
    pub texture_from_uv: Affine2,
}

/// Metallic-roughness material of glTF 2.0.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name in the file; may be empty.
    pub name: String,
    /// Linear base colour and alpha.
    pub base_color: Vec4,
    /// sRGB colour with alpha.
    pub base_color_texture: Option<TextureRef>,
    /// 0 is dielectric, 1 is metal.
    pub metallic: f32,
    /// Perceptual roughness.
    pub roughness: f32,
    /// Roughness in green, metallic in blue.
    pub metallic_roughness_texture: Option<TextureRef>,
    /// Tangent-space normals.
    pub normal_texture: Option<TextureRef>,
    /// Scales x and y of the normal texture.
    pub normal_scale: f32,
    /// Occlusion in red.
    pub occlusion_texture: Option<TextureRef>,
    /// 0 ignores the occlusion texture, 1 takes it in full.
    pub occlusion_strength: f32,
    /// Linear emission, with KHR_materials_emissive_strength multiplied in.
    pub emissive: Vec3,
    /// The factor in [`Self::emissive`], which clips can move by itself; only of glTF.
    pub emissive_factor: Vec3,
    /// The strength in [`Self::emissive`].
    pub emissive_strength: f32,
    /// sRGB emission.
    pub emissive_texture: Option<TextureRef>,
    /// How alpha is used.
    pub alpha_mode: AlphaMode,
    /// Alpha below this is cut out in [`AlphaMode::Mask`].
    pub alpha_cutoff: f32,
    /// Back faces are drawn too, with their normals turned.
    pub double_sided: bool,
    /// Base colour is shown without lighting (KHR_materials_unlit).
    pub unlit: bool,
    /// What lies over the base; `None` where the file asks for none of it.
    pub layers: Option<Box<Layers>>,
    /// No file gave this material. Its light from all around is graded by direction, so that shape shows even where that light is the same
    /// from everywhere.
    pub stand_in: bool,
}

impl Material {
    /// Drawn over what lies behind it, and not into the G-buffer.
    pub fn is_blended(&self) -> bool {
        self.alpha_mode == AlphaMode::Blend || self.transmission() > 0.0
    }

    /// Lets most light through everywhere, and so casts no shadow.
    pub fn is_clear(&self) -> bool {
        let textured = |layers: &Layers| layers.transmission_texture.is_some();
        self.transmission() >= 0.5 && !self.layers.as_deref().is_some_and(textured)
    }

    /// Has an inside: its near side alone tints what is behind.
    pub fn is_volume(&self) -> bool {
        let thickness = self.layers.as_ref().map_or(0.0, |layers| layers.thickness);
        self.transmission() > 0.0 && thickness > 0.0
    }

    /// The texture coordinates that tangents follow, where something asks for tangents.
    pub fn tangent_uv_set(&self) -> Option<u32> {
        let uv_set = |texture: Option<TextureRef>| texture.map(|texture| texture.uv_set);
        let of_layers = |layers: &Layers| {
            uv_set(layers.clearcoat_normal_texture)
                .or(uv_set(layers.anisotropy_texture))
                .or((layers.anisotropy > 0.0).then_some(0))
        };
        uv_set(self.normal_texture).or_else(|| self.layers.as_deref().and_then(of_layers))
    }

    fn transmission(&self) -> f32 {
        self.layers
            .as_ref()
            .map_or(0.0, |layers| layers.transmission)
    }

    /// Every texture that it uses.
    pub fn textures_mut(&mut self) -> impl Iterator<Item = &mut TextureRef> {
        let base = [
            &mut self.base_color_texture,
            &mut self.metallic_roughness_texture,
            &mut self.normal_texture,
            &mut self.occlusion_texture,
            &mut self.emissive_texture,
        ];
        let layers = self.layers.as_deref_mut().map(Layers::slots_mut);
        let layers = layers.into_iter().flatten();
        base.into_iter().chain(layers).flatten()
    }
}

/// Layers over a metallic-roughness base, under the names of the extensions `KHR_materials_*` that define them. Factors without effect are
/// their defaults; textures multiply their factors.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers {
    /// Index of refraction, at least 1; 0 stands for infinity.
    pub ior: f32,
    /// Weight of the dielectric's reflection.
    pub specular: f32,
    /// That weight, in alpha.
    pub specular_texture: Option<TextureRef>,
    /// Scales the dielectric's reflectance at normal incidence; linear, may pass 1.
    pub specular_color: Vec3,
    /// sRGB.
    pub specular_color_texture: Option<TextureRef>,
    /// The alpha of the metallic-roughness texture is glossiness, and the roughness factor is 1 − its factor
    /// (KHR_materials_pbrSpecularGlossiness, which is read as a dielectric of infinite `ior`).
    pub glossiness: bool,
    /// Weight of a clear coat.
    pub clearcoat: f32,
    /// That weight, in red.
    pub clearcoat_texture: Option<TextureRef>,
    /// Perceptual roughness of the coat.
    pub clearcoat_roughness: f32,
    /// That roughness, in green.
    pub clearcoat_roughness_texture: Option<TextureRef>,
    /// Tangent-space normals of the coat, which has none of the base's.
    pub clearcoat_normal_texture: Option<TextureRef>,
    /// Scales x and y of the coat's normals.
    pub clearcoat_normal_scale: f32,
    /// Linear colour of fibres that stand on the surface.
    pub sheen_color: Vec3,
    /// sRGB.
    pub sheen_color_texture: Option<TextureRef>,
    /// Perceptual roughness of the sheen.
    pub sheen_roughness: f32,
    /// That roughness, in alpha.
    pub sheen_roughness_texture: Option<TextureRef>,
    /// How much roughness grows along one direction.
    pub anisotropy: f32,
    /// Turns that direction in radians, from the tangent to the bitangent.
    pub anisotropy_rotation: f32,
    /// The direction in red and green, −1 to 1, and the strength in blue.
    pub anisotropy_texture: Option<TextureRef>,
    /// Weight of a thin film.
    pub iridescence: f32,
    /// That weight, in red.
    pub iridescence_texture: Option<TextureRef>,
    /// Index of refraction of the film.
    pub iridescence_ior: f32,
    /// Thickness of the film in nanometres, where the texture's green is 0.
    pub iridescence_thickness_min: f32,
    /// The same where it is 1, or where there is no texture.
    pub iridescence_thickness_max: f32,
    /// Between the two, in green.
    pub iridescence_thickness_texture: Option<TextureRef>,
    /// Share of what enters a dielectric that leaves behind it.
    pub transmission: f32,
    /// That share, in red.
    pub transmission_texture: Option<TextureRef>,
    /// Of what lies below the surface, in the units of the mesh; 0 for a wall without an inside.
    pub thickness: f32,
    /// That thickness, in green.
    pub thickness_texture: Option<TextureRef>,
    /// Metres of the world after which white light has `attenuation_color`; may be infinite.
    pub attenuation_distance: f32,
    /// Linear.
    pub attenuation_color: Vec3,
}

impl Layers {
    /// Its textures, in the order of the shader: `LAYER_…` of common/material_layers.wgsl.
    pub fn slots(&self) -> [Option<TextureRef>; 12] {
        [
            self.specular_texture,
            self.specular_color_texture,
            self.clearcoat_texture,
            self.clearcoat_roughness_texture,
            self.clearcoat_normal_texture,
            self.sheen_color_texture,
            self.sheen_roughness_texture,
            self.anisotropy_texture,
            self.iridescence_texture,
            self.iridescence_thickness_texture,
            self.transmission_texture,
            self.thickness_texture,
        ]
    }

    fn slots_mut(&mut self) -> [&mut Option<TextureRef>; 12] {
        [
            &mut self.specular_texture,
            &mut self.specular_color_texture,
            &mut self.clearcoat_texture,
            &mut self.clearcoat_roughness_texture,
            &mut self.clearcoat_normal_texture,
            &mut self.sheen_color_texture,
            &mut self.sheen_roughness_texture,
            &mut self.anisotropy_texture,
            &mut self.iridescence_texture,
            &mut self.iridescence_thickness_texture,
            &mut self.transmission_texture,
            &mut self.thickness_texture,
        ]
    }
}

impl Default for Layers {
    /// The extensions' defaults: a base as it is without them.
    fn default() -> Self {
        Self {
            ior: 1.5,
            specular: 1.0,
            specular_texture: None,
            specular_color: Vec3::ONE,
            specular_color_texture: None,
            glossiness: false,
            clearcoat: 0.0,
            clearcoat_texture: None,
            clearcoat_roughness: 0.0,
            clearcoat_roughness_texture: None,
            clearcoat_normal_texture: None,
            clearcoat_normal_scale: 1.0,
            sheen_color: Vec3::ZERO,
            sheen_color_texture: None,
            sheen_roughness: 0.0,
            sheen_roughness_texture: None,
            anisotropy: 0.0,
            anisotropy_rotation: 0.0,
            anisotropy_texture: None,
            iridescence: 0.0,
            iridescence_texture: None,
            iridescence_ior: 1.3,
            iridescence_thickness_min: 100.0,
            iridescence_thickness_max: 400.0,
            iridescence_thickness_texture: None,
            transmission: 0.0,
            transmission_texture: None,
            thickness: 0.0,
            thickness_texture: None,
            attenuation_distance: f32::INFINITY,
            attenuation_color: Vec3::ONE,
        }
    }
}

impl Default for Material {
    /// glTF's default material.
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: Vec4::ONE,
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            emissive: Vec3::ZERO,
            emissive_factor: Vec3::ZERO,
            emissive_strength: 1.0,
            emissive_texture: None,
            alpha_mode: AlphaMode::Opaque,
            alpha_cutoff: 0.5,
            double_sided: false,
            unlit: false,
            layers: None,
            stand_in: false,
        }
    }
}

impl Material {
    /// What primitives get that name no material: a grey dielectric, neither smooth nor quite rough.
    pub fn stand_in() -> Self {
        Self {
            base_color: Vec3::splat(0.8).extend(1.0),
            metallic: 0.0,
            roughness: 0.6,
            stand_in: true,
            ..Self::default()
        }
    }

    /// The texture in a slot.
    pub fn texture_mut(&mut self, slot: TextureSlot) -> Option<&mut TextureRef> {
        match slot {
            TextureSlot::BaseColor => self.base_color_texture.as_mut(),
            TextureSlot::MetallicRoughness => self.metallic_roughness_texture.as_mut(),
            TextureSlot::Normal => self.normal_texture.as_mut(),
            TextureSlot::Occlusion => self.occlusion_texture.as_mut(),
            TextureSlot::Emissive => self.emissive_texture.as_mut(),
        }
    }
}

/// An image with the way it is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Texture {
    /// Index into [`Scene::images`].
    pub image: usize,
    /// How it is sampled.
    pub sampler: Sampler,
}

/// glTF's sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Horizontal wrapping.
    pub wrap_u: Wrap,
    /// Vertical wrapping.
    pub wrap_v: Wrap,
    /// Linear, not nearest, when magnified.
    pub mag_linear: bool,
    /// Linear, not nearest, when minified.
    pub min_linear: bool,
    /// `None` without mipmaps, else whether levels are blended.
    pub mip_linear: Option<bool>,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            wrap_u: Wrap::Repeat,
            wrap_v: Wrap::Repeat,
            mag_linear: true,
            min_linear: true,
            mip_linear: Some(true),
        }
    }
}

/// What happens outside 0..1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// Start over.
    Repeat,
    /// Start over, mirrored.
    Mirror,
    /// Keep the edge.
    Clamp,
}

/// A light of KHR_lights_punctual, shining along its node's −Z.
#[derive(Debug, Clone, PartialEq)]
pub struct Light {
    /// Name in the file; may be empty.
    pub name: String,
    /// Its shape.
    pub kind: LightKind,
    /// Linear colour.
    pub color: Vec3,
    /// Lux for directional lights, candela for the others.
    pub intensity: f32,
    /// Where it ends, in metres; `None` for no end.
    pub range: Option<f32>,
}

/// The shape of a light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LightKind {
    /// Infinitely far away.
    Directional,
    /// In all directions from a point.
    Point,
    /// In a cone from a point.
    Spot {
        /// Half angle in radians at which the falloff begins.
        inner_angle: f32,
        /// Half angle in radians at which it ends.
        outer_angle: f32,
    },
}

/// A camera, looking along its node's −Z.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    /// Name of the camera, or of its node; may be empty.
    pub name: String,
    /// Its projection.
    pub projection: Projection,
}

/// A camera's projection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Projection {
    /// Perspective.
    Perspective {
        /// Vertical field of view in radians.
        fov_y: f32,
    },
    /// Orthographic.
    Orthographic {
        /// Half the height in metres.
        half_height: f32,
    },
}

impl LightKind {
    /// A spot with these half angles in radians, as far as the falloff can divide by their difference.
    pub fn spot(inner_angle: f32, outer_angle: f32) -> Self {
        let outer_angle = outer_angle.clamp(1e-3, FRAC_PI_2);
        Self::Spot {
            inner_angle: inner_angle.clamp(0.0, outer_angle - 5e-4),
            outer_angle,
        }
    }
}

/// An animation clip.
#[derive(Debug, Clone, Default)]
pub struct Clip {
    /// Name in the file; may be empty.
    pub name: String,
    /// What it moves.
    pub channels: Vec<Channel>,
    /// Time of the last key.
    pub duration_secs: f32,
}

/// One property of one thing over time.
#[derive(Debug, Clone)]
pub struct Channel {
    /// Index into [`Scene::nodes`], [`Scene::materials`], [`Scene::lights`] or [`Scene::cameras`], as [`Property::of`] says.
    pub target: usize,
    /// What is moved.
    pub property: Property,
    /// Between the keys.
    pub interpolation: Interpolation,
    /// Key times, strictly increasing, at least one.
    pub times_secs: Vec<f32>,
    /// Values: `components` per key, three times that (in-tangent, value, out-tangent) for cubic splines.
    pub values: Vec<f32>,
    /// Floats in one value: as the property has, or the number of morph targets.
    pub components: usize,
}

/// What a channel moves. What is not a node's comes from KHR_animation_pointer, and has the units of the thing it belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Property {
    /// Translation, three floats.
    Translation,
    /// Rotation, a quaternion in x, y, z, w.
    Rotation,
    /// Scale, three floats.
    Scale,
    /// Morph weights.
    Weights,
    /// One of them, a float.
    Weight(usize),
    /// Whether a node shows: a float that is not 0.
    Visible,
    /// Of a material: four floats.
    BaseColor,
    /// Of a material, a float.
    Metallic,
    /// Of a material, a float.
    Roughness,
    /// Of a material: three floats, scaled by the strength.
    EmissiveFactor,
    /// Of a material, a float.
    EmissiveStrength,
    /// Of a material, a float.
    AlphaCutoff,
    /// Of a material, a float.
    NormalScale,
    /// Of a material, a float.
    OcclusionStrength,
    /// A part of how a material's texture is placed; all of it at rest is `rest`.
    Uv {
        /// Which texture.
        slot: TextureSlot,
        /// Which part.
        part: UvPart,
        /// All parts at rest.
        rest: UvTransform,
    },
    /// Of a light: three floats.
    LightColor,
    /// Of a light, a float.
    LightIntensity,
    /// Of a light, a float.
    LightRange,
    /// Of a spot, a float.
    InnerAngle,
    /// Of a spot, a float.
    OuterAngle,
    /// Of a perspective camera, a float.
    FovY,
    /// Of an orthographic camera, a float.
    HalfHeight,
}

/// What things a property is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyOf {
    /// A node.
    Node,
    /// A material.
    Material,
    /// A light.
    Light,
    /// A camera.
    Camera,
}

impl Property {
    /// What a channel's target is.
    pub fn of(self) -> PropertyOf {
        match self {
            Self::Translation
            | Self::Rotation
            | Self::Scale
            | Self::Weights
            | Self::Weight(_)
            | Self::Visible => PropertyOf::Node,
            Self::BaseColor
            | Self::Metallic
            | Self::Roughness
            | Self::EmissiveFactor
            | Self::EmissiveStrength
            | Self::AlphaCutoff
            | Self::NormalScale
            | Self::OcclusionStrength
            | Self::Uv { .. } => PropertyOf::Material,
            Self::LightColor
            | Self::LightIntensity
            | Self::LightRange
            | Self::InnerAngle
            | Self::OuterAngle => PropertyOf::Light,
            Self::FovY | Self::HalfHeight => PropertyOf::Camera,
        }
    }
}

/// A texture of a material.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields of Material have these names")]
pub enum TextureSlot {
    BaseColor,
    MetallicRoughness,
    Normal,
    Occlusion,
    Emissive,
}

/// A part of [`UvTransform`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields of UvTransform have these names")]
pub enum UvPart {
    Offset,
    Rotation,
    Scale,
}

/// How a texture is placed (KHR_texture_transform).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UvTransform {
    /// Of the origin, in textures.
    pub offset: Vec2,
    /// In radians, counter-clockwise in an image whose v points down.
    pub rotation: f32,
    /// Per axis.
    pub scale: Vec2,
}

impl UvTransform {
    /// `texture_from_uv`.
    pub fn matrix(self) -> Affine2 {
        Affine2::from_translation(self.offset)
            * Affine2::from_angle(-self.rotation)
            * Affine2::from_scale(self.scale)
    }
}

/// How values between keys come about (glTF 2.0, appendix C).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// The last key's value.
    Step,
    /// Linear, spherical for rotations.
    Linear,
    /// Cubic Hermite with tangents from the file.
    CubicSpline,
}

impl Primitive {
    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty() && self.lines.is_empty() && self.points.is_empty()
    }
}

impl Scene {
    /// Nodes that carry a mesh: the order of the tree's meshes and of the merged buffers.
    pub fn instances(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.nodes
            .iter()
            .enumerate()
            .filter_map(|(node, n)| n.mesh.map(|mesh| (node, mesh)))
    }

    /// Lines and points of all instances.
    pub fn line_and_point_counts(&self) -> [usize; 2] {
        let shown = self.instances().map(|(_, mesh)| &self.meshes[mesh]);
        shown
            .flat_map(|mesh| &mesh.primitives)
            .fold([0, 0], |[lines, points], primitive| {
                [
                    lines + primitive.lines.len(),
                    points + primitive.points.len(),
                ]
            })
    }

    /// Gives every primitive its material of a variant, or without one its own.
    pub fn choose_variant(&mut self, variant: Option<usize>) {
        for primitive in self.meshes.iter_mut().flat_map(|mesh| &mut mesh.primitives) {
            let of = |wanted| primitive.variants.iter().find(|(of, _)| *of == wanted);
            if let Some((_, material)) = of(variant).or_else(|| of(None)) {
                primitive.material = *material;
            }
        }
    }
}
