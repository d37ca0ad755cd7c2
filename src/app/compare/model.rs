//! State of the comparison in the window: its two sides, and the display mode. GPU resources are in
//! [`side`](super::side).
//!
//! Side A is what the viewer shows without a comparison. Side B is the same scene with other settings,
//! another scene, or a picture.

use crate::{
    Error, Result,
    app::compare::costs::Cost,
    config::{Config, GroundMode},
    render::present::compare::Errors,
    scene::{
        Scene,
        edits::SceneEdits,
        picture::{self, Picture},
    },
};
use std::{
    borrow::Cow,
    collections::BTreeMap,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

/// Configuration sections that both sides share. Side B always has the values of A in them.
const SHARED: [&str; 7] = [
    "gpu",
    "window",
    "output",
    "animation",
    "camera",
    "keys",
    "deviation",
];

/// Configuration key of B's material variant. The variant of A is state of the stage, not of its settings.
pub(in crate::app) const VARIANT: &str = "scene.variant";

/// Distance from the dividing line within which the mouse can grab it, in points.
pub(in crate::app) const LINE_REACH: f32 = 8.0;

/// Display mode of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Mode {
    /// A on one side of a dividing line, B on the other side.
    Wipe,
    /// A and B alternately.
    Flicker,
    /// The difference between A and B in false colours.
    Difference,
}

impl Mode {
    /// All modes with their names and descriptions.
    pub(in crate::app) const ALL: [(Self, &str, &str); 3] = [
        (
            Self::Wipe,
            "wipe",
            "A on one side of a line, B on the other. Drag the line",
        ),
        (
            Self::Flicker,
            "flicker",
            "Alternates between A and B: differences flicker",
        ),
        (
            Self::Difference,
            "difference",
            "The difference of each pixel, as a colour",
        ),
    ];
}

/// Content of side B.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) enum SideB {
    Scene(SceneOfB),
    Picture(Arc<SavedPicture>),
}

/// A scene as side B. Its files, settings and edits are those of A unless they are given here.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::app) struct SceneOfB {
    /// Files of the scene. `None` means the files of A.
    pub(in crate::app) files: Option<Vec<PathBuf>>,
    /// Settings of A when B was frozen. `None` if B follows the settings of A.
    pub(in crate::app) frozen: Option<Box<Config>>,
    /// Edits in place of A's edits, if both sides show the same files. `None` if B follows the edits of A.
    pub(in crate::app) edits: Option<Arc<SceneEdits>>,
    /// Material variant of A when B was frozen.
    frozen_variant: Option<usize>,
    /// Values by key that override `frozen`, or the settings of A if nothing is frozen.
    pub(in crate::app) with: BTreeMap<String, toml::Value>,
}

/// State of A that B keeps when it is frozen.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct SideState {
    pub(in crate::app) config: Config,
    pub(in crate::app) edits: SceneEdits,
    /// Index of the material variant. `None` for the materials of the primitives themselves.
    pub(in crate::app) variant: Option<usize>,
}

/// A picture file and its name.
#[derive(Debug, PartialEq)]
pub(in crate::app) struct SavedPicture {
    pub(in crate::app) name: String,
    pub(in crate::app) picture: Picture,
}

/// Measurements that the panel and the labels show.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct ComparisonFigures {
    /// Frame costs of A and B, as far as they are known and comparable.
    pub(in crate::app) costs: [Option<Cost>; 2],
    /// True if the costs are GPU timestamps rather than wall-clock times.
    pub(in crate::app) is_gpu_time: bool,
    /// Errors between the shown pictures. `None` until they are measured.
    pub(in crate::app) errors: Option<Errors>,
    /// True if B is ready to be shown.
    pub(in crate::app) is_shown: bool,
}

/// State of the comparison.
#[derive(Debug)]
pub(in crate::app) struct Compare {
    /// Side B. `None` if nothing is compared.
    other: Option<SideB>,
    /// Side B of the last comparison that was ended, for restarting it.
    last: Option<SideB>,
    pub(in crate::app) mode: Mode,
    /// Position of the dividing line as a fraction of the picture's width or height.
    pub(in crate::app) line: f32,
    pub(in crate::app) is_horizontal: bool,
    /// True while the mouse holds the line.
    pub(in crate::app) is_held: bool,
    /// Number of cycles from A to B and back per second.
    pub(in crate::app) flicker_hz: f32,
    pub(in crate::app) is_paused: bool,
    /// True if flicker currently shows B.
    pub(in crate::app) shows_b: bool,
    flipped: Option<Instant>,
    /// Factor on differences before they are mapped to colours.
    pub(in crate::app) gain: f32,
    /// True if differences are computed in linear light.
    pub(in crate::app) is_linear: bool,
    /// True if a linear-radiance picture B is shown without the tone curve of A.
    pub(in crate::app) is_untoned: bool,
    /// Contents of the panel's text fields: search text for keys, value of a key, and path of a file.
    pub(in crate::app) key: String,
    pub(in crate::app) value: String,
    pub(in crate::app) file: String,
    pub(in crate::app) figures: ComparisonFigures,
}

impl Default for Compare {
    fn default() -> Self {
        Self {
            other: None,
            last: None,
            mode: Mode::Wipe,
            line: 0.5,
            is_horizontal: false,
            is_held: false,
            flicker_hz: 2.0,
            is_paused: false,
            shows_b: false,
            flipped: None,
            gain: 4.0,
            is_linear: false,
            is_untoned: false,
            key: String::new(),
            value: String::new(),
            file: String::new(),
            figures: ComparisonFigures::default(),
        }
    }
}

impl Compare {
    /// Allowed flicker frequencies. Three flashes per second and more may harm people with photosensitive
    /// epilepsy (WCAG 2.2, 2.3.1).
    pub(in crate::app) const FLICKER_HZ: RangeInclusive<f32> = 0.2..=2.5;
    /// Allowed factors for differences.
    pub(in crate::app) const GAIN: RangeInclusive<f32> = 0.1..=1000.0;

    /// Returns side B.
    pub(in crate::app) fn other(&self) -> Option<&SideB> {
        self.other.as_ref()
    }

    /// Returns side B if it is a scene.
    pub(in crate::app) fn scene(&self) -> Option<&SceneOfB> {
        match &self.other {
            Some(SideB::Scene(scene)) => Some(scene),
            _ => None,
        }
    }

    /// Starts to compare with `other`.
    pub(in crate::app) fn begin(&mut self, other: SideB) {
        self.other = Some(other);
        self.figures = ComparisonFigures::default();
    }

    /// Ends the comparison.
    pub(in crate::app) fn end(&mut self) {
        self.last = self.other.take().or(self.last.take());
        self.figures = ComparisonFigures::default();
    }

    /// Ends the comparison, or restarts the last one. If there was none, freezes the current state `now` as
    /// B. Returns the text of the notice.
    pub(in crate::app) fn toggle(&mut self, now: SideState) -> String {
        if self.other.is_some() {
            self.end();
            return "comparison ended".into();
        }
        match self.last.take() {
            Some(last) => self.begin(last),
            None => {
                self.freeze(now);
                return "side B keeps these settings: change one to compare".into();
            }
        }
        format!("comparing with {}", self.name())
    }

    /// Compares with the settings, edits and variant of `now`. B keeps its own files if it has any.
    pub(in crate::app) fn freeze(&mut self, now: SideState) {
        let files = self.scene().and_then(|scene| scene.files.clone());
        self.begin(SideB::Scene(SceneOfB {
            files,
            frozen: Some(Box::new(now.config)),
            edits: Some(Arc::new(now.edits)),
            frozen_variant: now.variant,
            with: BTreeMap::new(),
        }));
    }

    /// Compares with the unedited scene in the settings of A.
    pub(in crate::app) fn begin_without_edits(&mut self) {
        self.begin(SideB::Scene(SceneOfB {
            edits: Some(Arc::default()),
            ..SceneOfB::default()
        }));
    }

    /// Replaces the edits that B keeps with `change` of them, because reloading has renumbered the objects.
    /// The edits of the last ended comparison change too.
    pub(in crate::app) fn change_edits(&mut self, change: impl Fn(&SceneEdits) -> SceneEdits) {
        for other in self.other.iter_mut().chain(&mut self.last) {
            if let SideB::Scene(SceneOfB {
                edits: Some(edits), ..
            }) = other
            {
                *edits = Arc::new(change(edits));
            }
        }
    }

    /// Returns the settings that A and B are drawn with, given A's settings. Those of B are `None` unless it
    /// is a scene. Path tracing leaves out the ground, so if one side is path-traced, the other leaves it out
    /// too.
    pub(in crate::app) fn drawn<'a>(&self, a: &'a Config) -> (Cow<'a, Config>, Option<Config>) {
        let Some(mut b) = self.scene().map(|scene| scene.config(a)) else {
            return (Cow::Borrowed(a), None);
        };
        if a.image.mode == b.image.mode {
            return (Cow::Borrowed(a), Some(b));
        }
        let mut a = a.clone();
        (a.scene.ground, b.scene.ground) = (GroundMode::Off, GroundMode::Off);
        (Cow::Owned(a), Some(b))
    }

    /// Overrides a key of B. `text` is `KEY=VALUE` as for `--set`, and `config` are A's settings. The other
    /// overrides and the scene of B stay. If B is not a scene, it becomes the scene of A.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for keys that do not exist or that both sides share, and for invalid values.
    pub(in crate::app) fn set(&mut self, config: &Config, text: &str) -> Result<()> {
        let mut scene = self.scene().cloned().unwrap_or_default();
        let mut other = scene.config(config);
        let key = other.set_text("side B", text)?;
        if !is_own(&key) {
            return Err(Error::Config {
                origin: "side B".into(),
                what: format!("{key}: both sides use the value of A"),
            });
        }
        if let Some(value) = other.value(&key) {
            scene.with.insert(key, value);
        }
        self.begin(SideB::Scene(scene));
        Ok(())
    }

    /// Removes B's override of a key.
    pub(in crate::app) fn unset(&mut self, key: &str) {
        if let Some(SideB::Scene(scene)) = &mut self.other {
            scene.with.remove(key);
        }
    }

    /// Compares with the picture or scene at `path`, which its extension distinguishes. A scene keeps the
    /// overrides of B.
    ///
    /// # Errors
    ///
    /// Any error of reading the picture, and [`Error::Io`] for a missing file.
    pub(in crate::app) fn open(&mut self, path: &Path, config: &Config) -> Result<()> {
        std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
        if picture::is_picture(path) {
            let picture = Picture::load(path, &config.load)?;
            let name = path.file_name().unwrap_or(path.as_os_str());
            let name = name.to_string_lossy().into_owned();
            self.begin(SideB::Picture(Arc::new(SavedPicture { name, picture })));
            return Ok(());
        }
        let mut scene = self.scene().cloned().unwrap_or_default();
        scene.files = Some(vec![path.to_owned()]);
        self.begin(SideB::Scene(scene));
        Ok(())
    }

    /// Returns the display name of B.
    pub(in crate::app) fn name(&self) -> String {
        match &self.other {
            None => String::new(),
            Some(SideB::Picture(saved)) => saved.name.clone(),
            Some(SideB::Scene(scene)) => scene.name(),
        }
    }

    /// Returns the display name of A: its values of the keys that B overrides, or `now` if there are none.
    pub(in crate::app) fn name_of_a(&self, config: &Config) -> String {
        let with = self.scene().map(|scene| &scene.with);
        let keys = with.into_iter().flatten();
        let texts: Vec<_> = keys
            .filter_map(|(key, _)| Some(text_of(key, &config.value(key)?)))
            .collect();
        match texts.is_empty() {
            true => "now".into(),
            false => texts.join(", "),
        }
    }

    /// Switches to the next display mode and returns its name.
    pub(in crate::app) fn next_mode(&mut self) -> &'static str {
        let at = Mode::ALL.iter().position(|(mode, ..)| *mode == self.mode);
        let (mode, name, _) = Mode::ALL[(at.unwrap_or(0) + 1) % Mode::ALL.len()];
        self.mode = mode;
        name
    }

    /// Switches to a paused flicker and shows the other side. Returns the side's name.
    pub(in crate::app) fn flip(&mut self) -> &'static str {
        (self.mode, self.is_paused) = (Mode::Flicker, true);
        self.shows_b = !self.shows_b;
        if self.shows_b { "B" } else { "A" }
    }

    /// Advances the flicker to `now`. Returns the time until it next switches sides, or `None` while it does
    /// not run.
    pub(in crate::app) fn turn(&mut self, now: Instant) -> Option<Duration> {
        if self.mode != Mode::Flicker || self.is_paused || !self.figures.is_shown {
            self.flipped = None;
            return None;
        }
        let period = Duration::from_secs_f32(0.5 / self.flicker_hz);
        let since = now.saturating_duration_since(*self.flipped.get_or_insert(now));
        if since < period {
            return Some(period - since);
        }
        self.shows_b = !self.shows_b;
        self.flipped = Some(now);
        Some(period)
    }

    /// True if there is a dividing line that the mouse can grab.
    pub(in crate::app) fn has_line(&self) -> bool {
        self.mode == Mode::Wipe && self.other.is_some() && self.figures.is_shown
    }

    /// Returns the position of the dividing line as a fraction of the picture's width or height. A is in
    /// front of it and B behind it, so 0 shows only B, and 1 only A.
    pub(in crate::app) fn shown_line(&self) -> f32 {
        match self.mode {
            Mode::Flicker if self.shows_b => 0.0,
            Mode::Flicker => 1.0,
            Mode::Wipe | Mode::Difference => self.line,
        }
    }
}

impl SceneOfB {
    /// Returns the index of B's material variant in `scene`. `is_same` is true if B has the files of A in the
    /// same order. `a` is the variant of A, and `now` is the current one of B, which other files keep.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a variant that the scene does not have.
    pub(in crate::app) fn variant(
        &self,
        scene: &Scene,
        (is_same, a): (bool, Option<usize>),
        now: Option<usize>,
    ) -> Result<Option<usize>> {
        match self.with.get(VARIANT).and_then(toml::Value::as_str) {
            Some(name) => Ok(scene.variant(name)?),
            // Another file has its own variants.
            None if !is_same => Ok(now),
            None if self.frozen.is_some() => Ok(self.frozen_variant),
            None => Ok(a),
        }
    }

    /// Returns the settings of B, given A's settings `a`.
    pub(in crate::app) fn config(&self, a: &Config) -> Config {
        let mut config = a.clone();
        if let Some(frozen) = &self.frozen {
            config = (**frozen).clone();
            config.gpu = a.gpu.clone();
            config.window = a.window.clone();
            config.output = a.output.clone();
            config.animation = a.animation.clone();
            config.camera = a.camera.clone();
            config.deviation = a.deviation.clone();
            config.keys = a.keys.clone();
        }
        for (key, value) in &self.with {
            // The values were validated when they were set.
            if let Err(error) = config.set("side B", key, value.clone()) {
                log::warn!("{error}");
            }
        }
        config
    }

    fn name(&self) -> String {
        let mut parts = Vec::new();
        if let Some(file) = self.files.as_ref().and_then(|files| files.first()) {
            let name = file.file_name().unwrap_or(file.as_os_str());
            parts.push(name.to_string_lossy().into_owned());
        }
        if self.frozen.is_some() {
            parts.push("earlier settings".into());
        } else if self.edits.is_some() {
            parts.push("without edits".into());
        }
        parts.extend(self.with.iter().map(|(key, value)| text_of(key, value)));
        match parts.is_empty() {
            true => "the same".into(),
            false => parts.join(", "),
        }
    }
}

/// Formats a setting as `key value`, with text unquoted.
fn text_of(key: &str, value: &toml::Value) -> String {
    match value.as_str() {
        Some(text) => format!("{key} {text}"),
        None => format!("{key} {value}"),
    }
}

/// True if B can override `key`.
pub(in crate::app) fn is_own(key: &str) -> bool {
    let section = key.split('.').next().unwrap_or_default();
    !SHARED.contains(&section)
}

/// Returns the keys that B can override and that contain all words of `text`.
pub(in crate::app) fn found(text: &str) -> Vec<String> {
    let words: Vec<_> = text.split_whitespace().map(str::to_lowercase).collect();
    let mut keys = Config::keys();
    keys.retain(|key| is_own(key) && words.iter().all(|word| key.contains(word.as_str())));
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ShadowMode;

    #[test]
    fn the_ground_is_off_on_both_sides_if_one_is_path_traced() {
        let config = Config::default();
        let mut compare = Compare::default();
        assert_eq!(compare.drawn(&config), (Cow::Borrowed(&config), None));
        compare.set(&config, "shadows.mode=map").unwrap();
        let (a, b) = compare.drawn(&config);
        assert_eq!([a.scene.ground, b.unwrap().scene.ground], [GroundMode::Auto; 2]);
        compare.set(&config, "image.mode=path").unwrap();
        let (a, b) = compare.drawn(&config);
        assert_eq!([a.scene.ground, b.unwrap().scene.ground], [GroundMode::Off; 2]);
    }

    #[test]
    fn side_b_has_the_settings_of_a_except_for_overrides() {
        let mut a = Config::default();
        let mut compare = Compare::default();
        compare.set(&a, "shadows.mode=map").unwrap();
        compare.set(&a, "tree.leaf_cutoff=1").unwrap();
        a.environment.intensity = 3.0;
        let b = compare.scene().unwrap().config(&a);
        assert_eq!(b.shadows.mode, ShadowMode::Map);
        assert_eq!((b.tree.leaf_cutoff, b.environment.intensity), (1, 3.0));
        assert_eq!(a.shadows.mode, ShadowMode::Rays);
        compare.unset("shadows.mode");
        let b = compare.scene().unwrap().config(&a);
        assert_eq!(b.shadows.mode, ShadowMode::Rays);
        assert_eq!(compare.name(), "tree.leaf_cutoff 1");
    }

    #[test]
    fn frozen_settings_stay_and_shared_settings_follow() {
        let mut a = Config::default();
        let mut compare = Compare::default();
        let shown = |config: &Config| SideState {
            config: config.clone(),
            ..SideState::default()
        };
        compare.toggle(shown(&a));
        a.shadows.mode = ShadowMode::Off;
        a.animation.speed = 0.5;
        a.window.still_samples = 2;
        let b = compare.scene().unwrap().config(&a);
        assert_eq!(b.shadows.mode, ShadowMode::Rays);
        assert_eq!((b.animation.speed, b.window.still_samples), (0.5, 2));
        // Restarting restores the last comparison.
        let before = compare.other().cloned();
        compare.toggle(shown(&a));
        assert!(compare.other().is_none());
        compare.toggle(shown(&a));
        assert_eq!(compare.other().cloned(), before);
    }

    #[test]
    fn side_b_has_its_own_variant_or_that_of_a() {
        let a = Config::default();
        let file = Scene {
            variants: vec!["red".into(), "blue".into()],
            ..Scene::default()
        };
        let mut compare = Compare::default();
        compare.set(&a, "image.tonemap=aces").unwrap();
        let of = |compare: &Compare, is_same, shown| {
            let scene = compare.scene().unwrap();
            scene.variant(&file, (is_same, shown), None)
        };
        assert_eq!(of(&compare, true, Some(1)).unwrap(), Some(1));
        assert_eq!(of(&compare, false, Some(1)).unwrap(), None);
        compare.set(&a, "scene.variant=blue").unwrap();
        for (is_same, shown) in [(true, Some(0)), (true, None), (false, Some(0))] {
            assert_eq!(of(&compare, is_same, shown).unwrap(), Some(1));
        }
        assert_eq!(compare.name(), "image.tonemap aces, scene.variant blue");
        compare.set(&a, "scene.variant=green").unwrap();
        let error = of(&compare, true, None).unwrap_err().to_string();
        assert!(error.contains("green") && error.contains("blue"), "{error}");
        // Frozen settings keep the variant too.
        compare.freeze(SideState {
            config: a.clone(),
            variant: Some(0),
            ..SideState::default()
        });
        assert_eq!(of(&compare, true, Some(1)).unwrap(), Some(0));
    }

    #[test]
    fn invalid_comparisons_are_reported_and_change_nothing() {
        let a = Config::default();
        let mut compare = Compare::default();
        compare.set(&a, "image.tonemap=aces").unwrap();
        let before = compare.other().cloned();
        for (text, part) in [
            ("shadow.mode=map", "did you mean shadows.mode"),
            ("shadows.mode=maps", "shadows.mode"),
            ("window.panel=false", "both sides use the value of A"),
            ("camera.fov=30", "both sides use the value of A"),
        ] {
            let error = compare.set(&a, text).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains('\n'), "{error}");
        }
        let missing = compare.open(Path::new("/no/such.png"), &a).unwrap_err();
        assert!(missing.to_string().contains("/no/such.png"), "{missing}");
        assert_eq!(compare.other().cloned(), before);
    }

    #[test]
    fn settings_are_found_by_words() {
        assert_eq!(found("leaf cut"), ["tree.leaf_cutoff"]);
        assert!(found("").len() > 50);
        let is_shared = |key: &String| key.starts_with("window.");
        assert!(!found("").iter().any(is_shared));
    }

    /// At every allowed frequency there are fewer than three flashes in any second.
    #[test]
    fn flicker_switches_at_its_rate_and_stops_while_paused() {
        let mut compare = Compare {
            mode: Mode::Flicker,
            ..Compare::default()
        };
        compare.figures.is_shown = true;
        let start = Instant::now();
        for hz in [0.2, 2.0, *Compare::FLICKER_HZ.end()] {
            compare.flicker_hz = hz;
            compare.flipped = None;
            let mut turns = 0;
            for ms in 0..10_000 {
                let before = compare.shows_b;
                compare.turn(start + Duration::from_millis(ms));
                turns += u32::from(compare.shows_b != before);
            }
            let flashes = f64::from(turns) / 2.0 / 10.0;
            assert!((flashes - f64::from(hz)).abs() < 0.11, "{flashes} at {hz}");
            assert!(flashes < 3.0);
        }
        compare.flip();
        let shown = compare.shows_b;
        assert_eq!(compare.turn(start + Duration::from_secs(60)), None);
        assert_eq!(compare.shows_b, shown);
    }
}
