//! What is allowed and brings about nothing, or more than its author may think: whoever sets it is told.

use super::model::{Config, SystemPromptMode};
use super::place::KeyPath;
use super::text::shown;
use super::values::ConfigValues;
use crate::layers::Diagnostic;
use crate::layers::profile::{BUNDLED_PROFILES, ModelProfile};
use crate::layers::text::TextMode;

/// Texts that replace and are empty: a warning at each mode that says so.
pub(super) fn without_a_base(config: &Config, values: &ConfigValues) -> Vec<Diagnostic> {
    let is_empty = config.system_prompt.mode == SystemPromptMode::Replace && config.system_prompt.text.trim().is_empty();
    let what = "`system_prompt.text` is empty: there is no base prompt";
    let mut empty: Vec<(KeyPath, String)> = Vec::new();
    empty.extend(is_empty.then(|| (KeyPath::from(["system_prompt", "mode"]), what.to_owned())));
    let profiles = &config.prompt_profile;
    empty.extend(replaced_by_nothing(&KeyPath::from(["prompt_profile", "default"]), &profiles.default));
    let tables = [
        ("provider", &profiles.provider),
        ("family", &profiles.family),
        ("catalog_entry", &profiles.catalog_entry),
        ("model", &profiles.model),
    ];
    for (table, by_id) in tables {
        empty.extend(by_id.iter().flat_map(|(id, profile)| replaced_by_nothing(&KeyPath::from(["prompt_profile", table, id]), profile)));
    }
    let warning = |(mode, what): (KeyPath, String)| {
        let mode = mode.to_string();
        let message = format!("`{mode}` is \"replace\" and {what}");
        Some(values.get(&mode)?.origin.locate(Diagnostic::warning("system-prompt-empty", message), None))
    };
    empty.into_iter().filter_map(warning).collect()
}

/// The modes of a profile by which nothing replaces something.
fn replaced_by_nothing(at: &KeyPath, profile: &ModelProfile) -> Vec<(KeyPath, String)> {
    let mut empty = Vec::new();
    if profile.system_prompt_mode == TextMode::Replace {
        let text = at.join("system_prompt");
        match &profile.system_prompt {
            Some(set) if set.trim().is_empty() => {
                empty.push((at.join("system_prompt_mode"), format!("`{text}` is empty: there is no base prompt")));
            }
            Some(_) => {}
            None => empty.push((at.join("system_prompt_mode"), format!("`{text}` is not set: nothing is replaced"))),
        }
    }
    let tools = profile.tool_description.iter().filter(|(_, told)| told.mode == TextMode::Replace && told.text.trim().is_empty());
    empty.extend(tools.map(|(name, _)| {
        let tool = at.join("tool_description").join(name.as_str());
        let what = format!("`{}` is empty: the tool has no description", tool.join("text"));
        (tool.join("mode"), what)
    }));
    empty
}

/// Ids that switch off nothing.
pub(super) fn unknown_bundled_profiles(config: &Config, values: &ConfigValues) -> Vec<Diagnostic> {
    const KEY: &str = "prompt_profile.bundled.disabled";
    let known: Vec<String> = BUNDLED_PROFILES.iter().map(|bundled| shown(bundled.id)).collect();
    let disabled = config.prompt_profile.bundled.disabled.iter().take(MOST_TOLD);
    let unknown = disabled.filter(|id| BUNDLED_PROFILES.iter().all(|bundled| bundled.id != **id));
    let note = |id: &String| {
        let message = format!("`{KEY}` has {}, which is no bundled profile; known: {}", shown(id), known.join(", "));
        Some(values.get(KEY)?.origin.locate(Diagnostic::note("profile-unknown", message), None))
    };
    unknown.filter_map(note).collect()
}

/// Of one array.
const MOST_TOLD: usize = 100;

/// Tables, the feature that acts on each, and whether this build has it.
const ACTED_ON: [(&str, &str, bool); 2] = [("proxy", "proxy", cfg!(feature = "proxy")), ("skills.code", "tools", cfg!(feature = "tools"))];

/// A warning for each key that is not at its default and that this build does not act on.
pub(super) fn without_effect(values: &ConfigValues) -> Vec<Diagnostic> {
    let is_of = |key: &str, table: &str| key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let set = values.rows().iter().filter(|row| !row.is_default);
    set.filter_map(|row| {
        let (_, feature, _) = ACTED_ON.iter().find(|(table, _, is_acted_on)| !is_acted_on && is_of(&row.key, table))?;
        let message = format!("`{}` has no effect in this build, which lacks the feature `{feature}`", row.key);
        Some(row.origin.locate(Diagnostic::warning("key-without-effect", message), None))
    })
    .collect()
}
