//! A profile as a text table.

use super::{
    history::Frame,
    memory::KINDS,
    table::{Row, Summary, Table},
};
use crate::output::numbers::bytes;
use std::fmt::Write;

/// Formats the table of `frames`: a line per pass with its statistics, then the memory.
pub fn text<'a>(frames: impl IntoIterator<Item = &'a Frame> + Clone) -> String {
    let table = Table::of(frames.clone());
    let all = || frames.clone().into_iter();
    let numbers = [all().next(), all().last()].map(|frame| frame.map_or(0, |frame| frame.number));
    let [first, last] = numbers;
    let mut text = format!("frames {first} to {last} ({} of them)\n", table.frames);
    let indented = |row: &Row| format!("{:width$}{}", "", row.name, width = 2 * row.depth);
    let mut lines: Vec<(String, Option<Summary>, Option<f64>)> = Vec::new();
    let presents = Summary::of(all().filter_map(|frame| frame.present_ms));
    lines.push(("present to present".into(), presents, None));
    lines.push(("CPU".into(), Summary::of(all().map(Frame::cpu_ms)), None));
    for row in &table.cpu {
        lines.push((format!("  {}", row.name), row.summary(), None));
    }
    lines.push(("GPU".into(), Summary::of(all().filter_map(Frame::gpu_ms)), None));
    for row in &table.gpu {
        let share = Some(table.share(row));
        lines.push((format!("  {}", indented(row)), row.summary(), share));
    }
    let width = lines.iter().map(|(name, ..)| name.chars().count());
    let width = width.max().unwrap_or(0).max("milliseconds".len());
    let titles = ["min", "median", "p95", "p99", "max", "share"];
    write!(text, "{:<width$}", "milliseconds").ok();
    for title in titles {
        write!(text, "  {title:>8}").ok();
    }
    text.push('\n');
    for (name, summary, share) in lines {
        let Some(summary) = summary else { continue };
        write!(text, "{name:<width$}").ok();
        for ms in summary.all() {
            write!(text, "  {ms:>8.3}").ok();
        }
        if let Some(share) = share {
            write!(text, "  {:>6.1} %", 100.0 * share).ok();
        }
        text.push('\n');
    }
    if let Some(memory) = all().filter_map(|frame| frame.memory).last() {
        if memory.gpu_total().is_some() {
            let kinds = KINDS.iter().zip(memory.gpu_bytes);
            let kinds: Vec<_> = kinds.map(|(kind, n)| format!("{kind} {}", bytes(n))).collect();
            writeln!(text, "GPU memory: {}", kinds.join(", ")).ok();
        }
        if let Some(resident) = memory.process_bytes {
            writeln!(text, "process: {}", bytes(resident)).ok();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::history::samples::frames;

    #[test]
    fn the_table_has_a_line_for_each_pass() {
        let text = text(&frames());
        let line = |start: &str| {
            let found = text.lines().find(|line| line.trim_start().starts_with(start));
            let line = found.unwrap_or_else(|| panic!("no {start} in\n{text}"));
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(text.starts_with("frames 1 to 3 (3 of them)\n"), "{text}");
        let expected = ["lbvh", "4.000", "4.000", "4.000", "4.000", "4.000", "50.0", "%"];
        assert_eq!(line("lbvh"), expected);
        let expected = ["sort", "2.000", "2.000", "2.500", "2.500", "2.500", "27.1", "%"];
        assert_eq!(line("sort"), expected);
        assert_eq!(line("present to")[3..5], ["20.000", "20.000"]);
        assert_eq!(line("record")[1], "2.000");
        assert!(text.contains("GPU memory: geometry 1.0 MiB, trees 2.0 MiB"));
        assert!(text.ends_with("process: 1.0 GiB\n"), "{text}");
    }
}
