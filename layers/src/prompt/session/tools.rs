//! Tools of ours: which of those that layers propose a session offers from its start on, and what a request makes of them.

use super::entry::System;
use super::said::Said;
use super::state::State;
use crate::prompt::fragment::Entry;
use crate::prompt::manifest::{ContentHash, RenderedTool, ToolLeftOut};
use crate::prompt::{Diagnostic, Round, Turn};
use crate::text::{TextChange, escape, shorten};
use crate::wire::{Edits, ToolDefinition, ToolOutputBound};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Said<'_> {
    /// The tools that are offered, and all that were proposed: of equal names the first layer's stands, and what not all providers take does not.
    pub(super) fn tools(
        &mut self,
        entries: &[Entry],
        described: &BTreeMap<String, TextChange>,
    ) -> (Arc<[ToolDefinition]>, Arc<[RenderedTool]>) {
        let (mut offered, mut rendered) = (Vec::new(), Vec::new());
        for (definition, layer) in proposed(entries) {
            let name = &definition.name;
            let left_out = if !definition.has_usable_name() {
                let message = format!(
                    "`{}` is no name of a tool that all providers take (letters, digits, `_` and `-`, at most 64, a letter first); the model is not offered it",
                    escape::text(&shorten(name, 80))
                );
                self.diagnostics.push(Diagnostic::error("tool-name-invalid", message));
                Some(ToolLeftOut::NameInvalid)
            } else if offered.iter().any(|other: &ToolDefinition| other.name == *name) {
                Some(ToolLeftOut::ProposedBefore)
            } else {
                offered.push(definition.clone());
                None
            };
            let json = match described.get(name) {
                Some(change) => {
                    ToolDefinition { description: change.apply(&definition.description).into_owned(), ..definition.clone() }.json()
                }
                None => definition.json(),
            };
            let (bytes, tokens, hash) = (json.len(), self.counter.count(&json), ContentHash::of(&json));
            rendered.push(RenderedTool { name: name.clone(), layer: layer.to_owned(), bytes, tokens, hash, left_out });
        }
        (offered.into(), rendered.into())
    }

    /// All changes of the descriptions of tools, for tools too that a later request may bring.
    pub(super) fn tool_descriptions(&mut self, entries: &[Entry], turn: &Turn) -> BTreeMap<String, TextChange> {
        let mut all: BTreeMap<String, TextChange> = BTreeMap::new();
        for entry in entries {
            if let Entry::DescribesTool { name, change } = entry {
                let before = all.remove(name).unwrap_or_default();
                all.insert(name.clone(), before.and(change));
            }
        }
        if !turn.conversation.tools.is_empty() {
            let is_there = |name: &String| turn.conversation.tools.contains(name) || proposed(entries).any(|(tool, _)| tool.name == *name);
            for name in all.keys().filter(|name| !is_there(name)) {
                let name = escape::text(name);
                let message = format!(
                    "a description is changed of the tool `{name}`, and the request has no such tool, or its description is no text"
                );
                self.diagnostics.push(Diagnostic::note("tool-unknown", message));
            }
        }
        all
    }
}

/// The tools that layers propose, in the layers' order.
pub(super) fn proposed(entries: &[Entry]) -> impl Iterator<Item = (&ToolDefinition, &'static str)> {
    entries.iter().filter_map(|entry| if let Entry::AddsTool { definition, layer } = entry { Some((definition, *layer)) } else { None })
}

/// The session's tools, where the request takes them; what became of each that was proposed, and what is to be noticed of it.
pub(super) fn add_tools(state: &State, turn: &Turn, edits: &mut Edits) -> (Arc<[RenderedTool]>, Vec<Diagnostic>) {
    let Some(System { tools, proposed_tools, .. }) = &state.system else { return (Arc::new([]), Vec::new()) };
    if tools.is_empty() {
        return (proposed_tools.clone(), Vec::new());
    }
    let names = |tools: &[ToolDefinition]| tools.iter().map(|tool| format!("`{}`", tool.name)).collect::<Vec<_>>().join(", ");
    let without = |names: &[ToolDefinition], why: ToolLeftOut| {
        let left_out = |tool: &RenderedTool| tool.left_out.or_else(|| names.iter().any(|other| other.name == tool.name).then_some(why));
        proposed_tools.iter().map(|tool| RenderedTool { left_out: left_out(tool), ..tool.clone() }).collect()
    };
    if turn.conversation.takes_no_tools {
        let message = format!("this request takes no further tools, so the model is not offered {}", names(tools));
        return (without(tools, ToolLeftOut::NotTaken), vec![Diagnostic::note("tool-not-offered", message)]);
    }
    let (taken, added): (Vec<_>, Vec<_>) = tools.iter().cloned().partition(|tool| turn.conversation.tool_names.contains(&tool.name));
    if taken.is_empty() {
        edits.tools = tools.clone();
        return (proposed_tools.clone(), Vec::new());
    }
    edits.tools = added.into();
    let proposed = without(&taken, ToolLeftOut::NameTaken);
    // Later it may be ours, in what the caller kept.
    if turn.round != Round::Start {
        return (proposed, Vec::new());
    }
    let message = format!("the request has a tool of this name already, which stands in place of ours: {}", names(&taken));
    (proposed, vec![Diagnostic::warning("tool-name-taken", message)])
}

/// How results of tools are bounded: the first layer's bound.
pub(super) fn tool_output(entries: &[Entry]) -> Option<ToolOutputBound> {
    entries.iter().find_map(|entry| if let Entry::BoundsToolOutput(bound) = entry { Some(bound.clone()) } else { None })
}
