//! `canopy config`: lists the current settings with their origins, and explains them.

use super::console::{json_text, print};
use crate::{
    Error, Result,
    config::{
        Config,
        declared::{Group, Setting, declared, groups},
        layered::{Layered, SettingsFile},
    },
};
use clap::Args;
use serde_json::{Value, json};
use std::fmt::Write;

/// Arguments of `canopy config`.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Setting to explain, such as shadows.mode, or section to list
    #[arg(value_name = "KEY")]
    pub key: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print every setting in the order of the panel, as in docs/settings.md
    #[arg(long, conflicts_with_all = ["key", "json"])]
    pub markdown: bool,
}

/// Text for `[keys]` without bindings.
const NO_KEYS: &str = "\
[keys]
# None are set: every action has its default keys. `canopy config keys.ACTION` explains one.
";

/// Prints the settings files and all settings or the settings of a section, or explains one setting.
///
/// # Errors
///
/// [`Error::Usage`] for an unknown key. The message names the closest known key.
pub fn run(args: &ConfigArgs, settings: &Layered) -> Result<()> {
    if args.markdown {
        return print(&markdown());
    }
    let keys = settings.config.set_keys();
    let of_section = |section: &str| -> Vec<String> {
        let is_in = |key: &&String| key.split('.').next() == Some(section);
        keys.iter().filter(is_in).cloned().collect()
    };
    let text = match args.key.as_deref() {
        None if args.json => json_text(&json!({
            "files": files_json(settings),
            "settings": list_json(settings, &keys)?,
        })),
        None => files_text(settings) + &list_text(settings, &keys),
        Some("keys") if !args.json && of_section("keys").is_empty() => NO_KEYS.into(),
        Some("keys") if args.json => json_text(&list_json(settings, &of_section("keys"))?),
        Some(key) => match (&of_section(key)[..], args.json) {
            ([], true) => json_text(&setting_json(settings, key)?),
            ([], false) => explanation(settings, key)?,
            (keys, true) => json_text(&list_json(settings, keys)?),
            (keys, false) => list_text(settings, keys),
        },
    };
    print(&text)
}

fn files_json(settings: &Layered) -> Value {
    let file = |file: &SettingsFile| json!({"path": file.path.display().to_string(), "exists": file.exists});
    settings.files.iter().map(file).collect()
}

fn files_text(settings: &Layered) -> String {
    let mut text = String::from("settings files, each over those before it:\n");
    for file in &settings.files {
        let found = if file.exists { "read" } else { "not there" };
        writeln!(text, "  {} ({found})", file.path.display()).ok();
    }
    text
}

/// Lists settings by section, each on a line with the origin of its value.
fn list_text(settings: &Layered, keys: &[String]) -> String {
    let line = |key: &String| format!("{} = {}", name_of(key), value_text(settings, key));
    let width = keys.iter().map(|key| line(key).chars().count());
    let width = width.filter(|&width| width < 44).max().unwrap_or(0);
    let (mut text, mut section) = (String::new(), "");
    for key in keys {
        let of = key.split('.').next().unwrap_or_default();
        if of != section {
            writeln!(text, "\n[{of}]").ok();
            section = of;
        }
        let origin = origin(settings, key);
        writeln!(text, "{:<width$}  # {origin}", line(key)).ok();
    }
    text.trim_start_matches('\n').to_owned()
}

fn name_of(key: &str) -> &str {
    key.split_once('.').map_or(key, |(_, name)| name)
}

fn value_text(settings: &Layered, key: &str) -> String {
    let value = settings.config.value(key);
    value.map_or_else(String::new, |value| value.to_string())
}

fn origin<'a>(settings: &'a Layered, key: &str) -> &'a str {
    settings.origin(key).unwrap_or("default")
}

fn list_json(settings: &Layered, keys: &[String]) -> Result<Value> {
    let each = |key: &String| Ok((key.clone(), setting_json(settings, key)?));
    let all = keys.iter().map(each).collect::<Result<_>>()?;
    Ok(Value::Object(all))
}

fn setting_json(settings: &Layered, key: &str) -> Result<Value> {
    let explained = Config::explain(key)?;
    Ok(json!({
        "value": toml_json(settings.config.value(key).as_ref())?,
        "from": origin(settings, key),
        "default": toml_json(explained.default.as_ref())?,
        "expected": explained.expected,
        "comment": explained.comment,
    }))
}

fn toml_json(value: Option<&impl serde::Serialize>) -> Result<Value> {
    serde_json::to_value(value).map_err(|e| Error::Internal(format!("cannot write a setting as JSON: {e}")))
}

fn explanation(settings: &Layered, key: &str) -> Result<String> {
    let explained = Config::explain(key)?;
    let mut text = match settings.config.value(key) {
        Some(value) => format!("{key} = {value}\n"),
        None => format!("{key} is not set\n"),
    };
    if !explained.comment.is_empty() {
        writeln!(text, "\n{}\n", wrapped(&explained.comment, 90)).ok();
    }
    writeln!(text, "value    {}", explained.expected).ok();
    let default = explained.default.map(|value| value.to_string());
    let default = default.unwrap_or_else(|| "the viewer's default keys for the action".into());
    writeln!(text, "default  {default}").ok();
    writeln!(text, "from     {}", origin(settings, key)).ok();
    if let Some((group, setting)) = declared(key) {
        writeln!(text, "panel    {}, “{}”", place(group), setting.label).ok();
        for idle in setting.idle {
            writeln!(text, "         no effect while {}", idle.why).ok();
        }
    }
    Ok(text)
}

/// Returns the position of a group in the panel.
fn place(group: &Group) -> String {
    match group.tab {
        Some(tab) => format!("{}: {}", tab.title(), group.title),
        None => "Always visible".into(),
    }
}

/// Formats every setting as Markdown, in the order of the panel.
fn markdown() -> String {
    let mut text = String::from(
        "# Settings\n\nEvery setting of canopy, in the order of the panel. `canopy config --markdown` prints \
         this page. [config.toml](../config.toml) lists the same settings by section, and \
         [configuration.md](usage/configuration.md#settings) says where to write your own values.\n",
    );
    for group in groups().filter(|group| group.all().any(Setting::is_key)) {
        write!(text, "\n## {}\n\n{}.\n\n", place(group), group.help).ok();
        text += "| in the panel | key | default | value | meaning |\n|---|---|---|---|---|\n";
        for setting in group.all().filter(|setting| setting.is_key()) {
            let Ok(explained) = Config::explain(setting.key) else {
                continue;
            };
            let default = explained.default.map(|value| value.to_string());
            let idle: String = setting
                .idle
                .iter()
                .map(|idle| format!(". No effect while {}", idle.why))
                .collect();
            writeln!(
                text,
                "| {} | `{}` | `{}` | {} | {}{idle}. |",
                setting.label,
                setting.key,
                default.unwrap_or_default(),
                explained.expected,
                setting.help().replace('|', "\\|").trim_end_matches('.'),
            )
            .ok();
        }
    }
    text
}

/// Wraps text between words into lines of at most `width` characters.
fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_listed_and_explained() {
        let mut settings = Layered::default();
        settings.set("--set", "image.tonemap", "aces").unwrap();
        let keys = ["image.exposure".to_owned(), "image.tonemap".to_owned()];
        let text = list_text(&settings, &keys);
        assert_eq!(
            text,
            "[image]\nexposure = \"auto\"  # default\ntonemap = \"aces\"   # --set\n"
        );
        let text = explanation(&settings, "image.tonemap").unwrap();
        for part in [
            "image.tonemap = \"aces\"",
            "Khronos PBR Neutral",
            "value    none, reinhard, aces, neutral or agx",
            "default  \"neutral\"",
            "from     --set",
            "panel    Picture: Exposure and colour, “tone map”",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let json = setting_json(&settings, "sun.direction").unwrap();
        assert_eq!(json["value"][1], -1.0);
        assert_eq!(json["from"], "default");
    }

    /// docs/settings.md equals the output of `canopy config --markdown`.
    #[test]
    fn the_page_of_settings_is_up_to_date() {
        let page = include_str!("../../docs/settings.md");
        assert!(
            page == markdown(),
            "run `canopy config --markdown > docs/settings.md`"
        );
    }

    #[test]
    fn settings_without_effect_explain_why() {
        let text = explanation(&Layered::default(), "shadows.map_pcf_width").unwrap();
        assert!(text.contains("no effect while shadows.mode is not map"), "{text}");
    }

    #[test]
    fn text_is_wrapped_at_words() {
        assert_eq!(wrapped("one two three", 7), "one two\nthree");
        assert_eq!(wrapped("unbreakable", 3), "unbreakable");
    }
}
