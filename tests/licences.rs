//! The licences of all dependencies are listed in deny.toml. Covers all platforms, or only this one if cargo
//! cannot fetch the crates of other platforms.

#[path = "../examples/licences/crates.rs"]
mod crates;

use std::path::Path;

/// True if an SPDX expression can be satisfied with the licences that `allow` accepts. `None` if it is not a
/// valid expression.
fn can_be_kept(expression: &str, allow: &dyn Fn(&str) -> bool) -> Option<bool> {
    // `/` is an older form of OR.
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &tokens[..];
    let kept = any(&mut rest, allow)?;
    rest.is_empty().then_some(kept)
}

/// Licences joined by OR.
fn any(tokens: &mut &[&str], allow: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut kept = every(tokens, allow)?;
    while let ["OR", rest @ ..] = tokens {
        *tokens = rest;
        kept |= every(tokens, allow)?;
    }
    Some(kept)
}

/// Licences joined by AND.
fn every(tokens: &mut &[&str], allow: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut kept = one(tokens, allow)?;
    while let ["AND", rest @ ..] = tokens {
        *tokens = rest;
        kept &= one(tokens, allow)?;
    }
    Some(kept)
}

fn one(tokens: &mut &[&str], allow: &dyn Fn(&str) -> bool) -> Option<bool> {
    match tokens {
        ["(", rest @ ..] => {
            *tokens = rest;
            let kept = any(tokens, allow)?;
            let [")", rest @ ..] = tokens else {
                return None;
            };
            *tokens = rest;
            Some(kept)
        }
        // An exception permits more than the licence does.
        [name, "WITH", _, rest @ ..] | [name, rest @ ..] if !["OR", "AND", ")"].contains(name) => {
            *tokens = rest;
            Some(allow(name))
        }
        _ => None,
    }
}

/// Platform of this machine in cargo's notation; empty if cargo does not report it.
fn host() -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let output = std::process::Command::new(cargo).arg("-vV").output();
    let text = output.map_or_else(|_| Vec::new(), |output| output.stdout);
    let text = String::from_utf8_lossy(&text);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.unwrap_or_default().to_owned()
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let deny: toml::Table =
        toml::from_str(&std::fs::read_to_string(root.join("deny.toml")).unwrap()).unwrap();
    let allowed = deny["licenses"]["allow"].as_array().unwrap();
    let allow = |name: &str| allowed.iter().any(|known| known.as_str() == Some(name));
    // Crates of other platforms may be neither on this machine nor reachable. A build has fetched the crates
    // of this platform.
    let all = crates::metadata(root, None);
    let is_whole = all.is_ok();
    let metadata = all.or_else(|_| crates::metadata(root, Some(&host())));
    let crates = crates::crates(&metadata.unwrap(), |_| true);
    let fewest = if is_whole { 300 } else { 200 };
    assert!(crates.len() > fewest, "only {} crates were found", crates.len());
    let wrong = crates
        .iter()
        .filter(|c| can_be_kept(&c.licence, &allow) != Some(true));
    let wrong: Vec<_> = wrong
        .map(|c| format!("{} {}: \"{}\"", c.name, c.version, c.licence))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Every allowed licence is in use on some platform.
    for name in allowed.iter().filter(|_| is_whole) {
        let name = name.as_str().unwrap();
        assert!(
            crates.iter().any(|c| c.licence.contains(name)),
            "no crate is under {name}"
        );
    }
}

#[test]
fn licence_expressions_follow_spdx_precedence() {
    let allow = |name: &str| ["MIT", "Zlib", "Apache-2.0"].contains(&name);
    for (expression, expected) in [
        ("MIT", Some(true)),
        ("GPL-3.0-only", Some(false)),
        ("MIT OR GPL-3.0-only", Some(true)),
        ("MIT AND GPL-3.0-only", Some(false)),
        ("GPL-3.0-only/MIT", Some(true)),
        ("(MIT OR GPL-2.0-only) AND Zlib", Some(true)),
        ("GPL-2.0-only OR MIT AND GPL-3.0-only", Some(false)),
        ("(MIT OR Zlib) AND OFL-1.1", Some(false)),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only", Some(true)),
        ("", None),
        ("MIT OR", None),
        ("(MIT", None),
        ("MIT Zlib", None),
    ] {
        assert_eq!(can_be_kept(expression, &allow), expected, "{expression}");
    }
}
