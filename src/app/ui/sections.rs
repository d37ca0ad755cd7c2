//! The panel, section by section. Sections edit the configuration; whatever needs more is an action.

use super::{
    facts::Facts,
    style::{cell, digits, grouped},
    timings,
};
use crate::{
    app::{
        keys::Action,
        state::{Stage, State, sun_angles, sun_direction},
    },
    config::{
        Antialias, Background, Environment, EnvironmentSource, Exposure, ExposureMode, Occlusion,
        OcclusionMode, Rebuild, Rising, ShadowMode, Shadows, Sun, Switch, Tonemap, Tree, UpAxis,
        Window,
    },
    render::{Channel, TreeWork},
    scene::{ExtensionUse, Projection, Treatment},
};
use egui::{ComboBox, RichText, Slider, Ui};
use std::ops::RangeInclusive;

/// The whole panel.
pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) {
    ui.add_space(2.0);
    scene(ui, state, facts);
    section(ui, "Shadows", |ui| shadows(ui, state));
    section(ui, "Environment", |ui| environment(ui, state));
    section(ui, "Sun", |ui| sun(ui, state));
    section(ui, "Ambient occlusion", |ui| occlusion(ui, state, facts));
    section(ui, "Image", |ui| image(ui, state, facts));
    section(ui, "Frame", |ui| {
        timings::show(ui, state, facts);
        counts(ui, facts);
        trees(ui, state, facts);
    });
    section(ui, "Animation", |ui| animation(ui, state));
    section(ui, "View", |ui| view(ui, state, facts));
    ui.add_space(8.0);
    ui.weak("H shows all keys");
}

fn section(ui: &mut Ui, title: &str, add: impl FnOnce(&mut Ui)) {
    ui.separator();
    egui::CollapsingHeader::new(RichText::new(title).strong())
        .default_open(true)
        .show_unindented(ui, |ui| {
            add(ui);
            ui.add_space(2.0);
        });
}

/// A name on the left, a widget on the right.
fn setting<R>(ui: &mut Ui, name: &str, add: impl FnOnce(&mut Ui) -> R) -> R {
    ui.horizontal(|ui| {
        cell(ui, 88.0, name);
        add(ui)
    })
    .inner
}

/// Holds a value that a slider leaves free to what the configuration allows.
fn clamp(value: &mut f32, range: RangeInclusive<f32>) {
    *value = value.clamp(*range.start(), *range.end());
}

fn scene(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) {
    ui.horizontal(|ui| {
        let name = state.stage.as_ref().map(|s| s.name());
        let name = name.unwrap_or_else(|| "no scene".into());
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.button("Open…").clicked() {
                state.actions.push(Action::Open);
            }
            let browse = ui
                .button("Browse")
                .on_hover_text("Recent files and folders (Ctrl+P)");
            if browse.clicked() {
                state.actions.push(Action::Browse);
            }
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                ui.add(egui::Label::new(RichText::new(name).heading()).truncate());
            });
        });
    });
    let adapter = RichText::new(facts.adapter).small().weak();
    ui.add(egui::Label::new(adapter).truncate());
    if !facts.has_gpu {
        let color = ui.visuals().warn_fg_color;
        ui.label(
            RichText::new("software renderer: no GPU is used")
                .small()
                .color(color),
        );
    }
    let Some(stage) = &state.stage else { return };
    up_axis(ui, stage, &mut state.config.scene.up);
    ui.checkbox(&mut state.config.window.watch, "reload when files change")
        .on_hover_text("Watches the files of the scene and the environment (Ctrl+R)");
    variants(ui, stage, &mut state.actions);
    extensions(ui, stage);
    let warnings = &stage.scene.warnings;
    if !warnings.is_empty() {
        let color = ui.visuals().warn_fg_color;
        let title = RichText::new(format!("{} warnings", warnings.len())).color(color);
        ui.collapsing(title, |ui| {
            for warning in warnings {
                ui.label(RichText::new(warning).small());
            }
        });
    }
}

/// The axis of the files that points up.
fn up_axis(ui: &mut Ui, stage: &Stage, wanted: &mut UpAxis) {
    let name = |axis: UpAxis| match axis {
        UpAxis::Auto => format!("auto ({})", stage.up_axis(axis).name().to_uppercase()),
        axis => axis.name().to_uppercase(),
    };
    setting(ui, "up axis", |ui| {
        ComboBox::from_id_salt("up axis")
            .selected_text(name(*wanted))
            .show_ui(ui, |ui| {
                for axis in UpAxis::ALL {
                    ui.selectable_value(wanted, axis, name(axis));
                }
            })
            .response
    })
    .on_hover_text("The axis of the files that points up (U)");
}

/// A choice of KHR_materials_variants.
fn variants(ui: &mut Ui, stage: &Stage, actions: &mut Vec<Action>) {
    let names = &stage.scene.variants;
    if names.is_empty() {
        return;
    }
    let name = |variant: Option<usize>| match variant.and_then(|v| names.get(v).map(|n| (v, n))) {
        None => "none".to_owned(),
        Some((variant, name)) if name.is_empty() => format!("variant {variant}"),
        Some((_, name)) => name.clone(),
    };
    setting(ui, "variant", |ui| {
        let combo = ComboBox::from_id_salt("variant").selected_text(name(stage.variant));
        combo.truncate().show_ui(ui, |ui| {
            for variant in std::iter::once(None).chain((0..names.len()).map(Some)) {
                let chosen = stage.variant == variant;
                if ui.selectable_label(chosen, name(variant)).clicked() {
                    actions.push(Action::Variant(variant));
                }
            }
        });
    });
}

/// The extensions that the files list, with a note on hover.
fn extensions(ui: &mut Ui, stage: &Stage) {
    let extensions = &stage.scene.extensions;
    if extensions.is_empty() {
        return;
    }
    ui.collapsing(format!("{} extensions", extensions.len()), |ui| {
        for ExtensionUse {
            name,
            required,
            treatment,
            note,
        } in extensions
        {
            let text = RichText::new(format!("{name}: {}", treatment.name())).small();
            let text = match treatment {
                Treatment::Ignored => text.color(ui.visuals().warn_fg_color),
                Treatment::Full | Treatment::Approximate => text,
            };
            let needs = if *required {
                "; the file requires it"
            } else {
                ""
            };
            ui.label(text).on_hover_text(format!("{note}{needs}"));
        }
    });
}

fn shadows(ui: &mut Ui, state: &mut State) {
    let shadows = &mut state.config.shadows;
    ui.horizontal(|ui| {
        ui.radio_value(&mut shadows.mode, ShadowMode::Off, "off");
        ui.radio_value(&mut shadows.mode, ShadowMode::Map, "maps");
        ui.radio_value(&mut shadows.mode, ShadowMode::Rays, "rays");
    });
    setting(ui, "leaf cutoff", |ui| {
        ui.add(Slider::new(
            &mut state.config.tree.leaf_cutoff,
            Tree::LEAF_CUTOFF,
        ))
    })
    .on_hover_text("A node of the tree with at most this many triangles is a leaf for rays");
    if shadows.mode == ShadowMode::Rays {
        ui.checkbox(&mut shadows.compact_rays, "compact rays")
            .on_hover_text(
                "Traces a list of the rays that are needed; off: one thread for every pixel",
            );
    }
    ui.checkbox(&mut shadows.blended_cast, "blended surfaces cast shadows");
    if shadows.mode != ShadowMode::Map {
        return;
    }
    setting(ui, "resolution", |ui| {
        let text = shadows.map_resolution.to_string();
        let combo = ComboBox::from_id_salt("resolution").selected_text(text);
        combo.show_ui(ui, |ui| {
            for resolution in [256, 512, 1024, 2048, 4096, 8192] {
                let text = resolution.to_string();
                ui.selectable_value(&mut shadows.map_resolution, resolution, text);
            }
        });
    });
    setting(ui, "filter width", |ui| {
        for width in Shadows::MAP_PCF_WIDTHS {
            ui.selectable_value(&mut shadows.map_pcf_width, width, width.to_string());
        }
    });
    setting(ui, "depth bias", |ui| {
        ui.add(Slider::new(&mut shadows.map_depth_bias, 0.0..=8.0).suffix(" texels"))
    });
    setting(ui, "normal bias", |ui| {
        ui.add(Slider::new(&mut shadows.map_normal_bias, 0.0..=8.0).suffix(" texels"))
    });
}

fn occlusion(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) {
    let occlusion = &mut state.config.occlusion;
    ui.horizontal(|ui| {
        for mode in OcclusionMode::ALL {
            ui.radio_value(&mut occlusion.mode, mode, mode.name());
        }
    })
    .response
    .on_hover_text("Ambient occlusion by rays through the trees; auto traces them on GPUs only");
    if !occlusion.sends_rays(facts.fast_rays) {
        return;
    }
    setting(ui, "rays", |ui| {
        ui.add(Slider::new(&mut occlusion.rays, Occlusion::RAYS))
    })
    .on_hover_text("Rays per pixel and frame");
    setting(ui, "radius", |ui| {
        let radius = egui::DragValue::new(&mut occlusion.radius).speed(0.01);
        ui.add(radius.range(Occlusion::RADIUS).suffix(" m"))
    })
    .on_hover_text("Length of the rays; 0 is unlimited");
    setting(ui, "history", |ui| {
        let history = egui::DragValue::new(&mut occlusion.history);
        ui.add(history.range(Occlusion::HISTORY).suffix(" frames"))
    });
    ui.checkbox(&mut occlusion.filter, "filter")
        .on_hover_text("Averages neighbouring pixels while the history is short");
}

fn sun(ui: &mut Ui, state: &mut State) {
    let sun = &mut state.config.sun;
    setting(ui, "shines", |ui| {
        let auto = ui.selectable_value(&mut sun.enabled, Switch::Auto, "auto");
        auto.on_hover_text("On if the scene has no lights and the environment is not a file");
        ui.selectable_value(&mut sun.enabled, Switch::On, "on");
        ui.selectable_value(&mut sun.enabled, Switch::Off, "off");
    });
    let (mut azimuth, mut elevation) = sun_angles(sun.direction);
    let turned = setting(ui, "azimuth", |ui| {
        let slider = Slider::new(&mut azimuth, -180.0..=180.0);
        ui.add(slider.suffix("°").fixed_decimals(0)).changed()
    });
    let raised = setting(ui, "elevation", |ui| {
        let slider = Slider::new(&mut elevation, -90.0..=90.0);
        ui.add(slider.suffix("°").fixed_decimals(0)).changed()
    });
    if turned || raised {
        sun.direction = sun_direction(azimuth, elevation);
    }
    setting(ui, "strength", |ui| {
        let slider = Slider::new(&mut sun.strength, 0.0..=20.0);
        ui.add(slider.suffix(" lx").clamping(egui::SliderClamping::Never));
        clamp(&mut sun.strength, Sun::STRENGTH);
    });
    setting(ui, "colour", |ui| ui.color_edit_button_rgb(&mut sun.color));
}

fn environment(ui: &mut Ui, state: &mut State) {
    let environment = &mut state.config.environment;
    setting(ui, "source", |ui| {
        if !environment.file.is_empty() {
            ui.selectable_value(&mut environment.source, EnvironmentSource::Auto, "file");
        }
        if ui.selectable_label(environment.is_sky(), "sky").clicked() {
            environment.source = EnvironmentSource::Sky;
        }
        ui.selectable_value(&mut environment.source, EnvironmentSource::Color, "colour");
        if ui.button("Open…").clicked() {
            state.actions.push(Action::OpenEnvironment);
        }
    });
    if environment.is_file() {
        let path = std::path::Path::new(&environment.file);
        let name = path.file_name().unwrap_or(path.as_os_str());
        let label = egui::Label::new(RichText::new(name.to_string_lossy()).small().weak());
        ui.add(label.truncate());
        for warning in &state.environment_warnings {
            let color = ui.visuals().warn_fg_color;
            ui.label(RichText::new(warning).small().color(color));
        }
        // Within the slider's range, whatever the settings say.
        let mut degrees = (environment.rotation + 180.0).rem_euclid(360.0) - 180.0;
        setting(ui, "rotation", |ui| {
            let slider = Slider::new(&mut degrees, -180.0..=180.0);
            if ui.add(slider.suffix("°").fixed_decimals(0)).changed() {
                environment.rotation = degrees;
            }
        });
        ui.checkbox(&mut environment.sun, "its sun casts shadows")
            .on_hover_text("A sun in the picture is replaced by a light");
    } else if environment.is_sky() {
        setting(ui, "haze", |ui| {
            ui.add(Slider::new(&mut environment.haze, Environment::HAZE))
        })
        .on_hover_text("Amount of aerosols, as a multiple of that in very clear air");
        setting(ui, "ground", |ui| {
            ui.add(Slider::new(
                &mut environment.ground_albedo,
                Environment::GROUND_ALBEDO,
            ))
        })
        .on_hover_text("Albedo of the ground below the sky");
    } else {
        setting(ui, "colour", |ui| {
            ui.color_edit_button_rgb(&mut environment.color)
        });
    }
    setting(ui, "intensity", |ui| {
        let slider = Slider::new(&mut environment.intensity, 0.0..=4.0);
        ui.add(slider.clamping(egui::SliderClamping::Never));
        clamp(&mut environment.intensity, Environment::INTENSITY);
    });
    setting(ui, "diffuse order", |ui| {
        for order in Environment::ORDERS {
            ui.selectable_value(&mut environment.order, order, order.to_string())
                .on_hover_text("Bands of spherical harmonics: 9 or 25 coefficients");
        }
    });
    setting(ui, "background", |ui| {
        let background = &mut environment.background;
        ui.selectable_value(background, Background::Environment, "environment");
        ui.selectable_value(background, Background::Color, "colour");
        if *background == Background::Color {
            ui.color_edit_button_rgb(&mut state.config.image.background);
        }
    });
    if environment.background == Background::Environment {
        setting(ui, "blur", |ui| {
            ui.add(Slider::new(&mut environment.blur, Environment::BLUR))
        });
    }
}

fn image(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) {
    exposure(ui, state, facts);
    let image = &mut state.config.image;
    setting(ui, "tone map", |ui| {
        let curves = [
            (Tonemap::None, "none"),
            (Tonemap::Reinhard, "Reinhard"),
            (Tonemap::Aces, "ACES"),
            (Tonemap::Agx, "AgX"),
            (Tonemap::Neutral, "PBR Neutral"),
        ];
        let name = curves.iter().find(|(curve, _)| *curve == image.tonemap);
        ComboBox::from_id_salt("tonemap")
            .selected_text(name.map_or("", |(_, name)| name))
            .show_ui(ui, |ui| {
                for (curve, name) in curves {
                    ui.selectable_value(&mut image.tonemap, curve, name);
                }
            });
    });
    setting(ui, "anti-aliasing", |ui| {
        ui.selectable_value(&mut image.antialias, Antialias::Off, "off");
        let smaa = ui.selectable_value(&mut image.antialias, Antialias::Smaa, "SMAA");
        smaa.on_hover_text("Smooths edges by their shape while the picture changes");
    });
    setting(ui, "still picture", |ui| {
        let samples = &mut state.config.window.still_samples;
        ui.add(
            egui::DragValue::new(samples)
                .range(Window::STILL_SAMPLES)
                .suffix(" samples"),
        )
    })
    .on_hover_text("Samples per pixel once nothing moves; 1 keeps the filtered picture");
}

/// The source of the exposure, and the settings of that source.
fn exposure(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) {
    let image = &mut state.config.image;
    let settings = &mut state.config.exposure;
    setting(ui, "exposure", |ui| {
        // A fixed exposure starts from the current one.
        let mut ev = facts.exposure_ev;
        let choices = [
            ExposureMode::Auto,
            ExposureMode::Histogram,
            ExposureMode::Stops(ev),
        ];
        let name = |mode| match mode {
            ExposureMode::Auto => "by the lights",
            ExposureMode::Histogram => "by the picture",
            ExposureMode::Stops(_) => "fixed",
        };
        let is_fixed = image.exposure_ev().is_some();
        ComboBox::from_id_salt("exposure")
            .width(104.0)
            .selected_text(name(image.exposure))
            .show_ui(ui, |ui| {
                for mode in choices {
                    ui.selectable_value(&mut image.exposure, mode, name(mode));
                }
            });
        let drag = egui::DragValue::new(&mut ev)
            .speed(0.05)
            .range(-30.0..=30.0)
            .suffix(" EV")
            .fixed_decimals(2);
        if ui.add_enabled(is_fixed, drag).changed() {
            image.exposure = ExposureMode::Stops(ev);
        }
    });
    if !image.is_metered() {
        return;
    }
    setting(ui, "brighter by", |ui| {
        let slider = Slider::new(&mut settings.compensation, -5.0..=5.0).fixed_decimals(2);
        ui.add(slider.suffix(" EV").clamping(egui::SliderClamping::Never));
        clamp(&mut settings.compensation, Exposure::COMPENSATION);
    });
    setting(ui, "metered", |ui| {
        let [low, high] = settings.percentiles;
        let Rising { range, gap } = Exposure::PERCENTILES;
        let ranges = [*range.start()..=high - gap, low + gap..=*range.end()];
        for (share, range) in settings.percentiles.iter_mut().zip(ranges) {
            let drag = egui::DragValue::new(share).speed(0.25).range(range);
            ui.add(drag.suffix(" %")).on_hover_text(
                "Percentiles of luminance between which pixels are metered; black pixels never are",
            );
        }
    });
    setting(ui, "adapts in", |ui| {
        ui.add(Slider::new(&mut settings.adaptation, Exposure::ADAPTATION).suffix(" s"))
    });
}

fn animation(ui: &mut Ui, state: &mut State) {
    let Some(stage) = &mut state.stage else {
        ui.weak("no scene");
        return;
    };
    if stage.scene.clips.is_empty() {
        ui.weak("the scene has no clips");
        return;
    }
    let name = |clip: Option<usize>| {
        let clip = clip.and_then(|i| stage.scene.clips.get(i).map(|clip| (i, clip)));
        match clip {
            None => "rest pose".to_owned(),
            Some((i, clip)) if clip.name.is_empty() => format!("clip {i}"),
            Some((_, clip)) => clip.name.clone(),
        }
    };
    setting(ui, "clip", |ui| {
        let combo = ComboBox::from_id_salt("clip").selected_text(name(stage.clip));
        combo.truncate().show_ui(ui, |ui| {
            for clip in std::iter::once(None).chain((0..stage.scene.clips.len()).map(Some)) {
                if ui
                    .selectable_label(stage.clip == clip, name(clip))
                    .clicked()
                {
                    state.actions.push(Action::Clip(clip));
                }
            }
        });
    });
    let duration = stage.duration();
    setting(ui, "time", |ui| {
        let slider = Slider::new(&mut stage.time, 0.0..=duration.max(1e-3));
        ui.add_enabled(duration > 0.0, slider.suffix(" s").fixed_decimals(2))
    });
    setting(ui, "speed", |ui| {
        let text = if state.playing { "Pause" } else { "Play" };
        if ui
            .add_sized([56.0, 20.0], egui::Button::new(text))
            .clicked()
        {
            state.playing = !state.playing;
        }
        let speed = egui::DragValue::new(&mut state.config.animation.speed);
        ui.add(speed.speed(0.01).range(-10.0..=10.0).suffix("×"));
    });
}

fn view(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) {
    setting(ui, "channel", |ui| {
        let combo = ComboBox::from_id_salt("channel").selected_text(title(state.channel));
        combo.height(320.0).show_ui(ui, |ui| {
            for channel in Channel::ALL {
                ui.selectable_value(&mut state.channel, channel, title(channel));
            }
        });
    });
    cameras(ui, state);
    setting(ui, "projection", |ui| {
        let is_perspective = matches!(state.camera.projection, Projection::Perspective { .. });
        for (name, is_shown) in [
            ("perspective", is_perspective),
            ("orthographic", !is_perspective),
        ] {
            let label = ui.selectable_label(is_shown, name).on_hover_text("P");
            if label.clicked() && !is_shown {
                state.actions.push(Action::Projection);
            }
        }
    });
    if matches!(state.camera.projection, Projection::Perspective { .. }) {
        let mut fov = match state.camera.projection {
            Projection::Perspective { fov_y } => fov_y.to_degrees(),
            Projection::Orthographic { .. } => state.config.camera.fov,
        };
        setting(ui, "field of view", |ui| {
            let slider = Slider::new(&mut fov, 5.0..=120.0)
                .suffix("°")
                .fixed_decimals(0);
            if ui.add(slider).changed() {
                state.config.camera.fov = fov;
                state.camera.set_fov(fov.to_radians());
            }
        });
    }
    let scale = &mut state.config.window.render_scale;
    let mut auto = *scale == 0.0;
    setting(ui, "render scale", |ui| {
        let used = facts.render_scale;
        if ui.checkbox(&mut auto, "auto").changed() {
            *scale = if auto { 0.0 } else { used };
        }
        let mut shown = if auto { used } else { *scale };
        let drag = egui::DragValue::new(&mut shown)
            .speed(0.01)
            .range(Window::RENDER_SCALE.0);
        if ui.add_enabled(!auto, drag.fixed_decimals(2)).changed() {
            *scale = shown;
        }
        let [width, height] = facts.size;
        ui.weak(format!("{width}×{height}"));
    });
    ui.checkbox(
        &mut state.config.window.vsync,
        "wait for the display (vsync)",
    );
}

fn cameras(ui: &mut Ui, state: &mut State) {
    setting(ui, "camera", |ui| {
        if ui.button("Frame").clicked() {
            state.actions.push(Action::Frame);
        }
        let Some(stage) = &state.stage else { return };
        if stage.scene.cameras.is_empty() {
            return;
        }
        let name = |camera: usize| match stage.scene.cameras[camera].name.as_str() {
            "" => format!("camera {camera}"),
            name => name.to_owned(),
        };
        let shown = stage.camera.map_or("of the file…".into(), name);
        let combo = ComboBox::from_id_salt("camera").width(96.0);
        combo.selected_text(shown).truncate().show_ui(ui, |ui| {
            for camera in 0..stage.scene.cameras.len() {
                let chosen = stage.camera == Some(camera);
                if ui.selectable_label(chosen, name(camera)).clicked() {
                    state.actions.push(Action::Camera(camera));
                }
            }
        });
    });
}

/// A channel's name in the list.
fn title(channel: Channel) -> String {
    match channel {
        Channel::Lit => "lit picture".into(),
        Channel::Cost => "cost of rays (heat map)".into(),
        Channel::Ambient => "ambient visibility".into(),
        other => other.name().into(),
    }
}

fn counts(ui: &mut Ui, facts: &Facts<'_>) {
    let stats = facts.stats;
    ui.add_space(4.0);
    egui::Grid::new("counts")
        .num_columns(4)
        .spacing([10.0, 2.0])
        .min_col_width(56.0)
        .show(ui, |ui| {
            let mut pairs = vec![
                ("triangles", stats.triangles.into()),
                ("vertices", stats.vertices.into()),
                ("meshes", stats.meshes.into()),
                ("tree nodes", stats.nodes.into()),
                ("rays", stats.rays),
                ("lights", stats.lights.into()),
            ];
            if stats.lines + stats.points > 0 {
                pairs.push(("lines", stats.lines.into()));
                pairs.push(("points", stats.points.into()));
            }
            for pair in pairs.chunks(2) {
                for (name, count) in pair {
                    ui.weak(*name);
                    ui.label(digits(grouped(*count)));
                }
                ui.end_row();
            }
        });
}

/// The policy of rebuilding trees, and what was done to them in the last frame.
fn trees(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) {
    let (tree, stats) = (&mut state.config.tree, facts.stats);
    let title = |policy| match policy {
        Rebuild::Frame => "every frame",
        Rebuild::Changed => "what has changed",
        Rebuild::Refit => "refit until they age",
    };
    setting(ui, "build trees", |ui| {
        ComboBox::from_id_salt("rebuild")
            .selected_text(title(tree.rebuild))
            .show_ui(ui, |ui| {
                for policy in Rebuild::ALL {
                    ui.selectable_value(&mut tree.rebuild, policy, title(policy));
                }
            });
    });
    if tree.rebuild == Rebuild::Refit {
        setting(ui, "growth", |ui| {
            let growth = Slider::new(&mut tree.refit_growth, 1.0..=4.0);
            let growth = ui.add(growth.clamping(egui::SliderClamping::Never));
            clamp(&mut tree.refit_growth, Tree::REFIT_GROWTH);
            growth
        })
        .on_hover_text("Rebuilds trees once their cost has grown by this factor");
    }
    let work = match stats.tree_work {
        TreeWork::None => "trees kept".into(),
        TreeWork::Rebuild => format!("trees rebuilt in {} dispatches", stats.tree_dispatches),
        TreeWork::Partial => format!("some trees rebuilt in {} dispatches", stats.tree_dispatches),
        TreeWork::Refit => format!("trees refit in {} dispatches", stats.tree_dispatches),
    };
    let growth = match tree.rebuild {
        Rebuild::Refit => format!(", cost {:.2}×", stats.tree_growth),
        _ => String::new(),
    };
    ui.weak(work + &growth);
}
