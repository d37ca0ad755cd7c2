//! CPU reference of `antialias`, with edges in exact integers and weights and colours in f64.

use canopy_render::layout::{ANTIALIAS_CONTRAST, ANTIALIAS_CORNER, ANTIALIAS_SEARCH_DISTANCE};

/// Finished picture with 8 bits per channel, rows from the top.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green, blue and alpha, encoded for the display after premultiplication.
    pub rgba8: &'a [u8],
}

/// True if a pixel differs from its left neighbour, and true if it differs from the one above.
pub type Edges = [bool; 2];

/// Coverage of a pixel by the one above, and coverage of that one by the pixel. The same two follow for the
/// left neighbour. They are quantised to steps of 1 / 255, like the texture.
pub type Weights = [f64; 4];

impl Picture<'_> {
    fn clamped(&self, x: isize, y: isize) -> [u8; 4] {
        let x = x.clamp(0, self.width as isize - 1) as usize;
        let y = y.clamp(0, self.height as isize - 1) as usize;
        let at = 4 * (y * self.width + x);
        [0, 1, 2, 3].map(|channel| self.rgba8[at + channel])
    }

    fn contrast(&self, a: [isize; 2], b: [isize; 2]) -> u32 {
        let (a, b) = (self.clamped(a[0], a[1]), self.clamped(b[0], b[1]));
        let differences = (0..4).map(|channel| u32::from(a[channel].abs_diff(b[channel])));
        differences.max().unwrap_or(0)
    }

    /// Returns linear light and alpha.
    fn linear(&self, x: isize, y: isize) -> [f64; 4] {
        let pixel = self.clamped(x, y);
        [0, 1, 2, 3].map(|channel| {
            let c = f64::from(pixel[channel]) / 255.0;
            if channel == 3 {
                c
            } else if c <= 0.040_45 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        })
    }
}

/// Returns the edges of every pixel.
pub fn edges(picture: &Picture<'_>) -> Vec<Edges> {
    let mut edges = Vec::with_capacity(picture.width * picture.height);
    for y in 0..picture.height as isize {
        for x in 0..picture.width as isize {
            let left = picture.contrast([x, y], [x - 1, y]);
            let above = picture.contrast([x, y], [x, y - 1]);
            let largest = [
                left,
                above,
                picture.contrast([x, y], [x + 1, y]),
                picture.contrast([x, y], [x, y + 1]),
                picture.contrast([x - 1, y], [x - 2, y]),
                picture.contrast([x, y - 1], [x, y - 2]),
            ]
            .into_iter()
            .max();
            let seen = |found: u32| found >= ANTIALIAS_CONTRAST && Some(2 * found) >= largest;
            edges.push([seen(left), seen(above)]);
        }
    }
    edges
}

/// Edges along one axis. Axis 0 has the edges between rows, which run along x, and axis 1 those between
/// columns.
struct Runs<'a> {
    edges: &'a [Edges],
    size: [isize; 2],
    axis: usize,
}

/// End of an edge.
struct End {
    distance: f64,
    /// True if the edge turns to the side of the pixel before it, and true if it turns to the side of the
    /// pixel after it.
    turns: [bool; 2],
    kept: f64,
}

impl Runs<'_> {
    /// Returns the edges of the pixel at these coordinates along and across the edge.
    fn at(&self, along: isize, across: isize) -> Edges {
        let [x, y] = if self.axis == 0 {
            [along, across]
        } else {
            [across, along]
        };
        let inside = (0..self.size[0]).contains(&x) && (0..self.size[1]).contains(&y);
        if inside {
            self.edges[(y * self.size[0] + x) as usize]
        } else {
            [false; 2]
        }
    }

    fn runs(&self, along: isize, across: isize) -> bool {
        self.at(along, across)[1 - self.axis]
    }

    fn crosses(&self, along: isize, across: isize) -> bool {
        self.at(along, across)[self.axis]
    }

    fn end(&self, mut along: isize, across: isize, step: isize) -> End {
        let reach = f64::from(ANTIALIAS_SEARCH_DISTANCE);
        let ahead = step.max(0);
        let mut distance = 0.0;
        while distance < reach {
            let crossing = along + ahead;
            let turns = [self.crosses(crossing, across - 1), self.crosses(crossing, across)];
            if turns != [false; 2] {
                // Row beyond the crossing edge, and the second pixel of that edge.
                let (row, second) = if turns[1] {
                    (across + 1, across + 1)
                } else {
                    (across - 1, across - 2)
                };
                let goes_on = self.runs(along + step, row);
                let is_corner = self.crosses(crossing, second) || self.runs(along, row);
                let kept = if turns != [true; 2] && is_corner && !goes_on {
                    ANTIALIAS_CORNER
                } else {
                    1.0
                };
                return End {
                    distance,
                    turns,
                    kept,
                };
            }
            along += step;
            if !self.runs(along, across) {
                break;
            }
            distance += 1.0;
        }
        End {
            distance,
            turns: [false; 2],
            kept: 1.0,
        }
    }

    /// True if an edge connects a pixel corner, at coordinates along and across, with the next corner by
    /// `step`.
    fn has_segment(&self, corner: [isize; 2], step: [isize; 2]) -> bool {
        let [along, across] = [0, 1].map(|i| corner[i].min(corner[i] + step[i]));
        if step[0] != 0 {
            self.runs(along, across)
        } else {
            self.crosses(along, across)
        }
    }

    /// Returns the number of segments of a staircase from a corner to the first segment longer than a pixel.
    /// The second value is 1 if that segment crosses the axis, −1 if it is along the axis, and 0 if there is
    /// none.
    fn longer(&self, mut corner: [isize; 2], across: isize, along: isize) -> [f64; 2] {
        let steps = [[along, 0], [0, across]];
        let reach = 2 * ANTIALIAS_SEARCH_DISTANCE as usize;
        for distance in 1..reach {
            let crosses = distance % 2;
            let step = steps[crosses];
            corner = [corner[0] + step[0], corner[1] + step[1]];
            if self.has_segment(corner, step) {
                return [distance as f64, 2.0 * crosses as f64 - 1.0];
            }
            if !self.has_segment(corner, steps[1 - crosses]) {
                return [distance as f64, 0.0];
            }
        }
        [reach as f64, 0.0]
    }

    /// Returns the coverage of the two pixels at a step of stairs by each other. The first element is for the
    /// pixel towards `down`.
    fn cuts(&self, along: isize, across: isize, down: isize) -> [f64; 2] {
        let [before, before_crosses] = self.longer([along, across], -down, -1);
        let [after, after_crosses] = self.longer([along + 1, across], down, 1);
        let drift = |at: f64| {
            let near = |distance: f64| (1.0 - 2.0 * distance / (before + after)).max(0.0);
            0.5 * (after_crosses * near(after - at) - before_crosses * near(before + at))
        };
        [0.5 + drift(0.5), 0.5 - drift(-0.5)].map(|leg| 0.5 * leg * leg)
    }

    /// Returns the coverage of the pixel after the edge, and of the pixel before it.
    fn areas(&self, along: isize, across: isize) -> [f64; 2] {
        let mut ends = [-1, 1].map(|step| self.end(along, across, step));
        let turns = [ends[0].turns, ends[1].turns];
        if ends[0].distance + ends[1].distance == 0.0 {
            match turns {
                [[true, false], [false, true]] => return self.cuts(along, across, 1),
                [[false, true], [true, false]] => {
                    let [there, here] = self.cuts(along, across, -1);
                    return [here, there];
                }
                _ => {}
            }
        }
        for (end, other) in [(0, 1), (1, 0)] {
            if turns[end] == [true; 2] && turns[other] != [false; 2] {
                ends[end].turns = turns[other].map(|turn| !turn);
            }
        }
        let length = ends[0].distance + ends[1].distance + 1.0;
        let mut shares = [0.0; 2];
        for end in ends {
            let area = end.kept * ramp(end.distance, length);
            match end.turns {
                [true, false] => shares[1] += area,
                [false, true] => shares[0] += area,
                _ => {}
            }
        }
        shares
    }
}

/// Computes ∫ ½ (1 − 2t / length) dt over the pixel, up to the centre of the edge.
fn ramp(distance: f64, length: f64) -> f64 {
    let integral = |t: f64| 0.5 * (t - t * t / length);
    let middle = 0.5 * length;
    integral(middle.min(distance + 1.0)) - integral(middle.min(distance))
}

/// Returns the coverage of neighbouring pixels by each other.
pub fn weights(width: usize, height: usize, edges: &[Edges]) -> Vec<Weights> {
    let size = [width as isize, height as isize];
    let mut weights = Vec::with_capacity(edges.len());
    for y in 0..size[1] {
        for x in 0..size[0] {
            let [left, above] = edges[(y * size[0] + x) as usize];
            let shares = |axis, wanted, along, across| {
                if wanted {
                    Runs { edges, size, axis }.areas(along, across)
                } else {
                    [0.0; 2]
                }
            };
            let [a, b] = shares(0, above, x, y);
            let [c, d] = shares(1, left, y, x);
            weights.push([a, b, c, d].map(|share| (255.0 * share).round() / 255.0));
        }
    }
    weights
}

/// Returns the anti-aliased picture, in 8-bit units without rounding.
pub fn blend(picture: &Picture<'_>, weights: &[Weights]) -> Vec<[f64; 4]> {
    let (width, height) = (picture.width, picture.height);
    let mut smoothed = Vec::with_capacity(weights.len());
    for y in 0..height {
        for x in 0..width {
            let own = weights[y * width + x];
            let below = if y + 1 < height {
                weights[(y + 1) * width + x][1]
            } else {
                0.0
            };
            let right = if x + 1 < width {
                weights[y * width + x + 1][3]
            } else {
                0.0
            };
            let (x, y) = (x as isize, y as isize);
            let along_y = own[0].max(below) >= own[2].max(right);
            let ([before, after], [dx, dy]) = if along_y {
                ([own[0], below], [0, 1])
            } else {
                ([own[2], right], [1, 0])
            };
            let here = picture.clamped(x, y).map(f64::from);
            if [before, after] == [0.0; 2] {
                smoothed.push(here);
                continue;
            }
            let own = picture.linear(x, y);
            let one = picture.linear(x - dx, y - dy);
            let other = picture.linear(x + dx, y + dy);
            smoothed.push([0, 1, 2, 3].map(|channel| {
                let sides = [(before, one[channel]), (after, other[channel])];
                let with = |(share, side): (f64, f64)| (1.0 - share) * own[channel] + share * side;
                let mixed = sides.map(|side| side.0 * with(side)).iter().sum::<f64>() / (before + after);
                match channel {
                    3 => 255.0 * mixed,
                    _ => 255.0 * super::tonemap::srgb_encode(mixed),
                }
            }));
        }
    }
    smoothed
}
