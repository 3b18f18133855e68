//! From the fields of a front matter to what is known of a skill: which field says what, in which spellings, and what becomes of the rest.

mod lists;

use super::front_matter::{Document, Entry, FrontMatter, Value};
use crate::layers::Diagnostic;
use crate::layers::skill::{SkillActivation, SkillId, SkillSource, SkillSummary};
use crate::layers::text::shorten;
use lists::{arguments, texts, tools};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Fields that are read key by key, with those keys.
const MAPS: [(&str, &[&str]); 3] = [
    ("activation", &["keywords", "file_patterns", "trigger_patterns"]),
    ("permissions", &["tools", "categories"]),
    ("orcbot", &["autoActivate", "requiredConfig", "requiredPackages", "permissions", "triggerPatterns"]),
];

/// What a skill file says of its skill.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Described {
    /// Without location and settings of the configuration.
    pub summary: SkillSummary,
    /// Fields that nobody here reads, as text.
    pub other_fields: BTreeMap<String, String>,
    /// Those of the document, and of its fields.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a skill from its file. `fallback` is the folder's name or the file's stem: the id where the file gives none. An error is what leaves no
/// skill: no id, or no usable text.
pub fn describe(document: &Document, fallback: &str, source: impl Into<Arc<SkillSource>>) -> Result<Described, Diagnostic> {
    let mut fields = Fields { front_matter: document.front_matter.as_ref(), read: Vec::new(), found: document.diagnostics.clone() };
    let id = fields.id(fallback)?;
    let description = fields.description(document, &id)?;
    let mut summary = SkillSummary::new(id, description, source);
    if let Some(name) = fields.one_line("name") {
        fields.compare_name(&name, &summary.id);
        summary.name = name;
    }
    summary.version = fields.one_line("version");
    summary.license = fields.one_line("license");
    summary.compatibility = fields.one_line("compatibility");
    summary.metadata = fields.metadata().into();
    summary.activation = fields.activation().into();
    for key in ["allowed-tools", "allowed_tools", "allowedTools"] {
        let found = fields.list(&[key], tools);
        lists::extend(&mut summary.permissions.tools, found);
    }
    for (path, of_tools) in [(["permissions", "tools"], true), (["permissions", "categories"], false), (["orcbot", "permissions"], false)] {
        let found = fields.list(&path, tools);
        let into = if of_tools { &mut summary.permissions.tools } else { &mut summary.permissions.categories };
        lists::extend(into, found);
    }
    summary.requirements.packages = fields.list(&["orcbot", "requiredPackages"], texts);
    summary.requirements.settings = fields.list(&["orcbot", "requiredConfig"], texts);
    summary.hidden = fields.switch(&["disable-model-invocation"], false) | fields.switch(&["disable_model_invocation"], false);
    summary.user_invocable = fields.switch(&["user-invocable"], true) & fields.switch(&["user_invocable"], true);
    summary.execution.model = fields.one_line("model");
    summary.execution.thinking_effort = fields.one_line("thinking_effort");
    summary.argument_hint = fields.one_line("argument-hint").or_else(|| fields.one_line("argument_hint"));
    summary.arguments = fields.list(&["arguments"], arguments);
    let other_fields = fields.others();
    fields.found.sort_by_key(|found| (found.line, found.column));
    Ok(Described { summary, other_fields, diagnostics: fields.found })
}

/// The fields, which of them were read, and what was found in them.
struct Fields<'a> {
    front_matter: Option<&'a FrontMatter>,
    read: Vec<&'a str>,
    found: Vec<Diagnostic>,
}

impl<'a> Fields<'a> {
    /// A field that holds something; it counts as read.
    fn entry(&mut self, key: &str) -> Option<&'a Entry> {
        let entry = self.front_matter?.get(key)?;
        self.read.push(&entry.key);
        (entry.value != Value::Absent).then_some(entry)
    }

    fn say(&mut self, diagnostic: Diagnostic, entry: &Entry) {
        self.found.push(diagnostic.line(entry.line).column(entry.column));
    }

    fn mistyped(&mut self, entry: &Entry, message: String) {
        self.say(Diagnostic::warning("field-type", message), entry);
    }

    /// A field that is text, as YAML says it is; a list or map as it stands in the file.
    fn text(&mut self, key: &str) -> Option<String> {
        let entry = self.entry(key)?;
        if let Value::Text(text) = &entry.value {
            return (!text.trim().is_empty()).then(|| text.clone());
        }
        let written = self.front_matter?.written(entry);
        let text = if written.is_empty() { entry.value.to_text() } else { written };
        self.mistyped(entry, format!("`{key}` must be a text; what stands here was read as one, quote it"));
        Some(text)
    }

    fn one_line(&mut self, key: &str) -> Option<String> {
        self.text(key).map(|text| text.trim().to_owned())
    }

    fn id(&mut self, fallback: &str) -> Result<SkillId, Diagnostic> {
        if let Some(text) = self.one_line("id") {
            match SkillId::new(&text) {
                Ok(id) => return Ok(id),
                Err(why) => {
                    let message = format!("`id`: {why}; `{fallback}` stands in its place");
                    if let Some(entry) = self.entry("id") {
                        self.say(Diagnostic::warning("id-invalid", message), entry);
                    }
                }
            }
        }
        SkillId::new(fallback).map_err(|why| Diagnostic::error("id-invalid", format!("{fallback:?}: {why}")))
    }

    fn compare_name(&mut self, name: &str, id: &SkillId) {
        let same = name == id.as_str() || SkillId::new(name).is_ok_and(|name| name == *id);
        if !same
            && !self.read.contains(&"id")
            && let Some(entry) = self.entry("name")
        {
            let name = shorten(name, 80);
            let message =
                format!("`name` is `{name}`, but the skill's folder or file is `{id}`; it is loaded as `{id}` and shown as `{name}`");
            self.say(Diagnostic::warning("name-differs", message), entry);
        }
    }

    fn description(&mut self, document: &Document, id: &SkillId) -> Result<String, Diagnostic> {
        let more = self.text("when_to_use");
        let description = self.text("description").or_else(|| {
            let paragraph = first_paragraph(document.body())?;
            let diagnostic = if self.front_matter.is_some() {
                Diagnostic::warning("description-missing", "no `description`; the first paragraph of the body stands in its place").line(1)
            } else {
                let message =
                    format!("no front matter: the id is `{id}`, the description the first paragraph, and the whole file the body");
                Diagnostic::warning("front-matter-missing", message).line(1)
            };
            self.found.push(diagnostic.column(1));
            Some(paragraph)
        });
        match (description, more) {
            (Some(description), Some(more)) => Ok(format!("{} {more}", description.trim_end())),
            (Some(text), None) | (None, Some(text)) => Ok(text),
            (None, None) => Err(Diagnostic::error("text-missing", "neither a description nor a body: there is nothing to load")),
        }
    }

    fn metadata(&mut self) -> BTreeMap<String, String> {
        let Some(entry) = self.entry("metadata") else { return BTreeMap::new() };
        let Value::Map(pairs) = &entry.value else {
            self.read.retain(|key| *key != "metadata");
            self.mistyped(entry, "`metadata` must be a map of text to text; it was kept as it is, unread".into());
            return BTreeMap::new();
        };
        let nested: Vec<&str> =
            pairs.iter().filter(|(_, value)| matches!(value, Value::List(_) | Value::Map(_))).map(|(key, _)| key.as_str()).collect();
        if !nested.is_empty() {
            self.mistyped(entry, format!("`metadata` must be a map of text to text; kept as JSON: `{}`", nested.join("`, `")));
        }
        pairs.iter().map(|(key, value)| (key.clone(), value.to_text())).collect()
    }

    fn activation(&mut self) -> SkillActivation {
        let mut activation = SkillActivation::default();
        activation.keywords = self.list(&["activation", "keywords"], texts);
        activation.file_patterns = self.list(&["activation", "file_patterns"], texts);
        activation.trigger_patterns = self.list(&["activation", "trigger_patterns"], texts);
        activation.auto_activate = self.switch(&["orcbot", "autoActivate"], false);
        if let Some(entry) = self.entry("activation")
            && !matches!(entry.value, Value::Map(_))
        {
            lists::extend(&mut activation.keywords, texts(&entry.value));
            self.mistyped(
                entry,
                "`activation` must be a map with `keywords`, `file_patterns`, `trigger_patterns`; it was read as keywords".into(),
            );
        }
        for key in ["keywords", "triggers"] {
            let found = self.list(&[key], texts);
            lists::extend(&mut activation.keywords, found);
        }
        let patterns = self.list(&["orcbot", "triggerPatterns"], texts);
        lists::extend(&mut activation.trigger_patterns, patterns);
        activation
    }

    /// The list at this path, taken apart by `split`; what is no list of texts is said, and so are empty items.
    fn list(&mut self, path: &[&str], split: fn(&Value) -> Vec<String>) -> Vec<String> {
        let Some((entry, value)) = self.at(path) else { return Vec::new() };
        let name = path.join(".");
        let of_tools = name.to_lowercase().contains("tools") || name.contains("arguments");
        match value {
            Value::Text(text) if !of_tools => {
                self.mistyped(entry, format!("`{name}` must be a list; the text `{}` was split at commas", shorten(text.trim(), 80)));
            }
            Value::List(items) if !of_tools && items.iter().any(|item| matches!(item, Value::List(_) | Value::Map(_))) => {
                self.mistyped(entry, format!("`{name}` must be a list of texts; what stands within it was kept as JSON"));
            }
            Value::Map(_) => self.mistyped(entry, format!("`{name}` must be a list; the keys of this map were read as its items")),
            _ => {}
        }
        let (kept, empty): (Vec<String>, Vec<String>) = split(value).into_iter().partition(|item| !item.is_empty());
        if !empty.is_empty() {
            self.say(Diagnostic::warning("item-empty", format!("`{name}` has an empty item; it was left out")), entry);
        }
        kept
    }

    fn switch(&mut self, path: &[&str], default: bool) -> bool {
        let Some((entry, value)) = self.at(path) else { return default };
        let said = value.as_text().map(|text| text.trim().to_lowercase());
        match said.as_deref() {
            Some("true" | "yes" | "on" | "1" | "y") => true,
            Some("false" | "no" | "off" | "0" | "n") => false,
            _ => {
                let message =
                    format!("`{}` must be true or false; `{}` was taken for {default}", path.join("."), shorten(&value.to_text(), 80));
                self.mistyped(entry, message);
                default
            }
        }
    }

    /// What stands at a path of one or two keys, with the entry that it is in.
    fn at(&mut self, path: &[&str]) -> Option<(&'a Entry, &'a Value)> {
        let (first, rest) = path.split_first()?;
        let entry = self.entry(first)?;
        let value = rest.iter().try_fold(&entry.value, |value, key| value.get(key))?;
        (*value != Value::Absent).then_some((entry, value))
    }

    /// What nobody here reads: whole fields, and keys within the maps that are read key by key.
    fn others(&mut self) -> BTreeMap<String, String> {
        let mut others = BTreeMap::new();
        for entry in self.front_matter.map_or(&[][..], |front_matter| &front_matter.entries) {
            let known = MAPS.iter().find(|(key, _)| *key == entry.key).map(|(_, known)| known);
            let unread: Vec<(String, String)> = match (known, &entry.value) {
                (Some(known), Value::Map(pairs)) => {
                    let unknown = pairs.iter().filter(|(key, _)| !known.contains(&key.as_str()));
                    unknown.map(|(key, value)| (format!("{}.{key}", entry.key), value.to_text())).collect()
                }
                // Said already where it was read as keywords, or as no metadata.
                _ if entry.key == "activation" || self.read.contains(&entry.key.as_str()) && known.is_none() => Vec::new(),
                (Some(_), Value::Absent) => Vec::new(),
                (_, value) => vec![(entry.key.clone(), value.to_text())],
            };
            for (key, value) in unread {
                if key != "metadata" {
                    self.say(
                        Diagnostic::note("field-unknown", format!("`{key}` is no field that is read here; it was kept as it is")),
                        entry,
                    );
                }
                others.insert(key, value);
            }
        }
        others
    }
}

/// The first paragraph of a Markdown text, headings and comments passed over, on one line; else its first heading.
fn first_paragraph(body: &str) -> Option<String> {
    let mut heading = None;
    let mut paragraph: Vec<&str> = Vec::new();
    let mut in_comment = false;
    for line in body.split(['\n', '\r']).map(str::trim) {
        let comment = in_comment || line.starts_with("<!--");
        in_comment = comment && !line.contains("-->");
        let rule = line.len() >= 3 && ['-', '*', '_', '='].iter().any(|mark| line.chars().all(|c| c == *mark));
        let is_heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
        if is_heading {
            heading = heading.or(Some(line.trim_start_matches('#').trim()));
        }
        if !line.is_empty() && !comment && !rule && !is_heading {
            paragraph.push(line);
        } else if !paragraph.is_empty() {
            break;
        }
    }
    let text = if paragraph.is_empty() { heading?.to_owned() } else { paragraph.join(" ") };
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
