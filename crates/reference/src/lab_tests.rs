//! CPU references of the laboratory's triangle tests (`shaders/lab/test_….wgsl`), generic over the number
//! type. It is f32 as on the GPU, f64, or [`Counted`], which counts operations.

use canopy_bvh::accel::layout::Ray;
use canopy_lab::data::LAB_AREAS_SLACK;

use std::{
    cell::Cell,
    ops::{Add, Div, Mul, Neg, Sub},
};

/// Number type of the tests.
pub trait Number:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Converts an f32.
    fn of(number: f32) -> Self;
    /// Returns the square root.
    fn sqrt(self) -> Self;
}

impl Number for f32 {
    fn of(number: f32) -> Self {
        number
    }

    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
}

impl Number for f64 {
    fn of(number: f32) -> Self {
        number.into()
    }

    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
}

thread_local! {
    static OPERATIONS: Cell<u32> = const { Cell::new(0) };
}

/// Number that counts additions, subtractions, multiplications, divisions and roots in f32.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Counted(f32);

impl Counted {
    /// Counts the operations of `work` on this thread.
    pub fn operations(work: impl FnOnce()) -> u32 {
        OPERATIONS.set(0);
        work();
        OPERATIONS.get()
    }

    fn result(number: f32) -> Self {
        OPERATIONS.set(OPERATIONS.get() + 1);
        Self(number)
    }
}

impl Number for Counted {
    fn of(number: f32) -> Self {
        Self(number)
    }

    fn sqrt(self) -> Self {
        Self::result(self.0.sqrt())
    }
}

impl Add for Counted {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::result(self.0 + other.0)
    }
}

impl Sub for Counted {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::result(self.0 - other.0)
    }
}

impl Mul for Counted {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::result(self.0 * other.0)
    }
}

impl Div for Counted {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        Self::result(self.0 / other.0)
    }
}

/// Sign changes are not counted.
impl Neg for Counted {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

/// Distance, and the barycentric weights of the second and third corners.
pub type TriangleHit<N> = Option<[N; 3]>;

type Vector<N> = [N; 3];

fn vector<N: Number>(row: &[f32]) -> Vector<N> {
    [N::of(row[0]), N::of(row[1]), N::of(row[2])]
}

fn each<N: Number>(a: Vector<N>, b: Vector<N>, of: fn(N, N) -> N) -> Vector<N> {
    std::array::from_fn(|i| of(a[i], b[i]))
}

fn dot<N: Number>(a: Vector<N>, b: Vector<N>) -> N {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross<N: Number>(a: Vector<N>, b: Vector<N>) -> Vector<N> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn is_between<N: Number>(t: N, ray: &Ray) -> bool {
    t > N::of(ray.t_min) && t < N::of(ray.t_max)
}

fn is_inside<N: Number>(u: N, v: N) -> bool {
    let zero = N::of(0.0);
    u >= zero && v >= zero && u + v <= N::of(1.0)
}

fn is_on_one_side<N: Number>(weights: [N; 3]) -> bool {
    let zero = N::of(0.0);
    weights.iter().all(|w| *w >= zero) || weights.iter().all(|w| *w <= zero)
}

/// CPU reference of `lab/test_areas.wgsl`.
pub fn areas<N: Number>(rows: &[[f32; 4]; 3], ray: &Ray) -> TriangleHit<N> {
    let (origin, direction) = (vector::<N>(&ray.origin), vector(&ray.direction));
    let [a, b, c] = [0, 1, 2].map(|row| vector::<N>(&rows[row]));
    let normal = [0, 1, 2].map(|row| N::of(rows[row][3]));
    let approach = dot(normal, direction);
    if approach == N::of(0.0) {
        return None;
    }
    let t = dot(normal, each(a, origin, N::sub)) / approach;
    if !is_between(t, ray) {
        return None;
    }
    let point: Vector<N> = std::array::from_fn(|i| origin[i] + t * direction[i]);
    let [to_a, to_b, to_c] = [a, b, c].map(|corner| each(corner, point, N::sub));
    let length = |v: Vector<N>| dot(v, v).sqrt();
    let whole = length(cross(each(b, a, N::sub), each(c, a, N::sub)));
    let of_a = length(cross(to_b, to_c));
    let of_b = length(cross(to_c, to_a));
    let of_c = length(cross(to_a, to_b));
    let is_hit = of_a + of_b + of_c <= whole * N::of(LAB_AREAS_SLACK as f32);
    is_hit.then(|| [t, of_b / whole, of_c / whole])
}

/// CPU reference of `lab/test_moller_trumbore.wgsl`.
pub fn moller_trumbore<N: Number>(rows: &[[f32; 4]; 3], ray: &Ray) -> TriangleHit<N> {
    let (origin, direction) = (vector::<N>(&ray.origin), vector(&ray.direction));
    let [v0, v1, v2] = [0, 1, 2].map(|row| vector::<N>(&rows[row]));
    let (edge1, edge2) = (each(v1, v0, N::sub), each(v2, v0, N::sub));
    let p = cross(direction, edge2);
    let determinant = dot(edge1, p);
    if determinant == N::of(0.0) {
        return None;
    }
    let inverse = N::of(1.0) / determinant;
    let offset = each(origin, v0, N::sub);
    let u = dot(offset, p) * inverse;
    let q = cross(offset, edge1);
    let v = dot(direction, q) * inverse;
    let t = dot(edge2, q) * inverse;
    (is_inside(u, v) && is_between(t, ray)).then_some([t, u, v])
}

/// CPU reference of `lab/test_unit_triangle.wgsl`.
pub fn unit_triangle<N: Number>(rows: &[[f32; 4]; 3], ray: &Ray) -> TriangleHit<N> {
    let (origin, direction) = (vector::<N>(&ray.origin), vector(&ray.direction));
    let map = [0, 1, 2].map(|row| vector::<N>(&rows[row]));
    let offset = [0, 1, 2].map(|row| N::of(rows[row][3]));
    let approach = dot(map[2], direction);
    if approach == N::of(0.0) {
        return None;
    }
    let t = -(dot(map[2], origin) + offset[2]) / approach;
    if !is_between(t, ray) {
        return None;
    }
    let at = |row: usize| dot(map[row], origin) + offset[row] + t * dot(map[row], direction);
    let (u, v) = (at(0), at(1));
    is_inside(u, v).then_some([t, u, v])
}

/// CPU reference of `lab/test_baldwin_weber.wgsl`.
pub fn baldwin_weber<N: Number>(rows: &[[f32; 4]; 3], ray: &Ray) -> TriangleHit<N> {
    let axis = rows[0][3] as usize;
    let turned = |v: [f32; 3]| vector::<N>(&[v[(axis + 1) % 3], v[(axis + 2) % 3], v[axis]]);
    let (origin, direction) = (turned(ray.origin), turned(ray.direction));
    let [u_row, v_row, n_row] = [0, 1, 2].map(|row| vector::<N>(&rows[row]));
    let across = |row: Vector<N>, x: N, y: N| row[0] * x + row[1] * y;
    let approach = across(n_row, direction[0], direction[1]) + direction[2];
    if approach == N::of(0.0) {
        return None;
    }
    let t = -(across(n_row, origin[0], origin[1]) + origin[2] + n_row[2]) / approach;
    if !is_between(t, ray) {
        return None;
    }
    let (x, y) = (origin[0] + t * direction[0], origin[1] + t * direction[1]);
    let u = across(u_row, x, y) + u_row[2];
    let v = across(v_row, x, y) + v_row[2];
    is_inside(u, v).then_some([t, u, v])
}

/// CPU reference of `lab/test_plucker.wgsl`.
pub fn plucker<N: Number>(rows: &[[f32; 4]; 3], ray: &Ray) -> TriangleHit<N> {
    let (origin, direction) = (vector::<N>(&ray.origin), vector(&ray.direction));
    let [v0, v1, v2] = [0, 1, 2].map(|row| vector::<N>(&rows[row]));
    let [a, b, c] = [v0, v1, v2].map(|corner| each(corner, origin, N::sub));
    let edge = |p: Vector<N>, q: Vector<N>| dot(cross(each(p, q, N::add), each(p, q, N::sub)), direction);
    let (u, v, w) = (edge(c, b), edge(a, c), edge(b, a));
    let normal = cross(each(v1, v0, N::sub), each(v2, v0, N::sub));
    let approach = dot(normal, direction);
    let sum = u + v + w;
    let zero = N::of(0.0);
    if !is_on_one_side([u, v, w]) || sum == zero || approach == zero {
        return None;
    }
    let t = dot(normal, a) / approach;
    is_between(t, ray).then(|| [t, v / sum, w / sum])
}

/// CPU reference of `lab/test_watertight.wgsl`. Operations that run once per ray are not counted.
pub fn watertight<N: Number>(rows: &[[f32; 4]; 3], ray: &Ray) -> TriangleHit<N> {
    let d = ray.direction;
    let along = d.map(f32::abs);
    let mut last = usize::from(along[1] > along[0]);
    if along[2] > along[0].max(along[1]) {
        last = 2;
    }
    let [mut x, mut y] = [(last + 1) % 3, (last + 2) % 3];
    if d[last] < 0.0 {
        std::mem::swap(&mut x, &mut y);
    }
    let shear = [d[x] / d[last], d[y] / d[last], 1.0 / d[last]].map(N::of);
    let origin = vector::<N>(&ray.origin);
    let [a, b, c] = [0, 1, 2].map(|row| {
        let v = each(vector::<N>(&rows[row]), origin, N::sub);
        [
            v[x] - shear[0] * v[last],
            v[y] - shear[1] * v[last],
            shear[2] * v[last],
        ]
    });
    let edge = |a: Vector<N>, b: Vector<N>| {
        let (p, q) = (a[0] * b[1], a[1] * b[0]);
        if p == q {
            return lost(a[0], b[1], p) - lost(a[1], b[0], q);
        }
        p - q
    };
    let (u, v, w) = (edge(b, c), edge(c, a), edge(a, b));
    let sum = u + v + w;
    if !is_on_one_side([u, v, w]) || sum == N::of(0.0) {
        return None;
    }
    let t = (u * a[2] + v * b[2] + w * c[2]) / sum;
    is_between(t, ray).then(|| [t, v / sum, w / sum])
}

/// Returns the rounding error of a product of two f32 (Dekker 1971).
fn lost<N: Number>(a: N, b: N, product: N) -> N {
    let split = |x: N| {
        let wide = N::of(4097.0) * x;
        let high = wide - (wide - x);
        (high, x - high)
    };
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
}
