//! Properties of the configuration over arbitrary texts and values.

use proptest::prelude::*;
use tower_prompt::config::{KEYS, Key, KeyKind, Loader, TextForm};
use tower_prompt::{Environment, Workspace};

fn one_of(words: &'static [&'static str]) -> BoxedStrategy<toml::Value> {
    prop::sample::select(words).prop_map(toml::Value::from).boxed()
}

/// A valid value, in the form in which it is kept.
fn valid(kind: &'static KeyKind) -> BoxedStrategy<toml::Value> {
    match kind {
        KeyKind::Bool => any::<bool>().prop_map(toml::Value::from).boxed(),
        // An empty variable counts as not set.
        KeyKind::Text => any::<String>().prop_filter("is empty", |text| !text.is_empty()).prop_map(toml::Value::from).boxed(),
        KeyKind::Form(TextForm::NotBlank) => "\\PC*[a-z]\\PC*".prop_map(toml::Value::from).boxed(),
        KeyKind::Form(TextForm::Address) => {
            ("[a-z]{1,9}(\\.[a-z]{1,9})?", any::<u16>()).prop_map(|(host, port)| format!("{host}:{port}").into()).boxed()
        }
        KeyKind::Form(TextForm::Url) => "https?://[a-z]{1,9}(:[1-9][0-9]{0,3})?(/[a-z]{0,5}){0,3}".prop_map(toml::Value::from).boxed(),
        KeyKind::Form(TextForm::HeaderName) => "[a-zA-Z0-9-]{1,20}".prop_map(toml::Value::from).boxed(),
        KeyKind::Form(TextForm::Store) => {
            "(sqlite:/?|postgres(ql)?://([a-z]{1,5}@)?)[a-z]{1,9}(/[a-z]{0,5})?".prop_map(toml::Value::from).boxed()
        }
        KeyKind::NonZero | KeyKind::OptionalNonZero => (1..=i64::from(i32::MAX)).prop_map(toml::Value::from).boxed(),
        KeyKind::OneOf(words) => one_of(words),
        KeyKind::SkillId => "[a-z]{4,9}".prop_filter("is reserved", |id| id != "active").prop_map(toml::Value::from).boxed(),
        KeyKind::Pattern => "[a-z]{1,9}(\\|[a-z]{1,9})?".prop_map(toml::Value::from).boxed(),
        // The one profile that every document here has.
        KeyKind::ProfileId => one_of(&["base"]),
        KeyKind::Layer => one_of(&["defaults", "config", "profile:active", "profile:base"]),
        KeyKind::Path => "/[a-z]{1,9}(/[a-z]{1,9}){0,3}".prop_map(toml::Value::from).boxed(),
        KeyKind::RoutingRule => (any::<String>(), prop::collection::vec(any::<String>(), 0..3))
            .prop_map(|(intent, prefer)| {
                let fields = [("intent", toml::Value::from(intent)), ("prefer", prefer.into())];
                toml::Value::Table(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            })
            .boxed(),
        KeyKind::Array(of) => prop::collection::vec(valid(of), 0..4).prop_map(toml::Value::from).boxed(),
        _ => Just(toml::Value::Table(toml::Table::new())).boxed(),
    }
}

fn key_and_value() -> impl Strategy<Value = (&'static Key, toml::Value)> {
    let shown: Vec<&'static Key> = KEYS.iter().filter(|key| !matches!(key.kind, KeyKind::Patch)).collect();
    prop::sample::select(shown).prop_flat_map(|key| valid(&key.kind).prop_map(move |value| (key, value)))
}

/// A document that sets the key. Values go through JSON, whose texts and arrays are TOML too, so that nothing is written by what reads it.
fn document(path: &str, value: &toml::Value) -> String {
    let inline = match value {
        toml::Value::Array(rules) if rules.iter().any(toml::Value::is_table) => {
            let fields = |rule: &toml::Value| format!("{{ intent = {}, prefer = {} }}", json(&rule["intent"]), json(&rule["prefer"]));
            format!("[{}]", rules.iter().map(fields).collect::<Vec<_>>().join(", "))
        }
        other => json(other),
    };
    format!("composition.profiles.base = {{}}\n{path} = {inline}\n")
}

fn json(value: &toml::Value) -> String {
    // TOML wants DEL escaped, JSON does not.
    serde_json::to_string(value).unwrap().replace('\u{7f}', "\\u007f")
}

/// The row of `path` as a value again.
fn read_back(from: Loader<'_>, path: &str) -> toml::Value {
    let values = from.load().unwrap().values;
    let shown = values.get(path).unwrap().value.clone().unwrap();
    let table: toml::Table = format!("value = {shown}").parse().unwrap();
    table["value"].clone()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_valid_value_of_every_key_comes_back_from_every_source((key, value) in key_and_value()) {
        let path = key.path.replace("composition.profiles.ID", "composition.profiles.other").replace("ID", "some-id").replace("NAME", "some_tool");
        let text = document(&path, &value);
        let environment = Environment::new("/nowhere");
        let workspace = Workspace::at("/nowhere");

        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("bcode.toml"), &text).unwrap();
        prop_assert_eq!(&read_back(Loader::new(&environment, &Workspace::at(folder.path())), &path), &value, "discovered");
        prop_assert_eq!(&read_back(Loader::new(&environment, &workspace).file(folder.path().join("bcode.toml")), &path), &value, "named");

        let with_text = environment.clone().variable("BCODE_CONFIG_TOML", &text);
        prop_assert_eq!(&read_back(Loader::new(&with_text, &workspace), &path), &value, "text");

        let base = || Loader::new(&environment, &workspace).set("composition.profiles.base", toml::Table::new());
        prop_assert_eq!(&read_back(base().set(&path, value.clone()), &path), &value, "code");

        if !key.has_an_id() {
            let raw = value.as_str().map_or_else(|| text.split_once(" = {}\n").unwrap().1.split_once('=').unwrap().1.to_owned(), str::to_owned);
            let name = format!("BCODE_{}", path.replace('.', "__").to_uppercase());
            let with_variable = environment.clone().variable("BCODE_CONFIG_TOML", "composition.profiles.base = {}").variable(name, raw);
            prop_assert_eq!(&read_back(Loader::new(&with_variable, &workspace), &path), &value, "variable");
        }
    }

    #[test]
    fn no_text_panics_and_a_discovered_one_never_stops(pieces in prop::collection::vec(piece(), 0..30), noise in any::<Vec<u8>>()) {
        let text = pieces.concat();
        let environment = Environment::new("/nowhere");
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(folder.path());
        for bytes in [text.as_bytes(), &noise] {
            std::fs::write(folder.path().join("bcode.toml"), bytes).unwrap();
            let loaded = Loader::new(&environment, &workspace).load().unwrap();
            let again = Loader::new(&environment, &workspace).load().unwrap();
            prop_assert_eq!(loaded.config, again.config);
            prop_assert!(loaded.findings.iter().all(|finding| !finding.to_string().contains(|c: char| c.is_control())));
        }
        let named = environment.variable("BCODE_CONFIG_TOML", text);
        let _ = Loader::new(&named, &Workspace::at("/nowhere")).load();
    }

    #[test]
    fn no_variable_panics(key in prop::sample::select(KEYS), value in any::<String>(), segment in "[A-Z_]{0,9}") {
        let name = format!("BCODE_{}{segment}", key.path.replace('.', "__").to_uppercase());
        let environment = Environment::new("/nowhere").variable(name, value.clone()).variable("BCODE_CONFIG", "");
        let _ = Loader::new(&environment, &Workspace::at("/nowhere")).set(value, 1).load();
    }
}

/// A piece of something like TOML.
fn piece() -> impl Strategy<Value = String> {
    let keys: Vec<&str> = KEYS.iter().map(|key| key.path).collect();
    prop_oneof![
        4 => prop::sample::select(keys.clone()).prop_flat_map(|key| value_text().prop_map(move |value| format!("{key} = {value}\n"))),
        2 => prop::sample::select(keys).prop_map(|key| format!("[{}]\n", key.rsplit_once('.').map_or(key, |(table, _)| table))),
        2 => prop::sample::select(vec!["[[skills.code.routing]]\n", "[composition.profiles.a]\n", "[composition.profiles.a.patch.skills]\n", "enabled = 0\n"])
            .prop_map(str::to_owned),
        1 => "[\\[\\]{}=.,'\"\n# a-z0-9\\\\]{0,12}",
        1 => any::<String>(),
    ]
}

fn value_text() -> impl Strategy<Value = String> {
    let fixed = [
        "true",
        "0",
        "1",
        "-1",
        "1.5",
        "nan",
        "''",
        "'off'",
        "'a'",
        "[]",
        "['a']",
        "[['a']]",
        "{}",
        "{ a = 1 }",
        "{ a.b = ['a'] }",
        "2020-01-01",
    ];
    prop_oneof![prop::sample::select(fixed.to_vec()).prop_map(str::to_owned), any::<String>().prop_map(|text| format!("{text:?}"))]
}
