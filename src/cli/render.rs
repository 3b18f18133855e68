//! `render`: one turn, assembled and printed.

use super::session::Conversation;
use super::terminal::{self, Terminal};
use super::workspace::{WorkspaceOptions, skill_id, wait};
use super::{Failure, Outcome, bodies};
use crate::layers::skill::{ActiveSkill, SkillId};
use crate::layers::wire::Format;
use crate::layers::{Context, Manifest, Report};
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
    /// Go on with the conversation in this file of JSON Lines, which is made where there is none. With `-m` it holds the messages given so far too
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,
    /// What the model answered to the message before; the program can't know it
    #[arg(long, value_name = "TEXT", requires_all = ["session", "message"])]
    answer: Option<String>,
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
    /// `is_kept`: what happens to the session is kept in its file, if it has one.
    pub(super) fn assemble(&self, is_kept: bool, terminal: &mut Terminal) -> Result<Assembled, Failure> {
        let is_text = self.format.is_none_or(|format| format == Output::Text);
        if is_text && self.request.is_some() {
            return Err(Failure::Usage("--request takes a body of an API: --format must name which".into()));
        }
        let format = self.format.unwrap_or(Output::Text).format();
        let (provider, model) = self.model()?;
        let message = match self.message.as_deref() {
            Some("-") => Some(read_standard_input()?),
            given => given.map(str::to_owned),
        };
        let body = self.request.as_ref().map(read_body).transpose()?;
        if self.session.is_some() && body.is_none() && format == Format::OllamaGenerate {
            return Err(Failure::Usage(format!("--session: a body of {format} holds no earlier message; give it whole, with --request")));
        }
        let assembly = self.workspace.assembly(terminal)?;
        let activated: Vec<SkillId> = self.activate.iter().map(|name| skill_id(&assembly, name)).collect::<Result<_, _>>()?;
        let mut conversation = match &self.session {
            None => Conversation::new(),
            Some(path) if is_kept => Conversation::locked(path, terminal)?,
            Some(path) => Conversation::read(path, terminal)?,
        };
        let request = match body {
            Some(body) => body,
            None if self.session.is_none() => bodies::of_message(format, model.unwrap_or("model"), &message.unwrap_or_default()),
            None => {
                conversation.say(self.answer.as_deref(), &message.unwrap_or_default())?;
                bodies::of_messages(format, model.unwrap_or("model"), &conversation.messages)
            }
        };
        let session = &conversation.session;
        for skill in activated {
            // Said in each call, it happens once.
            if !session.active_by_host().contains(&ActiveSkill::explicit(skill.clone(), None)) {
                session.activate(skill, None);
            }
        }
        let report = Report::default();
        let mut context = Context::default().session(session.clone()).report(report.clone());
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
        conversation.keep()?;
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
        let assembled = self.turn.assemble(true, terminal)?;
        terminal.diagnostics(&assembled.manifest.diagnostics);
        let text = if assembled.is_text { bodies::as_text(&assembled.body) } else { terminal::json(&assembled.body)? };
        Ok(terminal::print_exactly(&text)?)
    }
}
