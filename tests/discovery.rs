//! Finding skills in real folders: the rows of inputs that broke other systems, each by its name.

use std::fs;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use tower_prompt::layers::skill::{SkillLoadError, SkillRegistry, SkillSourceKind, SkillText, SkillVisibility};
use tower_prompt::skills::{DiscoveryOptions, FolderSkills, Root};
use tower_prompt::{Environment, Workspace};

/// A workspace and a home, side by side in a folder that goes away with the test.
struct Place {
    folder: TempDir,
    options: DiscoveryOptions,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["work", "home"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder, options: DiscoveryOptions::default() }
    }
    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }
    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }
    /// A skill whose description is its path.
    fn skill(&self, path: &str) -> PathBuf {
        self.write(path, format!("---\ndescription: {path}\n---\nBody of {path}.\n"))
    }
    fn environment(&self) -> Environment {
        Environment::new(self.at("work")).home(self.at("home"))
    }
    fn find(&self) -> FolderSkills {
        FolderSkills::discover(&self.options, &self.environment(), &Workspace::at(self.at("work")))
    }
}

fn ids(skills: &FolderSkills) -> Vec<String> {
    skills.snapshot().iter().map(|skill| skill.summary.id.to_string()).collect()
}
/// Codes of what was found, without notes on single fields.
fn codes(skills: &FolderSkills) -> Vec<String> {
    skills.snapshot().diagnostics().iter().map(|found| found.code.to_string()).collect()
}
fn location(skills: &FolderSkills, id: &str) -> PathBuf {
    skills.snapshot().get(id).unwrap().summary.location.clone().into()
}

#[test]
fn a_home_that_is_a_workspace_without_trust_brings_no_skill() {
    let place = Place::new();
    for path in ["skills/a", ".claude/skills/b", ".agents/skills/c", ".config/bcode/skills/d", ".local/state/bcode/skills/e"] {
        place.skill(&format!("work/{path}/SKILL.md"));
    }
    let environment = Environment::new(place.at("work")).home(place.at("work"));
    let workspace = Workspace::at(place.at("work"));
    assert_eq!(ids(&FolderSkills::discover(&place.options, &environment, &workspace)), ["a", "b", "c", "d", "e"]);
    assert_eq!(ids(&FolderSkills::discover(&place.options, &environment, &workspace.untrusted())), [""; 0]);
}

#[test]
fn names_of_bundled_files_are_read_again_and_the_snapshot_stays_where_none_changed() {
    let mut place = Place::new();
    place.options.include_resources = true;
    for id in ["a", "b"] {
        let file = place.skill(&format!("work/skills/{id}/SKILL.md"));
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        fs::File::options().write(true).open(file).unwrap().set_modified(long_ago).unwrap();
    }
    place.write("work/skills/a/scripts/one.sh", "");
    let skills = place.find();
    let before = skills.snapshot();
    skills.reload();
    assert!(skills.snapshot().is_same(&before));
    place.write("work/skills/a/scripts/two.sh", "");
    skills.reload();
    let scripts = |id: &str| skills.snapshot().get(id).unwrap().summary.resources.scripts.clone();
    assert_eq!((scripts("a"), scripts("b")), (vec!["one.sh".to_owned(), "two.sh".to_owned()], vec![]));
    assert!(Arc::ptr_eq(&skills.snapshot().get("b").unwrap().summary, &before.get("b").unwrap().summary));
    assert_eq!(before.get("a").unwrap().summary.resources.scripts, ["one.sh"]);
}

struct Unpark(std::thread::Thread);
impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
fn wait<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
fn load(skills: &FolderSkills, id: &str) -> Result<SkillText, SkillLoadError> {
    wait(skills.snapshot().get(id).unwrap().content.load())
}

#[test]
fn roots_in_order_and_the_first_of_an_id_wins() {
    let mut place = Place::new();
    let roots = [
        ("work/.bcode/skills", "repo:.bcode/skills"),
        ("work/skills", "repo:skills"),
        ("work/.agents/skills", "repo:.agents/skills"),
        ("work/.claude/skills", "repo:.claude/skills"),
        ("home/.config/bcode/skills", "user-config:skills"),
        ("home/.local/state/bcode/skills", "user-state:skills"),
        ("home/.agents/skills", "user:.agents/skills"),
        ("home/.claude/skills", "user:.claude/skills"),
        ("extra", "configured:0"),
        ("bundled", "host"),
    ];
    place.options.paths = vec![place.at("extra")];
    place.options.host_roots = vec![Root::new(place.at("bundled"), SkillSourceKind::Bundled, "host")];
    for (number, (root, _)) in roots.iter().enumerate() {
        place.skill(&format!("{root}/same/SKILL.md"));
        place.skill(&format!("{root}/own-{number}/SKILL.md"));
    }
    let skills = place.find();
    let snapshot = skills.snapshot();
    for (number, (root, label)) in roots.iter().enumerate() {
        let summary = &snapshot.get(&format!("own-{number}")).unwrap().summary;
        assert_eq!((summary.source.label.as_str(), summary.source.path.as_deref()), (*label, place.at(root).to_str()));
    }
    assert_eq!(location(&skills, "same"), place.at("work/.bcode/skills/same/SKILL.md"));
    let shadowed: Vec<_> = snapshot.diagnostics().iter().filter(|found| found.code == "skill-shadowed").collect();
    assert_eq!(shadowed.len(), roots.len() - 1);
    let winner = place.at("work/.bcode/skills/same/SKILL.md");
    assert!(shadowed.iter().all(|found| found.message.contains(winner.to_str().unwrap()) && found.path.is_some()));
    assert_eq!(load(&skills, "same").unwrap().body, "Body of work/.bcode/skills/same/SKILL.md.\n");
    assert_eq!(skills.roots().len(), roots.len());
}

#[test]
fn an_untrusted_workspace_adds_nothing() {
    let place = Place::new();
    place.skill("work/skills/a/SKILL.md");
    place.skill("work/.claude/skills/b/SKILL.md");
    place.skill("home/.claude/skills/c/SKILL.md");
    let skills = FolderSkills::discover(&place.options, &place.environment(), &Workspace::at(place.at("work")).untrusted());
    assert_eq!(ids(&skills), ["c"]);
}

#[test]
fn forms_of_skills() {
    let place = Place::new();
    let root = "work/skills";
    place.skill(&format!("{root}/a/SKILL.md"));
    place.skill(&format!("{root}/a/b/SKILL.md"));
    place.skill(&format!("{root}/a/README.md"));
    place.skill(&format!("{root}/lower/skill.md"));
    place.skill(&format!("{root}/upper/SKILL.MD"));
    place.skill(&format!("{root}/readme/README.md"));
    place.write(&format!("{root}/group/README.md"), "# No skill\n");
    place.skill(&format!("{root}/group/inner/SKILL.md"));
    place.skill(&format!("{root}/group/not-flat-here.md"));
    place.skill(&format!("{root}/flat.md"));
    place.write(&format!("{root}/notes.md"), "# Notes\n");
    place.write(&format!("{root}/large-notes.md"), vec![b'x'; 400_000]);
    place.skill(&format!("{root}/README.md"));
    place.skill(&format!("{root}/.hidden.md"));
    place.write(&format!("{root}/plain/SKILL.md"), "# Plain\n\nDoes things.\n");
    for pruned in [".git", "node_modules", "target"] {
        place.skill(&format!("{root}/{pruned}/x/SKILL.md"));
        place.skill(&format!("{root}/group/{pruned}/y/SKILL.md"));
    }
    place.write("work/.gitignore", "skills\n");
    let skills = place.find();
    assert_eq!(ids(&skills), ["a", "flat", "inner", "lower", "plain", "readme", "upper"]);
    assert_eq!(codes(&skills), ["instruction-file-name", "front-matter-missing", "instruction-file-name"]);
    assert_eq!(skills.snapshot().get("plain").unwrap().summary.description, "Does things.");
    assert_eq!(load(&skills, "plain").unwrap().body, "# Plain\n\nDoes things.\n");
}

#[test]
fn a_root_with_an_instruction_file_is_one_skill() {
    let mut place = Place::new();
    place.skill("one/SKILL.md");
    place.skill("one/below/SKILL.md");
    place.options.paths = vec![place.at("one")];
    assert_eq!(ids(&place.find()), ["one"]);
}

#[test]
fn skills_hidden_by_a_file_of_their_root_are_told_of() {
    for file in ["SKILL.md", "skill.md"] {
        let place = Place::new();
        place.skill(&format!("work/skills/{file}"));
        for folder in ["scripts", "references"] {
            place.write(&format!("work/skills/{folder}/a.txt"), "a");
        }
        let skills = place.find();
        assert!(!codes(&skills).contains(&"root-is-skill".to_owned()), "{file}: its own folders");
        place.skill("work/skills/hidden/SKILL.md");
        skills.reload();
        assert_eq!(ids(&skills), ["skills"]);
        let found = skills.snapshot().diagnostics().iter().find(|found| found.code == "root-is-skill").cloned().unwrap();
        assert!(found.message.contains("3 folders beside it"), "{found}");
        assert_eq!(found.path.as_deref(), Some(&*place.at("work/skills").to_string_lossy()));
    }
}

#[test]
fn names_of_any_script() {
    let place = Place::new();
    for name in ["数据分析", "café", "навык", "हिन्दी", "ไทย"] {
        place.skill(&format!("work/skills/{name}/SKILL.md"));
    }
    let skills = place.find();
    assert_eq!(skills.snapshot().len(), 5);
    assert_eq!(codes(&skills), [""; 0]);
    assert!(skills.snapshot().find("cafe\u{301}").is_some());
}

#[test]
fn depth_and_number_are_bounded_and_said() {
    let place = Place::new();
    place.skill("work/skills/1/2/3/4/5/six/SKILL.md");
    place.skill("work/.claude/skills/1/2/3/4/5/6/seven/SKILL.md");
    for number in 0..2_100 {
        fs::create_dir_all(place.at(&format!("work/.agents/skills/{number:04}"))).unwrap();
    }
    place.skill("work/.agents/skills/0000-early/SKILL.md");
    place.skill("work/.agents/skills/9999-late/SKILL.md");
    let skills = place.find();
    assert_eq!(ids(&skills), ["0000-early", "six"]);
    assert_eq!(codes(&skills), ["folder-limit", "depth-limit"]);
}

#[test]
fn files_that_are_no_skills_are_bounded_too() {
    let place = Place::new();
    for number in 0..2_100 {
        place.write(&format!("work/skills/{number:04}.md"), "# Notes\n");
        place.write(&format!("work/skills/{number:04}.txt"), "notes");
    }
    place.skill("work/skills/0000-early.md");
    place.skill("work/skills/9999-late.md");
    place.skill("work/skills/folder/SKILL.md");
    let skills = place.find();
    assert_eq!((ids(&skills), codes(&skills)), (vec!["0000-early".to_owned(), "folder".to_owned()], vec!["file-limit".to_owned()]));
    let said = skills.snapshot().diagnostics()[0].message.clone();
    assert!(said.contains("`2000.md`"), "{said}");
    skills.reload();
    assert_eq!((ids(&skills).len(), codes(&skills).len()), (2, 1));
}

#[test]
fn skills_themselves_are_not_counted() {
    let place = Place::new();
    for number in 0..2_500 {
        place.skill(&format!("work/skills/s{number:04}/SKILL.md"));
    }
    let skills = place.find();
    assert_eq!(skills.snapshot().len(), 2_500);
    assert_eq!(codes(&skills), [""; 0]);
    let list = serde_json::to_string(&skills.snapshot().list()).unwrap();
    assert_eq!(list, serde_json::to_string(&place.find().snapshot().list()).unwrap());
    skills.reload();
    assert_eq!(list, serde_json::to_string(&skills.snapshot().list()).unwrap());
}

#[test]
fn the_order_in_which_files_were_made_changes_nothing() {
    let place = Place::new();
    let made = |folder: &str, names: &mut dyn Iterator<Item = &str>| {
        for name in names {
            place.write(&format!("{folder}/{name}/SKILL.md"), format!("---\nid: same\nname: {name}\ndescription: d\n---\n"));
        }
        let root = Root::new(place.at(folder), SkillSourceKind::Configured, "x");
        let skills = FolderSkills::in_roots(vec![root], &DiscoveryOptions::default());
        skills.snapshot().get("same").unwrap().summary.name.clone()
    };
    let names = ["b", "a", "c", "a-b"];
    assert_eq!(made("one", &mut names.into_iter()), "a-b");
    assert_eq!(made("two", &mut names.into_iter().rev()), "a-b");
}

#[test]
fn the_same_folder_reached_twice_is_one_skill() {
    let mut place = Place::new();
    place.skill("work/.claude/skills/a/SKILL.md");
    place.options.paths = vec![place.at("work/.claude/skills"), place.at("work/.claude/../.claude/skills")];
    // HOME is the repository.
    let environment = Environment::new(place.at("work")).home(place.at("work"));
    let skills = FolderSkills::discover(&place.options, &environment, &Workspace::at(place.at("work")));
    assert_eq!((ids(&skills), codes(&skills)), (vec!["a".to_owned()], vec![]));
}

#[test]
fn a_linked_worktree_is_not_searched() {
    let place = Place::new();
    place.skill("work/skills/a/SKILL.md");
    place.skill("work/skills/tree/skills/a/SKILL.md");
    place.write("work/skills/tree/.git", "gitdir: /somewhere/.git/worktrees/tree\n");
    place.skill("work/skills/module/skills/b/SKILL.md");
    place.write("work/skills/module/.git", "gitdir: ../../.git/modules/module\n");
    let skills = place.find();
    assert_eq!((ids(&skills), codes(&skills)), (vec!["a".to_owned(), "b".to_owned()], vec!["worktree-skipped".to_owned()]));
}

#[test]
fn broken_files_cost_a_diagnostic_each() {
    let place = Place::new();
    place.skill("work/skills/good/SKILL.md");
    place.write("work/skills/unclosed/SKILL.md", "---\nname: a\n");
    place.write("work/skills/bytes/SKILL.md", b"---\ndescription: \xFF\n---\n");
    place.write("work/skills/zeros/SKILL.md", [0; 100]);
    place.write("work/skills/off/SKILL.md", "---\ndescription: d\n---\n");
    place.write("work/skills/empty/SKILL.md", "");
    let huge = fs::File::create(place.write("work/skills/sparse/SKILL.md", "")).unwrap();
    huge.set_len(10_000_000_000).unwrap();
    let skills = place.find();
    assert_eq!(ids(&skills), ["good"]);
    assert_eq!(codes(&skills), ["file-not-utf8", "text-missing", "id-invalid", "file-too-large", "front-matter-unclosed", "file-not-text"]);
    assert!(skills.snapshot().diagnostics().iter().all(|found| found.path.as_deref().is_some_and(|path| path.ends_with("SKILL.md"))));
}

#[test]
fn long_front_matter_and_missing_descriptions_are_read_whole() {
    let place = Place::new();
    let long = "x".repeat(20_000);
    place.write("work/skills/long/SKILL.md", format!("---\nmore: {long}\ndescription: d\n---\nbody"));
    place.write("work/skills/late/SKILL.md", format!("---\nname: late\n---\n<!-- {long} -->\n\nLate paragraph.\n"));
    place.write("work/skills/broken/SKILL.md", format!("---\ndescription: a: b\n---\n{long}"));
    let snapshot = place.find().snapshot();
    let description = |id: &str| snapshot.get(id).unwrap().summary.description.clone();
    assert_eq!((description("long"), description("late"), description("broken")), ("d".into(), "Late paragraph.".into(), "a: b".into()));
}

#[test]
fn reload_shows_the_new_state_and_no_stale_path() {
    let place = Place::new();
    place.skill("work/skills/a/SKILL.md");
    place.skill("work/skills/b/SKILL.md");
    let skills = place.find();
    let before = skills.snapshot();
    fs::rename(place.at("work/skills/a"), place.at("work/skills/moved")).unwrap();
    place.write("work/skills/b/SKILL.md", "---\ndescription: other\n---\n");
    place.skill("work/skills/c/SKILL.md");
    assert_eq!(ids(&skills), ["a", "b"]);
    let error = load(&skills, "a").unwrap_err();
    assert_eq!((error.code.as_ref(), error.path.as_deref()), ("skill-vanished", place.at("work/skills/a/SKILL.md").to_str()));
    wait(skills.reload_in_background());
    assert_eq!(ids(&skills), ["b", "c", "moved"]);
    assert_eq!(skills.snapshot().get("b").unwrap().summary.description, "other");
    assert_eq!(before.len(), 2);
}

#[test]
fn a_settled_file_is_read_again_only_when_its_stamp_changes() {
    let place = Place::new();
    let path = place.write("work/skills/a/SKILL.md", "---\ndescription: one\n---\n");
    let long_ago = SystemTime::now() - Duration::from_secs(1_000);
    let set = |time| fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    set(long_ago);
    let skills = place.find();
    skills.reload();
    fs::write(&path, "---\ndescription: two\n---\n").unwrap();
    set(long_ago - Duration::from_secs(1));
    skills.reload();
    assert_eq!(skills.snapshot().get("a").unwrap().summary.description, "two");
}

#[test]
fn a_body_is_that_of_the_file_now_or_none() {
    let mut place = Place::new();
    place.options.max_skill_file_bytes = 60.try_into().unwrap();
    let path = place.write("work/skills/a/SKILL.md", "---\ndescription: d\n---\nold");
    place.write("work/skills/flat.md", "---\ndescription: d\n---\nold");
    let skills = place.find();
    assert_eq!(load(&skills, "a").unwrap().body, "old");
    fs::write(&path, "---\ndescription: d\n---\nnew").unwrap();
    assert_eq!(load(&skills, "a").unwrap().body, "new");
    fs::write(&path, format!("---\ndescription: d\n---\nline\n{}", "中".repeat(30))).unwrap();
    let cut = load(&skills, "a").unwrap();
    assert_eq!((cut.body.as_str(), cut.diagnostics[0].code.as_ref()), ("line\n", "file-cut"));
    for broken in ["---\ndescription: d\n", "---\nid: b\ndescription: d\n---\n"] {
        fs::write(&path, broken).unwrap();
        assert_eq!(load(&skills, "a").unwrap_err().code, "skill-changed");
    }
    place.write("work/skills/flat.md", "no front matter");
    assert_eq!(load(&skills, "flat").unwrap_err().code, "skill-changed");
}

#[test]
fn disabled_and_overridden_by_id_or_by_a_name_of_one_skill() {
    use SkillVisibility::{Auto, Manual, Off};

    let mut place = Place::new();
    for (id, name) in [("a", "Alpha"), ("b", "Both"), ("c", "Both"), ("d", "Delta")] {
        place.write(&format!("work/skills/{id}/SKILL.md"), format!("---\nid: {id}\nname: {name}\ndescription: d\n---\n"));
    }
    place.options.disabled = ["Alpha".to_owned(), "Both".to_owned()].into();
    place.options.overrides = [("Delta".to_owned(), SkillVisibility::Off), ("b".to_owned(), SkillVisibility::Manual)].into();
    let snapshot = place.find().snapshot();
    let shown: Vec<_> = snapshot.iter().map(|skill| (skill.summary.disabled, skill.summary.visibility)).collect();
    assert_eq!(shown, [(true, Auto), (false, Manual), (false, Auto), (true, Off)]);
}

#[test]
fn a_manifest_names_the_bundled_files() {
    let place = Place::new();
    place.write("work/skills/a/SKILL.md", "---\ndescription: a: b\ntags: x\n---\n");
    for number in 0..12 {
        place.write(&format!("work/skills/a/references/{number:02}.md"), "x");
    }
    place.write("work/skills/a/LICENSE", "x");
    place.write("work/skills/a/node_modules/x.js", "x");
    let manifest = place.find().manifest("a").unwrap();
    assert_eq!(manifest.files.len(), 10);
    assert_eq!((manifest.files[0].as_str(), manifest.files[1].as_str(), manifest.more_files), ("LICENSE", "references/00.md", 3));
    assert_eq!(manifest.other_fields["tags"], "x");
    let found: Vec<_> = manifest.diagnostics.iter().map(|found| (found.code.as_ref(), found.line, found.column)).collect();
    assert_eq!(found, [("front-matter-repaired", Some(2), Some(14)), ("field-unknown", Some(3), Some(1))]);
}

#[test]
fn resources_stay_in_the_skill() {
    let mut place = Place::new();
    place.options.max_resource_bytes = 4.try_into().unwrap();
    place.skill("work/skills/web-scraper/SKILL.md");
    place.write("work/skills/web-scraper/docs/a.md", "a中bc");
    place.write("work/skills/web-scraper/bytes", b"\xFF");
    place.write("work/skills/web-scraper-secret/key", "secret");
    place.write("secret", "secret");
    let skills = place.find();
    let resource = skills.resource("web-scraper", "docs/./a.md").unwrap();
    assert_eq!((resource.text.as_str(), resource.is_cut), ("a中", true));
    let absolute = place.at("secret").to_string_lossy().into_owned();
    for path in ["../../secret", "../web-scraper-secret/key", "docs/../../web-scraper-secret/key", absolute.as_str(), ""] {
        assert_eq!(skills.resource("web-scraper", path).unwrap_err().code, "resource-refused", "{path}");
    }
    assert_eq!(skills.resource("web-scraper", "docs").unwrap_err().code, "file-not-regular");
    assert_eq!(skills.resource("web-scraper", "none").unwrap_err().code, "resource-missing");
    assert_eq!(skills.resource("web-scraper", "bytes").unwrap_err().code, "file-not-utf8");
    assert_eq!(skills.resource("none", "a").unwrap_err().code, "skill-unknown");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn link(to: impl AsRef<Path>, at: PathBuf) {
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(to, at).unwrap();
    }

    #[test]
    fn links_of_the_user_lead_anywhere_and_loops_end() {
        let place = Place::new();
        place.skill("store/root/a/SKILL.md");
        place.skill("store/b/SKILL.md");
        place.skill("store/c.md");
        link(place.at("store/root"), place.at("home/.claude/skills"));
        link(place.at("store/b"), place.at("home/.agents/skills/b"));
        link(place.at("store/c.md"), place.at("home/.agents/skills/single/SKILL.md"));
        link(place.at("store/c.md"), place.at("home/.agents/skills/again/SKILL.md"));
        link(place.at("home/.agents/skills"), place.at("home/.agents/skills/group/loop"));
        link("nowhere", place.at("home/.agents/skills/dangling"));
        link("nowhere", place.at("home/.agents/skills/broken/SKILL.md"));
        let skills = place.find();
        assert_eq!(ids(&skills), ["a", "again", "b"]);
        assert_eq!(codes(&skills), ["link-unreadable"]);
        assert_eq!(location(&skills, "a"), place.at("home/.claude/skills/a/SKILL.md"));
        assert_eq!(load(&skills, "again").unwrap().body, "Body of store/c.md.\n");
    }

    #[test]
    fn links_of_a_repository_stay_in_it() {
        let place = Place::new();
        place.skill("outside/a/SKILL.md");
        place.write("outside/secret", "secret");
        place.skill("work/shared/inside/SKILL.md");
        place.skill("work/skills/real/SKILL.md");
        link(place.at("outside/a"), place.at("work/skills/out"));
        link(place.at("outside/a/SKILL.md"), place.at("work/skills/out-file/SKILL.md"));
        link("../shared/inside", place.at("work/skills/in"));
        link(place.at("outside"), place.at("work/.claude/skills"));
        link(place.at("outside/secret"), place.at("work/skills/real/secret"));
        let skills = place.find();
        assert_eq!(ids(&skills), ["in", "real"]);
        assert_eq!(codes(&skills), ["link-refused", "link-refused", "link-refused"]);
        assert_eq!(skills.resource("real", "secret").unwrap_err().code, "resource-refused");
        assert_eq!(skills.manifest("real").unwrap().files, [""; 0]);
        // A link that leads out only later.
        fs::remove_dir_all(place.at("work/skills/real")).unwrap();
        link(place.at("outside/a"), place.at("work/skills/real"));
        assert_eq!(load(&skills, "real").unwrap_err().code, "link-refused");
    }

    #[test]
    fn no_link_is_followed_where_they_are_off() {
        let mut place = Place::new();
        place.options.follow_symlinks = false;
        place.skill("store/a/SKILL.md");
        place.skill("work/real/SKILL.md");
        place.skill("work/skills/real/SKILL.md");
        link(place.at("store"), place.at("home/.claude/skills"));
        link(place.at("store/a"), place.at("home/.agents/skills/a"));
        link(place.at("store/a/SKILL.md"), place.at("home/.agents/skills/b/SKILL.md"));
        link("../real", place.at("work/skills/link"));
        link(place.at("work/real"), place.at("work/.agents"));
        place.skill("work/real/skills/x/SKILL.md");
        let skills = place.find();
        assert_eq!(ids(&skills), ["real"]);
        assert_eq!(codes(&skills), ["link-not-followed"; 5]);
    }

    #[test]
    fn home_is_a_link() {
        let place = Place::new();
        place.skill("home/.claude/skills/a/SKILL.md");
        link(place.at("home"), place.at("alias"));
        let mut options = place.options.clone();
        options.paths = vec![place.at("home/.claude/skills")];
        let environment = Environment::new(place.at("work")).home(place.at("alias"));
        let skills = FolderSkills::discover(&options, &environment, &Workspace::at(place.at("work")));
        assert_eq!((ids(&skills), codes(&skills)), (vec!["a".to_owned()], vec![]));
        assert_eq!(location(&skills, "a"), place.at("alias/.claude/skills/a/SKILL.md"));
    }

    #[test]
    fn pipes_devices_folders_and_closed_files_are_passed_over_at_once() {
        let place = Place::new();
        place.skill("work/skills/good/SKILL.md");
        fs::create_dir_all(place.at("work/skills/pipe")).unwrap();
        let made =
            std::process::Command::new("mkfifo").arg(place.at("work/skills/pipe/SKILL.md")).status().is_ok_and(|status| status.success());
        link("/dev/zero", place.at("home/.claude/skills/device/SKILL.md"));
        fs::create_dir_all(place.at("work/skills/folder/SKILL.md")).unwrap();
        fs::create_dir_all(place.at("work/elsewhere")).unwrap();
        link("../../elsewhere", place.at("work/skills/link/SKILL.md"));
        let closed = place.skill("work/skills/closed/SKILL.md");
        fs::set_permissions(&closed, PermissionsExt::from_mode(0o000)).unwrap();
        let folder = place.skill("work/skills/locked/SKILL.md").parent().unwrap().to_owned();
        fs::set_permissions(&folder, PermissionsExt::from_mode(0o000)).unwrap();
        // A privileged user reads both.
        let privileged = fs::File::open(&closed).is_ok();
        let skills = place.find();
        fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).unwrap();
        let mut expected = vec!["file-not-regular"; 3];
        if !privileged {
            assert_eq!(ids(&skills), ["good"]);
            expected.extend(["file-unreadable", "folder-unreadable"]);
        }
        if made {
            expected.push("file-not-regular");
        }
        assert_eq!(codes(&skills), expected);
    }
}
