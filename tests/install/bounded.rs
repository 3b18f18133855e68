//! What git and npm write while they fetch is bounded; and an npm of this machine, with a registry of our own.
#![cfg(unix)]

use crate::place::Place;
use crate::run::finish;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tower_prompt::Environment;
use tower_prompt::skills::install::{Install, InstallError, Limits, Refusal, Source};

/// 1 MiB and ten files.
fn small() -> Limits {
    let mut limits = Limits::default();
    (limits.bytes, limits.entries, limits.archive_bytes) = (1 << 20, 10, 1 << 16);
    limits
}

/// Why it was not installed, with these programs in front of those of the machine.
fn refusal(place: &Place, source: &Source) -> InstallError {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", place.shown("bin"));
    let environment = Environment::new(place.at("work")).variable("PATH", &path).home(place.at("home"));
    let refused = Install::into(place.at("to")).limits(small()).run(source, &environment).unwrap_err();
    let left: Vec<_> = fs::read_dir(place.at("to")).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
    assert!(left.is_empty(), "nothing is left of it: {left:?}");
    refused
}

#[track_caller]
fn is_too_much(refused: &InstallError, program: &str) {
    let InstallError::Refused { refusal: Refusal::TooMuch(what), .. } = refused else { panic!("{refused}") };
    assert!(what.ends_with(&format!("bytes, as {program} fetches it")), "{refused}");
}

/// Bytes that don't pack.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    std::iter::repeat_with(&mut next).take(bytes).collect()
}

#[test]
fn of_a_large_repository_no_more_is_fetched_than_a_source_may_bring() {
    let place = Place::new();
    place.write("repo/skills/one/SKILL.md", "---\nname: one\ndescription: d\n---\n");
    place.write("repo/noise", noise(6 << 20));
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "x"]] {
        place.git_in("repo", arguments);
    }
    let source = Source::Git { url: format!("file://{}", place.shown("repo")), reference: None, is_local: true };
    is_too_much(&refusal(&place, &source), "git");
}

/// A program in front of all others.
fn program(place: &Place, name: &str, script: &str) {
    let program = place.write(&format!("bin/{name}"), format!("#!/bin/sh\necho $$ > {}\n{script}\n", place.shown("pid")));
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn who_writes_without_end_is_ended() {
    let floods = "while :; do head -c 1000000 /dev/zero >> flood; mkdir -p a/b; done";
    for (name, script, source) in [
        (
            "git",
            format!("case \"$*\" in *' fetch '*) {floods};; esac"),
            Source::Git { url: "file:///x".into(), reference: None, is_local: true },
        ),
        ("git", format!("exec >&- 2>&-; {floods}"), Source::Git { url: "file:///x".into(), reference: None, is_local: true }),
        ("npm", floods.to_owned(), Source::Npm { packages: vec!["some-skill".into()], version: None }),
        // Many small files take room too.
        ("npm", "n=0; while :; do n=$((n+1)); : > $n; done".to_owned(), Source::Npm { packages: vec!["some-skill".into()], version: None }),
    ] {
        let place = Place::new();
        program(&place, name, &script);
        is_too_much(&refusal(&place, &source), name);
        let pid = fs::read_to_string(place.at("pid")).unwrap();
        let is_there = Command::new("kill").args(["-0", pid.trim()]).stderr(Stdio::null()).status().unwrap();
        assert!(!is_there.success(), "{name}: it runs on");
    }
}

/// The real one, where there is one.
fn npm() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&folders).map(|folder| folder.join("npm")).find(|npm| npm.is_file());
    if found.is_none() {
        eprintln!("There is no npm on this machine: how a real one fetches a package is not tested here.");
    }
    found
}

/// A registry that has this package, on this machine alone; its address. It ends with the test's process.
fn registry(package: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let tarball = format!("{address}/some-skill/-/some-skill-1.2.3.tgz");
    let versions = serde_json::json!({"1.2.3": {"name": "some-skill", "version": "1.2.3", "dist": {"tarball": tarball}}});
    let described = serde_json::json!({"name": "some-skill", "dist-tags": {"latest": "1.2.3"}, "versions": versions}).to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let Ok(copy) = stream.try_clone() else { continue };
            let lines: Vec<String> = BufReader::new(copy).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let path = lines.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
            let (status, body) = match path {
                "/some-skill" => ("200 OK", described.as_bytes()),
                "/some-skill/-/some-skill-1.2.3.tgz" => ("200 OK", &*package),
                _ => ("404 Not Found", &b"{}"[..]),
            };
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        }
    });
    address
}

/// What a real npm makes of a folder.
fn packed(place: &Place, npm: &Path) -> Vec<u8> {
    let mut command = Command::new(npm);
    command.args(["pack", "--ignore-scripts", "--offline", "--pack-destination", ".."]).current_dir(place.at("package"));
    command.env("HOME", place.at("packers-home")).env("npm_config_cache", place.at("packers-cache"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read(place.at("some-skill-1.2.3.tgz")).unwrap()
}

#[test]
fn a_real_npm_fetches_a_package_with_a_skill_and_runs_nothing_of_it() {
    let Some(npm) = npm() else { return };
    let place = Place::new();
    let ran = place.shown("ran");
    let scripts: Vec<String> = ["preinstall", "install", "postinstall", "prepare", "prepack", "postpack"]
        .map(|name| format!("\"{name}\": \"echo {name} >> {ran}\""))
        .to_vec();
    let manifest = format!("{{\"name\": \"some-skill\", \"version\": \"1.2.3\", \"scripts\": {{{}}}}}", scripts.join(", "));
    place.write("package/package.json", manifest);
    place.write("package/skills/from-npm/SKILL.md", "---\nname: from-npm\ndescription: Comes by npm.\n---\nBody\n");
    place.write("package/skills/from-npm/references/more.md", "More.");
    let address = registry(packed(&place, &npm));
    for (source, to) in [("some-skill@^1.2", "a"), ("nobody/some-skill", "b"), ("nobody/nothing", "c")] {
        let mut command = place.command(&["skills", "install", source, "--to", to]);
        let run = finish(command.env("npm_config_registry", &address).env("npm_config_fetch_retries", "0"), b"");
        if to == "a" {
            assert_eq!(run.data(), place.shown("work/a/from-npm\n"));
            assert_eq!(fs::read_to_string(place.at("work/a/from-npm/references/more.md")).unwrap(), "More.");
        } else {
            assert!(run.failure().contains("there is no such package"), "{}", run.stderr);
        }
        assert_eq!(fs::read_dir(place.at("work").join(to)).map_or(0, Iterator::count), usize::from(to == "a"), "nothing else is left");
    }
    assert!(!place.at("ran").exists(), "{:?}", fs::read_to_string(place.at("ran")));
    assert!(!place.at("home/.npm").exists(), "npm kept nothing outside");
}
