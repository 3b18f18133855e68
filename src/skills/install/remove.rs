//! Taking an installed skill away.

use super::destination::Destination;
use super::error::RemoveError;
use super::names;
use crate::layers::skill::{SkillId, SkillRegistry, SkillSourceKind};
use crate::skills::{DiscoveryOptions, FolderSkills, Root, nearest};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Removes the skill with this id from a folder of skills, and says where it was: what stands directly in the folder, by one rename, and then all that is
/// in it. Of a link the link alone. A skill that is too broken to be read goes by its folder's name. Blocks.
pub fn remove(id: &str, folder: &Path) -> Result<PathBuf, RemoveError> {
    let failed = |path: &Path| {
        let path = path.to_string_lossy().into_owned();
        move |reason: io::Error| RemoveError::Io { path, reason }
    };
    let unknown =
        |nearest: Option<&str>| RemoveError::Unknown { id: id.to_owned(), folder: folder.to_owned(), nearest: nearest.map(str::to_owned) };
    if !folder.is_dir() {
        return Err(unknown(None));
    }
    let destination = Destination::existing(folder.to_owned(), false).map_err(failed(folder))?;
    let path = place_of(id, folder, unknown)?;
    let staging = destination.staging().map_err(failed(folder))?;
    destination.take_away(&path, &staging).map_err(failed(&path))?;
    Ok(path)
}

fn place_of(id: &str, folder: &Path, unknown: impl Fn(Option<&str>) -> RemoveError) -> Result<PathBuf, RemoveError> {
    let wanted = SkillId::new(id).map_err(|_| unknown(None))?;
    let root = Root::new(folder, SkillSourceKind::User, "installed");
    let skills = FolderSkills::in_roots(vec![root], &DiscoveryOptions::default()).snapshot();
    if let Some(skill) = skills.get(wanted.as_str()) {
        let file = PathBuf::from(&skill.summary.location);
        let is_flat = !["SKILL.md", "README.md"].iter().any(|name| file.file_name().is_some_and(|file| file.eq_ignore_ascii_case(name)));
        let place = if is_flat { Some(&*file) } else { file.parent() };
        return match place.filter(|place| place.parent() == Some(folder)) {
            Some(place) => Ok(place.to_owned()),
            None => Err(RemoveError::NotDirect { id: id.to_owned(), path: file }),
        };
    }
    let place = folder.join(wanted.as_str());
    if names::check(wanted.as_str()).is_ok() && is_like_a_skill(&place) {
        return Ok(place);
    }
    let ids: Vec<&str> = skills.iter().map(|skill| skill.summary.id.as_str()).collect();
    Err(unknown(nearest(id, ids.iter().copied())))
}

/// Whether what stands there is a skill, be it one that can't be read, a link, or an empty folder: no one misses more than that.
pub(super) fn is_like_a_skill(place: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(place) else { return false };
    let has_instructions = || ["SKILL.md", "skill.md", "README.md"].iter().any(|name| fs::symlink_metadata(place.join(name)).is_ok());
    let is_empty = || fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_none());
    metadata.is_symlink() || metadata.is_dir() && (has_instructions() || is_empty())
}
