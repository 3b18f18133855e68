//! The skill tool: how a model without a file tool of its own loads skills and reads what they bring.
//!
//! Whatever a model calls it with, the answer is a text that it can go on with: an error says what to do next. Its definition and its answers are
//! made of one snapshot of the same registry that the prompt is made of. What it activates, invokes again or puts down is recognised in the next
//! request by the result that says it ([`SkillToolLayer`](crate::SkillToolLayer)), in that branch of the conversation alone. What the host switches by
//! the user's word ([`SkillTool::activate`], [`SkillTool::deactivate`]) holds in all branches.

mod arguments;
mod invoked;
mod said;

use super::{SkillContextOptions, SkillId, SkillRegistry, Skills};
use crate::prompt::Session;
use crate::text::{escape, shorten};
use crate::wire::{ToolAnswer, ToolCalls, ToolDefinition};
use arguments::{Arguments, Operation};
pub(crate) use invoked::{Invoked, invoked_in};
use serde::Serialize;
use serde_json::Value;
use std::convert::Infallible;
use std::fmt;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::Service;

/// How the skill tool is called and what it gives: the same for the tool and for [`SkillToolLayer`](crate::SkillToolLayer).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SkillToolOptions {
    /// By which the model calls it (`skills.tool.name`).
    pub name: String,
    /// Ids and short descriptions of the skills stand in its definition, as they are when a session starts (`skills.tool.advertise`).
    pub advertise: bool,
    /// Bytes of a bundled file as it is shown, what stands around it included (`skills.max_resource_bytes`).
    pub max_resource_bytes: NonZeroUsize,
    /// How bodies stand in its results.
    pub context: SkillContextOptions,
}

impl Default for SkillToolOptions {
    /// `skill`, with nothing of the skills in its definition and 256 KiB of a file.
    fn default() -> Self {
        const KIB_256: NonZeroUsize = NonZeroUsize::new(256 * 1024).expect("it is not zero");
        Self { name: "skill".to_owned(), advertise: false, max_resource_bytes: KIB_256, context: SkillContextOptions::default() }
    }
}

impl SkillToolOptions {
    /// What the model is told of the tool; `None` where no skill is to be shown. The skill is a plain text in it, so that skills that come and go
    /// change nothing at the beginning of each request.
    pub fn definition(&self, skills: &Skills) -> Option<ToolDefinition> {
        let mut shown = skills.iter().filter(|skill| skill.summary.is_in_the_catalog()).peekable();
        shown.peek()?;
        let mut description =
            "Loads a skill: instructions for a particular kind of task. Where a task fits a skill, call this with the skill's id \
                               before you begin, and follow what comes back."
                .to_owned();
        if self.advertise {
            description.push_str("\n\nSkills:");
            shown.for_each(|skill| description.push_str(&format!("\n{}", said::line(&skill.summary))));
        }
        Some(ToolDefinition::new(&*self.name, description, Arguments::schema()))
    }
}

/// A call of the skill tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SkillToolCall {
    /// As the response has them: an object, or a text that should hold one.
    pub arguments: Value,
    /// The conversation that it is called in: what stands in it already is not given again, and `skills.max_context_bytes` is for all of its bodies in force.
    pub session: Option<Session>,
}

impl SkillToolCall {
    /// With these arguments, in no known conversation.
    pub fn new(arguments: Value) -> Self {
        Self { arguments, session: None }
    }
    /// In this conversation.
    pub fn session(mut self, session: &Session) -> Self {
        self.session = Some(session.clone());
        self
    }
}

/// What the skill tool answers.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
#[non_exhaustive]
pub struct SkillToolResult {
    /// What the model reads. Never empty.
    pub text: String,
    /// The call came to nothing; the text says why, and what to do next.
    pub is_error: bool,
    /// The skill that is in force by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invoked: Option<InvokedSkill>,
}

/// A skill that the model invoked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct InvokedSkill {
    /// Which.
    pub id: SkillId,
    /// The tools that it says it needs: hints, which grant nothing.
    pub allowed_tools: Vec<String>,
    /// The model that it asks for.
    pub model: Option<String>,
    /// The first files that it brings, by path.
    pub files: Vec<String>,
    /// How many more there are.
    pub more_files: usize,
}

impl SkillToolResult {
    fn said(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
    fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::said(text) }
    }
}

impl From<SkillToolResult> for ToolAnswer {
    fn from(result: SkillToolResult) -> Self {
        Self { text: result.text, is_error: result.is_error }
    }
}

/// The skill tool, for loops that answer a model's calls. Cheap to clone; always ready, and it never fails.
///
/// ```
/// use serde_json::json;
/// use tower::{Service, ServiceExt};
/// use tower_prompt_layers::skill::{Skills, SkillTool, SkillToolCall, SkillToolOptions};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let tool = SkillTool::new(Skills::default(), SkillToolOptions::default());
/// let result = tool.oneshot(SkillToolCall::new(json!({"name": "rust"}))).await.unwrap();
/// assert!(result.is_error && result.text.starts_with("There is no skill `rust`"));
/// # }
/// ```
#[derive(Clone)]
pub struct SkillTool {
    registry: Arc<dyn SkillRegistry>,
    options: Arc<SkillToolOptions>,
}

impl SkillTool {
    /// Of the skills in this registry.
    pub fn new(registry: impl SkillRegistry + 'static, options: SkillToolOptions) -> Self {
        Self { registry: Arc::new(registry), options: Arc::new(options) }
    }
    /// How it is called and what it gives.
    pub fn options(&self) -> &SkillToolOptions {
        &self.options
    }
    /// What the model is told of it now; `None` where no skill is to be shown.
    pub fn definition(&self) -> Option<ToolDefinition> {
        self.options.definition(&self.registry.snapshot())
    }
    /// Answers the calls of this tool among those of a response, one after the other; `None` stands for a call of another tool, which is the host's.
    ///
    /// ```
    /// # use serde_json::json;
    /// # use tower_prompt_layers::{Session, skill::{Skills, SkillTool, SkillToolOptions}};
    /// use tower_prompt_layers::wire::{Format, ToolAnswer, ToolCalls};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// # let (tool, session) = (SkillTool::new(Skills::default(), SkillToolOptions::default()), Session::new());
    /// # let response = json!({"content": [{"type": "tool_use", "id": "1", "name": "skill", "input": {"operation": "list"}}]});
    /// # let mut request = json!({"messages": []});
    /// let calls = ToolCalls::in_response(Format::Anthropic, &response);
    /// let ours = tool.answer(&calls, Some(&session)).await;
    /// let answers: Vec<ToolAnswer> = calls
    ///     .iter()
    ///     .zip(ours)
    ///     .map(|(call, ours)| ours.map_or_else(|| format!("There is no tool {}.", call.name).into(), ToolAnswer::from))
    ///     .collect();
    /// calls.append(&mut request, &answers).expect("each call has its answer");
    /// # }
    /// ```
    pub async fn answer(&self, calls: &ToolCalls, session: Option<&Session>) -> Vec<Option<SkillToolResult>> {
        let mut answers = Vec::with_capacity(calls.len());
        for call in calls {
            let is_ours = call.name == self.options.name;
            let call = SkillToolCall { arguments: call.arguments.clone(), session: session.cloned() };
            answers.push(if is_ours { Some(self.result(call).await) } else { None });
        }
        answers
    }

    /// Brings a skill into force by the user's word: by its id, or by a name that one skill alone bears, one that is hidden from the model too. Its body
    /// stands in the next request, once, and the tool doesn't give it again; where it is in force already only these arguments are new. The result is
    /// for the user's eyes.
    ///
    /// ```
    /// # use tower_prompt_layers::{Session, skill::{Skills, SkillTool, SkillToolOptions}};
    /// let (tool, session) = (SkillTool::new(Skills::default(), SkillToolOptions::default()), Session::new());
    /// assert!(tool.activate(&session, "rust", None).is_error, "there is no such skill");
    /// assert!(session.active().is_empty());
    /// ```
    pub fn activate(&self, session: &Session, name: &str, arguments: Option<&str>) -> SkillToolResult {
        let skills = self.registry.snapshot();
        let Some(skill) = skills.find(name).filter(|skill| skill.summary.is_usable()) else {
            return SkillToolResult::error(said::unknown(name, &skills));
        };
        session.activate(skill.summary.id.clone(), arguments);
        SkillToolResult::said(said::will_be_in_force(&skill.summary.id))
    }
    /// Switches a skill off by the user's word, whoever brought it into force. What was said stays, the next request says that it no longer applies, and
    /// the tool gives its body whole when it is invoked again.
    pub fn deactivate(&self, session: &Session, name: &str) -> SkillToolResult {
        let skills = self.registry.snapshot();
        let active = session.active();
        // One that is gone from the registry can still be in force.
        let id = skills.find(name).map(|skill| skill.summary.id.clone()).or_else(|| SkillId::new(name).ok());
        match id.filter(|id| active.iter().any(|skill| skill.id == *id)) {
            Some(id) => {
                session.deactivate(&id);
                SkillToolResult::said(said::will_be_off(&id))
            }
            None => SkillToolResult::error(said::not_in_force(name, &active)),
        }
    }

    async fn result(&self, call: SkillToolCall) -> SkillToolResult {
        let skills = self.registry.snapshot();
        let options = &*self.options;
        let Arguments { operation, name, input, path } = match Arguments::read(&call.arguments) {
            Ok(arguments) => arguments,
            Err(why) => return SkillToolResult::error(format!("{why} {}", said::how_to_call(&skills))),
        };
        if operation == Operation::List {
            return SkillToolResult::said(said::list(&skills));
        }
        let Some(name) = name else {
            return SkillToolResult::error(format!("`name` is missing: the id of a skill. {}", said::how_to_call(&skills)));
        };
        let Some(skill) = skills.find(&name).filter(|skill| skill.summary.is_for_the_model()) else {
            return SkillToolResult::error(said::unknown(&name, &skills));
        };
        match (operation, path) {
            (Operation::ReadResource, Some(path)) => said::resource(skill, &path, options).await,
            (Operation::ReadResource, None) => said::without_path(skill).await,
            (Operation::Deactivate, _) => said::deactivated(&skill.summary.id, call.session.as_ref()),
            _ => said::invoked(skill, input.as_deref(), call.session.as_ref(), options).await,
        }
    }
}

impl Service<SkillToolCall> for SkillTool {
    type Response = SkillToolResult;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<SkillToolResult, Infallible>> + Send>>;
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, call: SkillToolCall) -> Self::Future {
        let tool = self.clone();
        Box::pin(async move { Ok(tool.result(call).await) })
    }
}

impl fmt::Debug for SkillTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillTool").field("options", &self.options).finish_non_exhaustive()
    }
}

/// What a model wrote, as it is told back to it.
fn shown(text: &str) -> String {
    format!("`{}`", escape::text(&shorten(text, 80)))
}
