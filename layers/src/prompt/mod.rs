//! The request model, and the spine that carries it: open, add, render.
//!
//! A request is opened (read, and its place looked up: which [`Round`] it is), each layer adds [`Fragment`]s to its [`Prompt`], and Render settles
//! with the [`Session`] what is said where. A conversation only grows at its end: what was put behind a message is put back there, byte for byte,
//! in every later request.

mod add;
mod budget;
mod context;
mod diagnostic;
mod fragment;
mod lines;
mod manifest;
mod open;
mod render;
mod session;
mod settings;
mod stack;
mod turn;

pub(crate) use add::impl_tower_layer;
pub use add::{Add, AddLayer};
pub use budget::{Budget, Shedding, SheddingRank};
pub use context::{Context, Host, Purpose};
pub use diagnostic::{Diagnostic, Severity};
pub use fragment::{ACTIVE_SKILL, Entry, Fragment, FragmentId, Source, Text, Tier, Trust};
pub use lines::Lines;
pub use manifest::{
    BudgetKind, BudgetOutcome, CallersMessage, CallersPart, CallersPlace, ContentHash, CutOutput, CutText, Event, FirstChange, Foreseen,
    FragmentChange, FragmentFate, LimitKind, LimitOutcome, Manifest, ManifestDiff, Placement, RenderedFragment, RenderedText, RenderedTool,
    Report, ShedFragment, TokenUsage, ToolChange, ToolLeftOut, Total,
};
pub use open::{Call, Open, OpenCall, OpenCallLayer, OpenLayer, PromptRequest};
pub use render::{Render, RenderLayer, Rendering};
pub(crate) use session::BLOCK_START;
pub use session::{
    AnchorKey, AnchoredText, Appending, Beginning, EventSink, ForgottenPlaces, JournalError, LoadingEvents, NamedHistory, Opening,
    ReplayError, Revisit, Session, SessionEvent, SessionJournal, SessionKey, SystemText, WeakSession,
};
pub use settings::{RepositoryText, Sessions, Settings, TextPlacement};
pub use stack::{Parts, PerCall, PromptStack};
pub use turn::{Contribute, Prompt, Round, Turn};
