//! Fragments as they stand in a text: one behind the other in the system prompt, in a block at the tail.

use super::alike::Rendered;
use super::places::{BLOCK_END, BLOCK_START};
use super::said::{Piece, Said};
use crate::prompt::fragment::{ACTIVE_SKILL, FragmentId, Trust};
use crate::prompt::manifest::{ContentHash, RenderedFragment};
use crate::text::{GAP, escape};
use std::sync::Arc;

impl Said<'_> {
    /// With a gap between two. What the last system prompt said is not counted again.
    pub(super) fn one_behind_the_other(&self, pieces: &[Piece<'_>], last: Option<&Rendered>) -> (Arc<str>, Arc<[RenderedFragment]>) {
        let mut text = String::with_capacity(pieces.iter().map(|piece| piece.text.len() + GAP.len()).sum());
        let mut rendered = Vec::with_capacity(pieces.len());
        for piece in pieces {
            if !text.is_empty() {
                text.push_str(GAP);
            }
            let counted = last.and_then(|last| last.same(&piece.fragment.id, &piece.text)).map(|same| (same.chars, same.tokens, same.hash));
            rendered.push(self.rendered(piece, &piece.text, text.len(), counted));
            text.push_str(&piece.text);
        }
        (text.into(), rendered.into())
    }

    /// A block for each trust, in which the fragments stand in their order, and what went away.
    pub(super) fn tail(&self, pieces: &[Piece<'_>], gone: &[FragmentId]) -> (Arc<str>, Arc<[RenderedFragment]>) {
        if pieces.is_empty() && gone.is_empty() {
            return (Arc::default(), Arc::default());
        }
        let (mut text, mut rendered) = (String::new(), Vec::new());
        for trust in Trust::ALL {
            let of_trust = || pieces.iter().filter(|piece| piece.fragment.trust == trust);
            let gone = if trust == Trust::Host { gone } else { &[] };
            if of_trust().next().is_none() && gone.is_empty() {
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            text.extend([BLOCK_START, trust.as_str(), "\">\n"]);
            for piece in of_trust() {
                let inside = escape::inside_context(&piece.text);
                rendered.push(self.rendered(piece, &inside, text.len(), None));
                text.push_str(&inside);
                text.push('\n');
            }
            for id in gone {
                text.push_str(&said_gone(id));
                text.push('\n');
            }
            text.push_str(BLOCK_END);
        }
        (text.into(), rendered.into())
    }

    /// `counted`: its characters, tokens and hash, where they are known.
    fn rendered(&self, piece: &Piece<'_>, text: &str, offset: usize, counted: Option<(usize, usize, ContentHash)>) -> RenderedFragment {
        let Piece { fragment, limit, .. } = piece;
        let count = || (text.chars().count(), self.counter.count(text), ContentHash::of(text));
        let (chars, tokens, hash) = counted.unwrap_or_else(count);
        RenderedFragment {
            id: fragment.id.to_string(),
            layer: fragment.layer.to_owned(),
            source: fragment.source.clone(),
            trust: fragment.trust,
            tier: fragment.tier,
            offset,
            bytes: text.len(),
            chars,
            tokens,
            hash,
            limit: *limit,
        }
    }
}

fn said_gone(id: &str) -> String {
    match id.strip_prefix(ACTIVE_SKILL) {
        Some(skill) => format!("The skill {} no longer applies.", escape::text(skill)),
        None => format!("{} is gone.", escape::text(id)),
    }
}
