//! The names of the files beside a skill's instructions.

use super::links::Links;
use super::skill_file::Form;
use super::walk::PRUNED;
use crate::layers::skill::SkillResources;
use std::fs;
use std::path::Path;

/// Bundled files that a manifest names.
const NAMED: usize = 10;
/// Levels below a skill's folder that are looked at.
const MAX_DEPTH: usize = 6;
/// Entries of a skill's folder that are looked at.
const MAX_ENTRIES: usize = 20_000;

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
    SkillResources::new(named("scripts"), named("references"))
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
