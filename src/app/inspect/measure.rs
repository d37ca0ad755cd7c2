//! Measurement of world-space distances and angles between clicked points.

use crate::{
    app::camera::projector::Projector,
    render::{Element, Picked},
};
use glam::{DVec3, Vec2, Vec3};

/// Kind of geometry that a measured point has snapped to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Snap {
    Vertex,
    Edge,
    /// A surface without a vertex or an edge nearby.
    Surface,
    /// A line or point of the scene.
    Element,
}

impl Snap {
    /// Returns the name on the card.
    pub(in crate::app) fn name(self) -> &'static str {
        match self {
            Self::Vertex => "vertex",
            Self::Edge => "edge",
            Self::Surface => "surface",
            Self::Element => "line or point",
        }
    }
}

/// A measured point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::app) struct MeasuredPoint {
    /// World position in metres.
    pub(in crate::app) position: Vec3,
    pub(in crate::app) snap: Snap,
}

impl MeasuredPoint {
    /// Returns the measured point for the hit `picked` at `pixel`. It is the nearest corner of the hit
    /// triangle within `reach` pixels, or else the nearest point on its edges within `reach`, or else the hit
    /// point. A hit on a line or a point does not snap.
    pub(in crate::app) fn snapped(picked: &Picked, projector: &Projector, pixel: Vec2, reach: f32) -> Self {
        let Element::Triangle { corners, .. } = picked.element else {
            return Self {
                position: picked.position,
                snap: Snap::Element,
            };
        };
        let nearest = |candidates: [Option<(Vec3, f32)>; 3]| {
            let near = candidates.into_iter().flatten();
            let near = near.filter(|(_, distance)| *distance <= reach);
            near.min_by(|a, b| a.1.total_cmp(&b.1))
        };
        let vertex = nearest(corners.map(|corner| {
            let at = projector.project(corner)?;
            Some((corner, at.distance(pixel)))
        }));
        let [a, b, c] = corners;
        let on_edge = |ends| projector.nearest_on_segment(ends, pixel);
        let edge = || nearest([[a, b], [b, c], [c, a]].map(on_edge));
        let (position, snap) = if let Some((position, _)) = vertex {
            (position, Snap::Vertex)
        } else if let Some((position, _)) = edge() {
            (position, Snap::Edge)
        } else {
            (picked.position, Snap::Surface)
        };
        Self { position, snap }
    }
}

/// Measurement of up to three points.
#[derive(Debug, Default)]
pub(in crate::app) struct Measure {
    /// True if clicks measure.
    pub(in crate::app) is_on: bool,
    /// Point that a click would add.
    pub(in crate::app) preview: Option<MeasuredPoint>,
    points: Vec<MeasuredPoint>,
}

impl Measure {
    pub(in crate::app) fn points(&self) -> &[MeasuredPoint] {
        &self.points
    }

    /// Adds a point. A fourth point starts a new measurement.
    pub(in crate::app) fn add(&mut self, point: MeasuredPoint) {
        if self.points.len() == 3 {
            self.points.clear();
        }
        self.points.push(point);
    }

    pub(in crate::app) fn clear(&mut self) {
        self.points.clear();
    }

    /// Returns the vectors from each point to the next, in metres.
    pub(in crate::app) fn deltas(&self) -> Vec<DVec3> {
        let pairs = self.points.windows(2);
        pairs
            .map(|pair| pair[1].position.as_dvec3() - pair[0].position.as_dvec3())
            .collect()
    }

    /// Returns the angle at the second of three points in degrees. `None` with fewer points, or if the second
    /// coincides with another one.
    pub(in crate::app) fn angle_degrees(&self) -> Option<f64> {
        let [to_second, to_third] = self.deltas()[..] else {
            return None;
        };
        let (a, b) = (-to_second, to_third);
        // Unlike the arc cosine, the arc tangent is accurate for angles close to 0° and 180° too.
        let angle = a.cross(b).length().atan2(a.dot(b));
        (a != DVec3::ZERO && b != DVec3::ZERO).then(|| angle.to_degrees())
    }

    /// Returns the rows of the card: the points, and the distances and the angle between them.
    pub(in crate::app) fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        for (name, point) in ["first", "second", "third"].into_iter().zip(&self.points) {
            let at = triple(point.position.as_dvec3());
            rows.push((name, format!("{at} ({})", point.snap.name())));
        }
        for delta in self.deltas() {
            rows.push(("distance", metres(delta.length())));
            rows.push(("dx, dy, dz", format!("{} m", triple(delta))));
        }
        if let Some(angle) = self.angle_degrees() {
            rows.push(("angle", format!("{}°", four_digits(angle))));
        }
        rows
    }
}

/// Formats a length in metres with four significant digits and the unit.
pub(in crate::app) fn metres(length: f64) -> String {
    format!("{} m", four_digits(length))
}

/// Formats three coordinates with four significant digits each.
pub(in crate::app) fn triple(point: DVec3) -> String {
    let [x, y, z] = point.to_array().map(four_digits);
    format!("{x}, {y}, {z}")
}

/// Formats a number with four significant digits, in scientific notation below 0.0001 and from 10 million.
pub(in crate::app) fn four_digits(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return format!("{}", number.abs());
    }
    let exponent = format!("{number:.3e}");
    // The exponent is that of the rounded number: 99.996 becomes 100.0 and not 100.00.
    let power: i32 = exponent
        .rsplit('e')
        .next()
        .and_then(|power| power.parse().ok())
        .unwrap_or(0);
    match power {
        -4..=3 => format!("{number:.*}", (3 - power) as usize),
        4..=6 => {
            let unit = 10_f64.powi(power - 3);
            format!("{:.0}", (number / unit).round() * unit)
        }
        _ => exponent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{render::View, scene::Projection};
    use glam::Mat4;

    fn at(x: f32, y: f32, z: f32) -> MeasuredPoint {
        MeasuredPoint {
            position: Vec3::new(x, y, z),
            snap: Snap::Surface,
        }
    }

    #[test]
    fn numbers_have_four_digits() {
        let shown = [
            0.0,
            1.0,
            -1.234_56,
            0.012_345,
            0.000_123_46,
            99.996,
            12_345.6,
            1_234_567.0,
            1.5e-9,
            -2e12,
            f64::INFINITY,
        ]
        .map(four_digits);
        let expected = [
            "0",
            "1.000",
            "-1.235",
            "0.01235",
            "0.0001235",
            "100.0",
            "12350",
            "1235000",
            "1.500e-9",
            "-2.000e12",
            "inf",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn measurements_have_deltas_and_angles() {
        let mut measure = Measure::default();
        assert!(measure.rows().is_empty());
        measure.add(at(1.0, 0.0, 0.0));
        assert_eq!((measure.deltas().len(), measure.angle_degrees()), (0, None));
        measure.add(at(1.0, 2.0, 0.0));
        assert_eq!(measure.deltas(), [DVec3::Y * 2.0]);
        measure.add(at(4.0, 2.0, 4.0));
        assert_eq!(measure.deltas()[1], DVec3::new(3.0, 0.0, 4.0));
        assert_eq!(measure.angle_degrees(), Some(90.0));
        let text: Vec<_> = measure.rows().into_iter().map(|(_, text)| text).collect();
        assert_eq!(text[0], "1.000, 0, 0 (surface)");
        assert_eq!(
            text[3..],
            [
                "2.000 m",
                "0, 2.000, 0 m",
                "5.000 m",
                "3.000, 0, 4.000 m",
                "90.00°"
            ]
        );
        // A fourth point starts a new measurement.
        measure.add(at(0.0, 0.0, 0.0));
        assert_eq!(measure.points().len(), 1);
        // The third point is the first one, lies straight on, or is the second one.
        for (third, angle) in [
            (at(0.0, 0.0, 0.0), Some(0.0)),
            (at(2.0, 0.0, 0.0), Some(180.0)),
            (at(1.0, 0.0, 0.0), None),
        ] {
            let mut measure = Measure::default();
            for point in [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), third] {
                measure.add(point);
            }
            assert_eq!(measure.angle_degrees(), angle);
        }
    }

    /// The corners of the triangle are at the pixels (100, 100), (150, 100) and (100, 50) of a picture of 200
    /// × 200 pixels.
    #[test]
    fn points_snap_to_vertices_then_to_edges() {
        let view = View {
            world_from_view: Mat4::from_translation(Vec3::Z * 10.0),
            projection: Projection::Orthographic { half_height: 1.0 },
            near: 0.1,
            far: 100.0,
        };
        let projector = Projector::new(&view, Vec2::splat(200.0));
        let corners = [Vec3::ZERO, Vec3::X * 0.5, Vec3::Y * 0.5];
        let picked = |x: f32, y: f32| Picked {
            mesh: 0,
            material: 0,
            position: Vec3::new(x, y, 0.0),
            element: Element::Triangle {
                number: 0,
                corners,
                normal: Vec3::Z,
                uv: Vec2::ZERO,
            },
        };
        let snapped = |x: f32, y: f32| {
            let pixel = Vec2::new(100.0 + 100.0 * x, 100.0 - 100.0 * y);
            MeasuredPoint::snapped(&picked(x, y), &projector, pixel, 8.0)
        };
        let vertex = snapped(0.04, 0.03);
        assert_eq!((vertex.position, vertex.snap), (Vec3::ZERO, Snap::Vertex));
        let edge = snapped(0.2, 0.05);
        assert_eq!(edge.snap, Snap::Edge);
        assert!(edge.position.distance(Vec3::X * 0.2) < 1e-5, "{edge:?}");
        let surface = snapped(0.15, 0.15);
        assert_eq!((surface.position.x, surface.snap), (0.15, Snap::Surface));
        let line = Picked {
            element: Element::Line(3),
            ..picked(0.0, 0.0)
        };
        let point = MeasuredPoint::snapped(&line, &projector, Vec2::splat(100.0), 8.0);
        assert_eq!(point.snap, Snap::Element);
    }
}
