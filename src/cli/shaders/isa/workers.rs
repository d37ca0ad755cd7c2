//! Worker processes that compile. Each loads one driver, because environment variables select the driver, it
//! may crash, and it uses one core.

use super::gpus::Driver;
use crate::{Error, Result};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Stdio},
    sync::mpsc,
    thread::JoinHandle,
    time::Duration,
};

/// Maximum time without output from a driver.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Worker processes.
pub(super) struct Workers {
    /// Processes, each with the thread that reads its standard error.
    children: Vec<(Child, Option<JoinHandle<String>>)>,
    lines: mpsc::Receiver<(usize, Option<Value>)>,
}

/// Environment variable that passes a process its [`Role`].
const ROLE: &str = "CANOPY_ISA_ROLE";

/// Task of a worker process.
#[derive(Debug)]
pub(super) enum Role {
    /// Open the device whose name contains `gpu`.
    Probe {
        /// Part of the device name.
        gpu: String,
    },
    /// Compile every `count`-th file with that device, starting at `index`.
    Part {
        /// Part of the device name.
        gpu: String,
        /// Index of the first file.
        index: usize,
        /// Number of processes.
        count: usize,
    },
}

impl Role {
    /// Returns the role of this process, or `None` if the user started it.
    pub(super) fn of_process() -> Result<Option<Self>> {
        let Some(text) = std::env::var_os(ROLE) else {
            return Ok(None);
        };
        let text = text.to_string_lossy();
        let role = Self::read(&text);
        role.map(Some)
            .ok_or_else(|| Error::Usage(format!("{ROLE}={text} is not a known role")))
    }

    fn read(text: &str) -> Option<Self> {
        let mut words = text.splitn(3, ' ');
        let mut number = || words.next()?.parse().ok();
        let (index, count) = (number()?, number()?);
        let gpu = words.next()?.to_owned();
        match count {
            0 => Some(Self::Probe { gpu }),
            _ => Some(Self::Part { gpu, index, count }),
        }
    }
}

impl Workers {
    /// Returns the names of the GPU and the driver.
    pub(super) fn probe(driver: &Driver) -> Result<Value> {
        let told = Self::start(driver, 1, 0)?.collect()?;
        let first = told.into_iter().next();
        first.ok_or_else(|| Error::Gpu("the worker process returned no result".into()))
    }

    /// Compiles all files in as many processes as there are cores, and returns their rows.
    pub(super) fn compile(driver: &Driver, files: usize) -> Result<Vec<Value>> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = cores.min(files).max(1);
        let mut told = Self::start(driver, count, count)?.collect()?;
        told.sort_by_key(|row| row["at"].as_u64());
        for row in told.iter_mut().filter_map(Value::as_object_mut) {
            row.remove("at");
        }
        Ok(told)
    }

    /// Starts this program with the same arguments in `processes` worker processes. Each process compiles one
    /// of `count` parts of the files, or probes the driver if `count` is 0.
    fn start(driver: &Driver, processes: usize, count: usize) -> Result<Self> {
        let program = std::env::current_exe().map_err(|e| Error::io("canopy", e))?;
        let (sender, lines) = mpsc::channel();
        let mut workers = Self {
            children: Vec::new(),
            lines,
        };
        for index in 0..processes {
            let mut command = driver.command(&program);
            command
                .args(std::env::args_os().skip(1))
                .env(ROLE, format!("{index} {count} {}", driver.gpu_name()))
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = command.spawn().map_err(|e| Error::io(&program, e))?;
            let (output, errors) = (child.stdout.take(), child.stderr.take());
            // Read concurrently, because a process blocks when it writes to a full pipe.
            let said = std::thread::spawn(move || {
                let mut said = Vec::new();
                errors.map(|mut errors| errors.read_to_end(&mut said));
                String::from_utf8_lossy(&said).into_owned()
            });
            workers.children.push((child, Some(said)));
            let sender = sender.clone();
            std::thread::spawn(move || {
                let lines = output
                    .into_iter()
                    .flat_map(|output| BufReader::new(output).lines());
                // Skips lines that drivers print themselves.
                let values = lines
                    .map_while(std::result::Result::ok)
                    .filter_map(|line| serde_json::from_str(&line).ok());
                for value in values {
                    if sender.send((index, Some(value))).is_err() {
                        return;
                    }
                }
                sender.send((index, None)).ok();
            });
        }
        Ok(workers)
    }

    /// Returns all rows that the processes print, once all of them have ended.
    fn collect(&mut self) -> Result<Vec<Value>> {
        let mut told = Vec::new();
        let mut compiles: Vec<Option<String>> = vec![None; self.children.len()];
        let mut open = self.children.len();
        while open > 0 {
            let Ok((index, value)) = self.lines.recv_timeout(TIMEOUT) else {
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

    /// Waits for a process that has closed its output.
    fn end(&mut self, index: usize, compiles: Option<String>) -> Result<()> {
        let (child, said) = &mut self.children[index];
        let status = child.wait().map_err(|e| Error::io("canopy", e))?;
        if status.success() {
            return Ok(());
        }
        let said = said.take().and_then(|said| said.join().ok()).unwrap_or_default();
        let mut lines = said.lines().rev().filter(|line| !line.trim().is_empty());
        let own = lines.clone().find_map(|line| line.strip_prefix("error: "));
        Err(Error::Gpu(match (own, compiles) {
            (Some(own), _) => own.into(),
            (None, Some(name)) => format!("the driver crashed at {name} ({status})"),
            (None, None) => lines.next().unwrap_or("the driver crashed").into(),
        }))
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for (child, _) in &mut self.children {
            // Killing a process that has ended does nothing.
            child.kill().ok();
            child.wait().ok();
        }
    }
}
