//! The JSON Schema: the file in the repository is what the code says, and what it allows is what the loader allows.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::LazyLock;
use tower_prompt::config::{KEYS, Loader, reference, schema};
use tower_prompt::{Environment, Workspace};

/// Compiling checks it against the schema of schemas.
static COMPILED: LazyLock<(boon::Schemas, boon::SchemaIndex)> = LazyLock::new(|| {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource("bcode.schema.json", schema()).unwrap();
    let index = compiler.compile("bcode.schema.json", &mut schemas).unwrap();
    (schemas, index)
});

fn allowed_by_the_schema(text: &str) -> bool {
    let table: toml::Table = text.parse().unwrap();
    let (schemas, index) = &*COMPILED;
    schemas.validate(&serde_json::to_value(table).unwrap(), *index).is_ok()
}

/// Whether the loader finds an error, or an unknown key, which a schema cannot tell from one.
fn allowed_by_the_loader(text: &str) -> bool {
    let environment = Environment::new("/nowhere").variable("BCODE_CONFIG_TOML", text);
    match Loader::new(&environment, &Workspace::at("/nowhere")).load() {
        Ok(loaded) => loaded.findings.iter().all(|found| found.code != "key-unknown"),
        Err(_) => false,
    }
}

#[test]
fn the_file_in_the_repository_is_what_the_code_says() {
    let file = std::fs::read_to_string("docs/bcode.schema.json").unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&file).unwrap(),
        schema(),
        "`tower-prompt config schema > docs/bcode.schema.json` writes it anew"
    );
}

#[test]
fn so_is_the_page_for_people() {
    let page = std::fs::read_to_string("docs/configuration.md").unwrap();
    assert!(page == reference(), "`tower-prompt config schema --markdown > docs/configuration.md` writes it anew");
    for key in KEYS {
        assert_eq!(page.matches(&format!("| `{}` |", key.path)).count(), 1, "{}", key.path);
    }
}

#[test]
fn every_key_has_its_doc() {
    let text = schema().to_string();
    for key in KEYS {
        assert!(text.contains(&json!(key.doc).to_string()), "{}", key.path);
    }
}

#[test]
fn every_table_has_its_doc() {
    fn look(schema: &Value, path: &str) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for (name, inner) in properties {
                look(inner, &format!("{path}.{name}"));
            }
        }
        if let Some(by_id) = schema.get("additionalProperties").filter(|of| of.is_object()) {
            look(by_id, &format!("{path}.*"));
        }
        assert!(schema["description"].as_str().is_some_and(|doc| doc.ends_with('.')), "{path}");
    }
    let schema = schema();
    look(&schema, "");
}

#[test]
fn all_defaults_are_allowed() {
    for key in KEYS.iter().filter(|key| key.path != "composition.profiles.ID.patch") {
        let Some(default) = key.default else { continue };
        let text = format!("{} = {default}", key.path.replace("NAME", "n").replace("ID", "x"));
        assert!(allowed_by_the_schema(&text) && allowed_by_the_loader(&text), "{text}");
    }
}

#[test]
fn tables_of_others_and_patches() {
    for (text, allowed) in [
        ("theme = 'dark'\n[editor]\nfont = 3", true),
        ("[model]\nname = 'x'\n[model.tool_output]\ncontext_chars = 1", true),
        ("[model.tool_output]\ncontext_char = 1", false),
        ("[model]\ntool_output = 1", false),
        ("model = 'gpt'", true),
        ("composition.profiles.work.patch.composition.active_profile = 'work'", false),
        ("[skills]\nenable = true", false),
        ("[composition.profiles.work.patch.skills.prompt]\nmax_bytes = 8", true),
        ("[composition.profiles.work.patch.skills.prompt]\nmax_bytes = 0", false),
        ("[composition.profiles.work.patch.editor]\nfont = 3", true),
        ("[composition.profiles.' ']\nextends = []", false),
        ("[[skills.code.routing]]\nintent = 'x'\nprefer = ['a']", true),
        ("[[skills.code.routing]]\nprefer = ['a']", false),
        ("[skills.overrides]\n'a/b' = 'off'", false),
        ("[skills.overrides]\noff = 'off'", false),
        ("skills.disabled.ids = [' ']", false),
        ("skills.disabled.ids = [' off ']", false),
        ("skills.disabled.ids = ['a\\b']", false),
        ("skills.disabled.ids = [' a b\t']", true),
        ("proxy.store = 'sqlite:///var/lib/a b.db'", true),
        ("proxy.store = 'sqlite://'", false),
        ("proxy.store = 'postgres://me@db:5432/x?sslmode=require'", true),
        ("proxy.store = 'postgres://me:SECRET@db/x'", false),
        ("proxy.store = 'postgres://me:SE/CRET@db/x'", false),
        ("proxy.store = 'postgres://me@db/x@y'", false),
    ] {
        assert_eq!((allowed_by_the_schema(text), allowed_by_the_loader(text)), (allowed, allowed), "{text}");
    }
}

/// Values of every kind, good and bad.
fn any_value() -> impl Strategy<Value = String> {
    let plain = prop_oneof![
        Just("true"),
        Just("1"),
        Just("0"),
        Just("-7"),
        Just("9223372036854775807"),
        Just("1.5"),
        Just("2020-01-01"),
        Just("''"),
        Just("' '"),
        Just("'summary'"),
        Just("'off'"),
        Just("'active'"),
        Just("'a/b'"),
        Just("'a\\b'"),
        Just("' off '"),
        Just("'x-id'"),
        Just("'127.0.0.1:80'"),
        Just("'[::1]:70000'"),
        Just("'host:1'"),
        Just("'https://a.b/c'"),
        Just("'https://'"),
        Just("'profile:a'"),
        Just("'profile: '"),
        Just("'defaults'"),
        Just("{}"),
        Just("{ a = 1 }"),
        Just("{ intent = 'x' }"),
        Just("\"\\u0007\""),
    ];
    prop_oneof![3 => plain.clone().prop_map(str::to_owned), 1 => proptest::collection::vec(plain, 0..3).prop_map(|all| format!("[{}]", all.join(", ")))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]
    #[test]
    fn what_it_allows_of_a_key_is_what_the_loader_allows(key in 0..KEYS.len(), value in any_value()) {
        let path = KEYS[key].path.replace("NAME", "n").replace("ID", "x");
        let text = format!("{path} = {value}");
        // Whether a profile is there, and that the layers hold the defaults, no schema can say.
        if !path.starts_with("composition.") {
            prop_assert_eq!(allowed_by_the_schema(&text), allowed_by_the_loader(&text), "{}", text);
        }
    }
}
