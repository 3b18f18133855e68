//! What a text of TOML is found to have: one row a case, with line and column.

use tower_prompt::config::{Config, Loader};
use tower_prompt::{Environment, Workspace};

/// The findings in `text`, as an unnamed file's are told: without the name of the source.
/// But for keys that nothing acts on yet: which those are changes from version to version.
fn findings(text: &str) -> Vec<String> {
    let environment = Environment::new("/nowhere").variable("BCODE_CONFIG_TOML", text);
    let workspace = Workspace::at("/nowhere");
    let found = match Loader::new(&environment, &workspace).load() {
        Ok(loaded) => loaded.findings,
        Err(error) => error.findings().to_vec(),
    };
    let found = found.iter().filter(|finding| finding.code != "key-without-effect");
    found.map(|finding| finding.to_string().replace("BCODE_CONFIG_TOML:", "")).collect()
}

#[test]
fn findings_have_line_column_key_and_what_is_allowed() {
    #[rustfmt::skip]
    let cases: &[(&str, &[&str])] = &[
        // Wrong types.
        ("skills.enabled = 'true'", &["1:18: error[value-type]: `skills.enabled` has the text \"true\"; allowed: `true` or `false`"]),
        ("[skills]\nenabled = 1.5", &["2:11: error[value-type]: `skills.enabled` has the number 1.5; allowed: `true` or `false`"]),
        ("skills.enabled.deep = true", &["1:8: error[value-type]: `skills.enabled` has a table; allowed: `true` or `false`"]),
        ("skills = 2020-01-01", &["1:10: error[value-type]: `skills` has the date 2020-01-01; allowed: a table"]),
        ("[[skills]]\nenabled = true", &["1:1: error[value-type]: `skills` has an array; allowed: a table"]),
        ("[model]\ntool_output = true", &["2:15: error[value-type]: `model.tool_output` has `true`; allowed: a table"]),
        ("system_prompt = { text = 1.10 }", &["1:26: error[value-type]: `system_prompt.text` has the number 1.10; allowed: text"]),
        // Tables beside those of other programs whose names read like ours.
        ("[skill]\nenabled = false", &["1:2: note[table-unknown]: `skill` is no table that is read here; the nearest is `skills`"]),
        ("[system_promt]\n[budjet]", &[
            "1:2: note[table-unknown]: `system_promt` is no table that is read here; the nearest is `system_prompt`",
            "2:2: note[table-unknown]: `budjet` is no table that is read here; the nearest is `budget`",
        ]),
        ("model.tool_ouput.context_chars = 1", &[
            "1:7: note[table-unknown]: `model.tool_ouput` is no table that is read here; the nearest is `model.tool_output`",
        ]),
        ("skill = 1\n[models]\n[plugins]\n[tui.skill]\n[model.tools]", &[]),
        // Numbers.
        ("proxy.max_body_bytes = 0x0", &["1:24: error[value-out-of-range]: `proxy.max_body_bytes` has the number 0x0; allowed: a whole number from 1"]),
        ("proxy.max_body_bytes = -1", &["1:24: error[value-out-of-range]: `proxy.max_body_bytes` has the number -1; allowed: a whole number from 1"]),
        ("proxy.max_body_bytes = 99999999999999999999",
            &["1:24: error[value-out-of-range]: `proxy.max_body_bytes` has the number 99999999999999999999; allowed: a whole number from 1"]),
        ("proxy.max_body_bytes = 0xFF_FF", &[]),
        // Words.
        ("# ä\ncontext = { placement = \"😀\", cache_marks = 'no' }", &[
            "2:25: error[value-unknown]: `context.placement` has the text \"😀\"; allowed: \"append\", \"latest\" or \"front\"",
            "2:44: error[value-type]: `context.cache_marks` has the text \"no\"; allowed: `true` or `false`",
        ]),
        ("invariants.mode = 'Full'", &["1:19: error[value-unknown]: `invariants.mode` has the text \"Full\"; allowed: \"full\" or \"relevant\""]),
        ("skills.overrides.'a b' = 'hidden'",
            &["1:26: error[value-unknown]: `skills.overrides.\"a b\"` has the text \"hidden\"; allowed: \"auto\", \"name_only\", \"manual\" or \"off\""]),
        // Arrays: every element that is wrong.
        ("skills.compat = ['brute', 'bat', 3]", &[
            "1:27: error[value-unknown]: `skills.compat` has the text \"bat\"; allowed: \"batbox\", \"brute\" or \"orcbot\"",
            "1:34: error[value-type]: `skills.compat` has the number 3; allowed: \"batbox\", \"brute\" or \"orcbot\"",
        ]),
        ("skills.compat = 'brute'",
            &["1:17: error[value-type]: `skills.compat` has the text \"brute\"; allowed: an array of \"batbox\", \"brute\" or \"orcbot\""]),
        ("skills.sources.paths = ['']", &["1:25: error[value-invalid]: `skills.sources.paths` has the text \"\"; allowed: a path"]),
        // Ids.
        ("skills.disabled.ids = ['a/b']", &["1:24: error[id-invalid]: `skills.disabled.ids` has the text \"a/b\"; allowed: a skill's id"]),
        ("skills.overrides.off = 'off'",
            &["1:18: error[id-invalid]: `skills.overrides` has the id \"off\": `off` is a word of the host's commands and can be no skill id"]),
        ("[skills.overrides]\n'caf\u{e9}' = 'off'\n'cafe\u{301}' = 'off'",
            &["2:1: error[id-duplicate]: `skills.overrides.\"caf\u{e9}\"` stands twice: ids are compared in their normal form"]),
        // Rules, as inline tables and as an array of tables.
        ("[[skills.code.routing]]\nintent = 'x'\nprefer = ['y']\n[[skills.code.routing]]\nprefers = []", &[
            "4:1: error[field-missing]: `skills.code.routing` has a rule without `intent`",
            "5:1: warning[key-unknown]: `skills.code.routing.prefers` is not a known key; the nearest is `prefer`",
        ]),
        ("skills.code.routing = [{ intent = 'x', avoid = 'y' }]",
            &["1:48: error[value-type]: `skills.code.routing.avoid` has the text \"y\"; allowed: an array of text"]),
        // Forms.
        ("proxy.store = 'postgres://me:SECRET@db/sessions'",
            &["1:15: error[value-invalid]: `proxy.store` has another text; allowed: `sqlite:PATH`, or `postgres://USER@HOST/DATABASE` without a password, which belongs into PGPASSWORD or the file of PGPASSFILE"]),
        ("proxy.upstream = 'api.example.com'",
            &["1:18: error[value-invalid]: `proxy.upstream` has the text \"api.example.com\"; allowed: a URL that begins with `http://` or `https://`"]),
        ("proxy.session_header = 'x y'",
            &["1:24: error[value-invalid]: `proxy.session_header` has the text \"x y\"; allowed: the name of an HTTP header"]),
        // Unknown keys.
        ("[skills]\nauto_activte = 'on'", &["2:1: warning[key-unknown]: `skills.auto_activte` is not a known key; the nearest is `skills.auto_activate`"]),
        ("skills.promt.max_bytes = 1", &["1:8: warning[key-unknown]: `skills.promt` is not a known key; the nearest is `skills.prompt`"]),
        ("[skills]\nmax_suggestions = 1",
            &["2:1: warning[key-unknown]: `skills.max_suggestions` is not a known key; the nearest is `skills.matching.max_suggestions`"]),
        ("[model.tool_output]\n'\\u001b[0m' = 1",
            &["2:1: warning[key-unknown]: `model.tool_output.\"\\\\u001b[0m\"` is not a known key; known in `model.tool_output`: `context_chars`, `fallback_argument_chars`"]),
        ("[budget]\n\"\\u001b\" = 1",
            &["2:1: warning[key-unknown]: `budget.\"\\u001B\"` is not a known key; known in `budget`: `max_anchored_tokens`, `max_prompt_tokens`"]),
        ("skills.size = 1", &["1:8: warning[key-unknown]: `skills.size` is not a known key; none of the 21 in `skills` is near it"]),
        ("skills.xml = 1", &["1:8: warning[key-unknown]: `skills.xml` is not a known key; none of the 21 in `skills` is near it"]),
        ("[context]\nxyz = 1",
            &["2:1: warning[key-unknown]: `context.xyz` is not a known key; known in `context`: `cache_marks`, `placement`, `repository_text`, `unnamed_sessions`"]),
        // What another program calls so.
        ("model = 'gpt'", &[]),
        ("model = ['gpt']\n[[other]]", &[]),
        ("composition.profiles.a.patch.model = 'gpt'", &[]),
        // Texts that are no TOML.
        ("a = 1\nskills = {", &["2:11: error[file-not-toml]: is no TOML: unclosed inline table, expected `}`"]),
        ("skills.enabled = true\nskills.enabled = true", &["2:8: error[file-not-toml]: is no TOML: duplicate key"]),
        // Nothing wrong.
        ("\u{feff}[skills]\r\nenabled = true\r\n", &[]),
        ("prompt_profile = { model.'x.y' = { system_prompt = 'a', tool_description.run.text = 'b' } }", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(findings(text), *expected, "{text}");
    }
}

#[test]
fn findings_of_profiles() {
    #[rustfmt::skip]
    let cases: &[(&str, &[&str])] = &[
        ("composition.active_profile = 'fats'\n[composition.profiles.fast]",
            &["1:30: error[profile-unknown]: `composition.active_profile` names the profile \"fats\", which is not in `composition.profiles`; the nearest is \"fast\""]),
        ("composition.profiles.a.extends = ['a']",
            &["1:35: error[profile-cycle]: `composition.profiles.a.extends` closes a cycle of profiles: \"a\""]),
        ("[composition.profiles]\na.extends = ['b']\nb.extends = [' C ']\nc.extends = ['d', 'A']\nd = {}",
            &["4:19: error[profile-cycle]: `composition.profiles.c.extends` closes a cycle of profiles: \"a\" extends \"b\" extends \"c\""]),
        ("composition.profiles.a.extends = ['x']",
            &["1:35: error[profile-unknown]: `composition.profiles.a.extends` names the profile \"x\", which is not in `composition.profiles`"]),
        ("composition.layer_order = ['defaults', 'confg', 'config']",
            &["1:40: error[layer-unknown]: `composition.layer_order` has the text \"confg\"; allowed: \"defaults\", \"config\", \"profile:active\" or \"profile:ID\""]),
        ("composition.layer_order = ['defaults', 'profile:x', 'config']",
            &["1:40: error[profile-unknown]: `composition.layer_order` names the profile \"x\", which is not in `composition.profiles`"]),
        ("composition.layer_order = ['defaults']",
            &["1:27: warning[layer-left-out]: `composition.layer_order` has no \"config\": nothing but `composition` and the profiles counts"]),
        ("[composition]\nactive_profile = 'a'\nlayer_order = ['config']\nprofiles.a = {}",
            &["3:15: warning[layer-left-out]: `composition.layer_order` has no \"profile:active\": the active profile \"a\" adds nothing"]),
        ("[composition.profiles.a.patch]\ncomposition.active_profile = 'a'\nskills.enabled = 1\nskills.x = 1\nforeign.x = 1", &[
            "2:1: error[key-misplaced]: `composition.profiles.a.patch.composition` cannot stand in a profile's patch; only the file's own `composition` counts",
            "3:18: error[value-type]: `composition.profiles.a.patch.skills.enabled` has the number 1; allowed: `true` or `false`",
            "4:8: warning[key-unknown]: `composition.profiles.a.patch.skills.x` is not a known key; none of the 21 in `skills` is near it",
        ]),
        ("[composition.profiles]\n' A' = {}\na = {}", &["3:1: error[id-duplicate]: `composition.profiles.a` stands twice: ids are compared in their normal form"]),
        ("composition.layer_order = ['config', 'config', 'defaults']",
            &["1:27: warning[layer-left-out]: `composition.layer_order` has \"defaults\" above \"config\": no key with a default is set there"]),
        ("composition.layer_order = ['config', 'defaults', 'config']", &[]),
        ("composition.profiles.active = {}",
            &["1:22: error[id-invalid]: `composition.profiles` has the id \"active\": a profile's id is neither empty nor `active`"]),
    ];
    for (text, expected) in cases {
        assert_eq!(findings(text), *expected, "{text}");
    }
}

#[test]
fn findings_of_prompt_profiles() {
    #[rustfmt::skip]
    let cases: &[(&str, &[&str])] = &[
        ("prompt_profile.bundled.disabled = ['openai', 'nope']",
            &["1:35: note[profile-unknown]: `prompt_profile.bundled.disabled` has \"nope\", which is no bundled profile; known: \"anthropic\", \"openai\", \"google\", \"ollama\""]),
        ("prompt_profile.default = { system_prompt_mode = 'replace', system_prompt = ' ' }",
            &["1:49: warning[system-prompt-empty]: `prompt_profile.default.system_prompt_mode` is \"replace\" and `prompt_profile.default.system_prompt` is empty: there is no base prompt"]),
        ("prompt_profile.model.'a.b'.system_prompt_mode = 'replace'",
            &["1:49: warning[system-prompt-empty]: `prompt_profile.model.\"a.b\".system_prompt_mode` is \"replace\" and `prompt_profile.model.\"a.b\".system_prompt` is not set: nothing is replaced"]),
        ("prompt_profile.provider.x.tool_description.run.mode = 'replace'",
            &["1:55: warning[system-prompt-empty]: `prompt_profile.provider.x.tool_description.run.mode` is \"replace\" and `prompt_profile.provider.x.tool_description.run.text` is empty: the tool has no description"]),
        ("[prompt_profile.family.x]\nsystem_prompt_mode = 'replace'\nsystem_prompt = 'a'\n[prompt_profile.model.x]\nsystem_prompt = ''", &[]),
        ("system_prompt.mode = 'replace'",
            &["1:22: warning[system-prompt-empty]: `system_prompt.mode` is \"replace\" and `system_prompt.text` is empty: there is no base prompt"]),
    ];
    for (text, expected) in cases {
        assert_eq!(findings(text), *expected, "{text}");
    }
}

#[test]
fn a_long_chain_of_profiles_is_followed() {
    let chain: Vec<String> = (0..5_000).map(|number| format!("p{number}.extends = ['p{}']", number + 1)).collect();
    let chain = chain.join("\n");
    let text = format!("composition.active_profile = 'p0'\n[composition.profiles]\n{chain}\np5000.patch.skills.commands = true");
    let environment = Environment::new("/nowhere").variable("BCODE_CONFIG_TOML", text);
    let loaded = Loader::new(&environment, &Workspace::at("/nowhere")).load().unwrap();
    assert!(loaded.config.skills.commands);
}

#[test]
fn many_faulty_profiles_cost_bounded_time_and_findings() {
    let faulty: Vec<String> =
        (0..4_000).map(|number| format!("p{number}.extends = ['p{}', 'p0', 'nowhere{number}']", number + 1)).collect();
    let found = findings(&format!("[composition.profiles]\n{}", faulty.join("\n")));
    assert_eq!(found.len(), 101);
    assert!(found[100].ends_with("3900 more of `composition` are not told"), "{}", found[100]);
}

#[test]
fn a_faulty_profile_of_a_lower_source_shows_when_the_upper_is_taken_out() {
    // In code over a text: both name profiles that are not there, and both are told.
    let environment = Environment::new("/nowhere").variable("BCODE_CONFIG_TOML", "composition.active_profile = 'x'");
    let workspace = Workspace::at("/nowhere");
    let error = Loader::new(&environment, &workspace).set("composition.active_profile", "y").load().unwrap_err();
    let places: Vec<_> = error.findings().iter().map(|finding| finding.path.as_deref().unwrap()).collect();
    assert_eq!(places, ["BCODE_CONFIG_TOML", "set in code"]);
}

#[test]
fn profiles_stand_below_plain_configuration_and_extend_left_to_right() {
    let text = "
        composition.active_profile = ' Deep '
        system_prompt.text = 'plain'
        [composition.profiles.base]
        patch = { skills.preview_max_chars = 1, skills.max_resource_bytes = 1, skills.max_skill_file_bytes = 1, system_prompt.text = 'base' }
        [composition.profiles.other]
        extends = ['base']
        patch = { skills.max_resource_bytes = 2, skills.max_skill_file_bytes = 2 }
        [composition.profiles.DEEP]
        extends = ['base', 'other']
        patch.skills.max_skill_file_bytes = 3
    ";
    let environment = Environment::new("/nowhere").variable("BCODE_CONFIG_TOML", text);
    let workspace = Workspace::at("/nowhere");
    let loaded = Loader::new(&environment, &workspace).load().unwrap();
    let Config { skills, system_prompt, composition, .. } = &loaded.config;
    let limits = [skills.preview_max_chars, skills.max_resource_bytes, skills.max_skill_file_bytes].map(std::num::NonZeroUsize::get);
    assert_eq!(limits, [1, 2, 3]);
    assert_eq!(system_prompt.text, "plain");
    assert_eq!(composition.active_profile.as_deref(), Some("deep"));
    let row = loaded.values.get("skills.max_resource_bytes").unwrap();
    assert_eq!(row.origin.to_string(), "BCODE_CONFIG_TOML:8:47");
    assert!(loaded.values.get("composition.profiles.deep.patch.skills.max_skill_file_bytes").is_some());

    // Another order lets the profile win.
    let order = toml::Value::from(vec!["defaults", "config", "profile:active"]);
    let loaded = Loader::new(&environment, &workspace).set("composition.layer_order", order).load().unwrap();
    assert_eq!(loaded.config.system_prompt.text, "base");
    assert_eq!(loaded.config.composition.active_profile.as_deref(), Some("deep"));

    // Of a layer that stands twice the last time counts, however often it stands; what another profile extends too.
    let order = [["config", "profile:other"].repeat(2_000), vec!["profile:base", "config", "profile:deep", "profile:other"]].concat();
    let loaded = Loader::new(&environment, &workspace).set("composition.layer_order", order).load().unwrap();
    let skills = &loaded.config.skills;
    let limits = [skills.preview_max_chars, skills.max_resource_bytes, skills.max_skill_file_bytes].map(std::num::NonZeroUsize::get);
    assert_eq!((limits, loaded.config.system_prompt.text.as_str()), ([1, 2, 2], "base"));
}
