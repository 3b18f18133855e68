//! The head of the page: how much of it there is, of whom, and what was noticed.

use super::layers::Layers;
use super::markup::{Markup, counted};
use crate::layers::{CutOutput, CutText, Event, Manifest, Placement, Round, Severity, Tier};

fn tier_says(tier: Tier) -> &'static str {
    match tier {
        Tier::Stable => "the same for every conversation",
        Tier::Session => "the same for this conversation",
        Tier::Turn => "looked at for each user message",
        Tier::Step => "looked at for each request",
        _ => "",
    }
}

fn round_says(manifest: &Manifest) -> &'static str {
    match manifest.round {
        Round::Start => "The conversation starts here: everything is said for the first time.",
        Round::User => "A new turn: what changed since is said behind the user's message.",
        Round::Tool => "A tool round: only what can't wait is said behind the results.",
        Round::Compacted => "The history was compacted: what still holds is said once more.",
        Round::Settled => "This place was settled before: the same bytes are sent again.",
        _ => "",
    }
}

/// `1,234 tokens in 12 fragments`.
pub(super) fn in_short(manifest: &Manifest) -> String {
    format!("{} in {}", counted(manifest.tokens(), "token"), counted(manifest.fragments().count(), "fragment"))
}

/// Title, figures and bars.
pub(super) fn header(page: &mut Markup, manifest: &Manifest, layers: &Layers<'_>) {
    page.raw("<header>\n<h1><b>").number(manifest.tokens()).raw("</b> tokens added <span>in ");
    page.text(&counted(manifest.fragments().count(), "fragment")).raw("</span></h1>\n<p class=\"round\">").text(round_says(manifest));
    page.raw("</p>\n");
    bars(page, manifest, layers);
    page.raw("<dl class=\"facts\">\n");
    for (tier, total) in &manifest.totals {
        let name = tier.as_str();
        page.raw("<div title=\"").raw(tier_says(*tier)).raw("\"><dt><i class=\"swatch t-").raw(name).raw("\"></i>").raw(name);
        page.raw("</dt><dd>").number(total.tokens).raw(" <span>").text(&counted(total.fragments, "fragment")).raw("</span></dd></div>\n");
    }
    if !manifest.tools.is_empty() {
        let (count, all) =
            manifest.added_tools().fold((0_usize, 0_usize), |(count, all), tool| (count + 1, all.saturating_add(tool.tokens)));
        page.raw("<div title=\"The definitions of tools that we add, which are not among the tokens above\"><dt>tools</dt><dd>")
            .number(all);
        page.raw(" <span>").text(&counted(count, "tool")).raw("</span></dd></div>\n");
    }
    if let Some(foreseen) = &manifest.foreseen {
        page.raw("<div title=\"Of our tokens, those in the unchanged beginning of the request: a cache can serve them\"><dt>as sent before</dt><dd>");
        page.number(foreseen.kept_tokens).raw(" <span>of ").number(manifest.tokens()).raw("</span></dd></div>\n");
    }
    if let Some(budget) = &manifest.budget {
        page.raw("<div title=\"").raw(budget.kind.key()).raw("\"><dt>budget</dt><dd>").number(budget.after);
        page.raw(" <span>of ").number(budget.limit).raw(", ").number(budget.before).raw(" without it</span></dd></div>\n");
    }
    if let Some(hash) = manifest.system_hash {
        let hash = hash.to_string();
        page.raw("<div title=\"").raw(&hash).raw("\"><dt>system prompt</dt><dd><code>").text(hash.get(..12).unwrap_or(&hash));
        page.raw("</code></dd></div>\n");
    }
    page.raw("</dl>\n</header>\n");
}

/// Each fragment's share, by its layer; under it the tiers'.
fn bars(page: &mut Markup, manifest: &Manifest, layers: &Layers<'_>) {
    if manifest.tokens() == 0 {
        return;
    }
    page.raw("<div class=\"bar layers\" role=\"img\" aria-label=\"Tokens by fragment\">");
    for (n, (_, fragment)) in manifest.fragments().enumerate().filter(|(_, (_, fragment))| fragment.tokens > 0) {
        page.raw("<a class=\"l").raw(&layers.colour(&fragment.layer).to_string()).raw("\" href=\"#f").raw(&(n + 1).to_string());
        page.raw("\" style=\"flex-grow:").raw(&fragment.tokens.to_string()).raw("\" title=\"").attribute(&fragment.id).raw(": ");
        page.text(&counted(fragment.tokens, "token")).raw("\"><span>").text(&fragment.id).raw("</span></a>");
    }
    page.raw("</div>\n<div class=\"bar tiers\" role=\"img\" aria-label=\"Tokens by tier\">");
    // In the order in which they stand: of a tier there may be several runs.
    let mut runs: Vec<(Tier, usize)> = Vec::new();
    for (_, fragment) in manifest.fragments() {
        match runs.last_mut().filter(|(tier, _)| *tier == fragment.tier) {
            Some((_, tokens)) => *tokens = tokens.saturating_add(fragment.tokens),
            None => runs.push((fragment.tier, fragment.tokens)),
        }
    }
    for (tier, tokens) in runs {
        let name = tier.as_str();
        page.raw("<i class=\"t-").raw(name).raw("\" style=\"flex-grow:").raw(&tokens.to_string()).raw("\" title=\"").raw(name).raw(": ");
        page.text(&counted(tokens, "token")).raw("\"><span>").raw(name).raw("</span></i>");
    }
    page.raw("</div>\n");
}

/// What was cut, what took effect, what was noticed.
pub(super) fn findings(page: &mut Markup, manifest: &Manifest) {
    cut(page, manifest);
    let (model, thinking_effort) = (&manifest.execution.model, &manifest.execution.thinking_effort);
    if !manifest.events.is_empty() || model.is_some() || thinking_effort.is_some() {
        page.raw("<section class=\"panel\"><h2>What took effect</h2>\n<ul>\n");
        for event in &manifest.events {
            match event {
                Event::SkillSuggested { id } => page.raw("<li>The skill <code>").text(id.as_str()).raw("</code> was suggested.</li>\n"),
                Event::SkillActivated { id, mode } => {
                    page.raw("<li>The skill <code>").text(id.as_str()).raw("</code> came into force (");
                    page.text(&format!("{mode:?}").to_lowercase()).raw(").</li>\n")
                }
                Event::SkillPutDown { id } => page.raw("<li>The model put down the skill <code>").text(id.as_str()).raw("</code>.</li>\n"),
                Event::InvariantsSelected { numbers } => {
                    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                    page.raw("<li>Of the invariants these were chosen: ").text(&numbers.join(", ")).raw(".</li>\n")
                }
                _ => page.raw("<li>").text(&format!("{event:?}")).raw("</li>\n"),
            };
        }
        if let Some(model) = model {
            page.raw("<li>Model asked for: <code>").text(model).raw("</code></li>\n");
        }
        if let Some(effort) = thinking_effort {
            page.raw("<li>Thinking effort asked for: <code>").text(effort).raw("</code></li>\n");
        }
        page.raw("</ul></section>\n");
    }
    if !manifest.diagnostics.is_empty() {
        page.raw("<section class=\"panel\"><h2>What was noticed</h2>\n<ul class=\"diagnostics\">\n");
        for diagnostic in &manifest.diagnostics {
            page.raw("<li class=\"").raw(severity(diagnostic.severity)).raw("\"><b>").raw(severity(diagnostic.severity)).raw("</b> ");
            page.prose(&diagnostic.message).raw(" <code>").text(&diagnostic.code).raw("</code>");
            if let Some(path) = &diagnostic.path {
                page.raw(" <span class=\"path\">").text(path);
                for number in [diagnostic.line, diagnostic.column].into_iter().map_while(|number| number) {
                    page.raw(":").raw(&number.to_string());
                }
                page.raw("</span>");
            }
            page.raw("</li>\n");
        }
        page.raw("</ul></section>\n");
    }
}

/// The tools that layers proposed: what each costs, or why it is left out.
pub(super) fn tools(page: &mut Markup, manifest: &Manifest) {
    if manifest.tools.is_empty() {
        return;
    }
    page.raw("<section class=\"panel\"><h2>Tools</h2>\n<ul class=\"tools\">\n");
    for tool in &*manifest.tools {
        page.raw("<li><code>").text(&tool.name).raw("</code> by ").text(&tool.layer).raw(": ");
        page.text(&counted(tool.tokens, "token")).raw(", ").text(&counted(tool.bytes, "byte"));
        if let Some(why) = tool.left_out {
            page.raw(" <em class=\"badge cut\">left out</em> ").text(&why.to_string());
        }
        page.raw("</li>\n");
    }
    page.raw("</ul></section>\n");
}

fn cut(page: &mut Markup, manifest: &Manifest) {
    let is_cut = |limit: Option<crate::layers::LimitOutcome>| limit.is_some_and(|limit| limit.cut);
    let cut = || manifest.fragments().enumerate().filter(|(_, (_, fragment))| is_cut(fragment.limit));
    let gone = || manifest.budget.iter().flat_map(|budget| &budget.shed).filter(|shed| shed.after == 0);
    if cut().next().is_none() && gone().next().is_none() && manifest.cut_outputs.is_empty() && manifest.described_tools.is_empty() {
        return;
    }
    page.raw("<section class=\"panel\"><h2>What was cut or changed</h2>\n<ul>\n");
    for (n, (placement, fragment)) in cut() {
        let Some(limit) = fragment.limit else { continue };
        page.raw("<li><a href=\"#f").raw(&(n + 1).to_string()).raw("\"><code>").text(&fragment.id).raw("</code></a> in ");
        page.text(&place(placement)).raw(": ").number(limit.after).raw(" of ").number(limit.before).raw(", limit ");
        page.text(&limit.limit.to_string());
        if limit.items_left_out > 0 {
            page.raw("; ").text(&counted(limit.items_left_out, "item")).raw(" left out");
        }
        page.raw("</li>\n");
    }
    for shed in gone() {
        page.raw("<li><code>").text(&shed.id).raw("</code>: all of ").text(&counted(shed.before, "token")).raw(", for the budget</li>\n");
    }
    for CutOutput { message, what, chars, limit, .. } in &manifest.cut_outputs {
        page.raw(if *what == CutText::Arguments { "<li>Arguments of a call in message " } else { "<li>A tool result in message " })
            .number(message + 1)
            .raw(": ")
            .number(*limit)
            .raw(" of ")
            .number(*chars);
        page.raw(" characters</li>\n");
    }
    for tool in &manifest.described_tools {
        page.raw("<li>The description of the tool <code>").text(tool).raw("</code></li>\n");
    }
    page.raw("</ul></section>\n");
}

/// Where a text stands.
pub(super) fn place(placement: Placement) -> String {
    match placement {
        Placement::System => "the system prompt".to_owned(),
        Placement::BehindMessage(at) => format!("the text behind message {}", at.saturating_add(1)),
        other => other.to_string(),
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}
