//! What npm packs and git archives, of any bytes: nothing is written outside of the folder that is installed into, whatever comes of it is whole, and what
//! is refused leaves nothing behind.
//!
//! The first byte says whether it is a package, a package that is packed here (so that an input needs no checksum), or a repository, which begins with
//! git's listing and a line `===`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tower_prompt::Environment;
use tower_prompt::skills::install::{Install, Limits, Source};

const BREAK: &[u8] = b"\n===\n";

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Programs that leave what stands in files.
fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let folder = if Path::new("/dev/shm").is_dir() { "/dev/shm".into() } else { std::env::temp_dir() };
        let root = folder.join(format!("tower-prompt-fuzz-{}", std::process::id()));
        fs::create_dir_all(root.join("bin")).expect("a folder for a while");
        let at = root.display();
        let npm = format!("#!/bin/sh\nexec /bin/cp {at}/package x-1.tgz\n");
        let git = format!(
            "#!/bin/sh\ncase \"$*\" in\n*ls-tree*) exec /bin/cat {at}/listing ;;\n*archive*) exec /bin/cp {at}/package source.tar ;;\nesac\n"
        );
        for (name, script) in [("npm", npm), ("git", git)] {
            let program = root.join("bin").join(name);
            fs::write(&program, script).expect("a file for a while");
            fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        root
    })
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory is to be had");
    encoder.finish().expect("memory is to be had")
}

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let root = root();
    let is_repository = kind % 3 == 2;
    let at = bytes.windows(BREAK.len()).position(|window| window == BREAK).filter(|_| is_repository);
    let (listing, package) = at.map_or((&b""[..], bytes), |at| (&bytes[..at], &bytes[at + BREAK.len()..]));
    let package = if kind % 3 == 1 { packed(package) } else { package.to_vec() };
    fs::write(root.join("package"), package).expect("a file for a while");
    fs::write(root.join("listing"), listing).expect("a file for a while");
    let outer = root.join("outer");
    let _ = fs::remove_dir_all(&outer);
    fs::create_dir_all(&outer).expect("a folder for a while");
    let before = entries(root);
    let folder = outer.join("skills");
    let environment = Environment::new(&outer).variable("PATH", root.join("bin").display().to_string());
    let source = Source::new(if is_repository { "file:///x.git" } else { "x" }, &environment).expect("it is a source");
    let mut limits = Limits::default();
    (limits.entries, limits.bytes, limits.file_bytes, limits.ratio_from) = (16, 4_096, 2_048, 1_024);
    let installed = Install::into(&folder).limits(limits).run(&source, &environment);
    assert_eq!(entries(root), before);
    match installed {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(entries(&outer), [PathBuf::new(); 0]);
        }
        Ok(report) => {
            assert_eq!(entries(&outer), [folder.clone()]);
            let mut paths: Vec<PathBuf> = report.installed.iter().map(|skill| skill.path.clone()).collect();
            paths.sort();
            assert_eq!(entries(&folder), paths);
            assert!(report.installed.iter().map(|skill| skill.bytes).sum::<u64>() <= 4_096);
            assert!(paths.iter().all(|path| path.join("SKILL.md").is_file() || !entries(path).is_empty()));
        }
    }
});
