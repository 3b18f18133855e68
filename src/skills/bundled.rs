//! The files beside a skill's instructions: their names, and their text, confined to what the skill brings.

use super::links::{Links, Refusal};
use super::skill_file::{Form, read_bounded};
use super::walk::PRUNED;
use crate::layers::Diagnostic;
use crate::layers::skill::SkillResources;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Bundled files that a manifest names.
const NAMED: usize = 10;
/// Levels below a skill's folder that are looked at.
const MAX_DEPTH: usize = 6;
/// Entries of a skill's folder that are looked at.
const MAX_ENTRIES: usize = 20_000;

/// A bundled file, as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resource {
    /// Where it was found.
    pub path: PathBuf,
    /// At most `max_resource_bytes` of it.
    pub text: String,
    /// Whether there is more.
    pub cut: bool,
}

/// The first bundled files by name, relative to the skill's folder with `/` between, and how many more there are.
pub(super) fn names(instructions: &Path, form: Form, links: &Links) -> (Vec<String>, usize) {
    let (Some(folder), true) = (instructions.parent(), form.has_folder()) else { return (Vec::new(), 0) };
    below(folder, instructions, links)
}

/// The first scripts and references by name, each relative to its folder, for the catalog.
pub(super) fn resources(instructions: &Path, form: Form, links: &Links) -> SkillResources {
    let (Some(folder), true) = (instructions.parent(), form.has_folder()) else { return SkillResources::default() };
    let named = |name: &str| {
        let folder = folder.join(name);
        // A link counts as any other of the skill's.
        let is_link = folder.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
        let may_be_read = !is_link || (links.followed && links.resolve(&folder).is_ok());
        if may_be_read { below(&folder, instructions, links).0 } else { Vec::new() }
    };
    SkillResources { scripts: named("scripts"), references: named("references") }
}

/// The first files below a folder but for the instructions, and how many more there are.
fn below(folder: &Path, instructions: &Path, links: &Links) -> (Vec<String>, usize) {
    let mut names = Vec::new();
    let mut entries = 0;
    let mut level = vec![(folder.to_owned(), String::new())];
    for _ in 0..=MAX_DEPTH {
        let mut next = Vec::new();
        for (folder, prefix) in level {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                entries += 1;
                let name = entry.file_name().to_string_lossy().into_owned();
                let path = entry.path();
                let kind = entry.file_type().ok();
                let linked_file =
                    || kind.is_some_and(|kind| kind.is_symlink()) && links.followed && path.is_file() && links.resolve(&path).is_ok();
                if entries > MAX_ENTRIES || PRUNED.contains(&name.as_str()) || path == instructions {
                    continue;
                }
                if kind.is_some_and(|kind| kind.is_dir()) {
                    next.push((path, format!("{prefix}{name}/")));
                } else if kind.is_some_and(|kind| kind.is_file()) || linked_file() {
                    names.push(format!("{prefix}{name}"));
                }
            }
        }
        level = next;
    }
    names.sort_unstable();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    (names, more)
}

/// A bundled file's text. What leads out of the skill is refused: `..`, absolute paths, and links as far as the root's rules say.
pub(super) fn read(instructions: &Path, form: Form, links: &Links, path: &str, max_bytes: usize) -> Result<Resource, Diagnostic> {
    let refused = |why: &str| Diagnostic::error("resource-refused", format!("`{path}`: {why}")).at(instructions.to_string_lossy());
    let (Some(folder), true) = (instructions.parent(), form.has_folder()) else {
        return Err(refused("this skill is a single file and brings no others"));
    };
    let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if path.is_empty() || path.contains('\0') || !inside {
        return Err(refused("a path relative to the skill's folder that stays in it is wanted"));
    }
    let found = folder.join(path);
    let canonical = links.resolve(&found).map_err(|refusal| match refusal {
        Refusal::Unreadable(error) => {
            Diagnostic::error("resource-missing", format!("`{path}`: {error}")).at(instructions.to_string_lossy())
        }
        Refusal::LeadsOut(_) => refused("it is a link that leads out of the repository"),
    })?;
    let stays = fs::canonicalize(folder).is_ok_and(|folder| canonical.starts_with(folder));
    if !stays && !links.followed {
        return Err(refused("it is a link that leads out of the skill, and `skills.follow_symlinks` is off"));
    }
    let (bytes, cut) = read_bounded(&canonical, max_bytes).map_err(|error| error.at(found.to_string_lossy()))?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if cut && error.utf8_error().error_len().is_none() => {
            let valid = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(valid);
            String::from_utf8(bytes).unwrap_or_default()
        }
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            return Err(Diagnostic::error("not-utf8", format!("no text: at offset {offset} this is no UTF-8")).at(found.to_string_lossy()));
        }
    };
    Ok(Resource { path: found, text, cut })
}
