//! A path of any text to a skill's file, from a host and from a model: whatever it says and whatever links stand in the skill's folder, a host reads nothing
//! outside of the workspace, and a model nothing outside of the skill.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use tower::ServiceExt;
use tower_prompt::layers::skill::SkillToolCall;
use tower_prompt::{Assembly, Environment, Workspace};

/// Stands in a file outside of the workspace.
const OUTSIDE: &str = "hush";
/// Stands in files around the skill.
const AROUND: &str = "whisper";
/// Bytes of a file that are read.
const MAX: usize = 200;

struct World {
    assembly: Assembly,
    /// The skill's folder.
    folder: PathBuf,
    runtime: tokio::runtime::Runtime,
}

/// A skill with files and links in it, and files around it.
fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let root = std::env::temp_dir().join(format!("tower-prompt-fuzz-{}", std::process::id()));
        let work = root.join("work");
        let folder = work.join("skills/a");
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().expect("it is in a folder")).and_then(|()| fs::write(path, text)).expect("a file for a while");
        };
        write(folder.join("SKILL.md"), "---\nname: a\ndescription: d\n---\nBody.");
        write(folder.join("references/long.md"), &"word ".repeat(100));
        write(folder.join("scripts/x.sh"), "echo x");
        write(folder.join("b\u{301} c/\u{4e2d}.md"), "text");
        write(folder.join("bytes"), "a\0b");
        write(root.join("outside.md"), OUTSIDE);
        write(work.join("around.md"), AROUND);
        write(work.join("skills/around.md"), AROUND);
        #[cfg(unix)]
        for (link, to) in [
            ("out", "../../../outside.md"),
            ("around", "../../around.md"),
            ("up", "../.."),
            ("in", "references"),
            ("loop", "loop"),
            ("absolute", &*root.to_string_lossy()),
        ] {
            std::os::unix::fs::symlink(to, folder.join(link)).expect("a link for a while");
        }
        let config = format!("skills.max_resource_bytes = {MAX}\nskills.compat = []");
        let environment = Environment::new(&work).variable("BCODE_CONFIG_TOML", config);
        let assembly = Assembly::load(&environment, &Workspace::at(&work)).expect("the configuration is right").answer_skill_tool();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("one thread");
        World { assembly, folder, runtime }
    })
}

fuzz_target!(|text: &str| {
    let world = world();
    // What is named may be repeated.
    let letters: String = text.chars().filter(char::is_ascii_alphabetic).collect();
    if [OUTSIDE, AROUND].iter().any(|secret| letters.contains(secret)) {
        return;
    }
    let read = world.assembly.skills().resource("a", text);
    match &read {
        Ok(resource) => {
            assert!(resource.text.len() <= MAX && resource.path.starts_with(&world.folder), "{text:?}: {resource:?}");
            assert!(!resource.text.contains(OUTSIDE), "{text:?}: {resource:?}");
        }
        Err(found) => assert!(!found.message.is_empty() && !found.message.contains(OUTSIDE) && !found.message.contains(AROUND)),
    }
    let tool = world.assembly.skill_tool();
    let path = json!({"operation": "read_resource", "name": "a", "path": text});
    let any = serde_json::from_str::<Value>(text).unwrap_or_else(|_| text.into());
    for arguments in [path, any] {
        let Ok(answer) = world.runtime.block_on(tool.clone().oneshot(SkillToolCall::new(arguments)));
        assert!(
            !answer.text.is_empty() && ![OUTSIDE, AROUND].iter().any(|secret| answer.text.contains(secret)),
            "{text:?}: {}",
            answer.text
        );
    }
});
