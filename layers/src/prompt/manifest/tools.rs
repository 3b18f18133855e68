//! The tools of ours that a request offers, or would.

use super::ContentHash;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A tool that a layer proposed when the session began, and what this request makes of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RenderedTool {
    /// By which the model calls it.
    pub name: String,
    /// The layer that proposed it.
    pub layer: String,
    /// Of its definition (name, description, parameters) as JSON. What a format puts around it is not counted.
    pub bytes: usize,
    /// Of the same, by the stack's counter.
    pub tokens: usize,
    /// Of the same.
    pub hash: ContentHash,
    /// Why this request does not have it from us; none where it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<ToolLeftOut>,
}

/// Why a tool that a layer proposed is not added.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolLeftOut {
    /// The request has a tool of this name: the caller's own, or ours in a request that was assembled before.
    NameTaken,
    /// A layer ahead of this one proposed a tool of this name.
    ProposedBefore,
    /// Not all providers take the name.
    NameInvalid,
    /// The format has no tools, or the provider refuses such a request with another tool.
    NotTaken,
}

impl fmt::Display for ToolLeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NameTaken => "the request has a tool of this name",
            Self::ProposedBefore => "a layer ahead proposed a tool of this name",
            Self::NameInvalid => "not all providers take this name",
            Self::NotTaken => "the request takes no further tools",
        })
    }
}

impl RenderedTool {
    /// The model is offered it: by us, or by a request that has it already.
    fn stands(&self) -> bool {
        matches!(self.left_out, None | Some(ToolLeftOut::NameTaken))
    }
    /// What this request would have, nobody can say.
    fn is_refused_by_the_request(&self) -> bool {
        self.left_out == Some(ToolLeftOut::NotTaken)
    }
}

/// The first tool of ours that one request offers otherwise than another. A request that takes none is the caller's doing.
pub(super) fn first_changed<'a>(before: &'a [RenderedTool], now: &'a [RenderedTool]) -> Option<&'a str> {
    let differs = |tool: &RenderedTool, others: &[RenderedTool]| {
        let of_name = || others.iter().filter(|other| other.name == tool.name);
        let is_same = |other: &RenderedTool| other.is_refused_by_the_request() || (other.stands() && other.hash == tool.hash);
        tool.stands() && !of_name().any(is_same)
    };
    let changed = now.iter().find(|tool| differs(tool, before)).or_else(|| before.iter().find(|tool| differs(tool, now)));
    changed.map(|tool| &*tool.name)
}
