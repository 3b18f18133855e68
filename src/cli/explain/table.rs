//! The manifest as a table with bars, like a disk-usage view.

use crate::cli::terminal::{BOLD, CYAN, DIM, YELLOW, at_most, printable, within_columns};
use crate::layers::{CutOutput, CutText, Manifest, Placement, RenderedFragment, RenderedTool};
use unicode_width::UnicodeWidthStr;

/// Columns of a bar.
const BAR: usize = 12;
/// Columns of a fragment's id, at most.
const ID: usize = 36;

/// A row a fragment, in the order in which they stand, under the text that they stand in.
pub(super) fn of(manifest: &Manifest, width: usize) -> String {
    let fragments: Vec<(Placement, &RenderedFragment)> = manifest.fragments().collect();
    if fragments.is_empty() && manifest.tools.is_empty() {
        return "Nothing is added to this request.".to_owned();
    }
    let all: usize = fragments.iter().map(|(_, fragment)| fragment.tokens).sum();
    let largest = fragments.iter().map(|(_, fragment)| fragment.tokens).max().unwrap_or(1).max(1);
    let id_width = fragments.iter().map(|(_, fragment)| fragment.id.width()).max().unwrap_or_default().max(8).min(at_most(ID, width));
    let mut out = format!(
        "{BOLD}{:<id_width$}  {:<7}  {:>7}  {:>7}  {:>5}  {:<BAR$}  {:<11}  from{BOLD:#}\n",
        "fragment", "tier", "tokens", "bytes", "share", "", "limit"
    );
    let mut placement = None;
    for (at, fragment) in fragments {
        if placement != Some(at) {
            out.push_str(&format!("{DIM}{at}{DIM:#}\n"));
            placement = Some(at);
        }
        let RenderedFragment { tokens, bytes, .. } = fragment;
        let id = padded(&within_columns(&printable(&fragment.id), at_most(ID, width)), id_width);
        let (share, bar) = (format!("{}%", (tokens * 100 + all / 2) / all.max(1)), bar(*tokens, largest));
        let limit = limit(fragment);
        let limit = if fragment.limit.is_some_and(|limit| limit.cut) { format!("{YELLOW}{limit}{YELLOW:#}") } else { limit };
        let origin = printable(&fragment.source.to_string());
        let room = width.saturating_sub(id_width + BAR + 52).max(20);
        out.push_str(&format!(
            "{id}  {:<7}  {tokens:>7}  {bytes:>7}  {share:>5}  {CYAN}{bar}{CYAN:#}  {limit}  {}\n",
            fragment.tier.as_str(),
            keep_end(&origin, room)
        ));
    }
    let tiers: Vec<String> = manifest.tokens_by_tier().into_iter().map(|(of, tokens)| format!("{of} {tokens}")).collect();
    out.push_str(&format!("\n{BOLD}About {all} tokens{BOLD:#} in {} fragments: {}.\n", manifest.fragments().count(), tiers.join(", ")));
    if let Some(budget) = &manifest.budget {
        let told = format!("Budget: {} of {} tokens, {} without it", budget.after, budget.limit, budget.before);
        let told = if budget.after > budget.limit { format!("{YELLOW}{told}{YELLOW:#}") } else { told };
        let shed: Vec<String> =
            budget.shed.iter().map(|shed| format!("{} {} of {}", printable(&shed.id), shed.after, shed.before)).collect();
        out.push_str(&if shed.is_empty() { format!("{told}.\n") } else { format!("{told}; shed: {}.\n", shed.join(", ")) });
    }
    out.push_str(&tools(manifest, id_width, width));
    if !manifest.described_tools.is_empty() {
        let tools: Vec<String> = manifest.described_tools.iter().map(|tool| printable(tool)).collect();
        out.push_str(&format!("Descriptions changed of the tools {}.\n", tools.join(", ")));
    }
    for CutOutput { message, what, chars, limit, .. } in &manifest.cut_outputs {
        let what = if *what == CutText::Arguments { "Malformed arguments" } else { "Tool result" };
        out.push_str(&format!("{YELLOW}{what} in message {}: {chars} characters cut to {limit}{YELLOW:#}\n", message + 1));
    }
    if let Some(hash) = manifest.system_hash {
        out.push_str(&format!("{DIM}System prompt {hash}{DIM:#}\n"));
    }
    out
}

/// The tools that layers proposed, with a row for each, those that were left out among them.
fn tools(manifest: &Manifest, id_width: usize, width: usize) -> String {
    if manifest.tools.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{BOLD}{:<id_width$}  {:<7}  {:>7}  {:>7}  from{BOLD:#}\n", "tool", "", "tokens", "bytes");
    for RenderedTool { name, layer, bytes, tokens, left_out, .. } in &*manifest.tools {
        let name = padded(&within_columns(&printable(name), at_most(ID, width)), id_width);
        let layer = printable(layer);
        out.push_str(&match left_out {
            None => format!("{name}  {:<7}  {tokens:>7}  {bytes:>7}  {layer}\n", "added"),
            Some(why) => format!("{name}  {YELLOW}{:<7}{YELLOW:#}  {tokens:>7}  {bytes:>7}  {layer}: {why}\n", "not"),
        });
    }
    let (count, all) = manifest.added_tools().fold((0_usize, 0_usize), |(count, all), tool| (count + 1, all.saturating_add(tool.tokens)));
    out.push_str(&format!(
        "{BOLD}About {all} tokens{BOLD:#} more in the definitions of {count} {}.\n",
        if count == 1 { "tool" } else { "tools" }
    ));
    out
}

/// What a limit did, in a fixed width.
fn limit(fragment: &RenderedFragment) -> String {
    let text = match fragment.limit {
        None => String::new(),
        Some(limit) if limit.cut => format!("cut -{}", limit.before.saturating_sub(limit.after)),
        Some(limit) => format!("of {}", limit.limit.amount().unwrap_or_default()),
    };
    format!("{text:<11}")
}

/// Blocks in eighths.
fn bar(part: usize, largest: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (part * BAR * 8).div_ceil(largest).min(BAR * 8);
    padded(&format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]), BAR)
}

fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// The end of a path says most.
fn keep_end(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut kept: Vec<char> = Vec::new();
    for c in text.chars().rev() {
        if kept.iter().collect::<String>().width() + 2 > columns {
            break;
        }
        kept.push(c);
    }
    format!("…{}", kept.iter().rev().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::wire::{Anthropic, ToolDefinition};
    use crate::layers::{Context, Fragment, Prompt, PromptStack, Report, Settings, Tier, Turn};
    use serde_json::json;

    fn table(prompt: impl Fn(&mut Prompt) + Send + Sync + 'static) -> String {
        let stack = PromptStack::new(Anthropic, Settings::default()).with(move |_: &Turn, added: &mut Prompt| prompt(added));
        let report = Report::default();
        let request = json!({"tools": [{"name": "ls", "input_schema": {}}], "messages": [{"role": "user", "content": "hi"}]});
        let context = Context::default().report(report.clone());
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(stack.assemble(request, context));
        of(&report.manifest().unwrap(), 100)
    }
    fn tool(name: &str) -> ToolDefinition {
        ToolDefinition::new(name, "Tells.", json!({"type": "object"}))
    }

    #[test]
    fn tools_stand_below_the_fragments_with_what_they_cost_and_why_one_is_left_out() {
        let table = table(|prompt| {
            prompt.add(Tier::Stable, || Fragment::new("policy", "Be brief."));
            ["clock", "ls", "clock", "a\u{1b}[31mb"].map(tool).into_iter().for_each(|tool| prompt.add_tool(tool));
        });
        let rows: Vec<&str> = table.lines().skip_while(|line| !line.contains("tool ")).collect();
        assert!(rows[1].contains("clock") && rows[1].contains("added") && rows[1].ends_with("table"), "{table}");
        assert!(rows[2].contains("ls") && rows[2].ends_with(": the request has a tool of this name"), "{table}");
        assert!(rows[3].ends_with(": a layer ahead proposed a tool of this name"), "{table}");
        assert!(rows[4].ends_with(": not all providers take this name") && !rows[4].contains("\u{1b}[31m"), "{table}");
        assert!(rows[5].contains("more in the definitions of 1 tool."), "{table}");
    }

    #[test]
    fn tools_alone_are_something_that_is_added() {
        assert!(table(|prompt| prompt.add_tool(tool("clock"))).contains("clock"));
        assert_eq!(table(|_| ()), "Nothing is added to this request.");
    }
}
