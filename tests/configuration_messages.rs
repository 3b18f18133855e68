//! What is said of each key that is set wrongly: a person reads it, so all of it is kept.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use tower_prompt::config::{KEYS, KeyKind, Loader};
use tower_prompt::{Environment, Workspace};

/// The findings in `text`, a line each, without the name of the source.
fn findings(text: &str) -> Vec<String> {
    let environment = Environment::new("/nowhere").variable("BCODE_CONFIG_TOML", text);
    let found = match Loader::new(&environment, &Workspace::at("/nowhere")).load() {
        Ok(loaded) => loaded.findings,
        Err(error) => error.findings().to_vec(),
    };
    found.iter().map(|finding| finding.to_string().replace("BCODE_CONFIG_TOML:", "")).collect()
}

/// Values that are no value of the kind, each with what is wrong with it.
fn wrong(kind: &KeyKind) -> Vec<&'static str> {
    match kind {
        KeyKind::Bool => vec!["1", "'yes'"],
        KeyKind::NonZero | KeyKind::OptionalNonZero => vec!["0", "-1", "99999999999999999999", "1.0", "'1'"],
        KeyKind::Text => vec!["1"],
        KeyKind::Form(_) => vec!["1", "' '"],
        KeyKind::OneOf(_) | KeyKind::SkillId | KeyKind::ProfileId | KeyKind::Layer => vec!["1", "'no/such word'"],
        KeyKind::Path => vec!["1", "''"],
        KeyKind::RoutingRule | KeyKind::Patch => vec!["1"],
        KeyKind::Array(_) => vec!["1", "{}", "[{}]"],
        _ => vec!["[]"],
    }
}

#[test]
fn each_key_with_a_wrong_value() {
    let mut told = String::new();
    for key in KEYS {
        let path = key.path.replace("NAME", "bash").replace("ID", "x");
        for value in wrong(&key.kind) {
            // That nobody acts on a key yet is no fault of its value.
            let found: Vec<String> =
                findings(&format!("{path} = {value}")).into_iter().filter(|found| !found.contains("key-without-effect")).collect();
            assert!(!found.is_empty() || path.starts_with("composition."), "{path} = {value} is taken");
            writeln!(told, "{path} = {value}\n    {}", found.join("\n    ")).unwrap();
        }
    }
    insta::assert_snapshot!(told);
}

#[test]
fn each_key_twice_or_in_the_place_of_a_table_or_below_a_value() {
    for key in KEYS {
        let path = key.path.replace("NAME", "bash").replace("ID", "x");
        let value = key.default.unwrap_or("1");
        let twice = findings(&format!("{path} = {value}\n{path} = {value}"));
        assert!(twice.len() == 1 && twice[0].starts_with("2:") && twice[0].contains("duplicate key"), "{path}: {twice:?}");
        // A patch is like the whole file: it may have tables of other programs.
        if matches!(key.kind, KeyKind::Patch) {
            continue;
        }
        let below = findings(&format!("{path}.deeper = true"));
        assert!(below.iter().any(|found| found.contains("error[") || found.contains("key-unknown")), "{path}.deeper: {below:?}");
        if let Some((table, name)) = path.rsplit_once('.') {
            let no_table = findings(&format!("{table} = 3"));
            assert!(no_table.iter().any(|found| found.contains("allowed:")), "{table} = 3: {no_table:?}");
            // At the top, a key of another program, unless a table of ours is called so.
            if KEYS.iter().any(|key| key.path.split('.').next() == Some(name)) {
                continue;
            }
            let alone = findings(&format!("{name} = {value}"));
            assert!(alone.is_empty(), "{name}: {alone:?}");
        }
    }
}

#[test]
fn each_key_misspelt_names_itself_as_the_nearest() {
    for key in
        KEYS.iter().filter(|key| !key.path.starts_with("composition.profiles") && !key.path.contains("ID") && !key.path.contains("NAME"))
    {
        let (table, name) = key.path.rsplit_once('.').unwrap();
        let misspelt = format!("{table}.{name}s_ = {}", key.default.unwrap_or("1"));
        let found = findings(&misspelt);
        assert!(
            found.len() == 1 && found[0].contains("key-unknown") && found[0].contains(&format!("`{}`", key.path)),
            "{misspelt}: {found:?}"
        );
    }
}

/// What is found in a workspace, a line each, paths from the workspace on.
fn found_in(workspace: &Path, environment: &Environment) -> String {
    let (found, end) = match Loader::new(environment, &Workspace::at(workspace)).load() {
        Ok(loaded) => (loaded.findings, "goes on\n"),
        Err(error) => (error.findings().to_vec(), "stops\n"),
    };
    let mut told = end.to_owned();
    for finding in found {
        writeln!(told, "    {}", finding.to_string().replace(&format!("{}/", workspace.display()), "")).unwrap();
    }
    told
}

/// Puts something in the place of a file.
#[cfg(target_os = "linux")]
type Put = fn(&Path);

// The system's own words are among them.
#[cfg(target_os = "linux")]
#[test]
fn each_way_in_which_a_file_is_bad() {
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::fs::symlink;
    let cycle = "[composition]\nactive_profile = 'a'\n[composition.profiles]\na.extends = ['b']\nb.extends = ['a']\n";
    let files: &[(&str, &[u8])] = &[
        ("empty", b""),
        ("a byte order mark, and a fault behind it", b"\xef\xbb\xbfskills.enabled = 1"),
        ("line ends of Windows", b"[skills]\r\nenabled = 1\r\n"),
        ("UTF-16", b"\xff\xfes\0k\0"),
        ("a byte that is no UTF-8", b"[skills]\nenabled = true # \xff"),
        ("a NUL", b"[skills]\0"),
        ("no TOML", b"[skills\nenabled = true"),
        ("a profile cycle", cycle.as_bytes()),
        ("a profile that extends itself", b"composition.profiles.a.extends = ['a']"),
        ("an active profile that is not there", b"composition.active_profile = 'x'"),
    ];
    let mut told = String::new();
    for (what, bytes) in files {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path();
        fs::write(workspace.join("bcode.toml"), bytes).unwrap();
        let environment = Environment::new(workspace);
        write!(told, "{what}, found: {}", found_in(workspace, &environment)).unwrap();
        fs::rename(workspace.join("bcode.toml"), workspace.join("named.toml")).unwrap();
        write!(told, "{what}, named: {}", found_in(workspace, &environment.variable("BCODE_CONFIG", "named.toml"))).unwrap();
    }
    let set: [(&str, Put); 6] = [
        ("a folder", |path| fs::create_dir(path).unwrap()),
        ("100 MB", |path| fs::File::create(path).unwrap().set_len(100_000_000).unwrap()),
        ("a link to nothing", |path| symlink("nowhere", path).unwrap()),
        ("a link in a circle", |path| symlink("bcode.toml", path).unwrap()),
        // Whoever asks: a test may run as one who may read all.
        ("a file that cannot be read", |path| symlink("/proc/self/mem", path).unwrap()),
        ("a device", |path| symlink("/dev/zero", path).unwrap()),
    ];
    for (what, put) in set {
        let folder = tempfile::tempdir().unwrap();
        put(&folder.path().join("bcode.toml"));
        write!(told, "{what}: {}", found_in(folder.path(), &Environment::new(folder.path()))).unwrap();
    }
    let nowhere = Path::new("/nowhere");
    write!(told, "none, named: {}", found_in(nowhere, &Environment::new(nowhere).variable("BCODE_CONFIG", "named.toml"))).unwrap();
    for name in ["BCODE_CONFIG", "BCODE_CONFIG_TOML", "BCODE_STATE_DIR", "BCODE_SKILLS__ENABLED", "BCODE_SKILLS__X", "XDG_CONFIG_HOME"] {
        let environment = Environment::new(nowhere).raw_variable(name, std::ffi::OsString::from_vec(b"/\xff".to_vec()));
        write!(told, "no UTF-8 in {name}: {}", found_in(nowhere, &environment)).unwrap();
    }
    for name in ["BCODE_SKILLS", "BCODE_OTHER__KEY", "OTHER"] {
        let environment = Environment::new(nowhere).raw_variable(name, std::ffi::OsString::from_vec(b"/\xff".to_vec()));
        assert_eq!(found_in(nowhere, &environment), "goes on\n", "{name} is none of ours");
    }
    insta::assert_snapshot!(told);
}
