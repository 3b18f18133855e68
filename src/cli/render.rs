//! `render`: one turn, assembled and printed.

use super::terminal::{self, Terminal};
use super::workspace::{WorkspaceOptions, skill_id, wait};
use super::{Failure, Outcome, bodies};
use crate::layers::wire::Format;
use crate::layers::{AnchorKey, Context, Manifest, Report, Session};
use clap::{Args, ValueEnum};
use serde_json::Value;
use std::io::Read;
use std::path::PathBuf;

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For a person to read
    Text,
    /// A body of OpenAI Chat Completions
    OpenaiChat,
    /// A body of OpenAI Responses
    OpenaiResponses,
    /// A body of Anthropic Messages
    Anthropic,
    /// A body of Gemini generateContent
    Gemini,
    /// A body of Ollama's chat
    Ollama,
    /// A body of Ollama's generate
    OllamaGenerate,
}

impl Output {
    fn format(self) -> Format {
        match self {
            Self::Text | Self::OpenaiChat => Format::OpenAiChat,
            Self::OpenaiResponses => Format::OpenAiResponses,
            Self::Anthropic => Format::Anthropic,
            Self::Gemini => Format::Gemini,
            Self::Ollama => Format::Ollama,
            Self::OllamaGenerate => Format::OllamaGenerate,
        }
    }
}

/// What a turn is assembled from: shared by `render` and `explain`.
#[derive(Args)]
pub(super) struct TurnOptions {
    #[command(flatten)]
    workspace: WorkspaceOptions,
    /// The user's message; `-` reads it from standard input
    #[arg(short, long, value_name = "TEXT", required_unless_present = "request", conflicts_with = "request")]
    message: Option<String>,
    /// A whole request body in JSON, of the format that `--format` names; `-` reads it from standard input
    #[arg(long, value_name = "FILE", requires = "format")]
    request: Option<PathBuf>,
    /// What is printed [default: text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Output>,
    /// Activate this skill first; may be given more than once
    #[arg(long, value_name = "ID")]
    activate: Vec<String>,
    /// The model: `PROVIDER/MODEL`
    #[arg(long, value_name = "PROVIDER/MODEL")]
    model: Option<String>,
    /// The family of models that it is one of, as `prompt_profile.family` names it
    #[arg(long, value_name = "ID")]
    family: Option<String>,
    /// Its entry in the host's catalog of models, as `prompt_profile.catalog_entry` names it
    #[arg(long, value_name = "ID")]
    catalog_entry: Option<String>,
}

/// A turn as it was assembled.
pub(super) struct Assembled {
    pub(super) body: Value,
    pub(super) manifest: Manifest,
    is_text: bool,
}

impl TurnOptions {
    pub(super) fn assemble(&self, terminal: &mut Terminal) -> Result<Assembled, Failure> {
        let is_text = self.format.is_none_or(|format| format == Output::Text);
        if is_text && self.request.is_some() {
            return Err(Failure::Usage("--request takes a body of an API: --format must name which".into()));
        }
        let format = self.format.unwrap_or(Output::Text).format();
        let (provider, model) = self.model()?;
        let request = match (&self.request, self.message.as_deref()) {
            (Some(path), _) => read_body(path)?,
            (None, Some("-")) => bodies::of_message(format, model.unwrap_or("model"), &read_standard_input()?),
            (None, text) => bodies::of_message(format, model.unwrap_or("model"), text.unwrap_or_default()),
        };
        let assembly = self.workspace.assembly(terminal)?;
        let session = Session::with_key(AnchorKey::public());
        for name in &self.activate {
            session.activate(skill_id(&assembly, name)?, None);
        }
        let report = Report::default();
        let mut context = Context::default().session(session).report(report.clone());
        if let (Some(provider), Some(model)) = (provider, model) {
            context = context.model(provider, model);
        }
        context.host.family.clone_from(&self.family);
        context.host.catalog_entry.clone_from(&self.catalog_entry);
        let body = wait(assembly.stack(format).assemble(request, context))?;
        let Some(manifest) = report.manifest() else {
            let message = format!("this body is no conversation in the format {format}: it would pass untouched");
            return Err(Failure::failed(message));
        };
        Ok(Assembled { body, manifest, is_text })
    }

    fn model(&self) -> Result<(Option<&str>, Option<&str>), Failure> {
        let Some(named) = &self.model else { return Ok((None, None)) };
        match named.split_once('/') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => Ok((Some(provider), Some(model))),
            _ => Err(Failure::Usage(format!("--model {named}: PROVIDER/MODEL is wanted, such as anthropic/claude-sonnet-4-5"))),
        }
    }
}

fn read_body(path: &PathBuf) -> Result<Value, Failure> {
    let name = path.display();
    let text = match path.to_str() {
        Some("-") => read_standard_input()?,
        _ => std::fs::read_to_string(path).map_err(|error| Failure::failed(format!("--request {name}: {error}")))?,
    };
    serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| Failure::failed(format!("--request {name}: this is no JSON: {error}")))
}

fn read_standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| Failure::failed(format!("standard input: {error}")))?;
    Ok(text)
}

/// Assemble one turn and print it.
#[derive(Args)]
pub(super) struct Render {
    #[command(flatten)]
    turn: TurnOptions,
}

impl Render {
    pub(super) fn run(&self, terminal: &mut Terminal) -> Outcome {
        let assembled = self.turn.assemble(terminal)?;
        terminal.diagnostics(&assembled.manifest.diagnostics);
        let text = if assembled.is_text { bodies::as_text(&assembled.body) } else { terminal::json(&assembled.body)? };
        Ok(terminal::print_exactly(&text)?)
    }
}
