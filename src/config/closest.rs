//! Suggestions for mistyped words.

/// Returns the entry of `known` with the smallest edit distance to `word`, ignoring case, if it is small
/// enough or the entry starts with `word`.
pub(crate) fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let is_close = |known: &str, distance: usize| {
        let longest = known.chars().count().max(word.chars().count());
        let begins = word.chars().count() >= 3 && known.to_lowercase().starts_with(&word);
        begins || distance <= (longest / 3).max(1)
    };
    let measured = known
        .into_iter()
        .map(|known| (strsim::osa_distance(&word, &known.to_lowercase()), known));
    measured
        .filter(|(distance, known)| is_close(known, *distance))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Returns the entry of `keys`, `SECTION.KEY`, that is most similar to `key`, if it is similar enough. A name
/// that only one section has matches even with a wrong section or with none.
pub(super) fn closest_key(key: &str, keys: &[String]) -> Option<String> {
    let name_of = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let mut same_name = keys.iter().filter(|known| name_of(known) == name_of(key));
    if let (Some(only), None) = (same_name.next(), same_name.next()) {
        return Some(only.clone());
    }
    closest(key, keys.iter().map(String::as_str)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn mistyped_words_find_the_closest_known_word() {
        let known = ["render", "view", "info", "bench", "config", "adapters"];
        for (word, expected) in [
            ("rendr", Some("render")),
            ("rendering", Some("render")),
            ("inof", Some("info")),
            ("adapt", Some("adapters")),
            ("conf", Some("config")),
            ("teapot", None),
            ("x", None),
        ] {
            assert_eq!(closest(word, known), expected, "{word}");
        }
    }
}
