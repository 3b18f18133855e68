//! Forgetting: what goes when a session keeps too much, and what the host takes back.

use super::entry::Entry;
use super::event::{ForgottenPlaces, SessionEvent};
use super::places::{Anchor, BLOCK_END, BLOCK_START};
use super::state::State;
use crate::prompt::fragment::{ACTIVE_SKILL, Tier, Trust};
use crate::prompt::manifest::RenderedFragment;
use crate::skill::{ACTIVE_SKILLS, SkillId};
use crate::text::GAP;
use std::collections::HashSet;
use std::ops::Range;

impl State {
    /// Beyond the bound the longest unused go: leaves off the branch of the last request, then entries that say nothing, whose children get their
    /// parent. What says something on a branch that goes on stays, so the bound may be passed.
    pub(super) fn evict(&mut self) {
        if self.entries.len() <= self.max_places {
            return;
        }
        let live: HashSet<Anchor> = self.branch(self.last).map(|(anchor, _)| anchor).collect();
        while self.entries.len() > self.max_places {
            let parents: HashSet<Anchor> = self.entries.values().filter_map(|entry| entry.parent).collect();
            let oldest = |goes: &dyn Fn(Anchor, &Entry) -> bool| {
                let all = self.entries.iter().filter(|(anchor, entry)| goes(**anchor, entry));
                all.min_by_key(|(_, entry)| (entry.used, entry.made)).map(|(anchor, _)| *anchor)
            };
            let leaf = oldest(&|anchor, _| !parents.contains(&anchor) && !live.contains(&anchor));
            let says_nothing = |anchor: Anchor, entry: &Entry| {
                let parent = entry.parent.and_then(|parent| self.entries.get(&parent));
                let as_before = parent.is_some_and(|parent| parent.active.same_ids(&entry.active));
                parents.contains(&anchor) && entry.values.is_empty() && as_before
            };
            let Some(goes) = leaf.or_else(|| oldest(&says_nothing)) else { break };
            self.happens(SessionEvent::PlacesForgotten(ForgottenPlaces { anchors: vec![goes] }));
        }
        self.interned.forget_unheld();
    }

    /// What is remembered of messages and texts goes with the entry that it belongs to; children take over what stood between.
    pub(super) fn remove(&mut self, anchor: Anchor) {
        let Some(gone) = self.entries.remove(&anchor) else { return };
        for child in self.entries.values_mut().filter(|entry| entry.parent == Some(anchor)) {
            child.parent = gone.parent;
            child.read.extend(&gone.read);
            gone.read.iter().for_each(|anchor| self.memory.remember_read(*anchor));
        }
        gone.read.iter().for_each(|anchor| self.memory.forget_read(*anchor));
        gone.sent.iter().for_each(|pair| self.memory.forget_sent(*pair));
    }
}

impl State {
    /// Takes a skill's body out of all that was sent, and switches it off. Whether there was one.
    pub(super) fn purge(&mut self, skill: &SkillId) -> bool {
        let id = format!("{ACTIVE_SKILL}{skill}");
        let holds = |fragments: &[RenderedFragment]| fragments.iter().any(|fragment| fragment.id == id);
        let is_said = self.system.as_ref().is_some_and(|system| holds(&system.fragments))
            || self.entries.values().any(|entry| holds(&entry.fragments));
        self.deactivate(skill);
        if is_said {
            self.happens(SessionEvent::Purged { skill: skill.clone() });
        }
        is_said
    }
    /// Its places stand, and say less. What was sent there before is known all the same.
    pub(super) fn purged(&mut self, skill: &SkillId) {
        let id = format!("{ACTIVE_SKILL}{skill}");
        for entry in self.entries.values_mut().filter(|entry| entry.fragments.iter().any(|fragment| fragment.id == id)) {
            let (text, fragments) = without(&entry.text, &entry.fragments, &id);
            (entry.text, entry.fragments) = (text.into(), fragments.into());
            entry.values.remove(&*id);
            if !entry.text.is_empty() {
                entry.sent.push(self.memory.remember_sent(entry.message, &entry.text));
            }
        }
        if let Some(system) = self.system.as_mut().filter(|system| system.fragments.iter().any(|fragment| fragment.id == id)) {
            let (text, fragments) = without(&system.text, &system.fragments, &id);
            system.stable = fragments.iter().filter(|f| f.tier == Tier::Stable).map(|f| f.offset + f.bytes).max().unwrap_or_default();
            let former = std::mem::replace(&mut system.text, text.into());
            system.fragments = fragments.into();
            system.values.remove(&*id);
            self.keep_former_system(former);
        }
        self.purged.push(skill.clone());
    }
}

/// A text of ours without a skill's body, and without what stands ahead of bodies where that was the only one.
fn without(text: &str, fragments: &[RenderedFragment], id: &str) -> (String, Vec<RenderedFragment>) {
    let is_body = |fragment: &&RenderedFragment| fragment.id.starts_with(ACTIVE_SKILL);
    let is_last = fragments.iter().filter(is_body).all(|fragment| fragment.id == id);
    let goes = |fragment: &RenderedFragment| fragment.id == id || (is_last && fragment.id == ACTIVE_SKILLS);
    let (mut text, mut kept) = (text.to_owned(), fragments.to_vec());
    while let Some(at) = kept.iter().rposition(goes) {
        let gone = kept.remove(at);
        let end = gone.offset + gone.bytes;
        // In a block a line end stands behind each fragment, in the system prompt a gap between two.
        let behind = if text[end..].starts_with(GAP) { GAP.len() } else { usize::from(text[end..].starts_with('\n')) };
        let ahead = if end == text.len() && text[..gone.offset].ends_with(GAP) { GAP.len() } else { 0 };
        cut(&mut text, &mut kept, gone.offset - ahead..end + behind);
    }
    for trust in Trust::ALL {
        let empty = format!("{BLOCK_START}{}\">\n{BLOCK_END}", trust.as_str());
        if let Some(start) = text.find(&empty).filter(|start| kept.iter().all(|f| !(f.offset..f.offset + f.bytes).contains(start))) {
            let end = start + empty.len();
            let (ahead, behind) = (usize::from(text[..start].ends_with('\n')), usize::from(start == 0 && text[end..].starts_with('\n')));
            cut(&mut text, &mut kept, start - ahead..end + behind);
        }
    }
    (text, kept)
}

fn cut(text: &mut String, fragments: &mut [RenderedFragment], range: Range<usize>) {
    for fragment in fragments.iter_mut().filter(|fragment| fragment.offset >= range.end) {
        fragment.offset -= range.len();
    }
    text.replace_range(range, "");
}
