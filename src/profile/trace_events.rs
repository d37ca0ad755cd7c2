//! A profile in the Trace Event Format, for Perfetto and chrome://tracing.
//!
//! The GPU and the CPU are threads of one process. Work is complete events (`X`) with `ts` and `dur` in
//! microseconds, memory is counters (`C`), and names are metadata (`M`). Events of a thread have to nest, so
//! GPU passes that overlap without nesting go to threads of their own.
//!
//! The offset between the GPU's and the CPU's clock is unknown. No frame starts on the GPU before its
//! submission, so the offset is chosen such that the frame with the shortest wait starts together with its
//! submission.

use super::history::Frame;
use crate::gpu::profiler::PassTiming;
use serde_json::{Value, json};

/// Process id of all events.
const PID: u32 = 1;
/// Thread of the CPU work.
const CPU: usize = 1;
/// Thread of the presented frames.
const PRESENT: usize = 2;
/// First thread of the GPU passes.
const GPU: usize = 3;

/// Name of the CPU span of the submission. The GPU starts no frame before this span starts.
const SUBMIT: &str = "submit";

/// Tolerance in microseconds for events to nest, because of rounding errors.
const EPSILON_US: f64 = 1e-3;

/// Formats the trace. `adapter` names the GPU.
pub fn text<'a>(frames: impl IntoIterator<Item = &'a Frame> + Clone, adapter: &str) -> String {
    let offset_ms = offset_ms(frames.clone());
    let mut events = vec![
        name("process_name", 0, "canopy"),
        name("thread_name", CPU, "CPU"),
        name("thread_name", PRESENT, "present"),
    ];
    let mut lanes = Lanes::default();
    for frame in frames {
        let number = frame.number;
        for span in &frame.cpu {
            let args = json!({"frame": number});
            events.push(complete(CPU, span.name, "cpu", [span.start_ms, span.ms], args));
        }
        if let (Some(at), Some(ms)) = (frame.presented_ms, frame.present_ms) {
            let args = json!({"frame": number});
            events.push(complete(PRESENT, "picture", "present", [at - ms, ms], args));
        }
        for (lane, pass, [start_ms, ms]) in lanes.place(frame.passes(), offset_ms) {
            let args = json!({"frame": number, "depth": pass.depth});
            events.push(complete(GPU + lane, &pass.name, "gpu", [start_ms, ms], args));
        }
        if let Some(memory) = &frame.memory {
            let ts = frame.cpu.last().map_or(0.0, |span| span.start_ms + span.ms) * 1e3;
            let counter = |name: &str, args: Value| json!({"name": name, "cat": "memory", "ph": "C", "ts": ts, "pid": PID, "tid": 0, "args": args});
            if memory.gpu_total().is_some() {
                events.push(counter("GPU memory, bytes", memory.kinds_json()));
            }
            if let Some(bytes) = memory.process_bytes {
                events.push(counter("process, bytes", json!({"resident": bytes})));
            }
        }
    }
    for lane in 0..lanes.ends.len().max(1) {
        let text = match lane {
            0 => format!("GPU: {adapter}"),
            lane => format!("GPU, overlapping {lane}"),
        };
        events.push(name("thread_name", GPU + lane, &text));
    }
    let trace = json!({
        "displayTimeUnit": "ms",
        "otherData": {"program": concat!("canopy ", env!("CARGO_PKG_VERSION")), "adapter": adapter},
        "traceEvents": events,
    });
    format!("{trace}\n")
}

fn name(what: &str, tid: usize, text: &str) -> Value {
    json!({"name": what, "ph": "M", "ts": 0, "pid": PID, "tid": tid, "args": {"name": text}})
}

fn complete(tid: usize, name: &str, cat: &str, [start_ms, ms]: [f64; 2], args: Value) -> Value {
    json!({
        "name": name, "cat": cat, "ph": "X", "ts": start_ms * 1e3, "dur": ms * 1e3,
        "pid": PID, "tid": tid, "args": args,
    })
}

/// Returns the time on the history's clock, in milliseconds, at which the GPU's clock is zero.
fn offset_ms<'a>(frames: impl IntoIterator<Item = &'a Frame>) -> f64 {
    let offset = |frame: &Frame| {
        let spans = frame.passes().iter().flat_map(|pass| &pass.spans);
        let begin = spans.map(|span| span.start).reduce(f64::min)?;
        let submit = frame.cpu.iter().find(|span| span.name == SUBMIT);
        let submit = submit.or(frame.cpu.last())?;
        Some(submit.start_ms - begin * 1e3)
    };
    let offsets = frames.into_iter().filter_map(offset);
    offsets.reduce(f64::max).unwrap_or(0.0)
}

/// Threads for GPU passes. The events of each thread nest.
#[derive(Debug, Default)]
struct Lanes {
    /// End times of the open events of each thread in microseconds, outermost first.
    ends: Vec<Vec<f64>>,
}

impl Lanes {
    /// Assigns each run of `passes` to a thread. Returns its thread, its pass, and its start and duration in
    /// milliseconds.
    fn place<'a>(
        &mut self,
        passes: &'a [PassTiming],
        offset_ms: f64,
    ) -> Vec<(usize, &'a PassTiming, [f64; 2])> {
        let mut runs: Vec<(&PassTiming, [f64; 2])> = Vec::new();
        for pass in passes {
            for span in &pass.spans {
                let ms = (span.end - span.start).max(0.0) * 1e3;
                runs.push((pass, [span.start * 1e3 + offset_ms, ms]));
            }
        }
        // Parents sort before their children.
        runs.sort_by(|(a, [a_start, a_ms]), (b, [b_start, b_ms])| {
            let starts = a_start.total_cmp(b_start);
            starts.then(b_ms.total_cmp(a_ms)).then(a.depth.cmp(&b.depth))
        });
        let mut placed = Vec::with_capacity(runs.len());
        for (pass, [start_ms, ms]) in runs {
            let (start, end) = (start_ms * 1e3, (start_ms + ms) * 1e3);
            let fits = |open: &mut Vec<f64>| {
                while open.last().is_some_and(|last| *last <= start + EPSILON_US) {
                    open.pop();
                }
                open.last().is_none_or(|last| *last + EPSILON_US >= end)
            };
            let lane = self.ends.iter_mut().position(fits).unwrap_or_else(|| {
                self.ends.push(Vec::new());
                self.ends.len() - 1
            });
            self.ends[lane].push(end);
            placed.push((lane, pass, [start_ms, ms]));
        }
        placed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{
        history::samples::{frames, pass},
        table::Table,
    };
    use std::collections::HashMap;

    /// Returns violations of the format's rules.
    fn faults(trace: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        let Some(events) = trace["traceEvents"].as_array() else {
            return vec!["no list of events".into()];
        };
        let mut spans: HashMap<(u64, u64), Vec<[f64; 2]>> = HashMap::new();
        for event in events {
            let known = event["name"].is_string()
                && event["ts"].as_f64().is_some_and(|ts| ts >= 0.0)
                && event["pid"].is_u64()
                && event["tid"].is_u64()
                && event["args"].is_object();
            let right = match event["ph"].as_str() {
                Some("X") => event["dur"].as_f64().is_some_and(|dur| dur >= 0.0),
                Some("M") => event["args"]["name"].is_string(),
                Some("C") => {
                    let args = event["args"].as_object();
                    args.is_some_and(|args| !args.is_empty() && args.values().all(Value::is_number))
                }
                _ => false,
            };
            if !known || !right {
                faults.push(format!("not an event: {event}"));
            } else if event["ph"] == "X" {
                let thread = ["pid", "tid"].map(|key| event[key].as_u64().unwrap());
                let [ts, dur] = ["ts", "dur"].map(|key| event[key].as_f64().unwrap());
                let spans = spans.entry(thread.into()).or_default();
                spans.push([ts, ts + dur]);
            }
        }
        for (thread, mut spans) in spans {
            spans.sort_by(|a, b| a[0].total_cmp(&b[0]).then(b[1].total_cmp(&a[1])));
            let mut open: Vec<f64> = Vec::new();
            for [start, end] in spans {
                open.retain(|open| *open > start + 2.0 * EPSILON_US);
                if open.iter().any(|open| *open + 2.0 * EPSILON_US < end) {
                    faults.push(format!("{start} to {end} does not nest in {thread:?}"));
                }
                open.push(end);
            }
        }
        faults
    }

    fn trace(frames: &[Frame]) -> Value {
        serde_json::from_str(&text(frames, "a \"GPU\"")).unwrap()
    }

    fn events<'a>(trace: &'a Value, cat: &str) -> Vec<&'a Value> {
        let events = trace["traceEvents"].as_array().unwrap().iter();
        events.filter(|event| event["cat"] == cat).collect()
    }

    #[test]
    fn the_trace_is_valid_and_its_sums_match_the_table() {
        let frames = frames();
        let trace = trace(&frames);
        assert_eq!(faults(&trace), Vec::<String>::new());
        let table = Table::of(&frames);
        let sum = |cat: &str, name: &str| -> f64 {
            let named = events(&trace, cat).into_iter().filter(|e| e["name"] == name);
            named.map(|event| event["dur"].as_f64().unwrap() * 1e-3).sum()
        };
        for row in &table.gpu {
            assert!((sum("gpu", &row.name) - row.sum()).abs() < 1e-6, "{row:?}");
        }
        for row in &table.cpu {
            assert!((sum("cpu", &row.name) - row.sum()).abs() < 1e-6, "{row:?}");
        }
        assert!((sum("present", "picture") - 45.0).abs() < 1e-6);
        assert_eq!(events(&trace, "memory").len(), 6);
        assert_eq!(trace["otherData"]["adapter"], "a \"GPU\"");
    }

    /// The sort of the second frame ran twice inside its parent, and no frame starts before its submission.
    #[test]
    fn child_events_lie_within_their_parents_after_the_submission() {
        let trace = trace(&frames());
        let of = |name: &str, frame: u64| -> Vec<[f64; 2]> {
            let events = events(&trace, "gpu").into_iter();
            let events = events.filter(|e| e["name"] == name && e["args"]["frame"] == frame);
            let bounds = |e: &Value| {
                let [ts, dur] = ["ts", "dur"].map(|key| e[key].as_f64().unwrap());
                [ts, ts + dur]
            };
            events.map(bounds).collect()
        };
        let (parents, children) = (of("lbvh", 2), of("sort", 2));
        assert_eq!((parents.len(), children.len()), (1, 2));
        for [start, end] in children {
            assert!(start >= parents[0][0] && end <= parents[0][1] + 1e-3);
        }
        for (frame, submit_us) in [(1, 24e3), (2, 44e3), (3, 64e3)] {
            assert!((of("frame", frame)[0][0] - submit_us).abs() < 1e-3);
        }
    }

    #[test]
    fn overlapping_passes_get_separate_threads() {
        let mut frames = frames();
        let mut timed = (**frames[0].gpu.as_ref().unwrap()).clone();
        let begin = timed.passes[1].spans[0].start * 1e3;
        timed.passes.push(pass("late", 1, begin + 0.5, 5.0));
        frames[0].gpu = Some(timed.into());
        let trace = trace(&frames);
        assert_eq!(faults(&trace), Vec::<String>::new());
        let late = events(&trace, "gpu").into_iter();
        let tids: Vec<_> = late.filter(|e| e["name"] == "late").map(|e| &e["tid"]).collect();
        assert_eq!(tids, [GPU + 1]);
    }

    /// The checker detects broken traces.
    #[test]
    fn the_trace_checker_detects_broken_traces() {
        let good = trace(&frames());
        let breaks: [fn(&mut Value); 6] = [
            |event| event["dur"] = json!(-1.0),
            |event| event["ph"] = json!("Q"),
            |event| event["ts"] = json!("soon"),
            |event| event["dur"] = json!(16e3),
            |event| drop(event.as_object_mut().unwrap().remove("pid")),
            |event| drop(event.as_object_mut().unwrap().remove("name")),
        ];
        for broken in breaks {
            let mut trace = good.clone();
            let events = trace["traceEvents"].as_array_mut().unwrap();
            broken(events.iter_mut().find(|e| e["name"] == "lbvh").unwrap());
            assert_ne!(faults(&trace), Vec::<String>::new());
        }
        assert_ne!(faults(&json!([])), Vec::<String>::new());
    }
}
