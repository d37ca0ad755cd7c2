//! The selected meshes, and the rows of their card.

use crate::{
    app::inspect::measure::{metres, triple},
    render::{Element, OUTLINES, Picked},
    scene::{Scene, mesh_distance::MeshDistance},
};

/// A selected mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::app) struct Selected {
    /// Index of the node of the mesh instance.
    pub(in crate::app) node: usize,
    /// Index of the mesh instance.
    pub(in crate::app) mesh: usize,
    /// The clicked point. `None` if the mesh was selected in a list.
    pub(in crate::app) picked: Option<Picked>,
}

/// Distance between two selected meshes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(in crate::app) enum Gap {
    /// Not known yet.
    #[default]
    Unknown,
    /// The meshes have no distance, because one of them has no triangles.
    None,
    Known(MeshDistance),
}

/// Selection of up to two meshes.
#[derive(Debug, Default)]
pub(in crate::app) struct Selection {
    meshes: Vec<Selected>,
    /// Distance between two selected meshes.
    pub(in crate::app) gap: Gap,
}

impl Selection {
    pub(in crate::app) fn meshes(&self) -> &[Selected] {
        &self.meshes
    }

    pub(in crate::app) fn is_empty(&self) -> bool {
        self.meshes.is_empty()
    }

    /// Returns the indices of the selected mesh instances, followed by `None`.
    pub(in crate::app) fn instances(&self) -> [Option<usize>; OUTLINES] {
        std::array::from_fn(|at| self.meshes.get(at).map(|selected| selected.mesh))
    }

    pub(in crate::app) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Replaces the selection with these two meshes.
    pub(in crate::app) fn choose(&mut self, meshes: [Selected; OUTLINES]) {
        self.gap = Gap::Unknown;
        self.meshes = meshes.to_vec();
    }

    /// Replaces the selection with the clicked mesh, or clears it after a click on nothing. With `beside`,
    /// adds the clicked mesh as the second one, deselects it if it is selected, or ignores a click on
    /// nothing.
    pub(in crate::app) fn click(&mut self, clicked: Option<Selected>, beside: bool) {
        self.gap = Gap::Unknown;
        if !beside {
            self.meshes.clear();
            self.meshes.extend(clicked);
            return;
        }
        let Some(clicked) = clicked else { return };
        let count = self.meshes.len();
        self.meshes.retain(|known| known.mesh != clicked.mesh);
        if self.meshes.len() == count {
            self.meshes.truncate(OUTLINES - 1);
            self.meshes.push(clicked);
        }
    }
}

/// Returns the name of the mesh at `node`. A mesh without a name has the node's name, or else `node` and the
/// node's index.
pub(in crate::app) fn mesh_name(scene: &Scene, node: usize) -> String {
    let mesh = scene.nodes.get(node).and_then(|node| node.mesh);
    let own = mesh.and_then(|mesh| scene.meshes.get(mesh));
    let own = own.map_or("", |mesh| mesh.name.as_str());
    match own {
        "" => node_name(scene, node),
        own => own.into(),
    }
}

fn node_name(scene: &Scene, node: usize) -> String {
    match scene.nodes.get(node).map(|node| node.name.as_str()) {
        Some("") | None => format!("node {node}"),
        Some(name) => name.into(),
    }
}

/// Returns the names of a node and its ancestors, starting with the root and separated by slashes.
pub(in crate::app) fn node_path(scene: &Scene, node: usize) -> String {
    let parent = |node: &usize| scene.nodes.get(*node)?.parent;
    let mut names: Vec<_> = std::iter::successors(Some(node), parent)
        .map(|node| node_name(scene, node))
        .collect();
    names.reverse();
    names.join(" / ")
}

/// Rows of a card: names and values.
pub(in crate::app) type Rows = Vec<(&'static str, String)>;

/// Returns the rows of a selected mesh and its clicked point.
pub(in crate::app) fn rows(scene: &Scene, selected: &Selected) -> Rows {
    let Selected { node, picked, .. } = selected;
    let mut rows = vec![("node", node_path(scene, *node))];
    let Some(picked) = picked else {
        return rows;
    };
    let material = scene.materials.get(picked.material);
    let material = match material.map_or("", |material| material.name.as_str()) {
        "" => format!("material {}", picked.material),
        name => name.into(),
    };
    rows.push(("material", material));
    let mesh = scene.nodes.get(*node).and_then(|node| node.mesh);
    let primitives = mesh.and_then(|mesh| scene.meshes.get(mesh));
    let primitives = primitives.map_or(&[][..], |mesh| &mesh.primitives);
    let count: usize = primitives.iter().map(|p| p.indices.len()).sum();
    let at = format!("{} m", triple(picked.position.as_dvec3()));
    match picked.element {
        Element::Triangle {
            number, normal, uv, ..
        } => {
            rows.push(("triangle", format!("{number} of {count}")));
            rows.push(("position", at));
            rows.push(("normal", triple(normal.as_dvec3())));
            let mut first = 0;
            let primitive = primitives.iter().find(|primitive| {
                first += primitive.indices.len();
                (number as usize) < first
            });
            let has_uv = primitive.is_some_and(|primitive| !primitive.uv0.is_empty());
            let [u, v] = uv
                .to_array()
                .map(|c| crate::app::inspect::measure::four_digits(c.into()));
            rows.push((
                "uv",
                if has_uv {
                    format!("{u}, {v}")
                } else {
                    "none".into()
                },
            ));
        }
        Element::Line(number) => rows.extend([("line", number.to_string()), ("position", at)]),
        Element::Point(number) => rows.extend([("point", number.to_string()), ("position", at)]),
    }
    rows
}

/// Returns the rows of the distance between two meshes.
pub(in crate::app) fn gap_rows(gap: &Gap) -> Rows {
    match gap {
        Gap::Unknown => vec![("distance", "…".into())],
        Gap::None => vec![("distance", "none: no triangles".into())],
        Gap::Known(found) => {
            let [a, b] = found.points;
            vec![
                ("distance", metres(found.distance)),
                ("from", format!("{} m", triple(a))),
                ("to", format!("{} m", triple(b))),
            ]
        }
    }
}

/// Formats rows as text below a title.
pub(in crate::app) fn text(title: &str, rows: &Rows) -> String {
    let mut text = format!("{title}\n");
    for (name, value) in rows {
        text += &format!("{name}: {value}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Material, Mesh, Node, Primitive};
    use glam::{DVec3, Vec2, Vec3};

    fn scene() -> Scene {
        let node = |name: &str, parent, mesh| Node {
            name: name.into(),
            parent,
            mesh,
            ..Node::default()
        };
        let primitive = |triangles: usize, uv0: Vec<Vec2>| Primitive {
            indices: vec![[0, 0, 0]; triangles],
            uv0,
            ..Primitive::default()
        };
        Scene {
            nodes: vec![
                node("root", None, None),
                node("", Some(0), None),
                node("fox", Some(1), Some(0)),
                node("", None, Some(1)),
            ],
            meshes: vec![
                Mesh {
                    name: "body".into(),
                    primitives: vec![primitive(3, vec![Vec2::ZERO]), primitive(2, vec![])],
                },
                Mesh {
                    name: String::new(),
                    primitives: vec![],
                },
            ],
            materials: vec![Material {
                name: "fur".into(),
                ..Material::default()
            }],
            ..Scene::default()
        }
    }

    fn selected(mesh: usize, node: usize, number: u32) -> Selected {
        Selected {
            node,
            mesh,
            picked: Some(Picked {
                mesh,
                material: mesh,
                position: Vec3::new(1.0, 0.25, -3.0),
                element: Element::Triangle {
                    number,
                    corners: [Vec3::ZERO; 3],
                    normal: Vec3::Y,
                    uv: Vec2::new(0.5, 0.125),
                },
            }),
        }
    }

    #[test]
    fn the_card_shows_where_a_mesh_was_hit() {
        let scene = scene();
        let card = |selected: &Selected| text(&mesh_name(&scene, selected.node), &rows(&scene, selected));
        assert_eq!(
            card(&selected(0, 2, 2)),
            "body\nnode: root / node 1 / fox\nmaterial: fur\ntriangle: 2 of 5\n\
             position: 1.000, 0.2500, -3.000 m\nnormal: 0, 1.000, 0\nuv: 0.5000, 0.1250\n"
        );
        // The second primitive has no texture coordinates.
        assert!(card(&selected(0, 2, 3)).ends_with("uv: none\n"));
        let unnamed = card(&selected(1, 3, 0));
        assert!(
            unnamed.starts_with("node 3\nnode: node 3\nmaterial: material 1\n"),
            "{unnamed}"
        );
        let line = Selected {
            picked: selected(0, 2, 0).picked.map(|picked| Picked {
                element: Element::Line(7),
                ..picked
            }),
            ..selected(0, 2, 0)
        };
        assert!(card(&line).contains("line: 7\nposition"));
        let chosen = Selected {
            picked: None,
            ..selected(0, 2, 0)
        };
        assert_eq!(card(&chosen), "body\nnode: root / node 1 / fox\n");
        // Indices out of range must not panic.
        card(&selected(99, 99, u32::MAX));
    }

    #[test]
    fn clicks_select_one_or_two_meshes() {
        let mut selection = Selection::default();
        let of = |selection: &Selection| selection.instances();
        selection.click(Some(selected(0, 2, 0)), false);
        selection.click(Some(selected(1, 3, 0)), false);
        assert_eq!(of(&selection), [Some(1), None]);
        selection.click(Some(selected(0, 2, 0)), true);
        assert_eq!(of(&selection), [Some(1), Some(0)]);
        selection.gap = Gap::None;
        selection.click(Some(selected(5, 3, 0)), true);
        assert_eq!(
            (of(&selection), selection.gap),
            ([Some(1), Some(5)], Gap::Unknown)
        );
        selection.click(None, true);
        assert_eq!(of(&selection), [Some(1), Some(5)]);
        selection.click(Some(selected(1, 3, 0)), true);
        assert_eq!(of(&selection), [Some(5), None]);
        selection.gap = Gap::None;
        selection.choose([selected(2, 1, 0), selected(3, 3, 0)]);
        assert_eq!(
            (of(&selection), selection.gap),
            ([Some(2), Some(3)], Gap::Unknown)
        );
        selection.click(None, false);
        assert!(selection.is_empty());
    }

    #[test]
    fn the_gap_is_shown_with_both_points() {
        let found = MeshDistance {
            distance: 0.5,
            points: [DVec3::ZERO, DVec3::X * 0.5],
        };
        let told = text("gap", &gap_rows(&Gap::Known(found)));
        assert_eq!(
            told,
            "gap\ndistance: 0.5000 m\nfrom: 0, 0, 0 m\nto: 0.5000, 0, 0 m\n"
        );
    }
}
