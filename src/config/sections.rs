//! Sections that only the program uses: GPU, window and output.

use canopy_scene::{choice, section, settings::ZeroOr};
use std::ops::RangeInclusive;

choice! {
    /// Storage of large arrays on the GPU.
    ArrayMode {
        /// Whichever of the two is faster on the adapter.
        Auto = "auto",
        /// Storage buffers.
        Buffers = "buffers",
        /// Textures.
        Textures = "textures",
    }
}

choice! {
    /// Number format of the boxes that rays test on GPUs.
    RayBoxes {
        /// Halves: 80 bytes a node.
        Halves = "halves",
        /// Bytes: 64 bytes a node.
        Bytes = "bytes",
    }
}

choice! {
    /// Memory for the stack of a ray on GPUs.
    RayStack {
        /// Workgroup memory.
        Workgroup = "workgroup",
        /// Private memory.
        Private = "private",
    }
}

section! {
    /// `[gpu]`: choice of the adapter and its options.
    Gpu {
        adapter: String,
        backend: String,
        arrays: ArrayMode,
        ray_boxes: RayBoxes,
        ray_stack: RayStack,
        shader_checks: bool,
        pipeline_cache: bool,
    }
}

choice! {
    /// Colour theme of the panel.
    Theme {
        /// Light text on a dark background.
        Dark = "dark",
        /// Dark text on a light background.
        Light = "light",
        /// The system's theme.
        System = "system",
    }
}

section! {
    /// `[window]`: the viewer's window.
    Window {
        size: [u32; 2] => SIZE: RangeInclusive<u32> = 1..=16384,
        vsync: bool,
        panel: bool,
        timeline: bool,
        watch: bool,
        theme: Theme,
        font_size: f32 => FONT_SIZE: RangeInclusive<f32> = 8.0..=32.0,
        frame_ms: f32 => FRAME_MS: ZeroOr<f32> = ZeroOr(1.0..=1000.0),
        render_scale: f32 => RENDER_SCALE: ZeroOr<f32> = ZeroOr(0.25..=1.0),
        notice_secs: f32 => NOTICE_SECS: RangeInclusive<f32> = 0.0..=60.0,
        axes: bool,
        still_samples: u32 => STILL_SAMPLES: RangeInclusive<u32> = 1..=1024,
    }
}

section! {
    /// `[output]`: pictures rendered without a window.
    Output {
        size: [u32; 2] => SIZE: RangeInclusive<u32> = Window::SIZE,
        fps: f32 => FPS: RangeInclusive<f32> = 0.001..=1e6,
        samples: u32 => SAMPLES: RangeInclusive<u32> = 0..=4096,
        jpeg_quality: u32 => JPEG_QUALITY: RangeInclusive<u32> = 1..=100,
        metadata: bool,
    }
}
