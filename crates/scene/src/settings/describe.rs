//! What kinds of values settings have, in the words of messages.

/// A kind of values.
pub trait Describe {
    /// What one value is: "a whole number".
    fn what() -> String;
}

/// A kind that lists are made of.
pub trait Element {
    /// Several of them: "whole numbers".
    const SEVERAL: &'static str;
}

impl Describe for u32 {
    fn what() -> String {
        "a whole number".into()
    }
}

impl Describe for i32 {
    fn what() -> String {
        "a whole number".into()
    }
}

impl Describe for u64 {
    fn what() -> String {
        "a whole number".into()
    }
}

impl Describe for f32 {
    fn what() -> String {
        "a number".into()
    }
}

impl Describe for bool {
    fn what() -> String {
        "true or false".into()
    }
}

impl Describe for String {
    fn what() -> String {
        "text in quotes".into()
    }
}

impl Element for u32 {
    const SEVERAL: &'static str = "whole numbers";
}

impl Element for f32 {
    const SEVERAL: &'static str = "numbers";
}

impl Element for String {
    const SEVERAL: &'static str = "texts in quotes";
}

impl<T: Element, const COUNT: usize> Describe for [T; COUNT] {
    fn what() -> String {
        format!("a list of {COUNT} {}", T::SEVERAL)
    }
}

impl<T: Element> Describe for Vec<T> {
    fn what() -> String {
        format!("a list of {}", T::SEVERAL)
    }
}

/// "a, b or c".
pub fn one_of(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}
