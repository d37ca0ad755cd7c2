use super::*;
use crate::config::ShadowMode;
use std::sync::LazyLock;

fn view() -> Viewpoint {
    let lens = Projection::Perspective { fov_y: 0.7 };
    Viewpoint::look_to(
        Vec3::new(0.1, 2.3, -4.7),
        Vec3::new(0.3, -0.2, 1.0),
        Vec3::Y,
        lens,
    )
}

fn shown(files: &[PathBuf]) -> PictureInputs<'_> {
    PictureInputs {
        files,
        blend: Blend::default(),
        clip: Some(2),
        time: 0.1 + 1e-7,
        variant: None,
        viewpoint: view(),
        distance: 3.0,
        size: [64, 48],
        samples: 4,
        edits: SavedEdits::default(),
        hidden: Vec::new(),
    }
}

/// Searches only in the picture's folder.
fn beside<'a>(picture: &'a Path, limits: &'a config::Load) -> Search<'a> {
    Search {
        picture,
        limits,
        elsewhere: &|_| None,
    }
}

fn search(picture: &Path) -> Search<'_> {
    static LIMITS: LazyLock<config::Load> = LazyLock::new(|| Config::default().frame.opening.load);
    beside(picture, &LIMITS)
}

#[test]
fn provenance_holds_settings_and_files_but_no_personal_paths() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home of jane");
    std::fs::create_dir_all(home.join("scenes")).unwrap();
    let [inside, outside] = [home.join("scenes/füchs 狐.glb"), folder.path().join("sky.hdr")];
    std::fs::write(&inside, "12345").unwrap();
    std::fs::write(&outside, "").unwrap();
    let mut config = Config::default();
    config.shadows.mode = ShadowMode::Map;
    config.sun.strength = 0.1;
    config.environment.file = outside.to_str().unwrap().into();
    config.gpu.adapter = "secret".into();
    config.camera.name = "front".into();
    let files = [inside.clone()];
    let made = Provenance::new(&config, &shown(&files), Some(&home));
    let text = made.text();
    assert!(text.is_ascii() && text.contains("scenes/f\\u00fcchs"), "{text}");
    for secret in ["jane", "secret", folder.path().to_str().unwrap()] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
    let back = parsed(&text).unwrap();
    assert_eq!(back, made);
    assert_eq!(back.viewpoint(), view());

    // The scene is beside the picture, the environment is not.
    let picture = home.join("a.png");
    assert_eq!(back.files(&search(&picture)).unwrap(), [inside]);
    let mut again = Config::default();
    again.gpu.adapter = "mine".into();
    again.exposure.compensation = 2.0;
    let error = back.apply(&mut again, &search(&picture)).unwrap_err().to_string();
    assert!(
        error.contains("was made from sky.hdr, which is missing"),
        "{error}"
    );
    assert_eq!(again.exposure.compensation, 2.0);
    let elsewhere = Search {
        elsewhere: &|file| file.is_like(&outside).then(|| outside.clone()),
        ..search(&picture)
    };
    assert_eq!(back.apply(&mut again, &elsewhere).unwrap(), [""; 0]);
    assert_eq!((again.shadows.mode, again.sun.strength), (ShadowMode::Map, 0.1));
    assert_eq!(again.exposure.compensation, 0.0);
    assert_eq!(
        (again.animation.clip.as_str(), again.animation.time),
        ("2", 0.1 + 1e-7)
    );
    assert_eq!(again.gpu.adapter, "mine");
    assert_eq!(again.environment.file, outside.to_str().unwrap());
    // Without a known folder, only file names are stored.
    let text = Provenance::new(&config, &shown(&files), None).text();
    assert!(text.contains("\"f\\u00fcchs"), "{text}");
}

#[test]
fn files_are_recognised_by_name_and_size() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fox.glb");
    std::fs::write(&file, "12345").unwrap();
    let kept = FileRef::new(&file, None);
    assert!(kept.is_like(&file));
    let other = folder.path().join("wolf.glb");
    std::fs::write(&other, "12345").unwrap();
    assert!(!kept.is_like(&other));
    std::fs::write(&file, "123456").unwrap();
    assert!(!kept.is_like(&file) && !kept.is_like(Path::new("fox.glb")));
}

/// File names in a picture are resolved like those in a scene: links must not lead out of its folder unless
/// allowed.
#[cfg(unix)]
#[test]
fn symbolic_links_out_of_the_picture_folder_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [inside, outside] = ["in", "out"].map(|name| folder.path().join(name));
    for folder in [&inside, &outside] {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("real.glb"), "12345").unwrap();
    }
    let link = |to: &Path, name: &str| {
        std::os::unix::fs::symlink(to, inside.join(name)).unwrap();
    };
    link(&outside.join("real.glb"), "link.glb");
    link(&outside, "folder");
    link(Path::new("real.glb"), "near.glb");
    link(Path::new("nowhere"), "broken.glb");
    let picture = inside.join("a.png");
    let follow = config::Load {
        follow_links: true,
        ..Config::default().frame.opening.load
    };
    let followed = beside(&picture, &follow);
    let mut config = Config::default();
    for (name, is_inside) in [
        ("near.glb", true),
        ("REAL.glb", true),
        ("link.glb", false),
        ("folder/real.glb", false),
    ] {
        let mut made = Provenance::new(&config, &shown(&[inside.join(name)]), Some(&inside));
        let files = made.files(&search(&picture));
        let kept = if name == "REAL.glb" { "real.glb" } else { name };
        assert_eq!(made.files(&followed).unwrap(), [inside.join(kept)]);
        made.files.clear();
        for key in FILES {
            made.settings = BTreeMap::from([(key.into(), Value::String(name.into()))]);
            let applied = made.apply(&mut config, &search(&picture));
            assert_eq!(applied.is_ok(), is_inside, "{key} = {name}");
            made.apply(&mut config, &followed).unwrap();
        }
        match is_inside {
            true => assert_eq!(files.unwrap(), [inside.join(kept)]),
            false => {
                let text = files.unwrap_err().to_string();
                let is_named = text.contains("a.png: ") && text.contains(name);
                assert!(is_named && text.contains("load.follow_links"), "{text}");
            }
        }
    }
    let made = Provenance::new(&config, &shown(&["broken.glb".into()]), Some(&inside));
    let text = made.files(&search(&picture)).unwrap_err().to_string();
    assert!(text.contains("is missing"), "{text}");
}

/// Before the studio environment existed, scenes without an environment were lit by the sky. Such pictures
/// render as before.
#[test]
fn pictures_of_format_1_keep_the_sky_environment() {
    let mut config = Config::default();
    let mut made = Provenance::new(&config, &shown(&["a.glb".into()]), None);
    let mut source = |made: &Provenance| {
        made.apply(&mut config, &search(Path::new("a.png"))).unwrap();
        config.environment.source
    };
    assert_eq!(source(&made), EnvironmentSource::Auto);
    made.format = 1;
    assert_eq!(source(&made), EnvironmentSource::Sky);
    let color = Value::String("color".into());
    made.settings.insert("environment.source".into(), color);
    assert_eq!(source(&made), EnvironmentSource::Color);
}

/// Metadata is untrusted: errors are a single line, and no file outside the picture's folder is opened.
#[test]
fn invalid_provenance_gives_a_one_line_error() {
    let made = Provenance::new(&Config::default(), &shown(&["a.glb".into()]), None);
    let good: serde_json::Value = serde_json::from_str(&made.text()).unwrap();
    let with = |pointer: &str, value: serde_json::Value| {
        let mut changed = good.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        parsed(&changed.to_string())
    };
    let message = |pointer: &str, value: serde_json::Value| {
        let message = with(pointer, value).unwrap_err();
        assert!(
            !message.contains('\n') && message.starts_with("its settings"),
            "{message}"
        );
        message
    };
    assert!(parsed(&good.to_string()).is_ok());
    for name in ["/etc/passwd", "../a.glb", "a/../../b.glb", "a\u{0}b"] {
        let text = message("/files/0/name", name.into());
        assert!(text.contains("not in the picture's folder"), "{text}");
        let settings = serde_json::json!({"environment.file": name});
        assert!(message("/settings", settings).contains("not in the picture's folder"));
    }
    assert!(message("/format", (FORMAT + 1).into()).contains("newer canopy"));
    assert!(message("/size", serde_json::json!([0, 5])).contains("0 × 5"));
    assert!(message("/samples", 5000.into()).contains("5000 samples"));
    assert!(message("/view/fov_radians", 4.0.into()).contains("projection"));
    assert!(message("/view/world_from_view/0", 2.0.into()).contains("rotation"));
    assert!(message("/view/world_from_view/12", 1e39.into()).contains("affine"));
    message("/view/world_from_view", serde_json::json!([1.0]));
    message("/settings", 3.into());
    for broken in ["", "{", "[]", "null", "{\"format\": 1}", &"[".repeat(100_000)] {
        assert!(parsed(broken).unwrap_err().starts_with("its settings are broken"));
    }
    // Keys that are unknown, invalid or not allowed are skipped and reported.
    let settings = serde_json::json!({
        "gpu.adapter": "x", "load.max_nodes": 9, "shadows.teapot": 1, "sun.strength": "much", "image.tonemap": "aces",
    });
    let found = with("/settings", settings).unwrap();
    let mut config = Config::default();
    let left = found.apply(&mut config, &search(Path::new("a.png"))).unwrap();
    assert_eq!(left.len(), 4, "{left:?}");
    assert!(
        left[0].starts_with("gpu.adapter") && left[2].contains("unknown key"),
        "{left:?}"
    );
    assert_eq!(config.load, Config::default().frame.opening.load);
    assert!(config.picture_settings().contains_key("image.tonemap"));
}

/// Creates a scene with an edited material, and returns its saved edits.
fn edited() -> SavedEdits {
    use crate::scene::{
        Material, Scene,
        edits::{AppliedEdits, SceneEdits},
    };
    let material = Material::default();
    let rough = Material {
        roughness: 0.1 + 1e-7,
        ..Material::default()
    };
    let mut edits = SceneEdits::default();
    edits.set_material(0, &material, &rough);
    let mut scene = Scene {
        materials: vec![material],
        ..Scene::default()
    };
    let mut applied = AppliedEdits::default();
    applied.apply(&mut scene, &edits);
    SavedEdits::new(&scene, &applied, &Default::default())
}

/// Edits are stored and validated like everything else. A picture without edits reads as before.
#[test]
fn edits_are_kept() {
    let files = ["a.glb".into()];
    let mut shown = shown(&files);
    let plain = Provenance::new(&Config::default(), &shown, None);
    assert!(!plain.edited && !plain.text().contains("edits"));
    shown.edits = edited();
    let made = Provenance::new(&Config::default(), &shown, None);
    assert!(made.edited);
    assert_eq!(parsed(&made.text()).unwrap(), made);
    // An older picture only records that there were edits, not which.
    let mut json: serde_json::Value = serde_json::from_str(&made.text()).unwrap();
    json.as_object_mut().unwrap().remove("edits");
    let older = parsed(&json.to_string()).unwrap();
    assert_eq!((older.edited, older.edits), (true, None));
    let mut json: serde_json::Value = serde_json::from_str(&made.text()).unwrap();
    *json.pointer_mut("/edits/materials/0/values/roughness").unwrap() = 7.into();
    let error = parsed(&json.to_string()).unwrap_err();
    assert!(
        error.contains("materials[0]: roughness must be a number from 0 to 1"),
        "{error}"
    );
}

/// Nothing is written that could not be read again. Parts that do not fit are left out and reported.
#[test]
fn provenance_that_cannot_be_read_again_is_not_written() {
    let most = embedded::MAX_BYTES;
    let files = ["a.glb".into()];
    let mut shown = shown(&files);
    shown.edits = edited();
    shown.hidden = vec![1, 2];
    let made = Provenance::new(&Config::default(), &shown, None);
    let (text, left) = made.clone().text_within(most);
    assert_eq!((text.as_deref(), left), (Some(made.text().as_str()), None));
    // Three cases: too many hidden nodes, too long names, and too little space.
    shown.hidden = (0..=MAX_ENTRIES).collect();
    let many = Provenance::new(&Config::default(), &shown, None);
    assert!(parsed(&many.text()).is_err());
    let long: Vec<PathBuf> = vec!["a".repeat(most).into()];
    for (made, most, left) in [
        (many, most, Omitted::Edits),
        (made.clone(), made.text().len() - 1, Omitted::Edits),
        (made.clone(), 100, Omitted::All),
        (
            Provenance::new(&Config::default(), &self::shown(&long), None),
            most,
            Omitted::All,
        ),
    ] {
        let (text, told) = made.text_within(most);
        assert_eq!(told, Some(left));
        assert_eq!(text.is_some(), left == Omitted::Edits);
        if let Some(text) = text {
            let read = parsed(&text).unwrap();
            assert!(read.edited && read.edits.is_none() && read.hidden.is_empty());
        }
    }
    // Text of exactly the maximum length is found again.
    let jpeg = embedded::into_jpeg(b"\xff\xd8", &"x".repeat(embedded::MAX_BYTES_OF_JPEG));
    assert!(jpeg.len() > 65_000);
    let longer = embedded::into_jpeg(b"\xff\xd8", &"x".repeat(embedded::MAX_BYTES_OF_JPEG + 1));
    assert_eq!(longer, b"\xff\xd8");
}
