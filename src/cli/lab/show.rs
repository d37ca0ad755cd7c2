//! The table as text, CSV, JSON and HTML.

use super::{
    page::{self, Cell, Plot},
    scene::Bench,
};
use crate::{
    cli::bench::report::{Column, Format, Report},
    gpu::Gpu,
    profile::html::facts_of,
};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Columns of the table.
const COLUMNS: &[Column] = &[
    ("rays", "rays", Format::Text),
    ("structure", "structure", Format::Text),
    ("walk", "walk", Format::Text),
    ("test", "test", Format::Text),
    ("threads", "threads", Format::Text),
    ("order", "order", Format::Text),
    ("Mrays/s", "mrays_per_s", Format::Decimal),
    ("median ms", "gpu_ms/median", Format::Ms),
    ("p95 ms", "gpu_ms/p95", Format::Ms),
    ("nodes", "nodes_per_ray", Format::Decimal),
    ("triangles", "triangles_per_ray", Format::Decimal),
    ("steps", "lockstep_steps", Format::Decimal),
    ("samples", "samples_per_ray", Format::Decimal),
    ("ops", "operations", Format::Count),
    ("B/node", "node_bytes", Format::Count),
    ("B/tri", "triangle_bytes", Format::Count),
    ("bytes", "bytes", Format::Count),
    ("build ms", "build_ms", Format::Ms),
    ("picture", "picture_1_ms", Format::Ms),
    ("1,000", "picture_1000_ms", Format::Ms),
    ("SAH", "sah", Format::Decimal),
    ("EPO", "epo", Format::Decimal),
    ("wrong", "wrong", Format::Count),
    ("cracks", "cracks", Format::Count),
];

/// Fields of a row in CSV and on the page, in order.
const FIELDS: &[&str] = &[
    "name",
    "triangles",
    "rays",
    "query",
    "ray_count",
    "structure",
    "walk",
    "test",
    "threads",
    "order",
    "mrays_per_s",
    "gpu_ms/min",
    "gpu_ms/median",
    "gpu_ms/p95",
    "samples",
    "hit_share",
    "nodes_per_ray",
    "triangles_per_ray",
    "lockstep_steps",
    "samples_per_ray",
    "operations",
    "triangle_bytes",
    "nodes",
    "node_bytes",
    "bytes",
    "levels",
    "build_ms",
    "picture_1_ms",
    "picture_10_ms",
    "picture_1000_ms",
    "sah",
    "epo",
    "checked",
    "wrong",
    "missed",
    "false_hits",
    "elsewhere",
    "cracks",
    "rays_hash",
];

/// Returns the name of a scene, which consists of its file names.
pub(super) fn name_of(files: &[PathBuf]) -> String {
    let name = |file: &PathBuf| {
        let name = file.file_name().unwrap_or(file.as_os_str());
        name.to_string_lossy().into_owned()
    };
    match files {
        [] => "builtin".into(),
        files => files.iter().map(name).collect::<Vec<_>>().join(" + "),
    }
}

/// Returns the facts of a measurement: the scene, the adapter and the command.
pub(super) fn facts(gpu: &Gpu, bench: &Bench) -> Vec<(String, String)> {
    let adapter = facts_of(gpu).map(|(name, value)| (name.to_owned(), value));
    let mut facts = vec![("scene".to_owned(), bench.name.clone())];
    facts.push(("triangles".into(), bench.triangles.len().to_string()));
    if let Some(set) = bench.sets.first() {
        facts.push(("hash of the triangles".into(), format!("{:016x}", set.scene)));
    }
    for set in &bench.sets {
        facts.push((format!("hash of {}", set.name), format!("{:016x}", set.hash())));
    }
    facts.extend(adapter);
    // Paths are shortened to file names, because folder names are private.
    let words = std::env::args_os().skip(1).map(|word| {
        let word = PathBuf::from(word);
        let name = word.file_name().unwrap_or(word.as_os_str());
        name.to_string_lossy().into_owned()
    });
    let words: Vec<String> = words.collect();
    facts.push(("command".into(), format!("canopy {}", words.join(" "))));
    facts
}

pub(super) fn table(report: &Report) -> String {
    report.text(COLUMNS)
}

pub(super) fn json(report: &Report, facts: &[(String, String)]) -> Value {
    let mut value = report.json();
    let facts = facts.iter().map(|(name, value)| (name.clone(), json!(value)));
    value["facts"] = Value::Object(facts.collect());
    value
}

/// Returns a field, or a member of one.
fn field<'a>(row: &'a Value, pointer: &str) -> Option<&'a Value> {
    row.pointer(&format!("/{pointer}"))
}

fn rows(report: &Report) -> Vec<Value> {
    let runs = report.json();
    runs["runs"].as_array().cloned().unwrap_or_default()
}

pub(super) fn csv(report: &Report) -> String {
    let mut text = format!("{}\n", FIELDS.join(",").replace('/', "_"));
    for row in rows(report) {
        let cell = |pointer: &&str| match field(&row, pointer) {
            Some(Value::String(text)) if text.contains([',', '"', '\n']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        let cells: Vec<String> = FIELDS.iter().map(cell).collect();
        text += &format!("{}\n", cells.join(","));
    }
    text
}

pub(super) fn html(report: &Report, facts: &[(String, String)]) -> String {
    let rows = rows(report);
    let word = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let mut plots: Vec<Plot> = Vec::new();
    for row in &rows {
        let title = format!("Million rays a second: {}", word(row, "rays"));
        let keys = ["structure", "walk", "test", "threads", "order"];
        let name = keys.map(|key| word(row, key)).join(" · ");
        let bar = (name, row["mrays_per_s"].as_f64().unwrap_or(0.0));
        match plots.iter_mut().find(|plot| plot.title == title) {
            Some(plot) => plot.bars.push(bar),
            None => plots.push(Plot {
                title,
                bars: vec![bar],
            }),
        }
    }
    for plot in &mut plots {
        plot.bars.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    }
    let cell = |row: &Value, pointer: &&str| {
        let value = field(row, pointer);
        let number = value.and_then(Value::as_f64);
        let text = match (number, value) {
            (Some(number), _) if number.fract() == 0.0 => format!("{number}"),
            (Some(number), _) => format!("{number:.3}"),
            (None, value) => value.and_then(Value::as_str).unwrap_or_default().to_owned(),
        };
        let is_fault = ["wrong", "missed", "false_hits", "elsewhere", "cracks"].contains(pointer);
        Cell {
            text,
            number,
            is_bad: is_fault && number.is_some_and(|number| number > 0.0),
        }
    };
    let cells: Vec<Vec<Cell>> = rows
        .iter()
        .map(|row| FIELDS.iter().map(|field| cell(row, field)).collect())
        .collect();
    page::text("canopy lab", facts, &plots, FIELDS, &cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::bench::report::Run;

    fn report() -> Report {
        let mut report = Report::new("lab", json!({"name": "A", "backend": "B", "driver": "C"}));
        let run = json!({"name": "a, \"b\"", "rays": "primary", "walk": "skip-links", "mrays_per_s": 2.5,
            "gpu_ms": {"min": 1.0, "median": 2.0, "p95": 3.0}, "wrong": 1, "cracks": 0});
        report.runs = vec![Run::new(run)];
        report
    }

    #[test]
    fn reports_have_csv_json_html_and_table_forms() {
        let csv = csv(&report());
        let lines: Vec<&str> = csv.lines().collect();
        assert!(lines[0].starts_with("name,triangles,rays,") && lines[0].contains("gpu_ms_median"));
        assert!(lines[1].starts_with("\"a, \"\"b\"\"\",,primary,"), "{}", lines[1]);
        let facts = [("scene".to_owned(), "<a>".to_owned())];
        assert_eq!(json(&report(), &facts)["facts"]["scene"], "<a>");
        let page = html(&report(), &facts);
        assert!(page.contains("&lt;a&gt;") && !page.contains("<a>"));
        assert!(page.contains("<td class=\"bad\" data-value=\"1\">1</td>"));
        assert!(page.contains("data-value=\"0\">0</td>") && page.contains("<rect "));
        assert!(!page.contains("http:") || page.matches("http:").count() == page.matches("xmlns").count());
        assert!(table(&report()).contains("skip-links"));
    }
}
