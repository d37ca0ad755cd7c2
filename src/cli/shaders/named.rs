//! Search for shaders by parts of their names.

use crate::{
    Error,
    device::SHADERS,
    gpu::{
        ShaderChoices,
        shader::{self, Composed},
    },
};

/// Composes all shader files and returns those whose path or text contains one of `names`, or all if there
/// are no names. A file that fails to compose is returned with its error. Other files cannot match and are
/// not parsed, which would be slow.
pub(super) fn candidates(
    choices: ShaderChoices,
    names: &[String],
) -> impl Iterator<Item = (&'static str, canopy_bvh::Result<Composed>)> {
    let composed = SHADERS
        .entry_files()
        .map(move |(path, _)| (path, shader::compose(&SHADERS, path, choices)));
    composed.filter(move |(path, composed)| {
        let may_have = |name: &String| match composed {
            Ok(composed) => path.contains(name) || composed.text.contains(name),
            Err(_) => true,
        };
        names.is_empty() || names.iter().any(may_have)
    })
}

/// Returns the error for names without a match.
pub(super) fn nothing_named(names: &[String]) -> Error {
    let names = names.join(", ");
    Error::NotFound(format!("no shader or entry point has {names} in its name"))
}
