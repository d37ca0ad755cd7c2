//! Report of a suite, as JSON and as a table of text.

use super::timing::{Summary, Timings};
use serde_json::{Map, Value, json};

/// Measured values of one row of the table.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Run {
    /// Fields in JSON, without the stages.
    pub(in crate::cli) fields: Map<String, Value>,
    /// Stages, in the order in which they run.
    pub(in crate::cli) stages: Vec<Stage>,
}

/// A stage of a run.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Stage {
    /// Name of the stage's scope.
    pub(in crate::cli) name: String,
    /// Median time in milliseconds.
    pub(in crate::cli) ms: f64,
    /// Bandwidth as a fraction of the bandwidth of a copy.
    pub(in crate::cli) share: Option<f64>,
}

impl Run {
    /// Creates a run from the fields of a JSON object.
    pub(in crate::cli) fn new(fields: Value) -> Self {
        let fields = match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        Self {
            fields,
            stages: Vec::new(),
        }
    }

    /// Adds timings. `share` maps the name and milliseconds of a stage to its bandwidth as a fraction of the
    /// bandwidth of a copy.
    pub(in crate::cli) fn time(&mut self, timings: &Timings, share: impl Fn(&str, f64) -> Option<f64>) {
        self.set("gpu_ms", Summary::of(&timings.gpu_ms).json());
        self.set("wall_ms", Summary::of(&timings.wall_ms).json());
        self.set("samples", timings.gpu_ms.len());
        let stage = |(name, ms): (&str, f64)| Stage {
            name: name.into(),
            ms,
            share: share(name, ms),
        };
        self.stages = timings.stage_ms().map(stage).collect();
    }

    /// Adds or replaces a field.
    pub(in crate::cli) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.fields.insert(key.into(), value.into());
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.fields.get(key)
    }

    /// Returns the median GPU time in milliseconds.
    pub(in crate::cli) fn median_ms(&self) -> Option<f64> {
        self.get("gpu_ms")?.get("median")?.as_f64()
    }

    fn json(&self) -> Value {
        let mut fields = self.fields.clone();
        let stages = || self.stages.iter();
        if !self.stages.is_empty() {
            let ms: Map<_, _> = stages().map(|s| (s.name.clone(), json!(s.ms))).collect();
            fields.insert("stages".into(), ms.into());
        }
        let share = |stage: &Stage| Some((stage.name.clone(), json!(stage.share?)));
        let shares: Map<_, _> = stages().filter_map(share).collect();
        if !shares.is_empty() {
            fields.insert("share".into(), shares.into());
        }
        fields.into()
    }
}

/// Format of a column.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) enum Format {
    /// Plain text.
    Text,
    /// Number with K, M or G for thousands, millions or billions.
    Count,
    /// Milliseconds.
    Ms,
    /// A factor.
    Ratio,
    /// Fraction, in percent.
    Percent,
    /// Number with two decimals.
    Decimal,
    /// Number with two digits and a power of ten.
    Exponent,
}

/// Column: title, field of a run (or field/member), and format. Columns that no run has are left out.
pub(in crate::cli) type Column = (&'static str, &'static str, Format);

/// Report of a suite.
#[derive(Debug)]
pub(in crate::cli) struct Report {
    /// Name of the suite.
    pub(in crate::cli) suite: &'static str,
    /// The adapter in JSON.
    pub(in crate::cli) adapter: Value,
    /// Measured bandwidth of a copy in gigabytes per second, counting reads and writes.
    pub(in crate::cli) copy_gb_per_s: Option<f64>,
    /// Measured runs.
    pub(in crate::cli) runs: Vec<Run>,
    /// Skipped runs, each with its reason.
    pub(in crate::cli) skipped: Vec<Run>,
    /// Notes below the table.
    pub(in crate::cli) notes: Vec<String>,
}

impl Report {
    /// Creates an empty report.
    pub(in crate::cli) fn new(suite: &'static str, adapter: Value) -> Self {
        Self {
            suite,
            adapter,
            copy_gb_per_s: None,
            runs: Vec::new(),
            skipped: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a skipped run with its reason.
    pub(in crate::cli) fn skip(&mut self, mut what: Run, why: &impl std::fmt::Display) {
        what.set("reason", why.to_string());
        self.skipped.push(what);
    }

    /// Adds to each run the ratio of its time to the time of the run of half the size, if one exists with the
    /// same name and number of meshes. `size` is the field that holds the size.
    pub(in crate::cli) fn scaling(&mut self, size: &str) {
        let key = |run: &Run, factor: u64| {
            let number = |name: &str| run.get(name).and_then(Value::as_u64);
            let same = (run.get("name").cloned(), run.get("meshes").cloned());
            Some((same, number(size)? * factor, run.median_ms()?))
        };
        let halves: Vec<_> = self.runs.iter().filter_map(|run| key(run, 2)).collect();
        for run in &mut self.runs {
            let Some((same, size, ms)) = key(run, 1) else {
                continue;
            };
            let half = halves.iter().find(|half| half.0 == same && half.1 == size);
            if let Some((.., half_ms)) = half {
                run.set("scaling", ms / half_ms);
            }
        }
    }

    /// Formats the report as JSON.
    pub(in crate::cli) fn json(&self) -> Value {
        let all = |runs: &[Run]| runs.iter().map(Run::json).collect::<Vec<_>>();
        let mut report = json!({
            "suite": self.suite,
            "adapter": self.adapter,
            "runs": all(&self.runs),
            "skipped": all(&self.skipped),
        });
        if let Some(rate) = self.copy_gb_per_s {
            report["copy_gb_per_s"] = json!(rate);
        }
        report
    }

    /// Formats the report as text.
    pub(in crate::cli) fn text(&self, columns: &[Column]) -> String {
        let word = |key: &str| self.adapter[key].as_str().unwrap_or_default();
        let mut text = format!("{} ({}, {})", word("name"), word("backend"), word("driver"));
        if let Some(rate) = self.copy_gb_per_s {
            text += &format!("; copies {rate:.1} GB/s, reads and writes counted");
        }
        text.push('\n');
        if !self.runs.is_empty() {
            text += &format!("\n{}", table(&self.rows(columns)));
        }
        let stages = self.stage_rows();
        if !stages.is_empty() {
            let shares = if self.copy_gb_per_s.is_some() {
                "; in brackets the bandwidth of the bytes that they have to move, as a fraction of a copy's bandwidth"
            } else {
                ""
            };
            text += &format!("\nstages, median ms{shares}\n\n{}", table(&stages));
        }
        for skipped in &self.skipped {
            let words = [
                "name",
                "triangles",
                "pairs",
                "face",
                "structure",
                "walk",
                "test",
                "order",
                "rays",
                "query",
                "reason",
            ];
            let words: Vec<_> = words
                .iter()
                .filter_map(|key| Some(plain(skipped.get(key)?)))
                .collect();
            text += &format!("\nskipped: {}", words.join(" "));
        }
        for note in &self.notes {
            text += &format!("\n{note}");
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }

    fn rows(&self, columns: &[Column]) -> Vec<Vec<String>> {
        let values = |(_, pointer, _): &Column| -> Vec<Option<Value>> {
            let of_run = |run: &Run| match pointer.split_once('/') {
                Some((key, member)) => run.json().get(key)?.get(member).cloned(),
                None => run.get(pointer).cloned(),
            };
            self.runs.iter().map(of_run).collect()
        };
        let cells = columns.iter().map(|column| {
            let title = std::iter::once(column.0.to_owned());
            let values = values(column);
            let any = values.iter().any(Option::is_some);
            let cells = values
                .iter()
                .map(|value| value.as_ref().map_or(String::new(), |v| cell(v, column.2)));
            any.then(|| title.chain(cells).collect::<Vec<_>>())
        });
        let columns: Vec<Vec<String>> = cells.flatten().collect();
        (0..=self.runs.len())
            .map(|row| columns.iter().map(|column| column[row].clone()).collect())
            .collect()
    }

    fn stage_rows(&self) -> Vec<Vec<String>> {
        let mut names: Vec<&str> = Vec::new();
        for stage in self.runs.iter().flat_map(|run| &run.stages) {
            if !names.contains(&stage.name.as_str()) {
                names.push(&stage.name);
            }
        }
        let told = |key: &&str| self.runs.iter().any(|run| run.get(key).is_some());
        let keys = ["name", "triangles", "face", "order"];
        let keys: Vec<_> = keys.into_iter().filter(told).collect();
        if names.len() < 2 {
            return Vec::new();
        }
        let titles = keys.iter().chain(&names).map(|title| (*title).to_owned());
        let row = |run: &Run| -> Vec<String> {
            let key = |key: &&str| run.get(key).map_or(String::new(), |v| cell(v, Format::Count));
            let stage = |name: &&str| {
                let Some(stage) = run.stages.iter().find(|stage| stage.name == **name) else {
                    return String::new();
                };
                let share = stage
                    .share
                    .map(|share| format!(" ({})", cell(&json!(share), Format::Percent)));
                cell(&json!(stage.ms), Format::Ms) + &share.unwrap_or_default()
            };
            keys.iter().map(key).chain(names.iter().map(stage)).collect()
        };
        std::iter::once(titles.collect())
            .chain(self.runs.iter().map(row))
            .collect()
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn cell(value: &Value, format: Format) -> String {
    let Some(number) = value.as_f64() else {
        return plain(value);
    };
    match format {
        Format::Text => plain(value),
        Format::Count => si(number),
        Format::Ms if number >= 100.0 => format!("{number:.0}"),
        Format::Ms if number >= 10.0 => format!("{number:.1}"),
        Format::Ms => format!("{number:.3}"),
        Format::Ratio => format!("{number:.2} ×"),
        Format::Percent => format!("{:.0} %", 100.0 * number),
        Format::Decimal => format!("{number:.2}"),
        Format::Exponent => format!("{number:.1e}"),
    }
}

/// Formats a number with three significant digits and K, M or G.
fn si(number: f64) -> String {
    let units = [(1e9, " G"), (1e6, " M"), (1e3, " K"), (1.0, "")];
    let (unit, sign) = units
        .into_iter()
        .find(|(unit, _)| number >= *unit)
        .unwrap_or((1.0, ""));
    let scaled = number / unit;
    let digits = match scaled {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    let mut text = format!("{scaled:.digits$}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    text + sign
}

/// Aligns columns, numbers to the right.
fn table(rows: &[Vec<String>]) -> String {
    let mut widths = vec![0; rows.first().map_or(0, Vec::len)];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
            line += &if index == 0 {
                format!("{cell:<width$}")
            } else {
                format!("  {cell:>width$}")
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        for (number, text) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (60.0, "60"),
            (600.0, "600"),
            (64_000.0, "64 K"),
            (262_267.0, "262 K"),
            (1_500_000.0, "1.5 M"),
            (10_000_000.0, "10 M"),
            (2.345e9, "2.35 G"),
        ] {
            assert_eq!(si(number), text);
        }
    }

    fn run(name: &str, triangles: u64, ms: f64) -> Run {
        let run = json!({"name": name, "triangles": triangles, "gpu_ms": {"median": ms}});
        Run::new(run)
    }

    fn report(runs: Vec<Run>) -> Report {
        let adapter = json!({"name": "A", "backend": "B", "driver": "C"});
        let mut report = Report::new("build", adapter);
        report.runs = runs;
        report
    }

    #[test]
    fn scaling_compares_runs_of_doubled_size() {
        let mut report = report(vec![
            run("soup", 100, 2.0),
            run("soup", 200, 5.0),
            run("terrain", 400, 7.0),
            run("soup", 300, 7.0),
        ]);
        report.scaling("triangles");
        let ratios: Vec<_> = report.runs.iter().map(|run| run.get("scaling")).collect();
        assert_eq!(ratios, [None, Some(&json!(2.5)), None, None]);
    }

    #[test]
    fn tables_are_aligned() {
        let columns: &[Column] = &[
            ("name", "name", Format::Text),
            ("triangles", "triangles", Format::Count),
            ("none", "none", Format::Count),
            ("median ms", "gpu_ms/median", Format::Ms),
        ];
        let text = report(vec![run("soup", 64_000, 2.0), run("terrain", 5, 12.25)]).text(columns);
        let expected = "A (B, C)\n\n\
                        name     triangles  median ms\n\
                        soup          64 K      2.000\n\
                        terrain          5       12.2\n";
        assert_eq!(text, expected);
    }
}
