//! The log on standard error.

use super::progress::erase;
use log::{Level, LevelFilter};
use std::io::Write;

/// Starts it: canopy's warnings, more with `verbose`, nothing if `quiet`, or what `RUST_LOG` says. Other
/// crates only log what `RUST_LOG` says: what matters of it comes back as errors.
pub(super) fn start(quiet: bool, verbose: u8) {
    let level = match (quiet, verbose) {
        (true, _) => LevelFilter::Off,
        (_, 0) => LevelFilter::Warn,
        (_, 1) => LevelFilter::Info,
        (_, 2) => LevelFilter::Debug,
        _ => LevelFilter::Trace,
    };
    // The name begins those of all packages of canopy.
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
