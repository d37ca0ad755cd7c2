//! Logging to standard error.

use super::progress::erase;
use log::{Level, LevelFilter};
use std::io::Write;

/// Starts the log. It shows canopy's warnings and errors, nothing if `quiet`, and more for each `verbose`.
/// `RUST_LOG` overrides both. Other crates log only what `RUST_LOG` enables, because their failures are
/// reported as errors.
pub(super) fn start(quiet: bool, verbose: u8) {
    let level = match (quiet, verbose) {
        (true, _) => LevelFilter::Off,
        (_, 0) => LevelFilter::Warn,
        (_, 1) => LevelFilter::Info,
        (_, 2) => LevelFilter::Debug,
        _ => LevelFilter::Trace,
    };
    // All packages of canopy start with this name.
    let filter = format!("off,canopy={level}");
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(filter))
        .format(|out, record| {
            let (level, target) = (record.level(), record.target());
            let style = out.default_level_style(level);
            write!(out, "{}", erase())?;
            match level {
                Level::Error => write!(out, "{style}error:{style:#} ")?,
                Level::Warn => write!(out, "{style}warning:{style:#} ")?,
                Level::Info => {}
                Level::Debug => write!(out, "{style}debug:{style:#} ")?,
                Level::Trace => write!(out, "{style}trace:{style:#} ")?,
            }
            if !target.starts_with("canopy") {
                write!(out, "{target}: ")?;
            }
            writeln!(out, "{}", record.args())
        })
        .init();
}
