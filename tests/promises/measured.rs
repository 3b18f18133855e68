//! Whether limits hold: each limited text is measured here, in its unit, and is whole.

use super::bodies::results;
use super::conversation::Sent;
use quick_xml::events::Event;
use std::collections::BTreeMap;
use tower_prompt::layers::text::{EstimatedTokens, Limit, TokenCounter, escape};

/// Numbers of the configuration; none: no limit.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub(super) catalog_bytes: Option<usize>,
    pub(super) description_chars: Option<usize>,
    pub(super) bodies_bytes: Option<usize>,
    pub(super) instructions_chars: Option<usize>,
    pub(super) invariants_chars: Option<usize>,
    pub(super) output_chars: Option<usize>,
    /// The catalog is lines.
    pub(super) lines: bool,
    /// Of a layer of the host's own, which may be nothing.
    pub(super) own: Limit,
}

pub(super) fn size(text: &str, limit: Limit) -> usize {
    match limit {
        Limit::Chars(_) => text.chars().count(),
        Limit::Tokens(_) => EstimatedTokens.count(text),
        _ => text.len(),
    }
}

/// Of the texts that a request says for the first time.
pub(super) fn sizes_hold(sent: &Sent, limits: &Limits) -> Result<(), String> {
    let within = |what: &str, size: usize, limit: Option<usize>| {
        if limit.is_none_or(|limit| size <= limit) { Ok(()) } else { Err(format!("{size} of {what} over {limit:?}")) }
    };
    let new = |id: &str| sent.new_of(id).into_iter();
    let chars = |id: &str| new(id).map(|text| text.chars().count()).sum::<usize>();
    within("catalog", new("skill_catalog").map(str::len).sum(), limits.catalog_bytes)?;
    within("bodies", bodies_in_force(sent), limits.bodies_bytes)?;
    within("instructions", chars("instructions:"), limits.instructions_chars)?;
    within("invariants", chars("repository_invariants"), limits.invariants_chars)?;
    within("own", new("own").map(|text| size(text, limits.own)).max().unwrap_or_default(), limits.own.amount())?;
    results(&sent.body).iter().try_for_each(|result| within("tool output", result.chars().count(), limits.output_chars))
}

/// Bytes of the skills' bodies that stand in a request and count: of each skill the one that was said last, and none that was said to be gone behind it.
fn bodies_in_force(sent: &Sent) -> usize {
    let mut in_force: BTreeMap<&str, usize> = BTreeMap::new();
    for text in &sent.manifest.texts {
        in_force.retain(|skill, _| !text.text.contains(&format!("The skill {skill} no longer applies.")));
        let bodies = text.fragments.iter().filter_map(|said| Some((said.id.strip_prefix("active_skill:")?, said.bytes)));
        in_force.extend(bodies);
    }
    in_force.values().sum()
}

/// Well-formed, each of so many skills in it or counted, each description within its limit.
pub(super) fn is_a_catalog(text: &str, limits: &Limits, skills: usize) -> Result<(), String> {
    if limits.lines {
        return Ok(());
    }
    let list = text.find("<available_skills>").map(|at| &text[at..]);
    let mut reader = quick_xml::Reader::from_str(list.ok_or_else(|| format!("a catalog has its list: {text}"))?);
    let (mut shown, mut omitted, mut chars, mut in_description) = (0, 0, 0, false);
    loop {
        match reader.read_event().map_err(|error| format!("{error}: {text}"))? {
            Event::Start(tag) if tag.name().as_ref() == "skill" => shown += 1,
            Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == "omitted" => {
                let count = tag.try_get_attribute("count").ok().flatten().and_then(|count| count.value.parse::<usize>().ok());
                omitted = count.ok_or_else(|| format!("it is counted: {text}"))?;
            }
            Event::Start(tag) if tag.name().as_ref() == "description" => (chars, in_description) = (0, true),
            Event::End(tag) if tag.name().as_ref() == "description" => {
                in_description = false;
                if limits.description_chars.is_some_and(|max| chars > max) {
                    return Err(format!("{chars} characters: {text}"));
                }
            }
            Event::Text(text) if in_description => chars += text.chars().count(),
            Event::GeneralRef(_) if in_description => chars += 1,
            Event::Eof => break,
            _ => {}
        }
    }
    if shown + omitted == skills { Ok(()) } else { Err(format!("{shown} and {omitted} of {skills}: {text}")) }
}

/// A block with a beginning of this prose in it, which tears no escape.
pub(super) fn is_a_block(block: &str, tag: &str, prose: &str) -> Result<(), String> {
    let inner = block.strip_suffix(&format!("\n</{tag}>")).and_then(|block| block.strip_prefix(&format!("<{tag}")));
    let Some((_, inner)) = inner.and_then(|inner| inner.split_once('\n')) else {
        return Err(format!("no whole block of {tag}: {block}"));
    };
    let whole = escape::prose(prose, &[tag]);
    let is_marker = |line: &str| line.starts_with('[') && line.contains(" bytes cut");
    let kept = inner.rsplit_once('\n').filter(|(_, last)| is_marker(last)).map_or(inner, |(kept, _)| kept);
    let kept = if is_marker(kept) { "" } else { kept };
    if !whole.starts_with(kept) {
        return Err(format!("{kept:?} is no beginning of {whole:?}"));
    }
    let before = kept.rfind('&').map(|at| &whole[at..]);
    let reference = before
        .and_then(|rest| rest.find(';').map(|end| &rest[..=end]))
        .filter(|text| text.len() > 2 && text[1..text.len() - 1].chars().all(|c| c.is_ascii_alphanumeric() || c == '#'));
    if reference.is_none_or(|reference| kept.contains(reference)) { Ok(()) } else { Err(format!("torn: {kept:?}")) }
}
