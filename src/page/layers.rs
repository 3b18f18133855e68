//! Who added what: a colour for each layer, and the list beside the prompt.

use super::markup::Markup;
use crate::layers::Manifest;

/// So many colours there are; the style sheet has them.
const COLOURS: usize = 10;

/// The layers of a request, in the order in which they first speak, each with its tokens.
pub(super) struct Layers<'a>(Vec<(&'a str, usize)>);

impl<'a> Layers<'a> {
    pub(super) fn of(manifest: &'a Manifest) -> Self {
        let mut layers: Vec<(&str, usize)> = Vec::new();
        for (_, fragment) in manifest.fragments() {
            match layers.iter_mut().find(|(name, _)| *name == fragment.layer) {
                Some((_, tokens)) => *tokens = tokens.saturating_add(fragment.tokens),
                None => layers.push((&fragment.layer, fragment.tokens)),
            }
        }
        Self(layers)
    }
    /// The number of a layer's colour.
    pub(super) fn colour(&self, layer: &str) -> usize {
        self.0.iter().position(|(name, _)| *name == layer).unwrap_or_default() % COLOURS
    }
    /// Each with its colour and its tokens.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, usize, usize)> {
        self.0.iter().enumerate().map(|(n, (name, tokens))| (*name, n % COLOURS, *tokens))
    }

    /// Layers to show and hide, and all fragments to jump to.
    pub(super) fn legend(&self, page: &mut Markup, manifest: &Manifest) {
        page.raw("<nav aria-label=\"Layers and fragments\">\n<details open=\"open\"><summary>Layers</summary>\n<ul class=\"legend\">\n");
        for (name, colour, tokens) in self.iter() {
            let colour = colour.to_string();
            // Of two layers of one colour the first switches both.
            let is_first = self.iter().find(|(_, other, _)| other.to_string() == colour).is_some_and(|(first, ..)| first == name);
            page.raw("<li class=\"l").raw(&colour).raw("\"><label>");
            if is_first {
                page.raw("<input type=\"checkbox\" checked=\"checked\" id=\"show").raw(&colour).raw("\"/>");
            }
            page.raw("<i class=\"swatch\"></i><span>").text(name).raw("</span> <b>").number(tokens).raw("</b></label></li>\n");
        }
        page.raw("<li class=\"own\"><label><input type=\"checkbox\" checked=\"checked\" id=\"showown\"/><i class=\"swatch\"></i>");
        page.raw("<span>the caller&#39;s own words</span></label></li>\n</ul>\n</details>\n");
        page.raw("<details open=\"open\"><summary>Fragments</summary>\n<ol class=\"index\">\n");
        for (n, (_, fragment)) in manifest.fragments().enumerate() {
            page.raw("<li class=\"l").raw(&self.colour(&fragment.layer).to_string()).raw("\"><a href=\"#f").raw(&(n + 1).to_string());
            page.raw("\" title=\"").raw(fragment.tier.as_str()).raw("\"><span>").text(&fragment.id).raw("</span> <b>");
            page.number(fragment.tokens).raw("</b></a></li>\n");
        }
        page.raw("</ol>\n</details>\n</nav>\n");
    }
}
