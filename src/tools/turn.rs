//! Answering the calls of one turn.

use super::confirmation::{Confirmation, ConfirmationRequest};
use super::registry::{CodeSkills, TurnAuthority};
use super::skill::CodeSkill;
use crate::layers::text::shorten;
use crate::layers::wire::{ResponseCall, ToolAnswer, ToolCalls};
use crate::layers::{SharedAnswer, SharedService};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;
use tower::{BoxError, Service};

/// Names told to a model that made one up.
const MAX_NEAR: usize = 20;

/// Answers what the model calls in one turn of the user's, tool rounds included: a new one belongs to each new message.
///
/// Calls run in their order, consecutive parallel-safe ones side by side. The same call of a skill with a side effect runs once a turn; one that failed
/// may be tried again. A failure, or a panic, is the answer of its own call alone.
#[derive(Clone, Debug)]
pub struct CodeSkillTurn {
    skills: CodeSkills,
    authority: TurnAuthority,
    confirms: Option<SharedService<ConfirmationRequest, Confirmation, BoxError>>,
    /// Side effects that were brought about, or may have been.
    done: HashSet<(String, String)>,
}

/// A call that may run.
struct Admitted<'a> {
    /// Among all calls.
    at: usize,
    skill: &'a CodeSkill,
    arguments: Map<String, Value>,
}

impl Admitted<'_> {
    /// By which a side effect is known again: its skill, and its arguments in one order, whatever theirs. `None` without one.
    fn effect(&self) -> Option<(String, String)> {
        let arguments = || in_order(&Value::Object(self.arguments.clone())).to_string();
        self.skill.flags.is_side_effect.then(|| (self.skill.name().to_owned(), arguments()))
    }
}

impl CodeSkillTurn {
    pub(super) fn new(skills: CodeSkills, authority: TurnAuthority) -> Self {
        Self { skills, authority, confirms: None, done: HashSet::new() }
    }
    /// Asks this service ahead of each dangerous call: a person, or a policy. Calls that run side by side are asked about one after the other, before
    /// any of them runs.
    pub fn confirm<S>(mut self, service: S) -> Self
    where
        S: Service<ConfirmationRequest, Response = Confirmation> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
    {
        self.confirms = Some(SharedService::new(service, Into::into));
        self
    }

    /// The answer to each call, in their order; `None` for a tool that is none of these skills. Dropped while it waits, it runs nothing more, and what
    /// had begun counts as done.
    pub async fn answer(&mut self, calls: &ToolCalls) -> Vec<Option<ToolAnswer>> {
        let calls: Vec<&ResponseCall> = calls.iter().collect();
        let skills = self.skills.clone();
        let mut answers: Vec<Option<ToolAnswer>> = vec![None; calls.len()];
        let mut at = 0;
        while at < calls.len() {
            let is_safe = |call: &ResponseCall| skills.get(&call.name, self.authority).is_some_and(|skill| skill.flags.is_parallel_safe);
            let together = calls[at..].iter().take_while(|call| is_safe(call)).count().max(1);
            let mut admitted = Vec::with_capacity(together);
            for (at, call) in (at..).zip(&calls[at..at + together]) {
                match self.admit(&skills, &admitted, at, call).await {
                    Ok(call) => admitted.extend(call),
                    Err(refused) => answers[at] = Some(ToolAnswer::error(refused)),
                }
            }
            // Not before all are admitted: who is dropped while someone is asked has begun none of them.
            self.done.extend(admitted.iter().filter_map(Admitted::effect));
            let running = admitted.iter().map(|call| call.skill.call(call.arguments.clone())).collect();
            for (call, answer) in admitted.iter().zip(side_by_side(running).await) {
                if let Some(effect) = call.effect().filter(|_| answer.is_error) {
                    self.done.remove(&effect);
                }
                answers[call.at] = Some(answer);
            }
            at += together;
        }
        answers
    }

    /// A call that may run; none that is no skill's of these. An error is what the model reads.
    async fn admit<'a>(
        &self,
        skills: &'a CodeSkills,
        beside: &[Admitted<'a>],
        at: usize,
        call: &ResponseCall,
    ) -> Result<Option<Admitted<'a>>, String> {
        let Some(skill) = skills.get(&call.name, self.authority) else {
            return if skills.is_known(&call.name) { Err(self.unknown(&call.name)) } else { Ok(None) };
        };
        let call = Admitted { at, skill, arguments: skill.usage.arguments(&call.arguments)? };
        let name = skill.name();
        let is_done = |effect| self.done.contains(&effect) || beside.iter().any(|other| other.effect().as_ref() == Some(&effect));
        if call.effect().is_some_and(is_done) {
            return Err(format!(
                "`{name}` was called with these arguments in this turn already, and was not called again; its effect stands. \
                 If it is wanted once more, ask the user first"
            ));
        }
        if skill.flags.is_dangerous {
            let Some(confirms) = &self.confirms else {
                return Err(format!(
                    "`{name}` runs only when it is confirmed, and nobody can confirm it here; go on without it, and tell the user"
                ));
            };
            let request =
                ConfirmationRequest { name: name.to_owned(), description: skill.description.clone(), arguments: call.arguments.clone() };
            match confirms.ask(request).await {
                Ok(Confirmation::Approved) => {}
                Ok(Confirmation::Refused(reason)) => {
                    let reason = if reason.is_empty() { "no reason was given".to_owned() } else { reason };
                    return Err(format!(
                        "`{name}` was not run, it was refused: {reason}. Do not call it again unless the user asks for it"
                    ));
                }
                Err(reason) => return Err(format!("`{name}` was not run: whether it may be could not be asked ({reason})")),
            }
        }
        Ok(Some(call))
    }

    /// Of what is not there for this turn the model learns no more than of a name that it made up.
    fn unknown(&self, name: &str) -> String {
        let mut names: Vec<&str> = self.skills.visible(self.authority).map(CodeSkill::name).collect();
        names.sort_by(|a, b| strsim::jaro_winkler(b, name).total_cmp(&strsim::jaro_winkler(a, name)).then_with(|| a.cmp(b)));
        let more = names.len().saturating_sub(MAX_NEAR);
        names.truncate(MAX_NEAR);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let listed = if names.is_empty() { "there is none".to_owned() } else { format!("there are {}{more}", names.join(", ")) };
        format!("there is no tool `{}` here; of this kind {listed}", shorten(name, 64))
    }
}

fn in_order(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(&String, Value)> = fields.iter().map(|(name, value)| (name, in_order(value))).collect();
            fields.sort_by_key(|(name, _)| *name);
            fields.into_iter().map(|(name, value)| (name.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().map(in_order).collect(),
        other => other.clone(),
    }
}

/// All answers, in their order, when the last one is there.
async fn side_by_side(running: Vec<SharedAnswer<String, BoxError>>) -> Vec<ToolAnswer> {
    let mut running: Vec<(Option<SharedAnswer<String, BoxError>>, ToolAnswer)> =
        running.into_iter().map(|running| (Some(running), ToolAnswer::default())).collect();
    poll_fn(|cx| {
        let mut waits = false;
        for (future, answer) in &mut running {
            let Some(polled) = future else { continue };
            // A handler that panics answers as one that fails: it is not polled again.
            match catch_unwind(AssertUnwindSafe(|| polled.as_mut().poll(cx))) {
                Ok(Poll::Pending) => {
                    waits = true;
                    continue;
                }
                Ok(Poll::Ready(Ok(text))) => answer.text = text,
                Ok(Poll::Ready(Err(reason))) => *answer = failed(&reason.to_string()),
                Err(_) => *answer = failed("the host's function broke off"),
            }
            *future = None;
        }
        if waits { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    running.into_iter().map(|(_, answer)| answer).collect()
}

fn failed(reason: &str) -> ToolAnswer {
    ToolAnswer::error(format!("the call failed: {reason}"))
}
