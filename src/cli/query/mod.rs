//! `canopy query`: queries the BVHs of a scene with points, boxes or rays from a file.

mod answers;
mod rows;

use super::{console::print, offscreen, options::TimeArgs, report::Report};
use crate::{
    Result,
    accel::{BoxQuery, Overlap, OverlapPairs, Pairs, Query, Ray, Search, Sign, SignedDistance, Trace},
    config::Config,
    gpu::Gpu,
    output::{self, numbers},
    render::geometry::visible::VisibleGeometry,
};

use answers::{Place, Results, name_of_pair};
use clap::{ArgGroup, Args};
use rows::rows;
use std::path::{Path, PathBuf};

/// Arguments of `canopy query`.
#[derive(Debug, Args)]
#[command(
    after_help = AFTER_HELP,
    group(ArgGroup::new("question").required(true).args(["nearest", "overlap", "rays", "pairs"]))
)]
pub struct QueryArgs {
    /// Scene files, merged into one scene, or - for standard input; default: the built-in one
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Find the nearest surface point for each point of a file: x,y,z
    #[arg(long, value_name = "CSV", help_heading = "Query")]
    pub nearest: Option<PathBuf>,
    /// List the triangles touched by each box of a file: min_x,min_y,min_z,max_x,max_y,max_z
    #[arg(long, value_name = "CSV", help_heading = "Query")]
    pub overlap: Option<PathBuf>,
    /// Find the closest hit of each ray of a file: x,y,z,dx,dy,dz
    #[arg(long, value_name = "CSV", help_heading = "Query")]
    pub rays: Option<PathBuf>,
    /// List the pairs of intersecting triangles of different meshes
    #[arg(long, help_heading = "Query")]
    pub pairs: bool,
    /// Make distances of --nearest negative inside
    #[arg(long, requires = "nearest", help_heading = "Query")]
    pub signed: bool,
    /// Output: .csv or .json, or - for CSV on standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Time and material variant.
    #[command(flatten)]
    pub time: TimeArgs,
}

const AFTER_HELP: &str = "\
Input files are CSV. The first line names the columns listed above. Each further line is one \
point, box or ray, in metres. Results are in the same order:
  --nearest  distance,x,y,z,mesh,triangle,inside; empty if the scene has no triangles. Inside is
             true or false, by the winding number
  --overlap  count,triangles; triangles are MESH:TRIANGLE, separated by spaces
  --rays     distance,x,y,z,mesh,triangle; empty for a miss. The distance is in units of the
             length of the ray's direction
  --pairs    mesh_a,triangle_a,mesh_b,triangle_b, a line for each pair. Triangles that only touch
             or that are coplanar do not count as intersecting
Mesh and triangle numbers start at 0. They count the objects and faces in the output of \
`canopy export`.

Examples:
  canopy query fox.glb --nearest points.csv -o nearest.csv --clip Run --time 0.4
  canopy query bunny.obj --nearest points.csv --signed -o -
  canopy query model.obj --rays rays.csv -o -
  canopy query fox.glb ground.obj --pairs -o pairs.json --clip Run --time 0.4";

/// Maximum number of triangles that a query tests as one leaf.
const LEAF_CUTOFF: u32 = 4;
/// Maximum number of queries per dispatch, to keep dispatches short.
const BATCH: usize = 1 << 18;

/// Runs the query of the arguments.
///
/// # Errors
///
/// [`Error::Usage`](crate::Error::Usage) if the output is neither .csv nor .json. Any error of reading the
/// queries, of loading and of drawing.
pub fn run(args: &QueryArgs, mut config: Config, quiet: bool) -> Result<()> {
    args.time.apply(&mut config)?;
    let is_printed = args.output.as_os_str() == "-";
    if !is_printed {
        output::extension(&args.output, &["csv", "json"])?;
        output::check_writable(&args.output)?;
    }
    let question = QueryKind::read(args)?;
    let report = Report::new(quiet);
    let (offscreen, moment) = offscreen::deformed(&report, &args.files, config)?;
    report.line.stage("asking");
    let answers = report.stage("query", "the BVHs", || {
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

/// Kind of query, with the queries of the input file.
#[derive(Debug, PartialEq)]
enum QueryKind {
    Nearest(Vec<[f32; 3]>),
    Overlap(Vec<[f32; 6]>),
    Rays(Vec<[f32; 6]>),
    Pairs,
}

impl QueryKind {
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

    fn answers(&self, gpu: &Gpu, shown: &VisibleGeometry, signed: bool) -> Result<Results> {
        let tree = &shown.tree(gpu)?;
        let search = Search {
            leaf_cutoff: LEAF_CUTOFF,
            ..Search::new(tree)
        };
        Ok(match self {
            Self::Nearest(points) => {
                let query = SignedDistance::new(gpu);
                let mut places = Vec::with_capacity(points.len());
                for points in points.chunks(BATCH) {
                    let anywhere = |[x, y, z]: &[f32; 3]| [*x, *y, *z, f32::INFINITY];
                    let points: Vec<_> = points.iter().map(anywhere).collect();
                    let found = query.run(gpu, &search, &points, Sign::Winding)?;
                    places.extend(found.iter().map(|found| Place::of_nearest(found, signed)));
                }
                Results::Places {
                    places,
                    with_inside: true,
                }
            }
            Self::Overlap(boxes) => {
                let query = Overlap::new(gpu);
                let mut touched = Vec::with_capacity(boxes.len());
                for boxes in boxes.chunks(BATCH) {
                    let corners = |[a, b, c, x, y, z]: &[f32; 6]| BoxQuery {
                        lower: [*a, *b, *c],
                        upper: [*x, *y, *z],
                        ..BoxQuery::default()
                    };
                    let boxes: Vec<_> = boxes.iter().map(corners).collect();
                    let (offsets, names) = query.run(gpu, &search, &boxes)?.read(gpu)?;
                    touched.extend(offsets.windows(2).map(|pair| {
                        let mut names = names[pair[0] as usize..pair[1] as usize].to_vec();
                        names.sort_unstable();
                        names
                    }));
                }
                Results::Touched(touched)
            }
            Self::Pairs => {
                let pairs = Pairs {
                    search,
                    ..Pairs::within(tree).across().through()
                };
                let found = OverlapPairs::new(gpu).run(gpu, &pairs)?;
                let (_, mut pairs) = found.read(gpu)?;
                pairs.sort_unstable_by_key(name_of_pair);
                Results::Pairs(pairs)
            }
            Self::Rays(asked) => {
                let query = Trace::new(gpu);
                let mut places = Vec::with_capacity(asked.len());
                for asked in asked.chunks(BATCH) {
                    let rays: Vec<_> = asked.iter().map(ray).collect();
                    let hits = query.run(gpu, tree, &rays, Query::ClosestHit, LEAF_CUTOFF)?;
                    let units = asked.iter().map(|[_, _, _, direction @ ..]| longest(*direction));
                    let found = rays.iter().zip(&hits).zip(units);
                    places.extend(found.map(|((ray, hit), unit)| Place::of_hit(ray, hit, unit)));
                }
                Results::Places {
                    places,
                    with_inside: false,
                }
            }
        })
    }
}

/// Creates a ray whose direction is divided by its largest component, so that the length of the direction
/// does not affect precision.
fn ray([x, y, z, dx, dy, dz]: &[f32; 6]) -> Ray {
    Ray {
        origin: [*x, *y, *z],
        t_min: 0.0,
        direction: [*dx, *dy, *dz].map(|part| part / longest([*dx, *dy, *dz])),
        t_max: f32::MAX,
    }
}

/// Returns the largest absolute component of a direction.
fn longest(direction: [f32; 3]) -> f32 {
    direction.into_iter().map(f32::abs).fold(0.0, f32::max)
}
