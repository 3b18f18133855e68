//! What changed since the request before.

use super::markup::{Markup, counted};
use super::overview::place;
use crate::layers::{FirstChange, FragmentFate, Manifest, ManifestDiff, Placement, RenderedFragment, RenderedText};

/// What is known of it: by the manifest before, else by the request's own.
pub(super) struct Change<'a> {
    diff: Option<ManifestDiff>,
    previous: Option<&'a Manifest>,
    first: Option<FirstChange>,
    /// All is new, so that nothing is worth a badge.
    is_start: bool,
}

impl<'a> Change<'a> {
    pub(super) fn of(manifest: &Manifest, previous: Option<&'a Manifest>) -> Self {
        let diff = previous.map(|previous| manifest.diff(previous));
        let foreseen = manifest.foreseen.as_ref().and_then(|foreseen| foreseen.first_change.clone());
        let first = diff.as_ref().map_or(foreseen, |diff| diff.first_change().cloned());
        Self { diff, previous, first, is_start: manifest.texts.iter().all(|text| text.is_new) }
    }

    /// A word for a fragment, by its number among all. None where it stands as it did.
    pub(super) fn badge(&self, n: usize, text: &RenderedText) -> Option<&'static str> {
        match &self.diff {
            Some(diff) => match diff.fragments.get(n)?.fate {
                FragmentFate::Added => Some("new"),
                FragmentFate::Changed => Some("changed"),
                _ => None,
            },
            None => (text.is_new && !self.is_start).then_some("new"),
        }
    }
    /// The first byte that changed, where it is this fragment's doing.
    pub(super) fn first_byte(&self, placement: Placement, fragment: &RenderedFragment) -> Option<usize> {
        match &self.first {
            Some(FirstChange::Us { placement: at, offset, fragment: id, .. }) if (*at, &**id) == (placement, &*fragment.id) => {
                Some(*offset)
            }
            _ => None,
        }
    }
    /// A fragment as it was, where it is another now.
    pub(super) fn before(&self, n: usize, text: &RenderedText, id: &str) -> Option<&'a str> {
        self.diff.as_ref()?.fragments.get(n).filter(|fragment| fragment.fate == FragmentFate::Changed)?;
        let same_place = self.previous?.texts.iter().filter(|before| before.follows == text.follows);
        same_place
            .flat_map(|text| text.fragments.iter().map(move |fragment| (text, fragment)))
            .find_map(|(text, fragment)| (fragment.id == id).then(|| text.fragment(fragment)))
    }

    pub(super) fn section(&self, page: &mut Markup, manifest: &Manifest) {
        if self.diff.is_none() && manifest.foreseen.is_none() {
            return;
        }
        let class = if self.first.is_some() { "panel broken" } else { "panel kept" };
        page.raw("<section class=\"").raw(class).raw("\"><h2>Since the request before</h2>\n<p>");
        match (&self.first, &self.diff) {
            (Some(change), _) => page.raw("What was sent is not as it was: ").prose(&change.to_string()).raw("."),
            (None, Some(diff)) if !diff.is_whole => {
                page.raw("The system prompt is as it was. The messages of the two requests can&#39;t be compared.")
            }
            (None, _) => page.raw("Nothing that was sent before changed."),
        };
        let prefix = self.diff.as_ref().map(|diff| &diff.prefix).or(manifest.foreseen.as_ref());
        if let Some(prefix) = prefix {
            page.raw(" Of our tokens <b>").number(prefix.kept_tokens).raw("</b> stand as they did, <b>").number(prefix.new_tokens);
            page.raw("</b> are new or come behind a change.");
        }
        page.raw("</p>\n");
        if let Some(diff) = &self.diff {
            let counts = [FragmentFate::Added, FragmentFate::Changed, FragmentFate::Removed, FragmentFate::Unchanged];
            page.raw("<p class=\"counts\">");
            for fate in counts {
                let name = fate.as_str();
                page.raw("<span class=\"fate-").raw(name).raw("\">").number(diff.count(fate)).raw(" ").raw(name).raw("</span> ");
            }
            page.raw("</p>\n<ul>\n");
            for (n, fragment) in diff.fragments.iter().enumerate().filter(|(_, fragment)| fragment.fate != FragmentFate::Unchanged) {
                page.raw("<li><b class=\"fate-").raw(fragment.fate.as_str()).raw("\">").raw(fragment.fate.as_str()).raw("</b> ");
                if fragment.fate == FragmentFate::Removed {
                    page.raw("<code>").text(&fragment.id).raw("</code>");
                } else {
                    page.raw("<a href=\"#f").raw(&(n + 1).to_string()).raw("\"><code>").text(&fragment.id).raw("</code></a>");
                }
                page.raw(" in ").text(&place(fragment.placement)).raw(", ");
                match fragment.fate {
                    FragmentFate::Changed => page.number(fragment.tokens_before).raw(" → ").text(&counted(fragment.tokens, "token")),
                    FragmentFate::Removed => page.text(&counted(fragment.tokens_before, "token")),
                    _ => page.text(&counted(fragment.tokens, "token")),
                };
                page.raw("</li>\n");
            }
            for tool in diff.tools.iter().filter(|tool| tool.fate != FragmentFate::Unchanged) {
                page.raw("<li><b class=\"fate-").raw(tool.fate.as_str()).raw("\">").raw(tool.fate.as_str()).raw("</b> the tool <code>");
                page.text(&tool.name)
                    .raw("</code>, ")
                    .number(tool.tokens_before)
                    .raw(" → ")
                    .text(&counted(tool.tokens, "token"))
                    .raw("</li>\n");
            }
            page.raw("</ul>\n");
        }
        page.raw("</section>\n");
    }
}
