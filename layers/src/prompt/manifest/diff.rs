//! Two manifests of one conversation, compared.

use super::{FirstChange, Foreseen, Manifest, Placement, RenderedFragment, RenderedText};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What became of a fragment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FragmentFate {
    /// It stands there with the same bytes.
    Unchanged,
    /// It stands there with other bytes.
    Changed,
    /// It was not there.
    Added,
    /// It is not there any more.
    Removed,
}

impl FragmentFate {
    /// Its name, as it is serialized.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

/// One fragment, in one of two requests or in both.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FragmentChange {
    /// Its id.
    pub id: String,
    /// Where it stands; of one that was removed, where it stood.
    pub placement: Placement,
    /// What became of it.
    pub fate: FragmentFate,
    /// Its tokens in the request before; 0 where it was not there.
    pub tokens_before: usize,
    /// Its tokens now; 0 where it is not there.
    pub tokens: usize,
}

/// One tool of ours, in one of two requests or in both.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolChange {
    /// Its name.
    pub name: String,
    /// What became of its definition.
    pub fate: FragmentFate,
    /// Tokens of its definition in the request before; 0 where we added none of the name.
    pub tokens_before: usize,
    /// Tokens of it now; 0 where we add none.
    pub tokens: usize,
}

/// What a request changed of an earlier one of its conversation. Prints as one sentence.
///
/// Fragments are matched by id and place: those behind the same message, counted from the first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ManifestDiff {
    /// The first byte that is not as it was, whose it is, and what that leaves of our tokens.
    pub prefix: Foreseen,
    /// The caller's parts could be compared: both requests belong to one session, or one table of conversations, and bring their whole history.
    /// Else only the system prompt was.
    pub is_whole: bool,
    /// All fragments of both, in the order of the later request; removed ones behind the others.
    pub fragments: Vec<FragmentChange>,
    /// All tools that either of them has from us, in the order of the later request; removed ones behind the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolChange>,
}

impl ManifestDiff {
    pub(super) fn of(before: &Manifest, now: &Manifest) -> Self {
        let old: BTreeMap<_, _> = placed(before).map(|(place, placement, fragment)| (place, (placement, fragment))).collect();
        let mut seen = BTreeSet::new();
        let mut fragments: Vec<FragmentChange> = Vec::new();
        for (place, placement, fragment) in placed(now) {
            let was = old.get(&place).map(|(_, fragment)| *fragment);
            let fate = match was {
                None => FragmentFate::Added,
                Some(was) if was.hash == fragment.hash => FragmentFate::Unchanged,
                Some(_) => FragmentFate::Changed,
            };
            let tokens_before = was.map_or(0, |was| was.tokens);
            fragments.push(FragmentChange { id: fragment.id.clone(), placement, fate, tokens_before, tokens: fragment.tokens });
            seen.insert(place);
        }
        for (_, placement, fragment) in placed(before).filter(|(place, ..)| !seen.contains(place)) {
            let (id, fate) = (fragment.id.clone(), FragmentFate::Removed);
            fragments.push(FragmentChange { id, placement, fate, tokens_before: fragment.tokens, tokens: 0 });
        }
        let is_whole = now.caller.is_comparable_with(&before.caller);
        Self { prefix: now.prefix().since(before.prefix()), is_whole, fragments, tools: tools(before, now) }
    }
    /// Where the two part; none where the later request goes on from the earlier one, or ends within it.
    pub fn first_change(&self) -> Option<&FirstChange> {
        self.prefix.first_change.as_ref()
    }
    /// How many fragments met this fate.
    pub fn count(&self, fate: FragmentFate) -> usize {
        self.fragments.iter().filter(|fragment| fragment.fate == fate).count()
    }
}

impl fmt::Display for ManifestDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first_change() {
            Some(change) => write!(f, "What was sent is not as it was: {change}")?,
            None if self.is_whole => f.write_str("Nothing that was sent changed")?,
            None => f.write_str("The system prompt is as it was; the messages of the two requests can't be compared")?,
        }
        let counted = [FragmentFate::Added, FragmentFate::Changed, FragmentFate::Removed, FragmentFate::Unchanged]
            .map(|fate| format!("{} {}", self.count(fate), fate.as_str()));
        write!(f, ". Fragments: {}. Of our tokens {} stand as they did", counted.join(", "), self.prefix.kept_tokens)?;
        write!(f, ", {} are new.", self.prefix.new_tokens)?;
        for tool in self.tools.iter().filter(|tool| tool.fate != FragmentFate::Unchanged) {
            write!(f, " Our tool `{}` is {}.", tool.name, tool.fate.as_str())?;
        }
        Ok(())
    }
}

fn tools(before: &Manifest, now: &Manifest) -> Vec<ToolChange> {
    let of = |manifest: &Manifest, name: &str| manifest.added_tools().find(|tool| tool.name == name).map(|tool| (tool.tokens, tool.hash));
    let mut changes: Vec<ToolChange> = Vec::new();
    for tool in now.added_tools() {
        let was = of(before, &tool.name);
        let fate = match was {
            None => FragmentFate::Added,
            Some((_, hash)) if hash == tool.hash => FragmentFate::Unchanged,
            Some(_) => FragmentFate::Changed,
        };
        let tokens_before = was.map_or(0, |(tokens, _)| tokens);
        changes.push(ToolChange { name: tool.name.clone(), fate, tokens_before, tokens: tool.tokens });
    }
    for tool in before.added_tools().filter(|tool| of(now, &tool.name).is_none()) {
        changes.push(ToolChange { name: tool.name.clone(), fate: FragmentFate::Removed, tokens_before: tool.tokens, tokens: 0 });
    }
    changes
}

/// Where a fragment stands: the text's place among the messages, and its id.
type Place<'a> = (Option<usize>, &'a str);

fn placed(manifest: &Manifest) -> impl Iterator<Item = (Place<'_>, Placement, &RenderedFragment)> {
    let of_text = |text: &RenderedText| (text.follows, text.placement);
    manifest.texts.iter().flat_map(move |text| {
        let (follows, placement) = of_text(text);
        text.fragments.iter().map(move |fragment| ((follows, &*fragment.id), placement, fragment))
    })
}
