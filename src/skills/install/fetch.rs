//! Sources that the user's own programs fetch. They are started without a shell, with arguments that they can't take for options, in a folder of
//! ours, under a deadline and a bound on what they write there; no hook, no lifecycle script and no helper that the source names is run.

use super::error::{InstallError, Refusal, io_error};
use super::tarball;
use super::tree::Tree;
use crate::Environment;
use crate::files::{open_regular, read_bounded};
use crate::process::{self, Printed, ProcessError, Surroundings, Watch};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

/// A repository or package that takes longer is none of skills.
const DEADLINE: Duration = Duration::from_secs(180);
/// Of what npm prints, and git but for its listing.
const MAX_OUTPUT: usize = 64 * 1024;
/// What npm keeps of a package beside its archive: 64 MiB. Of packages with thousands of versions the list alone has a tenth of that.
const NPM_RECORDS: u64 = 64 * 1024 * 1024;
/// What a file takes on a disk beside its bytes.
const BYTES_A_FILE: u64 = 4 * 1024;
/// Of git's listing: beside the path, mode, kind, hash and size.
const LISTED_BYTES: usize = 100;

const GIT_SETTINGS: [&str; 18] = [
    "--no-pager",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "fetch.recurseSubmodules=false",
    "-c",
    "core.attributesFile=/dev/null",
    // The one filter that people have set up, which would fetch more.
    "-c",
    "filter.lfs.process=",
    "-c",
    "filter.lfs.smudge=",
    "-c",
    "filter.lfs.required=false",
    "--git-dir=repository",
];
/// Of the environment's own `GIT_*` variables: how git is set up and how it reaches a host, not which repository it works in.
const GIT_KEPT: [&str; 8] = [
    "GIT_EXEC_PATH",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_SSH",
    "GIT_PROXY_COMMAND",
    "GIT_SSH_COMMAND",
];
const GIT_KEPT_PREFIXES: [&str; 3] = ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_SSL_"];

/// Who fetches what, and how much of it.
#[derive(Clone, Copy)]
struct Errand<'e> {
    program: &'static str,
    source_name: &'e str,
    environment: &'e Environment,
    folder: &'e Path,
    /// All that may lie in the folder.
    room: u64,
}

impl Errand<'_> {
    fn failed(&self, reason: impl Into<String>) -> InstallError {
        InstallError::Fetch { program: self.program, source_name: self.source_name.to_owned(), reason: reason.into() }
    }
    /// What the program printed, whether it succeeded or not.
    fn run(&self, arguments: &[&OsStr], variables: Vec<(&str, &str)>, max_bytes: usize) -> Result<Printed, InstallError> {
        let program = process::find(self.program, self.environment);
        let program = program.ok_or_else(|| self.failed(format!("{} is not on the PATH", self.program)))?;
        let within = Surroundings { directory: self.folder, variables, deadline: DEADLINE, max_bytes };
        let has_room = || bytes_in(self.folder, self.room) <= self.room;
        // The watch is there first.
        let watch = Watch { may_go_on: &has_room, max_file_bytes: self.room.saturating_mul(2) };
        process::run_while(&program, arguments, &within, &watch).map_err(|error| match error {
            ProcessError::Stopped => {
                let what = format!("{} bytes, as {} fetches it", self.room, self.program);
                InstallError::refused(self.source_name, Refusal::TooMuch(what))
            }
            error => self.failed(format!("it {error}")),
        })
    }
}

/// What lies in a folder, as far as it is not over `most`. A file that went away meanwhile is none.
fn bytes_in(folder: &Path, most: u64) -> u64 {
    let (mut bytes, mut folders) = (0_u64, vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            bytes = bytes.saturating_add(BYTES_A_FILE).saturating_add(if metadata.is_file() { metadata.len() } else { 0 });
            if metadata.is_dir() {
                folders.push(entry.path());
            }
            if bytes > most {
                return bytes;
            }
        }
    }
    bytes
}

/// Fetches one commit of a repository, without its history, looks whether it keeps the limits, and unpacks it. There is never a working tree of it:
/// nothing of the repository's is checked out, and so no link of it is ever made.
pub(super) fn repository(
    (url, reference, is_local): (&str, Option<&str>, bool),
    folder: &Path,
    tree: &mut Tree<'_>,
    environment: &Environment,
) -> Result<(), InstallError> {
    fs::create_dir(folder).map_err(|reason| io_error(folder, reason))?;
    let limits = tree.limits();
    // A pack is no larger than what is in it; then all of that once more, archived.
    let room = limits.bytes.saturating_add((limits.entries as u64).saturating_mul(BYTES_A_FILE));
    let errand = Errand { program: "git", source_name: url, environment, folder, room };
    let archiving = Errand { room: room.saturating_mul(2), ..errand };
    let git_for = |errand: &Errand<'_>, arguments: &[&str], max_bytes: usize| {
        let arguments: Vec<&OsStr> = GIT_SETTINGS.iter().chain(arguments).map(OsStr::new).collect();
        let printed = errand.run(&arguments, git_variables(environment, is_local), max_bytes)?;
        if printed.succeeded { Ok(printed) } else { Err(errand.failed(complaint(&printed.complaint))) }
    };
    let git = |arguments: &[&str], max_bytes: usize| git_for(&errand, arguments, max_bytes);
    git(&["init", "--quiet", "--bare", "--template="], MAX_OUTPUT)?;
    let reference = reference.unwrap_or("HEAD");
    git(&["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", url, reference], MAX_OUTPUT)?;
    let listing =
        git(&["ls-tree", "-r", "-l", "-z", "--full-tree", "FETCH_HEAD"], limits.entries.saturating_mul(LISTED_BYTES + limits.path_bytes))?;
    let too_much = |what: String| Err(InstallError::refused(url, Refusal::TooMuch(what)));
    // Folders within folders that are all the same one take no room in a repository, and all the room there is once they are written.
    if listing.is_cut || listing.text.split_terminator('\0').count() > limits.entries {
        return too_much(format!("{} files and folders", limits.entries));
    }
    // A commit of another repository has no size.
    let size = |line: &str| line.split_ascii_whitespace().nth(3).and_then(|size| size.parse::<u64>().ok()).unwrap_or_default();
    let bytes = listing.text.split_terminator('\0').map(size).fold(0, u64::saturating_add);
    if bytes > limits.bytes {
        return too_much(format!("{} bytes", limits.bytes));
    }
    git_for(&archiving, &["archive", "--format=tar", "--output=source.tar", "FETCH_HEAD"], MAX_OUTPUT)?;
    let archive = folder.join("source.tar");
    let file = File::open(&archive).map_err(|reason| io_error(&archive, reason))?;
    tarball::unpack_repository(std::io::BufReader::new(file), tree)
}

fn git_variables(environment: &Environment, is_local: bool) -> Vec<(&str, &str)> {
    let is_kept = |name: &str| {
        !name.starts_with("GIT_") || GIT_KEPT.contains(&name) || GIT_KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    let ours = [
        ("GIT_TERMINAL_PROMPT", "0"),
        // Set and empty it stands before `core.askPass` and `SSH_ASKPASS`, and starts nothing.
        ("GIT_ASKPASS", ""),
        ("SSH_ASKPASS_REQUIRE", "never"),
        ("GIT_ALLOW_PROTOCOL", if is_local { "file" } else { "https:ssh" }),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("LC_ALL", "C"),
        ("LANGUAGE", "C"),
        ("TERM", "dumb"),
    ];
    process::variables(environment).filter(|(name, _)| is_kept(name)).chain(ours).collect()
}

/// Fetches the first of these packages that there is, and unpacks it. `npm pack` of a name runs no script, and is told so besides; nothing is
/// installed that the package asks for. What npm keeps for the next time it keeps in this folder, where it is counted and goes with it.
pub(super) fn package(
    packages: &[String],
    version: Option<&str>,
    folder: &Path,
    tree: &mut Tree<'_>,
    environment: &Environment,
) -> Result<(), InstallError> {
    fs::create_dir(folder).map_err(|reason| io_error(folder, reason))?;
    // Where npm works its own settings are read from, and they must not be those of a repository around.
    let here = folder.to_string_lossy().into_owned();
    let cache = folder.join("cache").to_string_lossy().into_owned();
    // Once as npm keeps it, and once as it leaves it here.
    let room = (tree.limits().archive_bytes as u64).saturating_mul(2).saturating_add(NPM_RECORDS);
    let mut missing = Vec::new();
    for package in packages {
        let specifier = version.map_or_else(|| package.clone(), |version| format!("{package}@{version}"));
        let errand = Errand { program: "npm", source_name: &specifier, environment, folder, room };
        let arguments = [
            "pack",
            "--ignore-scripts",
            "--loglevel=error",
            "--no-update-notifier",
            "--prefix",
            &here,
            "--cache",
            &cache,
            "--pack-destination",
            &here,
            "--",
            &specifier,
        ]
        .map(OsStr::new);
        let printed = errand.run(&arguments, process::variables(environment).collect(), MAX_OUTPUT)?;
        if printed.succeeded {
            return packed(&errand, tree);
        }
        if !printed.complaint.contains("E404") {
            return Err(errand.failed(complaint(&printed.complaint)));
        }
        missing.push(specifier);
    }
    let source_name = missing.join("`, `");
    let errand = Errand { program: "npm", source_name: &source_name, environment, folder, room };
    Err(errand.failed("there is no such package"))
}

/// Unpacks the one archive that npm left.
fn packed(errand: &Errand<'_>, tree: &mut Tree<'_>) -> Result<(), InstallError> {
    let entries = fs::read_dir(errand.folder).map_err(|reason| io_error(errand.folder, reason))?;
    let is_package = |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "tgz");
    let packages: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(is_package).collect();
    let [package] = &packages[..] else { return Err(errand.failed(format!("it left {} packages", packages.len()))) };
    let bytes = read_archive(package, tree.limits().archive_bytes)?;
    tree.set_packed(bytes.len());
    tarball::unpack_package(&bytes, tree)
}

/// An archive whole, as long as it may be.
pub(super) fn read_archive(path: &Path, max_bytes: usize) -> Result<Vec<u8>, InstallError> {
    let failed = |reason| io_error(path, reason);
    let refused = |refusal| InstallError::refused(path.to_string_lossy(), refusal);
    let (file, _) = open_regular(path).map_err(failed)?.ok_or_else(|| refused(Refusal::Special))?;
    let (bytes, is_cut) = read_bounded(&file, max_bytes).map_err(failed)?;
    if is_cut { Err(refused(Refusal::TooMuch(format!("{max_bytes} bytes in its archive")))) } else { Ok(bytes) }
}

/// What a program that failed said, in a line.
fn complaint(text: &str) -> String {
    let lines =
        text.lines().map(|line| ["npm error ", "npm ERR! "].iter().find_map(|start| line.strip_prefix(start)).unwrap_or(line).trim());
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    match lines.iter().find_map(|line| line.strip_prefix("fatal: ")) {
        Some(fatal) => fatal.to_owned(),
        None if lines.is_empty() => "it said nothing".into(),
        None => lines[..lines.len().min(2)].join(": "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_told_in_a_line() {
        assert_eq!(complaint("warning: x\nfatal: no such thing\nand more"), "no such thing");
        assert_eq!(complaint("npm error code ENETWORK\nnpm error network down\nnpm error more"), "code ENETWORK: network down");
        assert_eq!(complaint("\n"), "it said nothing");
    }

    #[test]
    fn of_the_callers_git_variables_none_leads_to_another_repository() {
        let mut environment = Environment::new("/").variable("HOME", "/h");
        for name in [
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_CONFIG_PARAMETERS",
            "GIT_TEMPLATE_DIR",
            "GIT_SSH_COMMAND",
            "GIT_CONFIG_KEY_0",
            "GIT_ALLOW_PROTOCOL",
        ] {
            environment = environment.variable(name, "theirs");
        }
        let variables = git_variables(&environment, false);
        let theirs: Vec<&str> = variables.iter().filter(|(_, value)| *value == "theirs").map(|(name, _)| *name).collect();
        assert_eq!(theirs, ["GIT_CONFIG_KEY_0", "GIT_SSH_COMMAND"]);
        assert!(variables.contains(&("GIT_ALLOW_PROTOCOL", "https:ssh")));
    }
}
