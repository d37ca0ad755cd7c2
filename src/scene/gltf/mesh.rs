//! Meshes: triangles, lines and points out of every mode, attributes out of every component type, and what the file leaves out.

use super::{
    File,
    accessor::{ANY, Accessor, UNSIGNED},
    container,
    draco::{self, Decoded},
    name_of,
    node::Used,
};
use crate::{
    Error, Result,
    scene::{
        Material, Mesh, MorphTarget, Primitive, Scene, Shading,
        files::shorten,
        load::{Budget, Load, POINTS_AND_LINES},
        surface,
    },
};
use ::gltf::json::{
    accessor::{ComponentType, Type},
    mesh::{Mode, Primitive as JsonPrimitive, Semantic},
    validation::Checked,
};
use glam::{Vec2, Vec3, Vec4};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Reads the meshes that nodes show.
pub(super) fn meshes(
    file: &File<'_>,
    used: &Used,
    load: &mut Load<'_>,
    scene: &mut Scene,
) -> Result<()> {
    check_counts(file, used, load)?;
    // Of primitives that name no material: without vertex colours, and with them, which are a colour of their own.
    let mut stand_ins = [None; 2];
    for (place, &(number, instances)) in used.meshes.iter().enumerate() {
        let done = 0.1 + 0.4 * place as f32 / used.meshes.len() as f32;
        load.enter(
            format!("reading mesh {} of {}", place + 1, used.meshes.len()),
            done,
        )?;
        let json = &file.root.meshes[number];
        let mut primitives = Vec::new();
        for (index, json) in json.primitives.iter().enumerate() {
            load.progress().check()?;
            let name = format!("mesh {number} primitive {index}");
            let own = match json.material.map(|m| m.value()) {
                Some(material) => material,
                None => {
                    let colors = Checked::Valid(Semantic::Colors(0));
                    let is_colored = json.attributes.contains_key(&colors);
                    *stand_ins[usize::from(is_colored)].get_or_insert_with(|| {
                        let mut material = Material::stand_in();
                        if is_colored {
                            material.base_color = Vec4::ONE;
                        }
                        scene.materials.push(material);
                        scene.materials.len() - 1
                    })
                }
            };
            let materials = variants(file, json, own, &name, &scene.variants)?;
            let number_of = |&(_, material): &(_, usize)| material;
            for material in materials
                .iter()
                .map(number_of)
                .filter(|&m| !stand_ins.contains(&Some(m)))
            {
                let of_file = &scene.materials[..file.root.materials.len()];
                file.get(of_file, "material", material, || name.clone())?;
            }
            let mut looks = materials.iter().map(|m| &scene.materials[number_of(m)]);
            let tangent_uv_set = looks.find_map(Material::tangent_uv_set);
            let read = primitive(file, json, &name, tangent_uv_set, instances, load)?;
            primitives.extend(read.map(|primitive| Primitive {
                material: own,
                variants: if materials.len() > 1 {
                    materials
                } else {
                    Vec::new()
                },
                ..primitive
            }));
        }
        let targets = |p: &Primitive| p.targets.len();
        if primitives
            .windows(2)
            .any(|pair| targets(&pair[0]) != targets(&pair[1]))
        {
            return Err(file.error(format!(
                "the primitives of mesh {number} differ in their number of morph targets"
            )));
        }
        scene.meshes.push(Mesh {
            name: name_of(json.name.as_ref()),
            primitives,
        });
    }
    Ok(())
}

/// Fails if the primitives together have more triangles, lines or vertices than the limits allow, as far as their accessors say; before anything
/// is made of the first. Each takes its share once more when it is read and the last of it is known.
fn check_counts(file: &File<'_>, used: &Used, load: &Load<'_>) -> Result<()> {
    let counted = [Budget::Triangles, Budget::Lines, Budget::Vertices];
    let mut sums = counted.map(|budget| load.used(budget));
    for &(number, instances) in &used.meshes {
        for (index, json) in file.root.meshes[number].primitives.iter().enumerate() {
            load.progress().check()?;
            let reader = Reader {
                file,
                json,
                draco: None,
                name: format!("mesh {number} primitive {index}"),
            };
            let declared = reader.declared(load)?;
            let declared = [declared.triangles, declared.lines, declared.vertices];
            for ((sum, budget), declared) in sums.iter_mut().zip(counted).zip(declared) {
                *sum = sum.saturating_add(declared.saturating_mul(instances));
                load.check(budget, *sum, || reader.place())?;
            }
        }
    }
    Ok(())
}

/// How many of each a primitive has at least.
#[derive(Debug, Default)]
struct Declared {
    triangles: u64,
    /// And points.
    lines: u64,
    vertices: u64,
}

/// The materials of a primitive called `name`: its own, which is that of no variant, and those of KHR_materials_variants.
fn variants(
    file: &File<'_>,
    json: &JsonPrimitive,
    own: usize,
    name: &str,
    names: &[String],
) -> Result<Vec<(Option<usize>, usize)>> {
    let mut materials = BTreeMap::from([(None, own)]);
    let others = json.extensions.as_ref().map(|all| &all.others);
    let Some(value) = others.and_then(|all| all.get(VARIANTS)) else {
        return Ok(materials.into_iter().collect());
    };
    let mappings = Mappings::deserialize(value)
        .map_err(|why| file.error(format!("{name}: {VARIANTS}: {why}")))?;
    for Mapping { material, variants } in mappings.mappings {
        for variant in variants {
            file.get(names, "variant", variant, || name.to_owned())?;
            // A variant has one material; the first that is named holds.
            materials.entry(Some(variant)).or_insert(material);
        }
    }
    Ok(materials.into_iter().collect())
}

/// The names of KHR_materials_variants, which number them.
pub(super) fn variant_names(file: &File<'_>) -> Result<Vec<String>> {
    let others = file.root.extensions.as_ref().map(|all| &all.others);
    let Some(value) = others.and_then(|all| all.get(VARIANTS)) else {
        return Ok(Vec::new());
    };
    let names =
        Names::deserialize(value).map_err(|why| file.error(format!("{VARIANTS}: {why}")))?;
    Ok(names
        .variants
        .into_iter()
        .map(|variant| variant.name)
        .collect())
}

/// A primitive, out of its Draco stream if it has one that is sound; `None` for one that canopy does not draw.
fn primitive(
    file: &File<'_>,
    json: &JsonPrimitive,
    name: &str,
    tangent_uv_set: Option<u32>,
    instances: u64,
    load: &mut Load<'_>,
) -> Result<Option<Primitive>> {
    let read = |draco, load: &mut Load<'_>| {
        let name = name.to_owned();
        let reader = Reader {
            file,
            json,
            draco,
            name,
        };
        reader.read(tangent_uv_set, instances, load)
    };
    let streamed = Decoded::open(file, json, name, instances, load);
    match streamed.and_then(|draco| read(draco, load)) {
        Err(Error::Scene { what, .. }) if draco::is_optional(file, json) => {
            file.warn(format!("{what}; its plain accessors are read instead"));
            read(None, load)
        }
        outcome => outcome,
    }
}

const VARIANTS: &str = "KHR_materials_variants";

/// The extension's JSON on the root.
#[derive(Debug, Deserialize)]
struct Names {
    variants: Vec<Name>,
}

#[derive(Debug, Deserialize)]
struct Name {
    name: String,
}

/// The extension's JSON on a primitive.
#[derive(Debug, Deserialize)]
struct Mappings {
    mappings: Vec<Mapping>,
}

#[derive(Debug, Deserialize)]
struct Mapping {
    material: usize,
    variants: Vec<usize>,
}

/// One primitive on its way.
struct Reader<'a> {
    file: &'a File<'a>,
    json: &'a JsonPrimitive,
    draco: Option<Decoded<'a>>,
    /// "mesh 2 primitive 0", for messages.
    name: String,
}

/// The vertices at the corners of a primitive: those that its indices name, or all in their order.
struct Corners<'a> {
    reader: &'a Reader<'a>,
    indices: Option<Accessor<'a>>,
    count: usize,
    vertices: usize,
}

impl Corners<'_> {
    fn error(&self, what: String) -> Error {
        self.reader
            .file
            .error(format!("{}: {what}", self.reader.name))
    }

    /// Fails for more than can be numbered, and for more without data than the limits allow.
    fn check(&self, load: &Load<'_>) -> Result<()> {
        if let Some(accessor) = &self.indices {
            self.reader.check_empty(accessor, load)?;
        }
        if u32::try_from(self.vertices).is_err() && self.indices.is_none() {
            return Err(self.error(format!(
                "{} vertices are more than 32 bits can number",
                self.vertices
            )));
        }
        Ok(())
    }

    /// The vertex at a corner.
    fn vertex(&self, at: usize) -> Result<u32> {
        let Some(accessor) = &self.indices else {
            return Ok(at as u32);
        };
        let [vertex] = accessor.integers(at);
        if (vertex as usize) < self.vertices {
            return Ok(vertex);
        }
        let index = self.reader.json.indices.map_or(0, |index| index.value());
        Err(self.error(format!(
            "index {vertex} (accessor {index}, element {at}) is past its {} vertices",
            self.vertices
        )))
    }
}

impl<'a> Reader<'a> {
    fn warn(&self, what: &str) {
        self.file.warn(format!("{} {what}", self.name));
    }

    /// `None` for a primitive that canopy does not draw.
    fn read(
        &self,
        tangent_uv_set: Option<u32>,
        instances: u64,
        load: &mut Load<'_>,
    ) -> Result<Option<Primitive>> {
        if let Some(extension) = self.unreadable() {
            self.warn(&format!(
                "needs the extension {extension} for its geometry, which canopy does not read, and is left out"
            ));
            return Ok(None);
        }
        let mode = match self.json.mode {
            Checked::Valid(mode) => mode,
            Checked::Invalid => {
                return Err(self
                    .file
                    .error(format!("{} has an unknown mode", self.name)));
            }
        };
        let Some(position) = self.attribute(Semantic::Positions, &[Type::Vec3], &ANY, None)? else {
            self.warn("has no POSITION and is ignored");
            return Ok(None);
        };
        self.check_empty(&position, load)?;
        let is_thin = is_thin(mode);
        let (mut primitive, sources) = if is_thin {
            self.lines(mode, &position, instances, load)?
        } else {
            let (indices, sources) = self.triangles(mode, position.count, instances, load)?;
            let triangles = Primitive {
                indices,
                ..Primitive::default()
            };
            (triangles, sources)
        };
        // Without normals every triangle gets vertices of its own.
        let smooth = Checked::Valid(Semantic::Normals);
        let vertices = if is_thin || self.json.attributes.contains_key(&smooth) {
            sources.len()
        } else {
            3 * primitive.indices.len()
        };
        load.take(
            Budget::Vertices,
            (vertices as u64).saturating_mul(instances),
            || self.place(),
        )?;
        let read = |&vertex: &u32| Vec3::from(position.floats(vertex as usize));
        primitive.positions = sources.iter().map(read).collect();
        if !primitive.positions.iter().all(|p| p.is_finite()) {
            self.warn("has positions that are NaN or infinite; their triangles are left out");
            drop_unplaced(&mut primitive);
        }
        if primitive.is_empty() {
            self.warn(if is_thin {
                "holds no points or lines and is ignored"
            } else {
                "holds no triangles and is ignored"
            });
            return Ok(None);
        }
        let count = Some(position.count);
        primitive.uv0 = self.texture_coordinates(0, &sources, count)?;
        primitive.uv1 = self.texture_coordinates(1, &sources, count)?;
        self.colors(&mut primitive, &sources, count)?;
        self.joints(&mut primitive, &sources, count, load)?;
        self.targets(&mut primitive, &sources, count, instances, load)?;
        self.normals(&mut primitive, &sources, count)?;
        if is_thin {
            self.file.warn(POINTS_AND_LINES);
            if primitive.tangents.is_empty() {
                primitive.tangents = surface::any_tangents(&primitive.normals);
            }
        }
        if primitive.tangents.is_empty() {
            match tangent_uv_set {
                Some(uv_set) => surface::tangents(&mut primitive, uv_set),
                None => primitive.tangents = surface::any_tangents(&primitive.normals),
            }
        }
        Ok(Some(primitive))
    }

    /// How much the accessors declare; nothing of what is not drawn.
    fn declared(&self, load: &Load<'_>) -> Result<Declared> {
        let Checked::Valid(mode) = self.json.mode else {
            return Ok(Declared::default());
        };
        let elements = if draco::is_streamed(self.json) {
            draco::declared_triangles(self.file, self.json, &self.name)
        } else if self.unreadable().is_some() {
            0
        } else {
            let Some(position) = self.attribute(Semantic::Positions, &[Type::Vec3], &ANY, None)?
            else {
                return Ok(Declared::default());
            };
            self.check_empty(&position, load)?;
            let indices = self.indices()?;
            let corners = indices.map_or(position.count, |indices| indices.count);
            elements_of(mode, corners) as u64
        };
        if is_thin(mode) {
            return Ok(Declared {
                lines: elements,
                ..Declared::default()
            });
        }
        let triangles = elements;
        let has_normals = {
            let normals = Checked::Valid(Semantic::Normals);
            self.json.attributes.contains_key(&normals)
        };
        // Of strips and fans, triangles without area are left out; with normals, triangles may share vertices.
        let separate = mode == Mode::Triangles && !has_normals;
        Ok(Declared {
            triangles,
            lines: 0,
            vertices: if separate {
                triangles.saturating_mul(3)
            } else {
                0
            },
        })
    }

    /// Fails if an accessor without data has more elements than those may.
    fn check_empty(&self, accessor: &Accessor<'_>, load: &Load<'_>) -> Result<()> {
        if accessor.has_data() {
            return Ok(());
        }
        let count = accessor.count as u64;
        load.check(Budget::EmptyVertices, count, || self.place())
    }

    /// The accessor of the indices.
    fn indices(&self) -> Result<Option<Accessor<'a>>> {
        let open = |index: usize| {
            let user = format!("{}: indices", self.name);
            Accessor::open(self.file, index, &user, &[Type::Scalar], &UNSIGNED)
        };
        let index = self.json.indices.map(|index| index.value());
        index.map(open).transpose()
    }

    /// The extension that canopy does not read and without which bytes of the geometry are missing.
    fn unreadable(&self) -> Option<String> {
        let unknown = |others: Option<&Map<String, Value>>| {
            let mut names = others?.keys().filter(|name| !container::reads(name));
            names.next().map(|name| shorten(name))
        };
        let of_primitive = unknown(self.json.extensions.as_ref().map(|all| &all.others));
        let root = &self.file.root;
        let positions = self
            .json
            .attributes
            .get(&Checked::Valid(Semantic::Positions));
        let accessors = self.json.attributes.values().chain(&self.json.indices);
        accessors
            .filter_map(|index| Some((index, root.accessors.get(index.value())?)))
            .find_map(|(index, accessor)| match accessor.buffer_view {
                // Zeros are a position for no geometry.
                None if accessor.sparse.is_none()
                    && self.draco.is_none()
                    && [positions, self.json.indices.as_ref()].contains(&Some(index)) =>
                {
                    of_primitive.clone()
                }
                None => None,
                Some(view) => {
                    let view = root.buffer_views.get(view.value())?;
                    let buffer = self.file.buffers.get(view.buffer.value())?;
                    let extension = unknown(view.extensions.as_ref().map(|all| &all.others));
                    extension.filter(|_| buffer.is_err())
                }
            })
    }

    /// The file and the primitive, for limits.
    fn place(&self) -> String {
        format!("{}: {}", self.file.path.display(), self.name)
    }

    /// The accessor of an attribute; `count` is how many elements it must have.
    fn attribute(
        &self,
        semantic: Semantic,
        kinds: &[Type],
        components: &[ComponentType],
        count: Option<usize>,
    ) -> Result<Option<Accessor<'a>>> {
        let key = Checked::Valid(semantic);
        let Some(index) = self.json.attributes.get(&key) else {
            return Ok(None);
        };
        let (key, index) = (key.to_string(), index.value());
        let user = format!("{}: {key}", self.name);
        let decoded = self.draco.as_ref().map_or(Ok(None), |draco| {
            draco.attribute(&key, index, &user, kinds, components)
        });
        let accessor = match decoded? {
            Some(accessor) => accessor,
            None => Accessor::open(self.file, index, &user, kinds, components)?,
        };
        match count {
            Some(count) if count != accessor.count => Err(self.file.error(format!(
                "{user}: accessor {index} has {} elements for {count} vertices",
                accessor.count
            ))),
            _ => Ok(Some(accessor)),
        }
    }

    /// The triangles, and which of the file's vertices they use: their indices point into that list. A primitive often uses a small
    /// part of a large accessor that it shares with thousands of others.
    fn triangles(
        &self,
        mode: Mode,
        vertices: usize,
        instances: u64,
        load: &mut Load<'_>,
    ) -> Result<(Vec<[u32; 3]>, Vec<u32>)> {
        let fail = |what: String| self.file.error(format!("{}: {what}", self.name));
        if let Some(draco) = &self.draco {
            let mut triangles: Vec<[u32; 3]> = draco.triangles().collect();
            let past = |&&vertex: &&u32| vertex as usize >= vertices;
            if let Some(vertex) = triangles.as_flattened().iter().find(past) {
                return Err(fail(format!(
                    "index {vertex} of the Draco stream is past its {vertices} vertices"
                )));
            }
            let sources = compact(triangles.as_flattened_mut(), vertices);
            return Ok((triangles, sources));
        }
        let corners = self.corners(vertices)?;
        let count = elements_of(mode, corners.count);
        load.take(
            Budget::Triangles,
            (count as u64).saturating_mul(instances),
            || self.place(),
        )?;
        corners.check(load)?;
        let corner = |at: usize| corners.vertex(at);
        let mut triangles = Vec::with_capacity(count);
        for i in 0..count {
            let at = match mode {
                Mode::TriangleStrip => [i, i + 1 + i % 2, i + 2 - i % 2],
                Mode::TriangleFan => [i + 1, i + 2, 0],
                _ => [3 * i, 3 * i + 1, 3 * i + 2],
            };
            let triangle @ [a, b, c] = [corner(at[0])?, corner(at[1])?, corner(at[2])?];
            // Strips are joined through triangles without area; they are no part of the surface.
            if mode == Mode::Triangles || (a != b && b != c && c != a) {
                triangles.push(triangle);
            }
        }
        let sources = compact(triangles.as_flattened_mut(), vertices);
        Ok((triangles, sources))
    }

    /// The points or the lines, and which of the file's vertices they use, as for [`Self::triangles`].
    fn lines(
        &self,
        mode: Mode,
        position: &Accessor<'_>,
        instances: u64,
        load: &mut Load<'_>,
    ) -> Result<(Primitive, Vec<u32>)> {
        let corners = self.corners(position.count)?;
        let count = elements_of(mode, corners.count);
        load.take(
            Budget::Lines,
            (count as u64).saturating_mul(instances),
            || self.place(),
        )?;
        corners.check(load)?;
        let mut ends = Vec::with_capacity(count);
        for i in 0..count {
            let at = match mode {
                Mode::Points => [i; 2],
                Mode::Lines => [2 * i, 2 * i + 1],
                _ => [i, (i + 1) % corners.count],
            };
            ends.push([corners.vertex(at[0])?, corners.vertex(at[1])?]);
        }
        let placed = |&v: &u32| Vec3::from(position.floats(v as usize)).is_finite();
        ends.retain(|line| line.iter().all(placed));
        if ends.len() < count {
            self.warn(
                "has positions that are NaN or infinite; its points and lines there are left out",
            );
        }
        let sources = compact(ends.as_flattened_mut(), position.count);
        let primitive = if mode == Mode::Points {
            Primitive {
                points: ends.into_iter().map(|[point, _]| point).collect(),
                ..Primitive::default()
            }
        } else {
            Primitive {
                lines: ends,
                ..Primitive::default()
            }
        };
        Ok((primitive, sources))
    }

    /// The corners of a primitive that has so many vertices.
    fn corners(&self, vertices: usize) -> Result<Corners<'_>> {
        let indices = self.indices()?;
        Ok(Corners {
            reader: self,
            count: indices.as_ref().map_or(vertices, |accessor| accessor.count),
            indices,
            vertices,
        })
    }

    fn texture_coordinates(
        &self,
        set: u32,
        sources: &[u32],
        count: Option<usize>,
    ) -> Result<Vec<Vec2>> {
        let Some(accessor) =
            self.attribute(Semantic::TexCoords(set), &[Type::Vec2], &ANY, count)?
        else {
            return Ok(Vec::new());
        };
        let read = |&v: &u32| {
            let uv = Vec2::from(accessor.floats(v as usize));
            if !uv.is_finite() {
                self.warn("has texture coordinates that are not finite; they become 0");
                return Vec2::ZERO;
            }
            uv
        };
        Ok(sources.iter().map(read).collect())
    }

    fn colors(
        &self,
        primitive: &mut Primitive,
        sources: &[u32],
        count: Option<usize>,
    ) -> Result<()> {
        let Some(accessor) =
            self.attribute(Semantic::Colors(0), &[Type::Vec3, Type::Vec4], &ANY, count)?
        else {
            return Ok(());
        };
        let accessor = accessor.normalized();
        let opaque = accessor.components == 3;
        let read = |&v: &u32| {
            let [r, g, b, a] = accessor.floats(v as usize);
            let color = Vec4::new(r, g, b, if opaque { 1.0 } else { a });
            if !color.is_finite() {
                self.warn("has vertex colours that are not finite; they become white");
                return Vec4::ONE;
            }
            color.max(Vec4::ZERO)
        };
        primitive.colors = sources.iter().map(read).collect();
        Ok(())
    }

    fn joints(
        &self,
        primitive: &mut Primitive,
        sources: &[u32],
        count: Option<usize>,
        load: &mut Load<'_>,
    ) -> Result<()> {
        let mut sets = Vec::new();
        let weight_types = [ComponentType::F32, ComponentType::U8, ComponentType::U16];
        for set in 0.. {
            let joints = self.attribute(Semantic::Joints(set), &[Type::Vec4], &UNSIGNED, count)?;
            let weights =
                self.attribute(Semantic::Weights(set), &[Type::Vec4], &weight_types, count)?;
            match (joints, weights) {
                (Some(joints), Some(weights)) => sets.push((joints, weights.normalized())),
                (None, None) => break,
                _ => {
                    self.warn(&format!(
                        "has only one of JOINTS_{set} and WEIGHTS_{set}; it is ignored"
                    ));
                    break;
                }
            }
        }
        let per_vertex = 4 * sets.len();
        if per_vertex == 0 {
            return Ok(());
        }
        let bytes = sources.len() as u64 * per_vertex as u64 * 8;
        load.take(Budget::AnimationBytes, bytes, || {
            format!("{}: {}: joints", self.file.path.display(), self.name)
        })?;
        for &vertex in sources {
            let first = primitive.joints.len();
            for (joints, weights) in &sets {
                primitive
                    .joints
                    .extend(joints.integers::<4>(vertex as usize));
                primitive
                    .joint_weights
                    .extend(weights.floats::<4>(vertex as usize));
            }
            if !normalise_weights(
                &mut primitive.joints[first..],
                &mut primitive.joint_weights[first..],
            ) {
                self.warn(
                    "has joint weights that do not sum to anything; the first joint takes them",
                );
            }
        }
        primitive.influences_per_vertex = per_vertex;
        Ok(())
    }

    fn targets(
        &self,
        primitive: &mut Primitive,
        sources: &[u32],
        count: Option<usize>,
        instances: u64,
        load: &mut Load<'_>,
    ) -> Result<()> {
        for (number, json) in self.json.targets.iter().flatten().enumerate() {
            load.take(Budget::MorphTargets, instances, || self.place())?;
            // What the renderer keeps of a target, whatever the file leaves out of it, and a weight for each node.
            let bytes = (3 * sources.len() * size_of::<Vec3>()) as u64 + 4 * instances;
            load.take(Budget::AnimationBytes, bytes, || {
                format!(
                    "{}: {}: morph target {number}",
                    self.file.path.display(),
                    self.name
                )
            })?;
            let read = |index: Option<usize>, attribute: &str| -> Result<Vec<Vec3>> {
                let Some(index) = index else {
                    return Ok(Vec::new());
                };
                let user = format!("{}: {attribute} of morph target {number}", self.name);
                let accessor = Accessor::open(self.file, index, &user, &[Type::Vec3], &ANY)?;
                if Some(accessor.count) != count {
                    let (has, needs) = (accessor.count, count.unwrap_or_default());
                    return Err(self.file.error(format!(
                        "{user}: accessor {index} has {has} elements for {needs} vertices"
                    )));
                }
                if accessor.is_zero() {
                    return Ok(Vec::new());
                }
                let offsets: Vec<Vec3> = sources
                    .iter()
                    .map(|&v| Vec3::from(accessor.floats(v as usize)))
                    .collect();
                if offsets.iter().all(|o| o.is_finite()) {
                    return Ok(offsets);
                }
                self.warn(&format!(
                    "has a morph target {number} that is not finite everywhere; there it moves nothing"
                ));
                let or_none = |o: Vec3| if o.is_finite() { o } else { Vec3::ZERO };
                Ok(offsets.into_iter().map(or_none).collect())
            };
            primitive.targets.push(MorphTarget {
                positions: read(json.positions.map(|i| i.value()), "POSITION")?,
                normals: read(json.normals.map(|i| i.value()), "NORMAL")?,
                tangents: read(json.tangents.map(|i| i.value()), "TANGENT")?,
            });
        }
        Ok(())
    }

    /// Normals, and tangents where the file has both.
    fn normals(
        &self,
        primitive: &mut Primitive,
        sources: &[u32],
        count: Option<usize>,
    ) -> Result<()> {
        let normals = self.attribute(Semantic::Normals, &[Type::Vec3], &ANY, count)?;
        let tangents = self.attribute(Semantic::Tangents, &[Type::Vec4], &ANY, count)?;
        let Some(normals) = normals else {
            if primitive.indices.is_empty() {
                primitive.normals = vec![Vec3::Y; primitive.positions.len()];
                primitive.shading = Shading::Unlit;
            } else {
                surface::flat_normals(primitive);
            }
            return Ok(());
        };
        if primitive.indices.is_empty() && tangents.is_none() {
            primitive.shading = Shading::Plain;
        }
        primitive.normals = sources
            .iter()
            .map(|&v| unit(Vec3::from(normals.floats(v as usize))))
            .collect();
        if primitive.normals.contains(&Vec3::ZERO) {
            self.warn("has normals without direction; canopy makes them from the triangles");
            let smooth =
                surface::smooth_normals(&primitive.positions, primitive.indices.iter().copied());
            for (normal, smooth) in primitive.normals.iter_mut().zip(smooth) {
                if *normal == Vec3::ZERO {
                    *normal = smooth;
                }
            }
        }
        if let Some(tangents) = tangents {
            let read = |(&v, normal): (&u32, &Vec3)| {
                let tangent = Vec4::from(tangents.floats(v as usize));
                let direction = unit(tangent.truncate());
                let direction = if direction == Vec3::ZERO {
                    normal.any_orthonormal_vector()
                } else {
                    direction
                };
                direction.extend(if tangent.w < 0.0 { -1.0 } else { 1.0 })
            };
            primitive.tangents = sources.iter().zip(&primitive.normals).map(read).collect();
        }
        Ok(())
    }
}

/// Whether a primitive is of points or lines.
fn is_thin(mode: Mode) -> bool {
    !matches!(
        mode,
        Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan
    )
}

/// How many points, lines or triangles so many corners make.
fn elements_of(mode: Mode, corners: usize) -> usize {
    match mode {
        Mode::Points => corners,
        Mode::Lines => corners / 2,
        Mode::LineLoop if corners > 1 => corners,
        Mode::LineLoop | Mode::LineStrip => corners.saturating_sub(1),
        Mode::Triangles => corners / 3,
        Mode::TriangleStrip | Mode::TriangleFan => corners.saturating_sub(2),
    }
}

/// Leaves out the triangles that have a corner nowhere, and gives that corner a place.
fn drop_unplaced(primitive: &mut Primitive) {
    let positions = &mut primitive.positions;
    primitive
        .indices
        .retain(|triangle| triangle.iter().all(|&v| positions[v as usize].is_finite()));
    for position in positions.iter_mut().filter(|p| !p.is_finite()) {
        *position = Vec3::ZERO;
    }
}

/// The direction of `v`, or zero if it has none.
fn unit(v: Vec3) -> Vec3 {
    // Scaled first: the square of a large or a tiny f32 is not one.
    let scale = v.abs().max_element();
    if v.is_finite() && scale > 0.0 {
        (v / scale).normalize_or_zero()
    } else {
        Vec3::ZERO
    }
}

/// Makes the weights of a vertex sum to 1; false if there was nothing to scale. A joint without weight becomes joint 0, for files
/// leave anything there.
fn normalise_weights(joints: &mut [u32], weights: &mut [f32]) -> bool {
    let finite = weights.iter().all(|w| w.is_finite());
    weights.iter_mut().for_each(|w| *w = w.max(0.0));
    let sum: f32 = weights.iter().sum();
    let sound = finite && sum > 0.0 && sum.is_finite();
    if sound {
        weights.iter_mut().for_each(|w| *w /= sum);
    } else {
        weights.fill(0.0);
        weights[0] = 1.0;
    }
    for (joint, weight) in joints.iter_mut().zip(weights) {
        if *weight == 0.0 {
            *joint = 0;
        }
    }
    sound
}

/// Renumbers `corners` so that they point into the list of used vertices, which it returns in rising order.
fn compact(corners: &mut [u32], vertices: usize) -> Vec<u32> {
    if vertices / 4 <= corners.len() {
        let mut place = vec![u32::MAX; vertices];
        corners.iter().for_each(|&v| place[v as usize] = 0);
        let used: Vec<u32> = (0..vertices as u32)
            .filter(|&v| place[v as usize] == 0)
            .collect();
        used.iter()
            .zip(0..)
            .for_each(|(&v, at)| place[v as usize] = at);
        corners.iter_mut().for_each(|v| *v = place[*v as usize]);
        return used;
    }
    let mut used = corners.to_vec();
    used.sort_unstable();
    used.dedup();
    corners
        .iter_mut()
        .for_each(|v| *v = used.partition_point(|u| u < v) as u32);
    used
}
