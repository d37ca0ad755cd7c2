//! A profile as comma-separated values (RFC 4180), with a row per frame and a column per pass.

use super::{
    history::Frame,
    memory::KINDS,
    table::{Row, Table},
};
use std::fmt::Write;

/// Formats the table. Times are in milliseconds, the time in the clip is in seconds, and memory is in bytes.
/// Unknown values are empty fields.
pub fn text<'a>(frames: impl IntoIterator<Item = &'a Frame> + Clone) -> String {
    let table = Table::of(frames.clone());
    let mut text = String::from("frame,time_secs,present_ms,cpu_ms");
    let named = |text: &mut String, kind: &str, name: &str, unit: &str| {
        write!(text, ",{}", field(&format!("{kind} {name} {unit}"))).ok();
    };
    for row in &table.cpu {
        named(&mut text, "cpu", &row.name, "ms");
    }
    for path in table.gpu_paths() {
        named(&mut text, "gpu", &path, "ms");
    }
    for kind in KINDS {
        named(&mut text, "memory", kind, "bytes");
    }
    text.push_str(",process bytes\r\n");
    for (index, frame) in frames.into_iter().enumerate() {
        let present = number(frame.present_ms);
        let cpu_ms = frame.cpu_ms();
        let Frame {
            number, time_secs, ..
        } = frame;
        write!(text, "{number},{time_secs},{present},{cpu_ms:.6}").ok();
        for row in table.cpu.iter().chain(&table.gpu) {
            write!(text, ",{}", cell(row, index)).ok();
        }
        let memory = frame.memory.as_ref();
        for kind in 0..KINDS.len() {
            let bytes = memory.map(|memory| memory.gpu_bytes[kind].to_string());
            write!(text, ",{}", bytes.unwrap_or_default()).ok();
        }
        let process = memory.and_then(|memory| memory.process_bytes);
        let process = process.map(|bytes| bytes.to_string());
        write!(text, ",{}\r\n", process.unwrap_or_default()).ok();
    }
    text
}

fn cell(row: &Row, frame: usize) -> String {
    number(row.ms[frame])
}

fn number(ms: Option<f64>) -> String {
    ms.map_or_else(String::new, |ms| format!("{ms:.6}"))
}

/// Quotes a field if it contains a comma, a quote or a line break.
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::history::samples;

    /// Parses the records of a table with the grammar of RFC 4180.
    fn parse(text: &str) -> Vec<Vec<String>> {
        let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
        let mut quoted = false;
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            match char {
                '"' if quoted && chars.peek() == Some(&'"') => {
                    chars.next();
                    field.push('"');
                }
                '"' => quoted = !quoted,
                ',' if !quoted => record.push(std::mem::take(&mut field)),
                '\r' if !quoted => {
                    assert_eq!(chars.next(), Some('\n'));
                    record.push(std::mem::take(&mut field));
                    records.push(std::mem::take(&mut record));
                }
                char => field.push(char),
            }
        }
        assert!(record.is_empty() && field.is_empty() && !quoted);
        records
    }

    #[test]
    fn csv_columns_hold_pass_times() {
        let frames = samples::frames();
        let records = parse(&text(&frames));
        assert_eq!(records.len(), 4);
        assert!(records.iter().all(|record| record.len() == records[0].len()));
        let column = |name: &str| {
            let index = records[0].iter().position(|title| title == name);
            let index = index.unwrap_or_else(|| panic!("no {name} in {:?}", records[0]));
            let cells = records[1..].iter();
            cells.map(|r| r[index].clone()).collect::<Vec<_>>()
        };
        let table = Table::of(&frames);
        for (path, row) in table.gpu_paths().iter().zip(&table.gpu) {
            let cells = column(&format!("gpu {path} ms"));
            for (cell, ms) in cells.iter().zip(&row.ms) {
                match ms {
                    Some(ms) => assert!((cell.parse::<f64>().unwrap() - ms).abs() < 1e-6),
                    None => assert_eq!(cell, ""),
                }
            }
        }
        assert_eq!(column("frame"), ["1", "2", "3"]);
        assert_eq!(column("present_ms")[1], "");
        assert_eq!(column("memory trees bytes")[0], (2 << 20).to_string());
        assert_eq!(column("process bytes")[2], (1 << 30).to_string());
    }

    #[test]
    fn hostile_names_are_quoted_in_csv() {
        let mut frames = samples::frames();
        let mut timed = (**frames[0].gpu.as_ref().unwrap()).clone();
        timed.passes[1].name = "a,\"b\"\r\nc".into();
        frames[0].gpu = Some(timed.into());
        let records = parse(&text(&frames[..1]));
        assert!(records[0].contains(&"gpu frame/a,\"b\"\r\nc ms".to_owned()));
        assert_eq!(records.len(), 2);
    }
}
