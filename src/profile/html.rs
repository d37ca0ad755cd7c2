//! Benchmark report as a single HTML page with SVG plots, tables, the adapter and the settings. It has no
//! scripts and no external resources, so it can be sent and opened anywhere. It is also well-formed XML.

use super::{
    chart::{Chart, Stack, scale},
    colors,
    history::Frame,
    memory::{KINDS, Memory},
    table::{Row, Summary, Table},
};
use crate::{gpu::Gpu, output::numbers::bytes};
use std::{
    fmt::Write,
    time::{SystemTime, UNIX_EPOCH},
};

/// Size of a plot in pixels, and the width of the scale on its left.
const PLOT: [f64; 2] = [940.0, 240.0];
const LEFT: f64 = 56.0;

/// Number of frames in the list of slowest frames.
const SLOWEST: usize = 10;

const STYLE: &str = "\
body{font:14px/1.45 system-ui,sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;color:#222;background:#fff}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}
table{border-collapse:collapse;margin:.5em 0}
th,td{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd;font-variant-numeric:tabular-nums}
th:first-child,td:first-child{text-align:left;white-space:pre}
table.facts td{text-align:left}
svg{display:block;width:100%;height:auto;background:#f7f7f7}
svg text{font:11px system-ui,sans-serif;fill:#555}
.key span{display:inline-block;margin-right:1em;white-space:nowrap}
.key i{display:inline-block;width:.8em;height:.8em;margin-right:.35em;border:1px solid #888}
";

/// Contents of a report apart from its frames.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Headline.
    pub title: String,
    /// Names and values, such as the scene, the adapter, the driver and the date.
    pub facts: Vec<(&'static str, String)>,
    /// Settings that differ from the defaults: keys with TOML values.
    pub settings: Vec<(String, String)>,
}

/// Returns the facts about the adapter, the version of canopy and the date.
pub fn facts_of(gpu: &Gpu) -> [(&'static str, String); 5] {
    let info = &gpu.info;
    let kind = match gpu.capabilities.has_gpu {
        true => "",
        false => " (software renderer)",
    };
    let driver = format!("{} {}", info.driver, info.driver_info);
    [
        ("adapter", format!("{}{kind}", info.name)),
        ("backend", info.backend.to_str().into()),
        ("driver", driver.trim().to_owned()),
        ("canopy", env!("CARGO_PKG_VERSION").into()),
        ("date", date(SystemTime::now())),
    ]
}

/// Renders the page for `frames`.
pub fn text<'a>(report: &Report, frames: impl IntoIterator<Item = &'a Frame> + Clone) -> String {
    let chart = Chart::of(frames.clone());
    let table = Table::of(frames.clone());
    let title = escaped(&report.title);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width\"/>\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    let facts = report
        .facts
        .iter()
        .map(|(name, value)| [(*name).to_owned(), value.clone()]);
    write_table(&mut page, "facts", None, facts);
    if !chart.gpu.layers.is_empty() {
        page.push_str("<h2>GPU time of every frame, by pass</h2>\n");
        plot(&mut page, &chart, &chart.gpu, chart.most_gpu_ms(), true);
    }
    page.push_str("<h2>CPU time of every frame</h2>\n");
    plot(&mut page, &chart, &chart.cpu, chart.cpu.most_ms(), false);
    page.push_str("<h2>Times in milliseconds</h2>\n");
    let titles = ["", "min", "median", "p95", "p99", "max", "share"].map(str::to_owned);
    write_table(&mut page, "times", Some(titles), times(&table, frames.clone()));
    page.push_str("<h2>Slowest frames</h2>\n");
    let titles = ["frame", "time in s", "GPU ms", "CPU ms", "longest pass"].map(str::to_owned);
    write_table(&mut page, "slowest", Some(titles), slowest(frames.clone()));
    let memory = frames.into_iter().filter_map(|frame| frame.memory).last();
    if let Some(memory) = memory {
        page.push_str("<h2>Memory</h2>\n");
        let titles = ["", "at the end"].map(str::to_owned);
        write_table(&mut page, "memory", Some(titles), memory_rows(&memory));
    }
    page.push_str("<h2>Settings that differ from the defaults</h2>\n");
    match report.settings.is_empty() {
        true => page.push_str("<p>None.</p>\n"),
        false => {
            let rows = report
                .settings
                .iter()
                .map(|(key, value)| [key.clone(), value.clone()]);
            write_table(&mut page, "facts", None, rows);
        }
    }
    page.push_str("</body>\n</html>\n");
    page
}

/// Returns the slowest frames, the slowest first.
pub fn slowest_frames<'a>(frames: impl IntoIterator<Item = &'a Frame>) -> Vec<&'a Frame> {
    let mut sorted: Vec<&Frame> = frames.into_iter().collect();
    sorted.sort_by(|a, b| b.frame_ms().total_cmp(&a.frame_ms()));
    sorted.truncate(SLOWEST);
    sorted
}

fn slowest<'a>(frames: impl IntoIterator<Item = &'a Frame>) -> Vec<[String; 5]> {
    let row = |frame: &Frame| {
        let inner = frame.passes().iter().filter(|pass| pass.depth == 1);
        let longest = inner.max_by(|a, b| a.last_ms.total_cmp(&b.last_ms));
        let longest = longest.map(|pass| format!("{} ({:.3} ms)", pass.name, pass.last_ms));
        [
            frame.number.to_string(),
            format!("{:.3}", frame.time_secs),
            frame.gpu_ms().map_or_else(String::new, |ms| format!("{ms:.3}")),
            format!("{:.3}", frame.cpu_ms()),
            longest.unwrap_or_default(),
        ]
    };
    slowest_frames(frames).into_iter().map(row).collect()
}

fn times<'a>(table: &Table, frames: impl IntoIterator<Item = &'a Frame> + Clone) -> Vec<[String; 7]> {
    let line = |name: String, summary: Summary, share: Option<f64>| {
        let [min, median, p95, p99, max] = summary.all().map(|ms| format!("{ms:.3}"));
        let share = share.map_or_else(String::new, |share| format!("{:.1} %", 100.0 * share));
        [name, min, median, p95, p99, max, share]
    };
    let all = || frames.clone().into_iter();
    let mut lines = Vec::new();
    let presents = Summary::of(all().filter_map(|frame| frame.present_ms));
    lines.extend(presents.map(|summary| line("present to present".into(), summary, None)));
    let cpu = Summary::of(all().map(Frame::cpu_ms));
    lines.extend(cpu.map(|summary| line("CPU".into(), summary, None)));
    let indented = |row: &Row| format!("{:width$}{}", "", row.name, width = 2 * row.depth);
    for row in &table.cpu {
        lines.extend(
            row.summary()
                .map(|summary| line(format!("  {}", row.name), summary, None)),
        );
    }
    for row in &table.gpu {
        let name = match row.depth {
            0 => format!("GPU: {}", row.name),
            _ => indented(row),
        };
        let share = Some(table.share(row));
        lines.extend(row.summary().map(|summary| line(name, summary, share)));
    }
    lines
}

fn memory_rows(memory: &Memory) -> Vec<[String; 2]> {
    let kinds = KINDS.iter().zip(memory.gpu_bytes);
    let mut rows: Vec<[String; 2]> = match memory.gpu_total() {
        Some(total) => kinds
            .map(|(kind, count)| [format!("GPU: {kind}"), bytes(count)])
            .chain([["GPU: all".to_owned(), bytes(total)]])
            .collect(),
        None => vec![["GPU".into(), "not reported by this backend".into()]],
    };
    if let Some(resident) = memory.process_bytes {
        rows.push(["process".into(), bytes(resident)]);
    }
    rows
}

fn write_table<const COLUMNS: usize>(
    page: &mut String,
    class: &str,
    titles: Option<[String; COLUMNS]>,
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) {
    writeln!(page, "<table class=\"{class}\">").ok();
    let mut line = |cells: &[String], tag: &str| {
        let cell = |cell: &String| format!("<{tag}>{}</{tag}>", escaped(cell));
        let cells: String = cells.iter().map(cell).collect();
        writeln!(page, "<tr>{cells}</tr>").ok();
    };
    if let Some(titles) = titles {
        line(&titles, "th");
    }
    for row in rows {
        line(&row, "td");
    }
    page.push_str("</table>\n");
}

/// Draws a stack as bars, with its scale and legend.
fn plot(page: &mut String, chart: &Chart, stack: &Stack, most_ms: f64, presents: bool) {
    let frames = chart.numbers.len();
    let [width, height] = PLOT;
    let (top_ms, step_ms) = scale(most_ms);
    let x = |frame: usize| LEFT + (width - LEFT) * frame as f64 / frames.max(1) as f64;
    let y = |ms: f64| 10.0 + (height - 30.0) * (1.0 - ms / top_ms);
    writeln!(
        page,
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">"
    )
    .ok();
    for line in 0..=(top_ms / step_ms).round() as u32 {
        let ms = f64::from(line) * step_ms;
        let at = y(ms);
        writeln!(
            page,
            "<path d=\"M{LEFT} {at:.1}H{width}\" stroke=\"#ddd\"/>\
             <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{} ms</text>",
            LEFT - 6.0,
            at + 4.0,
            (ms * 1e6).round() / 1e6,
        )
        .ok();
    }
    let mut below = vec![0.0; frames];
    for layer in &stack.layers {
        let mut bars = String::new();
        for (frame, ms) in layer.ms.iter().enumerate().filter(|(_, ms)| **ms > 0.0) {
            let (from, to) = (below[frame], below[frame] + ms);
            let (left, right) = (x(frame), x(frame + 1));
            write!(
                bars,
                "M{left:.2} {:.2}V{:.2}H{right:.2}V{:.2}z",
                y(from),
                y(to),
                y(from)
            )
            .ok();
            below[frame] = to;
        }
        let (name, color) = (escaped(&layer.name), colors::css(layer.color));
        writeln!(
            page,
            "<path d=\"{bars}\" fill=\"{color}\"><title>{name}</title></path>"
        )
        .ok();
    }
    if presents {
        let mut line = String::new();
        for (frame, ms) in chart.present_ms.iter().enumerate() {
            if let Some(ms) = ms {
                let starts = frame == 0 || chart.present_ms[frame - 1].is_none();
                let command = if starts { 'M' } else { 'L' };
                write!(
                    line,
                    "{command}{:.2} {:.2}",
                    0.5 * (x(frame) + x(frame + 1)),
                    y(*ms)
                )
                .ok();
            }
        }
        if !line.is_empty() {
            writeln!(
                page,
                "<path d=\"{line}\" fill=\"none\" stroke=\"#000\"><title>present to present</title></path>"
            )
            .ok();
        }
    }
    for frame in 0..frames {
        let mut tip = format!("frame {}: {:.3} ms", chart.numbers[frame], stack.total_ms(frame));
        for (layer, [from, to]) in stack.edges(frame) {
            write!(tip, "\n{} {:.3} ms", layer.name, to - from).ok();
        }
        writeln!(
            page,
            "<rect x=\"{:.2}\" y=\"10\" width=\"{:.2}\" height=\"{}\" fill=\"none\" pointer-events=\"all\">\
             <title>{}</title></rect>",
            x(frame),
            x(frame + 1) - x(frame),
            height - 30.0,
            escaped(&tip)
        )
        .ok();
    }
    let ends = [chart.numbers.first(), chart.numbers.last()];
    for ((number, at), anchor) in ends.into_iter().zip([LEFT, width]).zip(["start", "end"]) {
        if let Some(number) = number {
            writeln!(
                page,
                "<text x=\"{at}\" y=\"{}\" text-anchor=\"{anchor}\">frame {number}</text>",
                height - 5.0
            )
            .ok();
        }
    }
    page.push_str("</svg>\n<p class=\"key\">");
    for layer in stack
        .layers
        .iter()
        .filter(|layer| layer.ms.iter().any(|ms| *ms > 0.0))
    {
        let (name, color) = (escaped(&layer.name), colors::css(layer.color));
        write!(page, "<span><i style=\"background:{color}\"></i>{name}</span> ").ok();
    }
    page.push_str("</p>\n");
}

/// Escapes text for HTML.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(char),
            char if char.is_control() => out.push('\u{fffd}'),
            char => out.push(char),
        }
    }
    out
}

/// Formats the date and time in UTC, such as `2026-03-01 14:05 UTC`.
fn date(now: SystemTime) -> String {
    let since = now.duration_since(UNIX_EPOCH);
    let secs = since.map_or(0, |since| since.as_secs());
    // Gregorian calendar in eras of 400 years. Years start in March, so that leap days come last.
    let days = secs / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute) = (secs / 3600 % 24, secs / 60 % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::history::samples::frames;
    use std::time::Duration;

    /// Returns the first error of a page: a tag that is never closed or closed twice, or an attribute without
    /// quotes.
    fn fault(page: &str) -> Option<String> {
        let mut open: Vec<&str> = Vec::new();
        let mut rest = page.strip_prefix("<!DOCTYPE html>")?;
        while let Some(start) = rest.find(['<', '&']) {
            let text = &rest[start..];
            if text.starts_with('&') {
                let end = text.find(';').filter(|end| *end < 8);
                let Some(end) = end else {
                    return Some(format!("a bare ampersand: {:.20}", text));
                };
                rest = &text[end..];
                continue;
            }
            let Some(end) = text.find('>') else {
                return Some("a tag without an end".into());
            };
            let tag = &text[1..end];
            rest = &text[end + 1..];
            if tag.contains('<') || tag.matches('"').count() % 2 == 1 {
                return Some(format!("a broken tag: {tag}"));
            }
            let name = tag.trim_start_matches('/').split([' ', '/']).next()?;
            if !name.chars().all(|char| char.is_ascii_alphanumeric()) {
                return Some(format!("no tag: {tag}"));
            }
            match (tag.starts_with('/'), tag.ends_with('/')) {
                (true, _) if open.pop() != Some(name) => {
                    return Some(format!("</{name}> closes nothing"));
                }
                (false, false) => open.push(name),
                _ => {}
            }
        }
        open.pop().map(|name| format!("<{name}> is open"))
    }

    fn report() -> Report {
        Report {
            title: "fox.glb".into(),
            facts: vec![("adapter", "a GPU".into()), ("driver", "1.2".into())],
            settings: vec![("shadows.mode".into(), "\"off\"".into())],
        }
    }

    #[test]
    fn the_html_page_is_well_formed_and_complete() {
        let frames = frames();
        let page = text(&report(), &frames);
        assert_eq!(fault(&page), None);
        for part in [
            "<title>fox.glb</title>",
            "<td>adapter</td><td>a GPU</td>",
            "<td>shadows.mode</td><td>&quot;off&quot;</td>",
            "<td>  deform</td><td>1.000</td><td>1.000</td><td>1.000</td><td>1.000</td><td>1.000</td><td>12.5 %</td>",
            "<td>GPU: frame</td><td>6.000</td><td>6.000</td><td>12.000</td>",
            "<td>GPU: trees</td><td>2.0 MiB</td>",
            "<td>process</td><td>1.0 GiB</td>",
            "<title>frame 2: 12.000 ms\ndeform 1.000 ms",
            "present to present",
        ] {
            assert!(page.contains(part), "no {part} in\n{page}");
        }
        // The slowest frame is listed first.
        let slowest = page.split("Slowest frames").nth(1).unwrap();
        let first = slowest.split("<tr>").nth(2).unwrap();
        assert!(first.starts_with("<td>3</td>"), "{first}");
        assert!(!page.contains("<script") && !page.contains("src="));
        let empty = text(&Report::default(), &[]);
        assert_eq!(fault(&empty), None);
    }

    #[test]
    fn hostile_names_are_escaped_in_html() {
        let hostile = "</td><script>alert('1')</script>&\"\u{1}";
        let mut frames = frames();
        let mut timed = (**frames[0].gpu.as_ref().unwrap()).clone();
        timed.passes[1].name = hostile.into();
        frames[0].gpu = Some(timed.into());
        let report = Report {
            title: hostile.into(),
            facts: vec![("scene", hostile.into())],
            settings: vec![(hostile.into(), hostile.into())],
        };
        let page = text(&report, &frames);
        assert_eq!(fault(&page), None);
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
        assert!(!page.contains('\u{1}'));
    }

    /// The checker detects broken pages.
    #[test]
    fn the_html_checker_detects_broken_pages() {
        let page = text(&report(), &frames());
        for (from, to) in [
            ("</table>", ""),
            ("</svg>", "</svg></svg>"),
            ("a GPU", "a & GPU"),
            ("a GPU", "a <GPU"),
            ("class=\"facts\"", "class=\"facts"),
        ] {
            assert!(page.contains(from));
            assert!(fault(&page.replacen(from, to, 1)).is_some(), "{to}");
        }
    }

    #[test]
    fn dates_follow_the_gregorian_calendar() {
        for (secs, expected) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (951_868_799, "2000-02-29 23:59 UTC"),
            (1_767_225_600, "2026-01-01 00:00 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(secs)), expected);
        }
    }
}
