//! Results of queries, as rows of CSV and as JSON.

use crate::accel::{Hit, Nearest, ObjectPair, Ray, layout::BVH_MISS};
use serde_json::{Value, json};
use std::fmt::Write;

/// A point on a triangle.
pub(super) struct Place {
    distance: f32,
    position: [f32; 3],
    mesh: u32,
    triangle: u32,
    is_inside: bool,
}

impl Place {
    /// Converts a nearest point, or returns `None` if there is none. A negative distance of `found` means
    /// inside. It stays negative only if `signed`.
    pub(super) fn of_nearest(found: &Nearest, signed: bool) -> Option<Self> {
        let distance = found.distance;
        (found.mesh != BVH_MISS).then_some(Self {
            distance: if signed { distance } else { distance.abs() },
            is_inside: distance < 0.0,
            position: found.position,
            mesh: found.mesh,
            triangle: found.triangle,
        })
    }

    /// Converts a hit, or returns `None` for a miss. `unit` is the length of the given direction relative to
    /// the traced one.
    pub(super) fn of_hit(ray: &Ray, hit: &Hit, unit: f32) -> Option<Self> {
        let along = |axis: usize| ray.origin[axis] + hit.t * ray.direction[axis];
        (!hit.is_miss()).then(|| Self {
            distance: hit.t / unit,
            position: [along(0), along(1), along(2)],
            is_inside: false,
            mesh: hit.mesh,
            triangle: hit.triangle,
        })
    }
}

pub(super) enum Results {
    Places {
        places: Vec<Option<Place>>,
        /// True if the inside column is written.
        with_inside: bool,
    },
    /// Mesh and triangle numbers of the triangles that each box overlaps.
    Touched(Vec<Vec<[u32; 2]>>),
    Pairs(Vec<ObjectPair>),
}

impl Results {
    /// Returns the number of results and the word for them.
    pub(super) fn count(&self) -> (usize, &'static str) {
        match self {
            Self::Places { places, .. } => (places.len(), "answers"),
            Self::Touched(touched) => (touched.len(), "answers"),
            Self::Pairs(pairs) => (pairs.len(), "pairs"),
        }
    }

    /// Formats CSV. Writing to a String cannot fail.
    pub(super) fn csv(&self) -> String {
        let mut text = String::new();
        match self {
            Self::Places { places, with_inside } => {
                let inside = if *with_inside { ",inside" } else { "" };
                writeln!(text, "distance,x,y,z,mesh,triangle{inside}").ok();
                for place in places {
                    let Some(p) = place else {
                        let more = if *with_inside { "," } else { "" };
                        writeln!(text, ",,,,,{more}").ok();
                        continue;
                    };
                    let [x, y, z] = p.position;
                    write!(text, "{},{x},{y},{z},{},{}", p.distance, p.mesh, p.triangle).ok();
                    if *with_inside {
                        write!(text, ",{}", p.is_inside).ok();
                    }
                    text.push('\n');
                }
            }
            Self::Touched(touched) => {
                text.push_str("count,triangles\n");
                for names in touched {
                    write!(text, "{},", names.len()).ok();
                    for (i, [mesh, triangle]) in names.iter().enumerate() {
                        let blank = if i > 0 { " " } else { "" };
                        write!(text, "{blank}{mesh}:{triangle}").ok();
                    }
                    text.push('\n');
                }
            }
            Self::Pairs(pairs) => {
                text.push_str("mesh_a,triangle_a,mesh_b,triangle_b\n");
                for pair in pairs {
                    let [a, t, b, u] = name_of_pair(pair);
                    writeln!(text, "{a},{t},{b},{u}").ok();
                }
            }
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        match self {
            Self::Places { places, with_inside } => {
                let place = |place: &Option<Place>| {
                    place.as_ref().map(|p| {
                        let mut value = json!({
                            "distance": short(p.distance),
                            "position": p.position.map(short),
                            "mesh": p.mesh,
                            "triangle": p.triangle,
                        });
                        if *with_inside {
                            value["inside"] = p.is_inside.into();
                        }
                        value
                    })
                };
                places.iter().map(place).collect()
            }
            Self::Touched(touched) => json!(touched),
            Self::Pairs(pairs) => {
                let names = ["mesh_a", "triangle_a", "mesh_b", "triangle_b"];
                let pair = |pair: &ObjectPair| -> Value {
                    let numbers = name_of_pair(pair).map(Value::from);
                    let fields = names.map(str::to_owned).into_iter().zip(numbers);
                    Value::Object(fields.collect())
                };
                pairs.iter().map(pair).collect()
            }
        }
    }
}

/// Returns the mesh and triangle of the pair's first triangle, then those of its second triangle.
pub(super) fn name_of_pair(pair: &ObjectPair) -> [u32; 4] {
    [pair.mesh_a, pair.object_a, pair.mesh_b, pair.object_b]
}

/// Converts a number to JSON with the fewest digits that identify the f32.
fn short(number: f32) -> Value {
    number.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_csv_have_the_same_digits() {
        let place = Place {
            distance: 0.1,
            position: [1e-7, -2.5, 16_777_216.0],
            mesh: 1,
            triangle: 2,
            is_inside: true,
        };
        let answers = Results::Places {
            places: vec![Some(place), None],
            with_inside: true,
        };
        let json = r#"[{"distance":0.1,"inside":true,"mesh":1,"position":[1e-7,-2.5,16777216.0],"triangle":2},null]"#;
        assert_eq!(answers.json().to_string(), json);
        let csv = "distance,x,y,z,mesh,triangle,inside\n0.1,0.0000001,-2.5,16777216,1,2,true\n,,,,,,\n";
        assert_eq!(answers.csv(), csv);
    }
}
