//! Descriptions of the types of settings, for messages.

/// A type that messages can describe.
pub trait Describe {
    /// Describes one value, such as "a whole number".
    fn type_name() -> String;
}

/// Element type of lists.
pub trait Element {
    /// Description of several elements, such as "whole numbers".
    const SEVERAL: &'static str;
}

impl Describe for u32 {
    fn type_name() -> String {
        "a whole number".into()
    }
}

impl Describe for i32 {
    fn type_name() -> String {
        "a whole number".into()
    }
}

impl Describe for u64 {
    fn type_name() -> String {
        "a whole number".into()
    }
}

impl Describe for f32 {
    fn type_name() -> String {
        "a number".into()
    }
}

impl Describe for bool {
    fn type_name() -> String {
        "true or false".into()
    }
}

impl Describe for String {
    fn type_name() -> String {
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
    fn type_name() -> String {
        format!("a list of {COUNT} {}", T::SEVERAL)
    }
}

impl<T: Element> Describe for Vec<T> {
    fn type_name() -> String {
        format!("a list of {}", T::SEVERAL)
    }
}

/// Joins names as in "a, b or c".
pub fn one_of(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}
