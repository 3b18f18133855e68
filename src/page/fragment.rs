//! A text of ours, fragment by fragment.

use super::change::Change;
use super::layers::Layers;
use super::markup::{Markup, counted};
use crate::layers::text::Limit;
use crate::layers::{RenderedFragment, RenderedText};

/// A fragment of more lines or characters is shown when it is asked for.
const OPEN_LINES: usize = 24;
const OPEN_CHARS: usize = 1_800;
/// Characters of its beginning that are shown till then.
const PEEK: usize = 180;

/// The fragments of a text, numbered from `first`, with what stands between them.
pub(super) fn text(page: &mut Markup, text: &RenderedText, first: usize, layers: &Layers<'_>, change: &Change<'_>) {
    let mut end = 0;
    for (n, fragment) in text.fragments.iter().enumerate() {
        between(page, text.text.get(end..fragment.offset).unwrap_or_default());
        end = fragment.end();
        one(page, text, fragment, first + n, layers, change);
    }
    between(page, text.text.get(end..).unwrap_or_default());
}

/// The tags of a block, and what it says is gone.
fn between(page: &mut Markup, text: &str) {
    if !text.trim().is_empty() {
        page.preformatted("between", text.trim_matches('\n'));
    }
}

fn one(page: &mut Markup, text: &RenderedText, fragment: &RenderedFragment, n: usize, layers: &Layers<'_>, change: &Change<'_>) {
    let bytes = text.fragment(fragment);
    let is_short = fragment.chars <= OPEN_CHARS && bytes.lines().nth(OPEN_LINES).is_none();
    page.raw("<details class=\"fragment l").raw(&layers.colour(&fragment.layer).to_string()).raw("\" id=\"f").raw(&(n + 1).to_string());
    page.raw(if is_short { "\" open=\"open\">\n<summary>" } else { "\">\n<summary>" });
    page.raw("<span class=\"line\"><strong>").text(&fragment.id).raw("</strong>");
    if let Some(badge) = change.badge(n, text) {
        page.raw(" <em class=\"badge ").raw(badge).raw("\">").raw(badge).raw("</em>");
    }
    if let Some(offset) = change.first_byte(text.placement, fragment) {
        page.raw(" <em class=\"badge broken\">first change: byte ").number(offset).raw("</em>");
    }
    let tier = fragment.tier.as_str();
    page.raw(" <em class=\"tier t-").raw(tier).raw("\">").raw(tier).raw("</em>");
    if let Some(limit) = fragment.limit.filter(|limit| limit.cut) {
        page.raw(" <em class=\"badge cut\">cut: ").number(limit.after).raw(" of ").number(limit.before).raw(" ").raw(unit(limit.limit));
        page.raw("</em>");
    }
    page.raw(" <b class=\"tokens\">").number(fragment.tokens).raw(" <span>tokens</span></b></span>");
    page.raw("<span class=\"meta\">").text(&fragment.layer).raw(" · ").text(&fragment.source.to_string()).raw(" · ");
    page.raw(fragment.trust.as_str()).raw(" · ").text(&counted(fragment.bytes, "byte")).raw(" from ").number(fragment.offset);
    if let Some(limit) = fragment.limit {
        page.raw(" · limit ").text(&limit.limit.to_string());
        if limit.items_left_out > 0 {
            page.raw(", ").text(&counted(limit.items_left_out, "item")).raw(" left out");
        }
    }
    page.raw(" · <code>").text(fragment.hash.to_string().get(..12).unwrap_or_default()).raw("</code></span>");
    if !is_short {
        let (beginning, _) = bytes.char_indices().nth(PEEK).map_or((bytes, ""), |(at, _)| bytes.split_at(at));
        page.raw("<span class=\"peek\">").text(beginning).raw("…</span>");
    }
    page.raw("</summary>\n").preformatted("body", bytes);
    if let Some(before) = change.before(n, text, &fragment.id) {
        page.raw("<details class=\"before\"><summary>as it was</summary>\n").preformatted("body", before).raw("</details>\n");
    }
    page.raw("</details>\n");
}

fn unit(limit: Limit) -> &'static str {
    match limit {
        Limit::Bytes(_) => "bytes",
        Limit::Chars(_) => "characters",
        Limit::Tokens(_) => "tokens",
        _ => "",
    }
}
