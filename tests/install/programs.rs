//! Sources that git and npm fetch: a real git with repositories of this machine, and an npm that tells what it was asked.
#![cfg(unix)]

use crate::place::Place;
use crate::run::{Run, finish};
use flate2::write::GzEncoder;
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn repository(place: &Place) -> String {
    for id in ["one", "two"] {
        place.write(&format!("repo/skills/{id}/SKILL.md"), format!("---\nname: {id}\ndescription: Does {id}.\n---\nfirst\n"));
    }
    let script = place.write("repo/skills/one/run.sh", "#!/bin/sh\n");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    place.git_in("repo", &["init", "-q"]);
    commit(place);
    place.git_in("repo", &["tag", "v1"]);
    format!("file://{}", place.shown("repo"))
}

fn commit(place: &Place) {
    place.git_in("repo", &["add", "-A"]);
    place.git_in("repo", &["commit", "-q", "-m", "x"]);
}

#[test]
fn a_repository_is_installed_at_its_head_or_as_it_is_named() {
    let place = Place::new();
    let url = repository(&place);
    place.write("repo/skills/one/SKILL.md", "---\nname: one\ndescription: d\n---\nsecond\n");
    commit(&place);
    assert_eq!(place.run(&["skills", "install", &url, "--to", "a"]).data(), format!("{0}/one\n{0}/two\n", place.shown("work/a")));
    let text = |path: &str| fs::read_to_string(place.at("work").join(path)).unwrap();
    assert!(text("a/one/SKILL.md").contains("second"));
    assert_eq!(fs::metadata(place.at("work/a/one/run.sh")).unwrap().permissions().mode() & 0o7111, 0o111);
    place.run(&["skills", "install", &format!("{url}#v1"), "--to", "b", "--only", "one"]).data();
    assert!(text("b/one/SKILL.md").contains("first") && !place.at("work/b/two").exists());
    let commit = fs::read_to_string(place.at("repo/.git/refs/tags/v1")).unwrap();
    place.run(&["skills", "install", &format!("{url}#{}", commit.trim()), "--to", "c"]).data();
    assert!(text("c/one/SKILL.md").contains("first"));
    assert!(place.run(&["skills", "install", &format!("{url}#nope"), "--to", "d"]).failure().contains("remote ref nope"));
    assert!(place.run(&["skills", "install", "file:///no/such/repository", "--to", "d"]).failure().contains("git could not fetch"));
    assert!(!place.at("work/d").exists());
}

#[test]
fn links_submodules_and_hooks_of_a_repository_do_nothing() {
    let place = Place::new();
    let url = repository(&place);
    std::os::unix::fs::symlink("/etc", place.at("repo/skills/two/etc")).unwrap();
    std::os::unix::fs::symlink("skills", place.at("repo/alias")).unwrap();
    place.write("repo/.gitattributes", "* filter=evil\n");
    let commit_of_another = "1".repeat(40);
    place.git_in("repo", &["update-index", "--add", "--cacheinfo", &format!("160000,{commit_of_another},skills/sub")]);
    place.git_in("repo", &["add", "-A", "--", "skills/two", "alias", ".gitattributes"]);
    place.git_in("repo", &["commit", "-q", "-m", "x"]);
    let marker = place.at("ran");
    for hook in ["post-checkout", "reference-transaction", "upload-pack"] {
        let hook = place.write(&format!("repo/.git/hooks/{hook}"), format!("#!/bin/sh\ntouch {}\n", marker.display()));
        fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = place.command(&["skills", "install", &url, "--to", "a"]);
    // Those who stand in a repository's hook have these.
    let run = finish(command.env("GIT_DIR", place.at("elsewhere")).env("GIT_WORK_TREE", "/"), b"");
    assert_eq!((run.code, run.stdout), (1, place.shown("work/a/one\n")), "{}", run.stderr);
    assert!(run.stderr.contains("`skills/two/etc` in it is refused: it is a link"), "{}", run.stderr);
    assert!(!marker.exists());
}

/// An npm that writes down each argument, and then does this.
fn npm(place: &Place, script: &str) -> String {
    let record = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" call >> {}\n", place.shown("arguments"));
    let program = place.write("bin/npm", format!("{record}{script}\n"));
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", place.shown("bin"))
}

fn run_with(place: &Place, path: &str, arguments: &[&str]) -> Run {
    finish(place.command(arguments).env("PATH", path), b"")
}

/// A package with these files; a name is taken byte for byte.
fn package(files: &[(&str, tar::EntryType, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), flate2::Compression::default()));
    for (name, kind, content) in files {
        let mut header = tar::Header::new_ustar();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_mode(0o4644);
        header.set_entry_type(*kind);
        if kind.is_file() {
            header.set_size(content.len() as u64);
        } else {
            header.set_link_name(content).unwrap();
            header.set_size(0);
        }
        header.set_cksum();
        archive.append(&header, if kind.is_file() { content.as_bytes() } else { b"" }).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

const FILE: tar::EntryType = tar::EntryType::Regular;
const SKILL: (&str, tar::EntryType, &str) = ("package/SKILL.md", FILE, "---\nname: some-skill\ndescription: d\n---\nBody\n");
/// Puts the package where it was asked to.
const PACK: &str = "while [ \"$1\" != --pack-destination ]; do shift; done; cp \"$HOME/package\" \"$2/some.tgz\"";

#[test]
fn a_package_is_fetched_by_npm_without_its_scripts_and_unpacked_by_ourselves() {
    let place = Place::new();
    let script = "\"scripts\": {\"install\": \"touch ran\", \"prepack\": \"touch ran\"}";
    let manifest = format!("{{\"name\": \"some-skill\", {script}}}");
    place.write("home/package", package(&[SKILL, ("package/package.json", FILE, &manifest)]));
    let path = npm(&place, PACK);
    assert_eq!(run_with(&place, &path, &["skills", "install", "some-skill@^1.2", "--to", "a"]).data(), place.shown("work/a/some-skill\n"));
    let arguments = fs::read_to_string(place.at("arguments")).unwrap();
    let arguments: Vec<&str> = arguments.lines().collect();
    assert_eq!(arguments[..3], ["pack", "--ignore-scripts", "--loglevel=error"]);
    assert_eq!(arguments[arguments.len() - 3..], ["--", "some-skill@^1.2", "call"]);
    assert_eq!(fs::metadata(place.at("work/a/some-skill/SKILL.md")).unwrap().permissions().mode() & 0o7111, 0);
    assert_eq!(fs::read_dir(place.at("work/a")).unwrap().count(), 1);
}

#[test]
fn an_owner_and_a_name_are_tried_as_a_scoped_package_and_then_as_one_word() {
    let place = Place::new();
    place.write("home/package", package(&[SKILL]));
    let missing = "for last; do :; done; case \"$last\" in @*) echo 'npm error code E404' >&2; exit 1;; esac";
    let path = npm(&place, &format!("{missing}\n{PACK}"));
    run_with(&place, &path, &["skills", "install", "me/some-skill", "--to", "a"]).data();
    let asked = |place: &Place| -> Vec<String> {
        let arguments = fs::read_to_string(place.at("arguments")).unwrap();
        let lines: Vec<&str> = arguments.lines().collect();
        lines.windows(2).filter(|pair| pair[1] == "call").map(|pair| pair[0].to_owned()).collect()
    };
    assert_eq!(asked(&place), ["@me/some-skill", "me-some-skill"]);
    // Who can't be reached may have the first: the second is then someone else's.
    let other = Place::new();
    let path = npm(&other, "echo 'npm error code ECONNREFUSED' >&2; echo 'npm error no one is there' >&2; exit 1");
    let run = run_with(&other, &path, &["skills", "install", "me/some-skill", "--to", "a"]);
    assert!(run.failure().contains("ECONNREFUSED: no one is there"), "{}", run.stderr);
    assert_eq!(asked(&other), ["@me/some-skill"]);
    let path = npm(&other, "echo 'npm error code E404' >&2; exit 1");
    let run = run_with(&other, &path, &["skills", "install", "me/some-skill", "--to", "a"]);
    assert!(run.failure().contains("`@me/some-skill`, `me-some-skill`: there is no such package"), "{}", run.stderr);
}

#[test]
fn a_package_that_means_harm_installs_nothing() {
    let torn = &package(&[SKILL])[..60];
    let link = |kind, name| package(&[SKILL, (name, kind, "/etc/passwd")]);
    for (what, bytes) in [
        ("out", package(&[SKILL, ("package/../../evil", FILE, "x")])),
        ("absolute", package(&[SKILL, ("/tmp/evil", FILE, "x")])),
        ("link", link(tar::EntryType::Symlink, "package/link")),
        ("hard link", link(tar::EntryType::Link, "package/link")),
        ("device", package(&[SKILL, ("package/device", tar::EntryType::Char, "x")])),
        ("twice", package(&[SKILL, SKILL])),
        ("case", package(&[SKILL, ("package/skill.md", FILE, "x")])),
        ("folder", package(&[SKILL, ("other/SKILL.md", FILE, "x")])),
        ("torn", torn.to_vec()),
        ("bomb", package(&[SKILL, ("package/zeros", FILE, &"\0".repeat(8 << 20))])),
        ("nothing", Vec::new()),
        ("no skill", package(&[("package/index.js", FILE, "x")])),
    ] {
        let place = Place::new();
        place.write("home/package", bytes);
        let path = npm(&place, PACK);
        let run = run_with(&place, &path, &["skills", "install", "some-skill", "--to", "a"]);
        assert!(!run.failure().is_empty() && !place.at("work/a").exists(), "{what}");
    }
}

#[test]
fn no_argument_is_read_by_a_shell_or_taken_for_an_option() {
    let place = Place::new();
    let path = npm(&place, "exit 1");
    for source in
        ["$(touch ran)", "a;touch ran", "--registry=http://evil", "a@$(touch ran)", "git+ssh://x/y", "ext::sh -c touch% ran", "a@--x"]
    {
        run_with(&place, &path, &["skills", "install", "--to", "a", "--", source]).failure();
    }
    assert!(!place.at("arguments").exists() && !place.at("work/ran").exists(), "npm was never asked");
    let run = run_with(&place, "/nowhere", &["skills", "install", "some-skill", "--to", "a"]);
    assert!(run.failure().contains("npm is not on the PATH"), "{}", run.stderr);
}
