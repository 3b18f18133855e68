//! A conversation's body, assembled, or as it came.

use super::lossless;
use crate::Assembly;
use crate::layers::wire::Format;
use crate::layers::{Context, PromptStack, Report};
use serde_json::Value;
use std::borrow::Cow;

/// A stack for each format, over the same skills and conversations.
#[derive(Clone)]
pub(super) struct Stacks(Vec<(Format, PromptStack<Format>)>);

/// What is sent on.
pub(super) enum Judged {
    Assembled(Assembled),
    /// The body as it came, and why.
    Untouched(Cow<'static, str>),
}

pub(super) struct Assembled {
    pub(super) body: Vec<u8>,
    pub(super) value: Value,
    pub(super) report: Report,
}

impl Stacks {
    pub(super) fn of(assembly: &Assembly) -> Self {
        Self(Format::ALL.map(|format| (format, assembly.stack(format))).into())
    }
    /// A body that is no conversation, or that can't be written again as it was meant, is left as it is: the API judges it.
    pub(super) async fn assembled_or_untouched(&self, format: Format, body: &[u8], context: Context) -> Judged {
        let Some((_, stack)) = self.0.iter().find(|(known, _)| *known == format) else {
            return Judged::Untouched("an unknown format".into());
        };
        let (value, written) = match lossless::read(body) {
            Ok(read) => read,
            Err(why) => return Judged::Untouched(why),
        };
        let report = context.report.clone();
        let value = stack.assemble(value, context).await;
        if report.manifest().is_none() {
            return Judged::Untouched("it is no conversation".into());
        }
        Judged::Assembled(Assembled { body: written.write(&value), value, report })
    }
}
