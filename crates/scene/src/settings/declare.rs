//! Macros that declare settings: a choice, a section, and a set of sections.

use super::DEFAULTS;
use serde::de::DeserializeOwned;

/// A section, one of its keys, and a description of the valid values.
pub type Expectation = (&'static str, &'static str, String);

/// Sections of settings with the declarations of their keys.
pub trait Sections {
    /// Returns the first key whose value is not allowed, in the form `SECTION.KEY`, and the reason.
    fn value_fault(&self) -> Option<(String, String)>;

    /// Returns every key with a description of its valid values.
    fn expectations() -> Vec<Expectation>;

    /// Returns the minimum and maximum of each key that is a number within a range.
    fn ranges() -> Vec<(&'static str, &'static str, [f64; 2])>;

    /// Returns the declarations, in words, of keys for which not every value is allowed.
    fn limits() -> Vec<Expectation>;
}

/// Returns the defaults of some sections, from `config.toml`.
#[expect(clippy::expect_used, reason = "the file is compiled in, and tests parse it")]
pub fn defaults<T: DeserializeOwned>() -> T {
    toml::from_str(DEFAULTS).expect("config.toml is complete and valid")
}

/// Declares an enum with a word for each variant, which is used in `config.toml`, on the command line and in
/// lists.
#[macro_export]
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $word)] $variant),* }

        impl $name {
            /// All variants, in the order of lists.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$variant),*];

            /// Returns the word in `config.toml` and in lists.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),*
                }
            }
        }

        impl $crate::settings::describe::Describe for $name {
            fn type_name() -> String {
                $crate::settings::describe::one_of(&Self::ALL.map(Self::name))
            }
        }
    };
}

/// Declares a section. The range of a key follows it, as a constant of the section.
#[macro_export]
macro_rules! section {
    (
        $(#[$doc:meta])*
        $name:ident {
            $($key:ident: $type:ty $(=> $limit:ident: $limit_type:ty = $value:expr)?),* $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(missing_docs, reason = "config.toml is the documentation, key by key")]
        pub struct $name { $(pub $key: $type),* }

        impl $name {
            $($(
                #[doc = concat!("Range of `", stringify!($key), "`.")]
                pub const $limit: $limit_type = $value;
            )?)*

            /// Returns the first key whose value is not allowed, and the reason.
            pub fn fault(&self) -> Option<(&'static str, String)> {
                $($(
                    let why = $crate::settings::allowed::Allows::<$type>::fault(&Self::$limit, &self.$key);
                    if let Some(why) = why {
                        return Some((stringify!($key), why));
                    }
                )?)*
                None
            }

            /// Returns every key with a description of its valid values.
            pub fn expectations() -> Vec<(&'static str, String)> {
                vec![$((stringify!($key), $crate::expected!($type $(, Self::$limit)?)),)*]
            }

            /// Returns the minimum and maximum of each key that is a number within a range.
            pub fn ranges() -> Vec<(&'static str, [f64; 2])> {
                let all: Vec<(&'static str, Option<[f64; 2]>)> = vec![$($((
                    stringify!($key),
                    $crate::settings::allowed::Allows::<$type>::range(&Self::$limit),
                ),)?)*];
                all.into_iter().filter_map(|(key, ends)| Some((key, ends?))).collect()
            }

            /// Returns the declarations, in words, of keys for which not every value is allowed.
            pub fn limits() -> Vec<(&'static str, String)> {
                vec![$($((
                    stringify!($key),
                    $crate::settings::allowed::Allows::<$type>::text(&Self::$limit),
                ),)?)*]
            }
        }
    };
}

/// Describes the valid values of a type within the declared limit.
#[doc(hidden)]
#[macro_export]
macro_rules! expected {
    ($type:ty) => {
        <$type as $crate::settings::describe::Describe>::type_name()
    };
    ($type:ty, $limit:expr) => {
        $crate::settings::allowed::Allows::<$type>::expected(
            &$limit,
            &<$type as $crate::settings::describe::Describe>::type_name(),
        )
    };
}

/// Declares a struct of sections. It may extend the sections of another crate, and then dereferences to them.
/// Its defaults are in `config.toml`.
#[macro_export]
macro_rules! settings {
    (
        $(#[$doc:meta])*
        $name:ident { $($section:ident: $type:ty,)* }
        $(over $base:ident: $base_type:ty;)?
        $(with $free:ident: $free_type:ty;)?
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[expect(missing_docs, reason = "config.toml is the documentation, section by section")]
        pub struct $name {
            $(#[serde(flatten)] pub $base: $base_type,)?
            $(pub $section: $type,)*
            $(pub $free: $free_type,)?
        }

        impl $crate::settings::Sections for $name {
            fn value_fault(&self) -> Option<(String, String)> {
                $(
                    let fault = $crate::settings::Sections::value_fault(&self.$base);
                    if fault.is_some() {
                        return fault;
                    }
                )?
                $(
                    if let Some((key, why)) = self.$section.fault() {
                        return Some((format!("{}.{key}", stringify!($section)), why));
                    }
                )*
                None
            }

            fn expectations() -> Vec<$crate::settings::Expectation> {
                let mut all = Vec::new();
                $(all.extend(<$base_type as $crate::settings::Sections>::expectations());)?
                $(
                    let section = <$type>::expectations().into_iter();
                    all.extend(section.map(|(key, text)| (stringify!($section), key, text)));
                )*
                all
            }

            fn ranges() -> Vec<(&'static str, &'static str, [f64; 2])> {
                let mut all = Vec::new();
                $(all.extend(<$base_type as $crate::settings::Sections>::ranges());)?
                $(
                    let section = <$type>::ranges().into_iter();
                    all.extend(section.map(|(key, ends)| (stringify!($section), key, ends)));
                )*
                all
            }

            fn limits() -> Vec<$crate::settings::Expectation> {
                let mut all = Vec::new();
                $(all.extend(<$base_type as $crate::settings::Sections>::limits());)?
                $(
                    let section = <$type>::limits().into_iter();
                    all.extend(section.map(|(key, text)| (stringify!($section), key, text)));
                )*
                all
            }
        }

        impl Default for $name {
            fn default() -> Self {
                $crate::settings::defaults()
            }
        }

        $(
            impl std::ops::Deref for $name {
                type Target = $base_type;

                fn deref(&self) -> &$base_type {
                    &self.$base
                }
            }

            impl std::ops::DerefMut for $name {
                fn deref_mut(&mut self) -> &mut $base_type {
                    &mut self.$base
                }
            }
        )?
    };
}
