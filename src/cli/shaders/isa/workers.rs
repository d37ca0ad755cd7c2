//! Processes that compile, a driver in each: it is chosen by variables of the environment, may crash, and uses one core.

use super::gpus::Driver;
use crate::{Error, Result};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read},
    process::{Child, Stdio},
    sync::mpsc,
    time::Duration,
};

/// The longest that a driver may say nothing.
const PATIENCE: Duration = Duration::from_secs(120);

/// Processes that compile.
pub(super) struct Workers {
    children: Vec<Child>,
    lines: mpsc::Receiver<(usize, Option<Value>)>,
}

impl Workers {
    /// What the driver calls the GPU and itself.
    pub(super) fn probe(driver: &Driver) -> Result<Value> {
        let told = Self::start(driver, &["--isa-probe".into()])?.collect()?;
        let first = told.into_iter().next();
        first.ok_or_else(|| Error::Gpu("the driver said nothing".into()))
    }

    /// Compiles in as many processes as there are cores.
    pub(super) fn compile(driver: &Driver, files: usize) -> Result<Vec<Value>> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = cores.min(files).max(1);
        let parts = (0..count).map(|index| format!("--isa-part={index}/{count}"));
        Self::start(driver, &parts.collect::<Vec<_>>())?.rows()
    }

    /// Starts this program once for each of `options`, with the arguments that it has.
    fn start(driver: &Driver, options: &[String]) -> Result<Self> {
        let program = std::env::current_exe().map_err(|e| Error::io("canopy", e))?;
        let (sender, lines) = mpsc::channel();
        let mut workers = Self {
            children: Vec::new(),
            lines,
        };
        for (index, option) in options.iter().enumerate() {
            let mut command = driver.command(&program);
            command.args(std::env::args_os().skip(1)).arg(option);
            command
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = command.spawn().map_err(|e| Error::io(&program, e))?;
            let output = child.stdout.take();
            workers.children.push(child);
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in output
                    .into_iter()
                    .flat_map(|output| BufReader::new(output).lines())
                {
                    // Drivers write lines of their own.
                    let value = line.ok().and_then(|line| serde_json::from_str(&line).ok());
                    if value.is_some() && sender.send((index, value)).is_err() {
                        return;
                    }
                }
                sender.send((index, None)).ok();
            });
        }
        Ok(workers)
    }

    /// All that the processes tell.
    fn collect(&mut self) -> Result<Vec<Value>> {
        let mut told = Vec::new();
        let mut compiles: Vec<Option<String>> = vec![None; self.children.len()];
        let mut open = self.children.len();
        while open > 0 {
            let Ok((index, value)) = self.lines.recv_timeout(PATIENCE) else {
                let at: Vec<_> = compiles.into_iter().flatten().collect();
                return Err(Error::Gpu(format!("the driver hangs: {}", at.join(", "))));
            };
            let Some(value) = value else {
                open -= 1;
                self.end(index, compiles[index].take())?;
                continue;
            };
            match value["compiles"].as_str() {
                Some(name) => compiles[index] = Some(name.into()),
                None => told.push(value),
            }
        }
        Ok(told)
    }

    /// Waits for a process that writes no more.
    fn end(&mut self, index: usize, compiles: Option<String>) -> Result<()> {
        let child = &mut self.children[index];
        let mut said = String::new();
        if let Some(mut stderr) = child.stderr.take() {
            stderr.read_to_string(&mut said).ok();
        }
        let status = child.wait().map_err(|e| Error::io("canopy", e))?;
        if status.success() {
            return Ok(());
        }
        let told = said.lines().find_map(|line| line.strip_prefix("error: "));
        Err(Error::Gpu(match (told, compiles) {
            (Some(told), _) => told.into(),
            (None, Some(name)) => format!("the driver crashed at {name} ({status})"),
            (None, None) => "the driver does not know it".into(),
        }))
    }

    /// Rows in the order of the shaders, each once: pipelines share vertex entry points.
    fn rows(mut self) -> Result<Vec<Value>> {
        let mut rows: Vec<Value> = self
            .collect()?
            .into_iter()
            .filter(|value| value.get("file").is_some())
            .collect();
        rows.sort_by_key(|row| row["at"].as_u64());
        let mut seen = BTreeSet::new();
        rows.retain_mut(|row| {
            if let Some(row) = row.as_object_mut() {
                row.remove("at");
            }
            let is_vertex = row["stage"] == "vertex";
            let key = |name: &str| row[name].to_string();
            let rest = if is_vertex {
                String::new()
            } else {
                key("constants")
            };
            seen.insert((key("file"), key("entry"), rest))
        });
        Ok(rows)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for child in &mut self.children {
            // Those that have ended are unimpressed.
            child.kill().ok();
            child.wait().ok();
        }
    }
}
