//! Stacked chart of frame times, drawn by the panel and the report.

use super::{
    colors,
    history::Frame,
    table::{Table, percentile},
};

/// Name of the GPU time of a frame between its passes.
pub const BETWEEN: &str = "between passes";

/// Chart of a range of frames.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chart {
    /// Number of each frame.
    pub numbers: Vec<u64>,
    /// GPU passes, and the GPU time between them.
    pub gpu: Stack,
    /// Spans of CPU work.
    pub cpu: Stack,
    /// Milliseconds between the presents of consecutive frames, or `None` after a pause.
    pub present_ms: Vec<Option<f64>>,
}

/// Layers of times that are stacked per frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stack {
    /// Layers, from bottom to top.
    pub layers: Vec<Layer>,
    /// Number of frames.
    frames: usize,
}

/// A GPU pass or a part of the CPU work.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Name of the pass or of the CPU work.
    pub name: String,
    /// Colour in the chart, which depends only on the name.
    pub color: colors::Rgb,
    /// Milliseconds in each frame, or 0 if it did not run.
    pub ms: Vec<f64>,
}

impl Chart {
    /// Builds the chart of `frames`.
    pub fn of<'a>(frames: impl IntoIterator<Item = &'a Frame> + Clone) -> Self {
        let table = Table::of(frames.clone());
        let layer = |(name, times): (&str, &[Option<f64>])| Layer {
            name: name.into(),
            color: colors::of(name),
            ms: times.iter().map(|ms| ms.unwrap_or(0.0)).collect(),
        };
        let mut chart = Self::default();
        let stack = |layers: Vec<Layer>| Stack {
            layers,
            frames: table.frames,
        };
        let top = table.top().map(|row| (&row.name[..], &row.ms[..]));
        chart.gpu = stack(top.map(layer).collect());
        let cpu = table.cpu.iter().map(|row| (&row.name[..], &row.ms[..]));
        chart.cpu = stack(cpu.map(layer).collect());
        let mut between = Vec::with_capacity(table.frames);
        for (index, frame) in frames.into_iter().enumerate() {
            chart.numbers.push(frame.number);
            chart.present_ms.push(frame.present_ms);
            let sum = chart.gpu.total_ms(index);
            between.push((frame.gpu_ms().unwrap_or(0.0) - sum).max(0.0));
        }
        if !chart.gpu.layers.is_empty() {
            chart.gpu.layers.push(Layer {
                name: BETWEEN.into(),
                color: colors::BETWEEN,
                ms: between,
            });
        }
        chart
    }

    /// Returns the largest time in the GPU chart in milliseconds, including the time between presents.
    pub fn most_gpu_ms(&self) -> f64 {
        let presents = self.present_ms.iter().flatten().copied();
        presents.fold(self.gpu.most_ms(), f64::max)
    }

    /// Returns the height of the GPU chart in milliseconds: [`Stack::usual_ms`], or the same statistic of the
    /// times between presents if that is larger.
    pub fn usual_gpu_ms(&self) -> f64 {
        usual(self.present_ms.iter().flatten().copied()).max(self.gpu.usual_ms())
    }
}

/// Returns twice the 95th percentile of `times`, or their maximum if that is smaller, so that a hitch does
/// not flatten the other frames.
fn usual(times: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = times.collect();
    sorted.sort_by(f64::total_cmp);
    let most = sorted.last().copied().unwrap_or(0.0);
    most.min(2.0 * percentile(&sorted, 0.95))
}

impl Stack {
    /// Returns the height of a chart in milliseconds: twice the 95th percentile of the frame times, or the
    /// longest if that is smaller.
    pub fn usual_ms(&self) -> f64 {
        usual((0..self.frames).map(|frame| self.total_ms(frame)))
    }

    /// Returns the total time of a frame in milliseconds.
    pub fn total_ms(&self, frame: usize) -> f64 {
        self.layers.iter().map(|layer| layer.ms[frame]).sum()
    }

    /// Returns the largest total time of a frame in milliseconds.
    pub fn most_ms(&self) -> f64 {
        let totals = (0..self.frames).map(|frame| self.total_ms(frame));
        totals.fold(0.0, f64::max)
    }

    /// Returns the layers of a frame with a non-zero time, each with its lower and its upper edge in
    /// milliseconds.
    pub fn edges(&self, frame: usize) -> impl Iterator<Item = (&Layer, [f64; 2])> {
        let mut below = 0.0;
        let edges = self.layers.iter().map(move |layer| {
            let from = below;
            below += layer.ms[frame];
            (layer, [from, below])
        });
        edges.filter(|(_, [from, to])| to > from)
    }

    /// Returns the layer of a frame at height `ms`, or `None` above the stack.
    pub fn at(&self, frame: usize, ms: f64) -> Option<&Layer> {
        let mut edges = self.edges(frame);
        let found = edges.find(|(_, [from, to])| (*from..*to).contains(&ms));
        found.map(|(layer, _)| layer)
    }
}

/// Returns the height of a chart, a multiple of the grid step that is at least `ms`, and the grid step. Both
/// are in milliseconds.
pub fn scale(ms: f64) -> (f64, f64) {
    let ms = ms.max(1e-3);
    let power = 10_f64.powf((ms / 4.0).log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| step * 4.0 >= ms);
    let step = step.unwrap_or(10.0 * power);
    ((ms / step).ceil() * step, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A single hitch among many frames does not set the height.
    #[test]
    fn a_single_hitch_does_not_set_the_chart_height() {
        let mut times = vec![10.0; 99];
        times.push(5000.0);
        assert_eq!(usual(times.iter().copied()), 20.0);
        assert_eq!(usual([10.0, 12.0].into_iter()), 12.0);
        assert_eq!(usual([].into_iter()), 0.0);
    }
    use crate::profile::history::samples::frames;

    #[test]
    fn chart_layers_sum_to_the_frame_time() {
        let frames = frames();
        let chart = Chart::of(&frames);
        assert_eq!(chart.numbers, [1, 2, 3]);
        for (index, frame) in frames.iter().enumerate() {
            let gpu_ms = frame.gpu_ms().unwrap();
            assert!((chart.gpu.total_ms(index) - gpu_ms).abs() < 1e-6);
            assert!((chart.cpu.total_ms(index) - frame.cpu_ms()).abs() < 1e-9);
            let edges: Vec<_> = chart.gpu.edges(index).map(|(_, edges)| edges).collect();
            assert!(edges.windows(2).all(|pair| pair[0][1] == pair[1][0]));
        }
        let names: Vec<_> = chart.gpu.layers.iter().map(|l| &l.name[..]).collect();
        // The time of a nested pass is part of its parent's.
        assert_eq!(names, ["deform", "lbvh", "shadows", BETWEEN]);
        assert!((chart.gpu.most_ms() - 12.0).abs() < 1e-6);
        assert_eq!(chart.most_gpu_ms(), 25.0);
        let at = |frame, ms| chart.gpu.at(frame, ms).map(|layer| &layer.name[..]);
        assert_eq!(at(0, 0.5), Some("deform"));
        assert_eq!(at(1, 7.0), Some("shadows"));
        assert_eq!(at(0, 5.5), Some(BETWEEN));
        assert_eq!(at(0, 6.5), None);
        assert_eq!(Chart::of([]), Chart::default());
    }

    #[test]
    fn chart_scales_are_round_and_cover_all_values() {
        for (ms, expected) in [
            (0.0, (0.001, 0.00025)),
            (3.9, (4.0, 1.0)),
            (16.7, (20.0, 5.0)),
            (9.0, (10.0, 2.5)),
            (410.0, (600.0, 200.0)),
        ] {
            let (most, step) = scale(ms);
            assert!(
                (most - expected.0).abs() < 1e-9 && (step - expected.1).abs() < 1e-9,
                "{ms}: {most} {step}"
            );
        }
    }
}
