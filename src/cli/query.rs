//! `canopy query`: questions to the trees of a scene, from files of points, boxes or rays.

use super::{console::print, offscreen, options::TimeArgs, report::Report};
use crate::{
    Error, Result,
    accel::{
        BoxQuery, Hit, Nearest, ObjectPair, Overlap, OverlapPairs, Pairs, Query, Ray, Search,
        SignedDistance, Trace, layout::BVH_MISS,
    },
    config::Config,
    gpu::Gpu,
    output::{self, numbers},
    render::shown::Shown,
};
use clap::{ArgGroup, Args};
use serde_json::{Value, json};
use std::{
    fmt::Write,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

/// `canopy query`.
#[derive(Debug, Args)]
#[command(
    after_help = AFTER_HELP,
    group(ArgGroup::new("question").required(true).args(["nearest", "overlap", "rays", "pairs"]))
)]
pub struct QueryArgs {
    /// Scene files, or - for standard input; several make one scene, none is the built-in one
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The nearest point of the scene for each point of a file: x,y,z
    #[arg(long, value_name = "CSV", help_heading = "Question")]
    pub nearest: Option<PathBuf>,
    /// The triangles that each box of a file touches: min_x,min_y,min_z,max_x,max_y,max_z
    #[arg(long, value_name = "CSV", help_heading = "Question")]
    pub overlap: Option<PathBuf>,
    /// What each ray of a file hits first: x,y,z,dx,dy,dz
    #[arg(long, value_name = "CSV", help_heading = "Question")]
    pub rays: Option<PathBuf>,
    /// The pairs of triangles of different meshes that pass through each other
    #[arg(long, help_heading = "Question")]
    pub pairs: bool,
    /// Makes distances of --nearest negative inside
    #[arg(long, requires = "nearest", help_heading = "Question")]
    pub signed: bool,
    /// Where the answers go: .csv or .json, or - for CSV on standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Time and variant.
    #[command(flatten)]
    pub time: TimeArgs,
}

const AFTER_HELP: &str = "\
The first line of a file names its columns, as above; then there is a line for each point, box or ray, in metres.
Answers are in the same order:
  --nearest  distance,x,y,z,mesh,triangle,inside; empty where a scene has no triangles. Inside is true or
             false: by the side of the surface that is nearest where the scene is one closed mesh, otherwise by how
             often its meshes go round the point
  --overlap  count,triangles: those as MESH:TRIANGLE, with blanks between them
  --rays     distance,x,y,z,mesh,triangle; empty where nothing is hit. The distance is in units of
             the ray's direction
  --pairs    mesh_a,triangle_a,mesh_b,triangle_b, a line for each pair. Triangles that only touch, or that lie in
             one plane, do not pass through each other
Meshes and triangles have the numbers, from 0, of the objects and their faces in what `canopy export` writes.

Examples:
  canopy query fox.glb --nearest points.csv -o nearest.csv --clip Run --time 0.4
  canopy query bunny.obj --nearest points.csv --signed -o -
  canopy query model.obj --rays rays.csv -o -
  canopy query fox.glb ground.obj --pairs -o pairs.json --clip Run --time 0.4";

/// Triangles that a ray or a box tests without going further down.
const LEAF_CUTOFF: u32 = 4;
/// Where trees end, in metres: 2^50.
const FARTHEST: f32 = 1.125_899_9e15;
/// Most bytes of a file of questions.
const MOST_BYTES: u64 = 1 << 30;

/// Answers the question of the arguments.
///
/// # Errors
///
/// [`Error::Usage`] for a name that is neither .csv's nor .json's; [`Error::Scene`] for a file of questions
/// that cannot be read; those of loading and drawing.
pub fn run(args: &QueryArgs, mut config: Config, quiet: bool) -> Result<()> {
    args.time.apply(&mut config)?;
    let is_printed = args.output.as_os_str() == "-";
    if !is_printed {
        output::extension(&args.output, &["csv", "json"])?;
        output::check_writable(&args.output)?;
    }
    let question = Question::read(args)?;
    let report = Report::new(quiet);
    let (offscreen, moment) = offscreen::deformed(&report, &args.files, config)?;
    report.line.stage("asking");
    let answers = report.stage("query", "the trees", || {
        let shown = offscreen.shown(&moment.pose)?;
        question.answers(&offscreen.gpu, &shown, args.signed)
    })?;
    if is_printed {
        return print(&answers.csv());
    }
    let text = match args
        .output
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("json"))
    {
        true => format!("{:#}\n", answers.json()),
        false => answers.csv(),
    };
    output::write(&args.output, text.as_bytes())?;
    let out = args.output.display();
    let (count, what) = answers.count();
    let count = numbers::grouped(count as u64);
    report.wrote(&format!("{out} ({count} {what})"));
    Ok(())
}

/// What is asked, a row each.
#[derive(Debug, PartialEq)]
enum Question {
    Nearest(Vec<[f32; 3]>),
    Overlap(Vec<[f32; 6]>),
    Rays(Vec<[f32; 6]>),
    Pairs,
}

impl Question {
    fn read(args: &QueryArgs) -> Result<Self> {
        if args.pairs {
            return Ok(Self::Pairs);
        }
        if let Some(path) = &args.nearest {
            return Ok(Self::Nearest(rows(path, ["x", "y", "z"], |_| Ok(()))?));
        }
        if let Some(path) = &args.overlap {
            let names = ["min_x", "min_y", "min_z", "max_x", "max_y", "max_z"];
            let is_box = |[a, b, c, x, y, z]: &[f32; 6]| a <= x && b <= y && c <= z;
            let wrong = "a lower corner above the upper one";
            return Ok(Self::Overlap(rows(path, names, |row| {
                is_box(row).then_some(()).ok_or(wrong)
            })?));
        }
        let path = args.rays.as_deref().unwrap_or(Path::new(""));
        let names = ["x", "y", "z", "dx", "dy", "dz"];
        let goes = |row: &[f32; 6]| row[3..] != [0.0; 3];
        let wrong = "a ray without a direction";
        Ok(Self::Rays(rows(path, names, |row| {
            goes(row).then_some(()).ok_or(wrong)
        })?))
    }

    fn answers(&self, gpu: &Gpu, shown: &Shown, signed: bool) -> Result<Answers> {
        let tree = &shown.tree(gpu)?;
        let search = Search {
            leaf_cutoff: LEAF_CUTOFF,
            ..Search::new(tree)
        };
        Ok(match self {
            Self::Nearest(points) => {
                let anywhere = |[x, y, z]: &[f32; 3]| [*x, *y, *z, f32::INFINITY];
                let points: Vec<_> = points.iter().map(anywhere).collect();
                let found = SignedDistance::new(gpu).run(gpu, &search, &points, shown.sign())?;
                let places = found.iter().map(|found| Place::of_nearest(found, signed));
                Answers::Places {
                    places: places.collect(),
                    with_inside: true,
                }
            }
            Self::Overlap(boxes) => {
                let corners = |[a, b, c, x, y, z]: &[f32; 6]| BoxQuery {
                    lower: [*a, *b, *c],
                    upper: [*x, *y, *z],
                    ..BoxQuery::default()
                };
                let boxes: Vec<_> = boxes.iter().map(corners).collect();
                let found = Overlap::new(gpu).run(gpu, &search, &boxes)?;
                let (offsets, mut names) = found.read(gpu)?;
                for pair in offsets.windows(2) {
                    names[pair[0] as usize..pair[1] as usize].sort_unstable();
                }
                Answers::Touched { offsets, names }
            }
            Self::Pairs => {
                let pairs = Pairs {
                    search,
                    ..Pairs::within(tree).across().through()
                };
                let found = OverlapPairs::new(gpu).run(gpu, &pairs)?;
                let (_, mut pairs) = found.read(gpu)?;
                pairs.sort_unstable_by_key(name_of_pair);
                Answers::Pairs(pairs)
            }
            Self::Rays(asked) => {
                let ray = |[x, y, z, dx, dy, dz]: &[f32; 6]| Ray {
                    origin: [*x, *y, *z],
                    t_min: 0.0,
                    // By its largest part, so that short and long ones are as good as others.
                    direction: [*dx, *dy, *dz].map(|part| part / longest([*dx, *dy, *dz])),
                    t_max: f32::MAX,
                };
                let rays: Vec<_> = asked.iter().map(ray).collect();
                let hits = Trace::new(gpu).run(gpu, tree, &rays, Query::ClosestHit, LEAF_CUTOFF)?;
                let units = asked
                    .iter()
                    .map(|[_, _, _, direction @ ..]| longest(*direction));
                let places = rays.iter().zip(&hits).zip(units);
                let place = |((ray, hit), unit)| Place::of_hit(ray, hit, unit);
                Answers::Places {
                    places: places.map(place).collect(),
                    with_inside: false,
                }
            }
        })
    }
}

/// A point of a triangle.
struct Place {
    distance: f32,
    position: [f32; 3],
    mesh: u32,
    triangle: u32,
    is_inside: bool,
}

impl Place {
    /// The distance of `found` is negative inside.
    fn of_nearest(found: &Nearest, signed: bool) -> Option<Self> {
        let distance = found.distance;
        (found.mesh != BVH_MISS).then_some(Self {
            distance: if signed { distance } else { distance.abs() },
            is_inside: distance < 0.0,
            position: found.position,
            mesh: found.mesh,
            triangle: found.triangle,
        })
    }

    /// `unit` is how much longer the direction was that was given.
    fn of_hit(ray: &Ray, hit: &Hit, unit: f32) -> Option<Self> {
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

enum Answers {
    Places {
        places: Vec<Option<Place>>,
        /// Whether they tell the inside.
        with_inside: bool,
    },
    Touched {
        offsets: Vec<u32>,
        names: Vec<[u32; 2]>,
    },
    Pairs(Vec<ObjectPair>),
}

impl Answers {
    /// How many there are, and of what.
    fn count(&self) -> (usize, &'static str) {
        match self {
            Self::Places { places, .. } => (places.len(), "answers"),
            Self::Touched { offsets, .. } => (offsets.len() - 1, "answers"),
            Self::Pairs(pairs) => (pairs.len(), "pairs"),
        }
    }

    /// Writing to a String cannot fail.
    fn csv(&self) -> String {
        let mut text = String::new();
        match self {
            Self::Places {
                places,
                with_inside,
            } => {
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
            Self::Touched { offsets, names } => {
                text.push_str("count,triangles\n");
                for pair in offsets.windows(2) {
                    let names = &names[pair[0] as usize..pair[1] as usize];
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

    fn json(&self) -> Value {
        match self {
            Self::Places {
                places,
                with_inside,
            } => {
                let place = |place: &Option<Place>| {
                    place.as_ref().map(|p| {
                        let mut value = json!({
                            "distance": p.distance,
                            "position": p.position,
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
            Self::Touched { offsets, names } => {
                let touched = |pair: &[u32]| json!(names[pair[0] as usize..pair[1] as usize]);
                offsets.windows(2).map(touched).collect()
            }
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

/// Mesh and triangle of the first one and of the second one.
fn name_of_pair(pair: &ObjectPair) -> [u32; 4] {
    [pair.mesh_a, pair.object_a, pair.mesh_b, pair.object_b]
}

/// The largest part of a direction.
fn longest(direction: [f32; 3]) -> f32 {
    direction.into_iter().map(f32::abs).fold(0.0, f32::max)
}

fn invalid(path: &Path, what: impl Into<String>) -> Error {
    Error::Scene {
        path: path.to_owned(),
        what: what.into(),
    }
}

/// The rows of a file whose first line has these `names`; `check` says what is wrong with one.
fn rows<const N: usize>(
    path: &Path,
    names: [&str; N],
    check: impl Fn(&[f32; N]) -> Result<(), &'static str>,
) -> Result<Vec<[f32; N]>> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let mut text = Vec::new();
    file.take(MOST_BYTES + 1)
        .read_to_end(&mut text)
        .map_err(|e| Error::io(path, e))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(Error::Limit {
            what: path.display().to_string(),
            needed: "more".into(),
            allowed: numbers::bytes(MOST_BYTES),
            by: "what questions may take".into(),
        });
    }
    let text = String::from_utf8(text).map_err(|_| invalid(path, "no text in UTF-8"))?;
    parse(&text, names, check).map_err(|what| invalid(path, what))
}

fn parse<const N: usize>(
    text: &str,
    names: [&str; N],
    check: impl Fn(&[f32; N]) -> Result<(), &'static str>,
) -> Result<Vec<[f32; N]>, String> {
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let header = lines.next().unwrap_or("").split(',').map(str::trim);
    if !header.eq(names) {
        return Err(format!("the first line must be {}", names.join(",")));
    }
    let mut rows = Vec::new();
    for (line, number) in lines.zip(2..) {
        if line.trim().is_empty() {
            continue;
        }
        let mut row = [0.0; N];
        let mut fields = line.split(',');
        for (value, name) in row.iter_mut().zip(names) {
            let field = fields.next().map(str::trim);
            let field = field.ok_or_else(|| format!("line {number}: {name} is missing"))?;
            let parsed = field.parse().ok().filter(|value: &f32| value.is_finite());
            *value = parsed
                .ok_or_else(|| format!("line {number}: {name} is {field:?}, which is no number"))?;
            if value.abs() >= FARTHEST {
                return Err(format!(
                    "line {number}: {name} is {field}, which is too far away"
                ));
            }
        }
        if fields.next().is_some() {
            return Err(format!("line {number}: more than {N} numbers"));
        }
        check(&row).map_err(|wrong| format!("line {number}: {wrong}"))?;
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_or_say_what_is_wrong() {
        let read = |text: &str| {
            parse(text, ["x", "y", "z"], |row| {
                let is_right = row[0] >= 0.0;
                is_right.then_some(()).ok_or("a negative x")
            })
        };
        assert_eq!(
            read("x,y,z\n1,2.5,-3e2\r\n\n 4 , 5,6").unwrap(),
            [[1.0, 2.5, -300.0], [4.0, 5.0, 6.0]]
        );
        assert_eq!(read("\u{feff}x, y ,z\n").unwrap(), [[0.0; 3]; 0]);
        for (text, wrong) in [
            ("", "the first line must be x,y,z"),
            ("a,b,c\n", "the first line must be x,y,z"),
            ("x,y,z\n1,2\n", "line 2: z is missing"),
            (
                "x,y,z\n1,2,3\n1,two,3",
                "line 3: y is \"two\", which is no number",
            ),
            ("x,y,z\n1,nan,3", "line 2: y is \"nan\", which is no number"),
            (
                "x,y,z\n1,2,1e99",
                "line 2: z is \"1e99\", which is no number",
            ),
            ("x,y,z\n1,2,3,4", "line 2: more than 3 numbers"),
            (
                "x,y,z\n1,2,-2e15",
                "line 2: z is -2e15, which is too far away",
            ),
            ("x,y,z\n\n1,2,3\n\n-1,2,3", "line 5: a negative x"),
        ] {
            assert_eq!(read(text).unwrap_err(), wrong);
        }
    }
}
