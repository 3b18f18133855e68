//! Lists in the spellings that skill files use: a list, a text with commas, a text with blanks and parentheses.

use crate::skills::front_matter::Value;

/// The items of a list; a text is split at commas and line ends, a map gives its keys.
pub(super) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Absent => Vec::new(),
        Value::Text(text) => text.split([',', '\n']).map(|item| item.trim().to_owned()).collect(),
        Value::List(items) => items.iter().map(|item| item.to_text().trim().to_owned()).collect(),
        Value::Map(pairs) => pairs.iter().map(|(key, _)| key.trim().to_owned()).collect(),
    }
}

/// Tools: a text is split at commas and blanks outside parentheses; of a list, what a comma within parentheses took apart is joined again.
pub(super) fn tools(value: &Value) -> Vec<String> {
    let mut tools = Vec::new();
    match value {
        Value::Text(text) => extend(&mut tools, outside_parentheses(text)),
        Value::List(items) => {
            let mut open = String::new();
            for item in items.iter().map(Value::to_text) {
                open = if open.is_empty() { item } else { format!("{open}, {item}") };
                if open.matches('(').count() <= open.matches(')').count() {
                    tools.push(std::mem::take(&mut open).trim().to_owned());
                }
            }
            if !open.is_empty() {
                tools.push(open);
            }
        }
        other => tools = texts(other),
    }
    tools
}

fn outside_parentheses(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    });
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Names of arguments: a list of texts or of maps with a `name`, or a text split at commas and blanks.
pub(super) fn arguments(value: &Value) -> Vec<String> {
    match value {
        Value::Text(text) => outside_parentheses(text),
        Value::List(items) => {
            items.iter().map(|item| item.get("name").map_or_else(|| item.to_text(), Value::to_text).trim().to_owned()).collect()
        }
        other => texts(other),
    }
}

/// Adds what is not there yet.
pub(super) fn extend(list: &mut Vec<String>, more: Vec<String>) {
    for item in more {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}
