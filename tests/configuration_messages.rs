//! What is said of each key that is set wrongly: a person reads it, so all of it is kept.

use std::fmt::Write;
use tower_prompt::config::{KEYS, Kind, Loader};
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
fn wrong(kind: &Kind) -> Vec<&'static str> {
    match kind {
        Kind::Bool => vec!["1", "'yes'"],
        Kind::NonZero | Kind::OptionalNonZero => vec!["0", "-1", "99999999999999999999", "1.0", "'1'"],
        Kind::Text => vec!["1"],
        Kind::Form(_) => vec!["1", "' '"],
        Kind::OneOf(_) | Kind::SkillId | Kind::ProfileId | Kind::Layer => vec!["1", "'no/such word'"],
        Kind::Path => vec!["1", "''"],
        Kind::RoutingRule | Kind::Patch => vec!["1"],
        Kind::Array(_) => vec!["1", "{}", "[{}]"],
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
                findings(&format!("{path} = {value}")).into_iter().filter(|found| !found.contains("without-effect")).collect();
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
        if matches!(key.kind, Kind::Patch) {
            continue;
        }
        let below = findings(&format!("{path}.deeper = true"));
        assert!(below.iter().any(|found| found.contains("error[") || found.contains("unknown-key")), "{path}.deeper: {below:?}");
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
            found.len() == 1 && found[0].contains("unknown-key") && found[0].contains(&format!("`{}`", key.path)),
            "{misspelt}: {found:?}"
        );
    }
}
