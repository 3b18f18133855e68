//! Tool output: how much of each tool's result is sent.

use crate::prompt::{Contribute, Prompt, Turn, impl_tower_layer};
use crate::wire::{ToolOutputArchive, ToolOutputBound};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Bounds each tool result on the wire, as a function of that result alone and from its first sending on: an old request never differs from a new
/// one. Head and tail stay, and the caller's own copy too. The bounds hold for a session as they are when it starts.
///
/// ```
/// use std::num::NonZeroUsize;
/// use tower_prompt_layers::ToolOutputLayer;
///
/// let layer = ToolOutputLayer::default().max_chars(NonZeroUsize::new(20_000));
/// # let _ = layer;
/// ```
#[derive(Clone, Default, Debug)]
pub struct ToolOutputLayer {
    bound: ToolOutputBound,
}

impl ToolOutputLayer {
    /// Characters of a result, the marker of a cut included (`model.tool_output.context_chars`); `None`: all of it.
    pub fn max_chars(mut self, max: Option<NonZeroUsize>) -> Self {
        self.bound.max_chars = max;
        self
    }
    /// Characters of the arguments of a past call that can only be sent as text: no JSON where JSON is due, or twice
    /// (`model.tool_output.fallback_argument_chars`). Arguments that are structured are never cut.
    pub fn max_malformed_argument_chars(mut self, max: Option<NonZeroUsize>) -> Self {
        self.bound.max_malformed_argument_chars = max;
        self
    }
    /// Says in place of what was cut where the whole is.
    pub fn archive(mut self, archive: impl ToolOutputArchive + 'static) -> Self {
        self.bound.archive = Some(Arc::new(archive));
        self
    }
}

impl Contribute for ToolOutputLayer {
    fn contribute(&self, _: &Turn, prompt: &mut Prompt) {
        prompt.bound_tool_output(self.bound.clone());
    }
}

impl_tower_layer!(ToolOutputLayer);
