//! What a registry holds in memory, counted to the byte.

#[path = "../benches/trees/mod.rs"]
mod trees;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use tower_prompt::layers::skill::{SkillRegistry, SkillSourceKind};
use tower_prompt::skills::{DiscoveryOptions, FolderSkills, Root};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn ten_thousand_skills_are_held_in_less_than_a_kibibyte_each() {
    const COUNT: usize = 10_000;
    let folder = tempfile::tempdir().unwrap();
    trees::make(folder.path(), COUNT);
    let roots = vec![Root::new(folder.path(), SkillSourceKind::Configured, "configured:0")];
    // Each skill has its path, and how long that is is the machine's own affair: a folder for temporary files may lie deep.
    let deeper = isize::try_from(folder.path().as_os_str().len().saturating_sub("/tmp/a-short-one".len())).unwrap();
    let before = Region::new(ALLOCATOR);
    let held = |before: &Region<'_, System>| {
        let change = before.change();
        let held = isize::try_from(change.bytes_allocated).unwrap() - isize::try_from(change.bytes_deallocated).unwrap();
        held / isize::try_from(COUNT).unwrap() - deeper
    };
    let skills = FolderSkills::in_roots(roots, &DiscoveryOptions::default());
    assert_eq!(skills.snapshot().len(), COUNT);
    let cold = held(&before);
    skills.reload();
    let reloaded = held(&before);
    eprintln!("{cold} bytes a skill, {reloaded} after a reload");
    assert!(cold < 1024 && reloaded < 1024, "{cold} and {reloaded} bytes a skill");
}
