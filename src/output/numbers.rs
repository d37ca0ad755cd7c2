//! Formatting of numbers for display.

/// Formats a whole number in groups of three digits: "1,234,567".
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a number of bytes: "12.3 MiB".
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if count < 1024 {
        return format!("{count} bytes");
    }
    let mut value = count as f64 / 1024.0;
    let mut unit = 0;
    // A value that would round to 1024 of a unit uses the next unit.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Formats a duration: "0.42 s", "12 s", "3 min 5 s".
pub fn duration(secs: f64) -> String {
    let whole = secs.round() as u64;
    match whole {
        0..10 => format!("{secs:.2} s"),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Formats a remaining time like [`duration`], but without fractions of a second.
pub fn duration_left(secs: f64) -> String {
    if secs < 10.0 {
        return format!("{:.0} s", secs.ceil());
    }
    duration(secs)
}

/// Formats a number with four significant digits and no trailing zeros: "12.35", "0.001234", "1235000".
pub fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-6..9).contains(&exponent) {
        return format!("{value:.3e}");
    }
    let decimals = (3 - exponent).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if decimals == 0 {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats a fraction as a percentage with one decimal. A fraction above 0 never prints as 0 %, and one below
/// 1 never as 100 %.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        less if less > 0.0 && less < 0.05 => "< 0.1 %".into(),
        more if (99.95..100.0 - 1e-9).contains(&more) => "> 99.9 %".into(),
        percent => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        for (count, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (12_900_000, "12.3 MiB"),
            (5 << 40, "5.0 TiB"),
            (u64::MAX, "16777216.0 TiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn durations_are_readable() {
        for (secs, text) in [
            (0.4249, "0.42 s"),
            (9.4, "9.40 s"),
            (59.4, "59 s"),
            (185.0, "3 min 5 s"),
            (7260.0, "2 h 1 min"),
        ] {
            assert_eq!(duration(secs), text);
        }
    }

    #[test]
    fn percentages_are_not_rounded_to_0_or_100() {
        for (share, text) in [
            (0.0, "0.0 %"),
            (1e-5, "< 0.1 %"),
            (0.1234, "12.3 %"),
            (0.99999, "> 99.9 %"),
            (1.0, "100.0 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn lengths_have_four_digits() {
        for (value, text) in [
            (0.0, "0"),
            (2.0, "2"),
            (12.3456, "12.35"),
            (-0.001_234_4, "-0.001234"),
            (123_456.0, "123456"),
            (1.5e12, "1.500e12"),
        ] {
            assert_eq!(significant(value), text);
        }
    }
}
