//! OBJ.

use super::{Scene, load::Load};
use crate::Result;
use std::path::Path;

pub(super) fn load(_path: &Path, _bytes: &[u8], _load: &mut Load<'_>) -> Result<Scene> {
    Ok(Scene::default())
}
