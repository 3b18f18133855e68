//! Checks one value against its kind.

use super::check::Check;
use super::keys::{FILE, KeyKind, TextForm};
use super::model::{ConfigurationLayer, profile_id};
use super::nearest::nearest;
use super::place::KeyPath;
use super::text::shown;
use crate::layers::Diagnostic;
use crate::layers::skill::{SkillId, trigger_pattern_fault};
use std::path::{Component, PathBuf};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

const RULE_FIELDS: [(&str, KeyKind); 3] =
    [("intent", KeyKind::Text), ("prefer", KeyKind::Array(&KeyKind::Text)), ("avoid", KeyKind::Array(&KeyKind::Text))];

impl Check<'_> {
    /// The value as it is merged; `None` where it is not of the kind, which is found then.
    pub(super) fn value(&mut self, kind: &KeyKind, value: &Spanned<DeValue<'_>>, path: &KeyPath) -> Option<toml::Value> {
        match (kind, value.get_ref()) {
            (KeyKind::Bool, DeValue::Boolean(yes)) => Some((*yes).into()),
            (KeyKind::NonZero | KeyKind::OptionalNonZero, DeValue::Integer(number)) => self.number(kind, number, value, path),
            (KeyKind::Array(of), DeValue::Array(elements)) => {
                let count = elements.len();
                let checked = elements.iter().enumerate().filter_map(|(number, element)| {
                    let checked = self.value(of, element, path);
                    // Only these are looked at again, once all sources are known.
                    if matches!(of, KeyKind::Layer | KeyKind::ProfileId) {
                        self.stands(path.join(number.to_string()), &element.span());
                    }
                    checked
                });
                let checked: Vec<toml::Value> = checked.collect();
                // All faults are told; an array with one is not used in part.
                (checked.len() == count).then_some(toml::Value::Array(checked))
            }
            (KeyKind::RoutingRule, DeValue::Table(fields)) => self.routing_rule(fields, value, path),
            (KeyKind::Patch, DeValue::Table(written)) => Some(toml::Value::Table(self.table(&FILE, written, path, true))),
            (kind, DeValue::String(text)) if kind.is_text() => self.text(kind, text, value, path),
            (kind, _) => {
                self.wrong_type(path, value, &kind.allowed());
                None
            }
        }
    }

    pub(super) fn wrong_type(&mut self, path: &KeyPath, value: &Spanned<DeValue<'_>>, allowed: &str) {
        self.find(Diagnostic::error("value-type", not_allowed(path, value, allowed)), &value.span());
    }

    fn number(&mut self, kind: &KeyKind, number: &DeInteger<'_>, value: &Spanned<DeValue<'_>>, path: &KeyPath) -> Option<toml::Value> {
        let parsed = i64::from_str_radix(number.as_str(), number.radix()).ok();
        if parsed.is_some_and(|parsed| parsed > 0 && usize::try_from(parsed).is_ok()) {
            return parsed.map(toml::Value::Integer);
        }
        self.find(Diagnostic::error("value-out-of-range", not_allowed(path, value, &kind.allowed())), &value.span());
        None
    }

    fn text(&mut self, kind: &KeyKind, text: &str, value: &Spanned<DeValue<'_>>, path: &KeyPath) -> Option<toml::Value> {
        // Matching goes on without it, as it does without a skill's own.
        if matches!(kind, KeyKind::Pattern)
            && let Some(reason) = trigger_pattern_fault(text)
        {
            let message = format!("`{path}` has the pattern {}, which is ignored: {reason}", shown(text));
            self.find(Diagnostic::warning("pattern-ignored", message), &value.span());
        }
        let as_it_stands = |fits: bool| fits.then(|| text.to_owned());
        let checked = match kind {
            KeyKind::OneOf(words) => as_it_stands(words.contains(&text)),
            KeyKind::Form(form) => as_it_stands(form.fits(text)),
            KeyKind::SkillId => SkillId::new(text).ok().map(String::from),
            KeyKind::ProfileId => profile_id(text),
            KeyKind::Layer => text.parse::<ConfigurationLayer>().ok().map(|layer| layer.to_string()),
            KeyKind::Path => self.absolute(text),
            _ => as_it_stands(true),
        };
        if checked.is_none() {
            let message = match kind {
                // It may have a password in it.
                KeyKind::Form(TextForm::Store) => format!("`{path}` has another text; allowed: {}", kind.allowed()),
                _ => not_allowed(path, value, &kind.allowed()),
            };
            let finding = match kind {
                KeyKind::OneOf(_) => Diagnostic::error("value-unknown", message),
                KeyKind::SkillId | KeyKind::ProfileId => Diagnostic::error("id-invalid", message),
                KeyKind::Layer => Diagnostic::error("layer-unknown", message),
                _ => Diagnostic::error("value-invalid", message),
            };
            self.find(finding, &value.span());
        }
        checked.map(toml::Value::String)
    }

    /// `None` for a blank path, and for one that hangs from a folder whose own path is not UTF-8.
    fn absolute(&self, path: &str) -> Option<String> {
        if !TextForm::NotBlank.fits(path) {
            return None;
        }
        let resolved = self.environment.resolve(path, self.base);
        // `.` says nothing; `..` stays, for a symbolic link may stand before it.
        let plain: PathBuf = resolved.components().filter(|component| *component != Component::CurDir).collect();
        plain.into_os_string().into_string().ok()
    }

    fn routing_rule(&mut self, fields: &DeTable<'_>, rule: &Spanned<DeValue<'_>>, path: &KeyPath) -> Option<toml::Value> {
        let mut table = toml::Table::new();
        let mut is_sound = true;
        for (name, value) in fields {
            let known = RULE_FIELDS.iter().find(|(known, _)| *known == name.get_ref());
            let path = path.join(name.get_ref().chars().take(80).collect::<String>());
            let Some((known, kind)) = known else {
                let nearest = nearest(name.get_ref(), RULE_FIELDS.map(|(known, _)| known));
                let nearest = nearest.map(|nearest| format!("; the nearest is `{nearest}`")).unwrap_or_default();
                self.find(Diagnostic::warning("key-unknown", format!("`{path}` is not a known key{nearest}")), &name.span());
                continue;
            };
            match self.value(kind, value, &path) {
                Some(value) => drop(table.insert((*known).to_owned(), value)),
                None => is_sound = false,
            }
        }
        if !fields.contains_key("intent") {
            self.find(Diagnostic::error("field-missing", format!("`{path}` has a rule without `intent`")), &rule.span());
            is_sound = false;
        }
        is_sound.then_some(toml::Value::Table(table))
    }
}

fn not_allowed(path: &KeyPath, value: &Spanned<DeValue<'_>>, allowed: &str) -> String {
    let found = match value.get_ref() {
        DeValue::String(text) => format!("the text {}", shown(text)),
        DeValue::Integer(number) => format!("the number {}", number.to_string().chars().take(60).collect::<String>()),
        DeValue::Float(number) => format!("the number {}", number.as_str().chars().take(60).collect::<String>()),
        DeValue::Boolean(yes) => format!("`{yes}`"),
        DeValue::Datetime(time) => format!("the date {time}"),
        DeValue::Array(_) => "an array".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    };
    format!("`{path}` has {found}; allowed: {allowed}")
}
