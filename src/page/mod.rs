//! A manifest as a page for people: one self-contained HTML document, without scripts and without anything from outside.
//!
//! The prompt is shown as it is sent, each fragment tinted by the layer that added it, the caller's own words in grey between them. What stands in
//! it may be hostile: everything is escaped, characters that no one sees are shown by their numbers, and the page's own policy lets nothing run. Its
//! source is well-formed XML too. Pure: the same request gives the same bytes.
//!
//! ```
//! use serde_json::json;
//! use tower_prompt::layers::{Context, PromptStack, Report, Settings, SystemPromptLayer, wire::OpenAiChat};
//! use tower_prompt::page;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let stack = PromptStack::new(OpenAiChat, Settings::default()).with(SystemPromptLayer::default());
//! let report = Report::default();
//! let request = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
//! let sent = stack.assemble(request, Context::default().report(report.clone())).await;
//!
//! let html = page::html(&report.manifest().expect("it was assembled"), &sent, None);
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! # }
//! ```

mod change;
mod conversation;
mod fragment;
mod layers;
mod markup;
mod overview;

use crate::layers::Manifest;
use change::Change;
use conversation::{Piece, Shown};
use layers::Layers;
use markup::Markup;
use serde_json::Value;

const STYLE: &str = include_str!("style.css");

/// A page of this request: `body` as it was sent, in any of the JSON formats, and what the stack said of it. With the manifest of an earlier request
/// of the same conversation it also shows what changed since.
pub fn html(manifest: &Manifest, body: &Value, previous: Option<&Manifest>) -> String {
    let layers = Layers::of(manifest);
    let change = Change::of(manifest, previous);
    let shown = conversation::of(manifest, body);
    let mut page = Markup::default();
    page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; ");
    page.raw("form-action 'none'\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n");
    page.raw("<meta name=\"referrer\" content=\"no-referrer\"/>\n<meta name=\"color-scheme\" content=\"light dark\"/>\n");
    page.raw("<title>Prompt: ")
        .text(&overview::in_short(manifest))
        .raw("</title>\n<style>\n")
        .raw(STYLE)
        .raw("</style>\n</head>\n<body>\n");
    overview::header(&mut page, manifest, &layers);
    page.raw("<div class=\"columns\">\n");
    layers.legend(&mut page, manifest);
    page.raw("<main>\n");
    change.section(&mut page, manifest);
    overview::tools(&mut page, manifest);
    overview::findings(&mut page, manifest);
    page.raw("<h2 id=\"prompt\">The request</h2>\n");
    for message in &shown {
        show(&mut page, message, &layers, &change);
    }
    page.raw("</main>\n</div>\n<footer>");
    page.text("Tokens are counted by the stack, each fragment by itself; the caller's own words are not counted.");
    page.raw("</footer>\n</body>\n</html>\n");
    page.into_text()
}

fn show(page: &mut Markup, message: &Shown<'_>, layers: &Layers<'_>, change: &Change<'_>) {
    page.raw("<section class=\"message\">\n<h3>").text(&message.role);
    if let Some(number) = message.number {
        page.raw(" <span class=\"number\">message ").text(&number.to_string()).raw("</span>");
    }
    page.raw("</h3>\n");
    for piece in &message.pieces {
        match piece {
            Piece::Ours { text, first } => fragment::text(page, text, *first, layers, change),
            Piece::Callers { label, text } => conversation::show(page, label, text),
        }
    }
    page.raw("</section>\n");
}
