//! What a provider in another process said, made into values of ours: nothing that only a host or a configuration may say is taken over.

use super::SkillError;
use super::error::told;
use crate::prompt::Diagnostic;
use crate::skill::{SkillList, SkillManifest, SkillResources, SkillSource, SkillSummary, SkillVisibility};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Diagnostics of one answer that are kept.
const MAX_DIAGNOSTICS: usize = 100;
/// Names of bundled files that are kept, as of a folder.
const MAX_FILES: usize = 10;
/// Bytes of a diagnostic's code.
const MAX_CODE: usize = 64;

/// A list, or a part of one. A skill that is none costs a diagnostic.
pub(super) fn list(mut said: Map<String, Value>, source: &Arc<SkillSource>) -> Result<SkillList, SkillError> {
    let Some(Value::Array(skills)) = said.remove("skills") else {
        return Err(SkillError::invalid("a list without `skills`"));
    };
    let mut list = SkillList { skills: Vec::with_capacity(skills.len()), diagnostics: diagnostics(said.remove("diagnostics")) };
    let (mut refused, mut located) = (0_usize, 0_usize);
    for (at, skill) in skills.into_iter().enumerate() {
        match summary(skill, source) {
            Ok((skill, is_located)) => {
                located += usize::from(is_located);
                list.skills.push(skill);
            }
            Err(why) if refused < MAX_DIAGNOSTICS => {
                refused += 1;
                let message = format!("skill {} of the list of {} is none: {}", at + 1, source.label, told(&why));
                list.diagnostics.push(Diagnostic::warning("provider-skill-invalid", message));
            }
            Err(_) => refused += 1,
        }
    }
    if refused > MAX_DIAGNOSTICS {
        let message = format!("{} more of the list of {} are no skills", refused - MAX_DIAGNOSTICS, source.label);
        list.diagnostics.push(Diagnostic::warning("provider-skill-invalid", message));
    }
    if located > 0 {
        let message =
            format!("{located} skills of {} name a file; a provider has none that a model could read, and it is left out", source.label);
        list.diagnostics.push(Diagnostic::note("provider-location-ignored", message));
    }
    Ok(list)
}

/// One skill in full.
pub(super) fn manifest(mut said: Map<String, Value>, source: &Arc<SkillSource>) -> Result<SkillManifest, SkillError> {
    let Some(Value::Object(mut said)) = said.remove("manifest") else {
        return Err(SkillError::invalid("a description without `manifest`"));
    };
    let diagnostics = diagnostics(said.remove("diagnostics"));
    let other_fields = said.remove("other_fields").and_then(|fields| Deserialize::deserialize(fields).ok()).unwrap_or_default();
    let mut files: Vec<String> = said.remove("files").and_then(|files| Deserialize::deserialize(files).ok()).unwrap_or_default();
    let more = said.remove("more_files").and_then(|more| more.as_u64()).and_then(|more| usize::try_from(more).ok()).unwrap_or(0);
    let (summary, _) = summary(Value::Object(said), source).map_err(SkillError::invalid)?;
    let more_files = more.saturating_add(files.len().saturating_sub(MAX_FILES));
    files.truncate(MAX_FILES);
    Ok(SkillManifest { summary, other_fields, files, more_files, diagnostics })
}

/// A summary with this source, and whether it named a file. Without a name it is called by its id.
fn summary(said: Value, source: &Arc<SkillSource>) -> Result<(SkillSummary, bool), String> {
    let Value::Object(mut said) = said else { return Err("no object".to_owned()) };
    // Many languages write what is not there so.
    said.retain(|_, value| !value.is_null());
    said.insert("source".to_owned(), json!({"kind": "plugin", "label": ""}));
    if said.get("name").and_then(Value::as_str).is_none_or(|name| name.trim().is_empty()) {
        let id = said.get("id").cloned().unwrap_or_default();
        said.insert("name".to_owned(), id);
    }
    let mut summary = SkillSummary::deserialize(Value::Object(said)).map_err(|error| error.to_string())?;
    summary.source = Arc::clone(source);
    // The configuration's to say.
    (summary.disabled, summary.visibility) = (false, SkillVisibility::Auto);
    summary.resources = SkillResources::default();
    let is_located = !summary.location.is_empty();
    summary.location.clear();
    summary.compact();
    Ok((summary, is_located))
}

/// So many of these as are some, each in one bounded line.
pub(super) fn diagnostics(said: Option<Value>) -> Vec<Diagnostic> {
    let Some(Value::Array(said)) = said else { return Vec::new() };
    let found = said.into_iter().filter_map(|said| Diagnostic::deserialize(said).ok()).take(MAX_DIAGNOSTICS);
    let found = found.map(|mut found| {
        let is_word = |code: &str| code.len() <= MAX_CODE && code.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        if !is_word(&found.code) || found.code.is_empty() {
            let unnamed = Diagnostic::new(found.severity, "provider-said", found.message);
            found = Diagnostic { path: found.path, line: found.line, column: found.column, ..unnamed };
        }
        found.message = told(&found.message).into_owned();
        found.path = found.path.map(|path| told(&path).into_owned());
        found
    });
    found.collect()
}
