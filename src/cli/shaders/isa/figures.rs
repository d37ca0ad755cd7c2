//! Statistics of entry points, and their table.

use super::{
    compiler::Executable,
    loops::{self, Loop},
};
use serde_json::{Value, json};
use std::fmt::Write;

/// Maps a driver's statistics to common names. The driver's statistics are also included unchanged as
/// `statistics`.
pub(super) fn figures(gpu: &str, executable: &Executable) -> Value {
    let statistic = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| executable.statistics.get(*name).copied())
    };
    let lanes = f64::from(executable.subgroup.max(1));
    let registers = statistic(&["VGPRs", "GPRs", "Number of GPRs", "Registers used"]);
    let waves = statistic(&["Subgroups per SIMD", "Max Waves Per Core", "Max warps/SM"])
        .or_else(|| Some(statistic(&["Threads"])? / lanes))
        .map(|told| {
            registers
                .and_then(|r| rdna_waves(gpu, r, lanes))
                .map_or(told, |most| most.min(told))
        });
    // AMD reports scratch memory per subgroup, other drivers per thread.
    let scratch = statistic(&["Scratch size"])
        .map(|bytes| bytes / lanes)
        .or_else(|| statistic(&["Scratch", "SLM size"]));
    let found: Option<Vec<Loop>> = executable
        .assembly
        .as_deref()
        .filter(|text| text.starts_with("BB"))
        .map(loops::loops);
    json!({
        "subgroup": executable.subgroup,
        "instructions": statistic(&["Instructions", "Instruction count", "Instruction Count"]),
        "registers": registers,
        "waves": waves,
        "lds_bytes": statistic(&["LDS size"]),
        "scratch_bytes": scratch,
        "spills": statistic(&["Spilled VGPRs", "Spills", "Spills to memory"]),
        "loops": found.as_ref().map(|found| found.iter().map(Loop::json).collect::<Vec<_>>()),
        "statistics": executable.statistics,
    })
}

/// Returns the occupancy of an AMD SIMD in waves for this number of registers, or `None` before RDNA and for
/// other vendors. Mesa's own statistic assumes waves of 32 lanes and has no upper limit.
fn rdna_waves(gpu: &str, registers: f64, lanes: f64) -> Option<f64> {
    let has = |names: &[&str]| names.iter().any(|name| gpu.contains(name));
    if !has(&["RADV"])
        || has(&[
            "VEGA", "POLARIS", "RENOIR", "RAVEN", "GFX6", "GFX7", "GFX8", "GFX9",
        ])
    {
        return None;
    }
    // Number of 32-lane vector registers of a SIMD, and its maximum number of waves, from Mesa's
    // ac_gpu_info.c.
    let (file, most) = if has(&["NAVI10", "NAVI12", "NAVI14", "GFX101"]) {
        (1024.0, 20.0_f64)
    } else if has(&[
        "NAVI31",
        "NAVI32",
        "GFX1100",
        "GFX1101",
        "GFX1151",
        "STRIX_HALO",
        "GFX12",
    ]) {
        (1536.0, 16.0)
    } else {
        (1024.0, 16.0)
    };
    Some((file * 32.0 / lanes / registers.max(1.0)).floor().min(most))
}

/// Builds the report. Drops a second row that equals the first, and the constants of entry points with one
/// row.
pub(super) fn report(opened: &Value, mut rows: Vec<Value>) -> Value {
    const FIGURES: [&str; 8] = [
        "file",
        "entry",
        "instructions",
        "registers",
        "loops",
        "lds_bytes",
        "scratch_bytes",
        "spills",
    ];
    rows.dedup_by(|row, before| FIGURES.iter().all(|key| row[key] == before[key]));
    let names: Vec<_> = rows
        .iter()
        .map(|row| [row["file"].clone(), row["entry"].clone()])
        .collect();
    for (row, name) in rows.iter_mut().zip(&names) {
        let is_single = names.iter().filter(|other| *other == name).count() == 1;
        if is_single && let Some(row) = row.as_object_mut() {
            row.remove("constants");
        }
    }
    json!({"gpu": opened["gpu"], "driver": opened["driver"], "entry_points": rows})
}

/// Formats the table of a report.
pub(super) fn table(report: &Value) -> String {
    let rows = report["entry_points"].as_array().map_or(&[][..], Vec::as_slice);
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = |row: &Value| {
        let constants = row["constants"].as_object().into_iter().flatten();
        let constants: String = constants
            .map(|(name, value)| format!(" {name}={}", value.as_f64().unwrap_or_default()))
            .collect();
        format!("{} {}{constants}", word(&row["file"]), word(&row["entry"]))
    };
    let number = |value: &Value| {
        value
            .as_f64()
            .map_or_else(|| "–".into(), |value| format!("{value:.0}"))
    };
    let columns = [
        "subgroup",
        "instructions",
        "registers",
        "waves",
        "lds_bytes",
        "scratch_bytes",
        "spills",
    ];
    let headings = ["group", "instr", "regs", "waves", "LDS B", "scratch B", "spills"];
    let width = rows
        .iter()
        .map(|row| name(row).chars().count())
        .max()
        .unwrap_or(0);
    let mut text = format!("{}, {}\n", word(&report["gpu"]), word(&report["driver"]));
    write!(text, "{:width$}", "").ok();
    for heading in headings {
        write!(text, "  {heading:>6}").ok();
    }
    text.push_str("  loops\n");
    for row in rows {
        write!(text, "{:width$}", name(row)).ok();
        for (column, heading) in columns.iter().zip(headings) {
            let width = heading.chars().count().max(6);
            write!(text, "  {:>width$}", number(&row[*column])).ok();
        }
        writeln!(text, "  {}", loops::text(&row["loops"])).ok();
    }
    text
}
