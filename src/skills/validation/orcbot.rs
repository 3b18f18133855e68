//! The fields that orcbot adds: `allowedTools`, and the table `orcbot`.

use super::{Findings, place, quoted};
use crate::layers::Diagnostic;
use crate::skills::front_matter::{Entry, FrontMatter, Value};

pub(super) fn check(front_matter: &FrontMatter, findings: &mut Findings) {
    if let Some(entry) = front_matter.get("allowedTools")
        && !matches!(entry.value, Value::Absent | Value::Text(_))
        && !is_list_of_texts(&entry.value)
    {
        findings.say(Diagnostic::error("allowed-tools-type", "`allowedTools` must be a text or a list of texts"), place(entry));
    }
    if let Some(entry) = front_matter.get("orcbot") {
        table(entry, findings);
    }
}

fn table(entry: &Entry, findings: &mut Findings) {
    let pairs = match &entry.value {
        Value::Absent => return,
        Value::Map(pairs) => pairs,
        Value::Text(_) | Value::List(_) => return findings.say(Diagnostic::error("orcbot-type", "`orcbot` must be a map"), place(entry)),
    };
    for (key, value) in pairs {
        let wanted = match key.as_str() {
            _ if *value == Value::Absent => continue,
            "autoActivate" => (!is_switch(value)).then_some("true or false"),
            "requiredConfig" | "requiredPackages" | "permissions" | "triggerPatterns" => {
                (!is_list_of_texts(value)).then_some("a list of texts")
            }
            _ => {
                let message = format!("{} is no key of `orcbot`", quoted(key));
                findings.say(Diagnostic::warning("orcbot-field-unknown", message), place(entry));
                continue;
            }
        };
        if let Some(wanted) = wanted {
            findings.say(Diagnostic::error("orcbot-field-type", format!("`orcbot.{key}` is {wanted}")), place(entry));
        }
    }
}

fn is_switch(value: &Value) -> bool {
    value.as_text().is_some_and(|text| ["true", "false"].contains(&text.trim().to_lowercase().as_str()))
}

fn is_list_of_texts(value: &Value) -> bool {
    matches!(value, Value::List(items) if items.iter().all(|item| matches!(item, Value::Text(_))))
}
