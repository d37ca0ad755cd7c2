//! Lines and words of OBJ and MTL files.

use std::borrow::Cow;

/// Converts bytes to UTF-8. UTF-16 is detected with or without its byte order mark. Other encodings are left
/// as they are, which is close enough for [`lines`].
pub(super) fn utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        [a, 0, b, 0, ..] if *a > 0 && *b > 0 => u16::from_le_bytes,
        [0, a, 0, b, ..] if *a > 0 && *b > 0 => u16::from_be_bytes,
        _ => return Cow::Borrowed(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)),
    };
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .skip_while(|c| *c == '\u{feff}')
        .collect();
    Cow::Owned(text.into_bytes())
}

/// Iterates over the lines of a file with their numbers from 1. A line that ends in a backslash continues in
/// the next one.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, Cow<'_, [u8]>)> {
    let mut rest = Some(bytes);
    let mut number = 0;
    let mut one = move || {
        let text = rest?;
        let end = memchr::memchr2(b'\n', b'\r', text);
        let line = &text[..end.unwrap_or(text.len())];
        rest = end.map(|end| {
            let after = &text[end..];
            after.strip_prefix(b"\r\n").unwrap_or(&after[1..])
        });
        number += 1;
        Some((number, line))
    };
    std::iter::from_fn(move || {
        let (number, line) = one()?;
        let Some(start) = line.strip_suffix(b"\\") else {
            return Some((number, line.into()));
        };
        let mut joined = start.to_vec();
        while let Some((_, line)) = one() {
            joined.push(b' ');
            let next = line.strip_suffix(b"\\");
            joined.extend(next.unwrap_or(line));
            if next.is_none() {
                break;
            }
        }
        Some((number, joined.into()))
    })
}

/// Decodes the text of a line as UTF-8, or else as Latin-1.
pub(super) fn decode(text: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(text) {
        Ok(text) => text.into(),
        Err(_) => text.iter().map(|&b| char::from(b)).collect(),
    }
}

/// True if a byte separates words. Other white space may be part of names.
fn blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0b' | b'\x0c' | b'\0')
}

/// Strips the blanks around `text`.
pub(super) fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|b| !blank(b)).unwrap_or(text.len());
    let end = text
        .iter()
        .rposition(|b| !blank(b))
        .map_or(start, |last| last + 1);
    &text[start..end]
}

/// Splits a statement into its keyword and its arguments. Returns `None` for comments and empty lines.
pub(super) fn statement(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = trim(line);
    if matches!(line, [] | [b'#', ..]) {
        return None;
    }
    let end = line.iter().position(blank).unwrap_or(line.len());
    let (keyword, rest) = line.split_at(end);
    Some((keyword, trim(rest)))
}

/// Iterates over the words of a statement up to a comment.
pub(super) fn words(rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = trim(rest);
    std::iter::from_fn(move || {
        if matches!(rest, [] | [b'#', ..]) {
            return None;
        }
        let mut end = 0;
        while end < rest.len() && !blank(&rest[end]) {
            end += 1;
        }
        let mut next = end;
        while next < rest.len() && blank(&rest[next]) {
            next += 1;
        }
        let word = &rest[..end];
        rest = &rest[next..];
        Some(word)
    })
}

/// True if a word is a finite number that tobj can read. It may have a decimal comma.
pub(super) fn is_number(word: &[u8]) -> bool {
    // Fast path: most numbers are digits with a point, and short enough to fit f32, so they need not be
    // parsed.
    let unsigned = word.strip_prefix(b"-").unwrap_or(word);
    let digits = unsigned.iter().filter(|b| b.is_ascii_digit()).count();
    let points = unsigned.iter().filter(|b| **b == b'.').count();
    if (1..=38).contains(&digits) && points < 2 && digits + points == unsigned.len() {
        return true;
    }
    let text = std::str::from_utf8(word).unwrap_or_default();
    let finite = |text: &str| text.parse().is_ok_and(f32::is_finite);
    finite(text) || finite(&text.replacen(',', ".", 1))
}

/// Appends a number in the form that tobj reads.
pub(super) fn push_number(text: &mut Vec<u8>, word: &[u8]) {
    text.extend_from_slice(word);
    let written = text.len() - word.len();
    if let Some(comma) = word.iter().position(|b| *b == b',') {
        text[written + comma] = b'.';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_parsing_accepts_exactly_finite_f32_values() {
        let sound = [
            "0",
            "-1",
            "+1.5",
            ".5",
            "5.",
            "1e-400",
            "1E+3",
            "00000000000000000000000000000000000000000001",
            "1e38",
        ];
        for word in sound {
            assert!(is_number(word.as_bytes()), "{word}");
        }
        for word in [
            "",
            ".",
            "-",
            "+-1",
            "--1",
            "1.2.3",
            "1e",
            "nan",
            "inf",
            "1e39",
            "0x1",
            "1,000,000",
            "1.#INF",
            "\u{b2}",
            "-,",
            "1-2",
        ] {
            assert!(!is_number(word.as_bytes()), "{word}");
        }
        assert!(!is_number(b"9".repeat(39).as_slice()) && !is_number(b"\xff"));
        let mut text = b"v ".to_vec();
        push_number(&mut text, b"-1,25");
        assert_eq!(text, b"v -1.25");
    }
}
