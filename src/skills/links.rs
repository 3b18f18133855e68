//! Where links may lead: nowhere, within the repository, or anywhere.

use super::roots::Root;
use crate::layers::Diagnostic;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What holds for the links of one root.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Links {
    /// Whether any is followed.
    pub(super) followed: bool,
    /// The canonical folder that none may lead out of.
    within: Option<Arc<Path>>,
}

/// Why a link was not followed.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It leads nowhere, or cannot be read.
    Unreadable(io::Error),
    /// It leads out of the repository, to here.
    LeadsOut(PathBuf),
}

impl Links {
    /// Those of a root. An error where the folder that confines them is itself not to be found.
    pub(super) fn of(root: &Root, followed: bool) -> io::Result<Self> {
        let within = root.within.as_deref().map(fs::canonicalize).transpose()?;
        Ok(Self { followed, within: within.map(Arc::from) })
    }

    /// The canonical path, if it is where links of this root may lead.
    pub(super) fn resolve(&self, path: &Path) -> Result<PathBuf, Refusal> {
        let canonical = fs::canonicalize(path).map_err(Refusal::Unreadable)?;
        match &self.within {
            Some(within) if !canonical.starts_with(within) => Err(Refusal::LeadsOut(canonical)),
            _ => Ok(canonical),
        }
    }

    /// Whether a root's path, resolved to `canonical`, has a link of the repository's own in it.
    pub(super) fn passed_by(&self, root: &Root, canonical: &Path) -> bool {
        let below = root.within.as_deref().and_then(|within| root.path.strip_prefix(within).ok());
        match (&self.within, below) {
            (Some(within), Some(below)) => within.join(below) != canonical,
            _ => root.path.is_symlink(),
        }
    }
}

impl Refusal {
    /// As a diagnostic of this path.
    pub(super) fn diagnostic(&self, path: &Path) -> Diagnostic {
        match self {
            Self::Unreadable(error) => Diagnostic::warning("link-unreadable", format!("this link leads nowhere: {error}")),
            Self::LeadsOut(canonical) => {
                let message = format!("this link leads out of the repository, to {}; it was not followed", canonical.display());
                Diagnostic::warning("link-refused", message)
            }
        }
        .at(path.to_string_lossy())
    }
}
