//! A client's request over all rounds that it takes.

use super::judged::{Verdict, strip, usage, verdict};
use super::remembered::{Chain, Kept, Rounds, Scope, Visible};
use super::restore::{Restored, chain, field, restore};
use super::{Answering, MAX_ROUNDS, offer};
use crate::layers::wire::{Format, ToolAnswer, ToolCalls, Wire};
use crate::layers::{Context, Report, Session};
use crate::proxy::lossless::{self, AsWritten};
use bytes::Bytes;
use http::{HeaderMap, Method, Uri};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;

/// What the client wrote, and how it is written again.
pub(in crate::proxy) struct Written {
    pub(in crate::proxy) plain: Bytes,
    pub(in crate::proxy) numbers: Arc<AsWritten>,
}

pub(in crate::proxy) struct Turn {
    pub(super) format: Format,
    scope: Scope,
    /// Of the caller's messages, as it wrote them.
    chain: Chain,
    /// The caller's request with what was put back, and the rounds so far.
    pub(super) request: Value,
    pub(super) written: Written,
    context: Context,
    session: Option<Session>,
    /// The rounds so far, as requests hold them.
    hidden: Vec<Value>,
    pub(super) visible: Visible,
    /// Of the first round, which a stream has told already.
    first_id: Option<String>,
    pub(super) spent: Value,
    pub(super) rounds: usize,
    /// The tool stands in the request, and is ours.
    pub(super) offers: bool,
    pub(super) has_tools: bool,
    /// Something that the client didn't send stands among the messages.
    pub(super) is_restored: bool,
    pub(super) model: String,
    /// Where it goes.
    pub(super) head: (Method, Uri, HeaderMap),
}

/// Work that goes on by itself.
pub(super) type Settling = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Turn {
    /// For a request of a conversation: puts back into it what belongs there. `None`: it is none, or one whose tool of that name is the caller's.
    pub(in crate::proxy) fn open(
        answering: &Answering,
        (format, scope): (Format, Scope),
        request: &mut Value,
        written: Written,
        context: &Context,
        path: &str,
    ) -> Option<Self> {
        let tool = &*answering.tool.options().name;
        if offer::offers(request, tool) {
            return None;
        }
        let has_tools = offer::has_tools(request);
        let name = request.get("model").and_then(Value::as_str).unwrap_or_default();
        let model = format!("{scope:?} {path} {name}");
        let takes_tools = has_tools || !answering.takes_no_tools(&model);
        // A model that takes no tools takes no history with calls of them.
        let Restored { chain, is_changed } = if takes_tools {
            restore(&answering.remembered, &scope, format, request)?
        } else {
            Restored { chain: chain(&answering.remembered, &scope, format, request)?, is_changed: false }
        };
        let offers = takes_tools && offer::has_one_answer(request);
        Some(Self {
            format,
            scope,
            chain,
            request: request.clone(),
            written,
            context: context.clone(),
            session: None,
            hidden: Vec::new(),
            visible: Visible::default(),
            first_id: None,
            spent: Value::Null,
            rounds: 0,
            offers,
            has_tools,
            is_restored: is_changed,
            model,
            head: (Method::POST, Uri::default(), HeaderMap::new()),
        })
    }
    /// Sees to the tool in a request that was assembled; whether the answer is to be looked at.
    pub(in crate::proxy) fn offer(&mut self, assembled: &mut Value, tool: &str) -> bool {
        if !self.offers {
            offer::withdraw(assembled, tool);
        } else if self.is_last() {
            offer::forbid(self.format, assembled, tool, self.has_tools);
        } else if !offer::offers(assembled, tool) {
            self.offers = false;
        }
        self.offers || self.is_restored
    }
    /// In this conversation: what stands in it already is not given again.
    pub(in crate::proxy) fn of(mut self, session: Session) -> Self {
        self.session = Some(session);
        self
    }
    pub(in crate::proxy) fn sent_to(&mut self, head: (Method, Uri, HeaderMap)) {
        self.head = head;
    }
    pub(super) fn is_last(&self) -> bool {
        self.rounds >= MAX_ROUNDS
    }
    /// Of the next round.
    pub(super) fn next_context(&self) -> Context {
        self.context.clone().compacted(self.context.compacted && self.rounds == 0).report(Report::default())
    }
    /// The request as the client sent it, without what was put back: an upstream that refused the other shall judge this one.
    pub(super) fn start_over(&mut self) -> Result<(), Cow<'static, str>> {
        (self.request, _) = lossless::read(&self.written.plain)?;
        (self.is_restored, self.offers) = (false, self.offers && self.has_tools);
        Ok(())
    }

    /// Answers the calls of an answer that calls our tool alone, and puts both behind the request. `is_shown`: the client saw what was said with them.
    pub(super) async fn go_on(&mut self, answering: &Answering, response: &Value, is_shown: bool) {
        let calls = ToolCalls::in_response(self.format, response);
        let answers = answering.answers(&calls, self.session.as_ref()).await;
        let (said, results) = self.rows(&calls, &answers);
        if is_shown {
            self.show(&said, &answering.tool.options().name);
            self.first_id = self.first_id.take().or_else(|| response.get("id")?.as_str().map(str::to_owned));
        }
        self.hidden.extend(said.into_iter().chain(results));
        // Each call has its answer.
        let _ = calls.append(&mut self.request, &answers);
        super::judged::add(&mut self.spent, &usage(self.format, response));
        self.rounds += 1;
    }

    /// Keeps what the client doesn't see of its answer, which ends with this response: before the client learns of the end, since its next request may
    /// be there at once. `None`: it sees everything.
    pub(super) fn settle(&mut self, answering: &Arc<Answering>, mut response: Value) -> Option<Settling> {
        let (format, tool) = (self.format, answering.tool.options().name.clone());
        let verdict = verdict(format, &tool, &response, self.is_last());
        if self.hidden.is_empty() && verdict == Verdict::Plain {
            return None;
        }
        let calls = ToolCalls::in_response(format, &response);
        let id = response.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let shown = if verdict == Verdict::Dropped {
            strip(format, &mut response, &tool);
            ToolCalls::in_response(format, &response)
        } else {
            calls.clone()
        };
        let (said, _) = self.rows(&shown, &vec![ToolAnswer::default(); shown.len()]);
        self.show(&said, &tool);
        let mut all = std::mem::take(&mut self.hidden);
        // An answer of nothing is refused where it stands in a request.
        if verdict != Verdict::Dropped || says_something(format, &said) {
            all.extend(said);
        }
        let key = std::mem::take(&mut self.visible).key(self.chain.clone());
        let (answering, scope, session) = (answering.clone(), self.scope.clone(), self.session.clone());
        let (first_id, store) = (self.first_id.take(), self.request.get("store").cloned().unwrap_or_default());
        Some(Box::pin(async move {
            let answers = match verdict {
                Verdict::Mixed => answering.answers(&calls, session.as_ref()).await,
                _ => vec![ToolAnswer::from("The call was not answered: it was not whole, or one too many.".to_owned()); calls.len()],
            };
            let (_, results) = rows(format, &store, &calls, &answers);
            let is_ours = |n: &usize| calls.iter().nth(*n).is_some_and(|call| call.name == tool);
            let ours = (0..calls.len()).filter(is_ours).filter_map(|n| Some((n, result(format, &results, n)?)));
            let ours: Vec<(usize, Value)> = ours.collect();
            let table = &answering.remembered;
            if format == Format::OpenAiResponses {
                let outputs: Vec<Value> = ours.iter().map(|(_, output)| output.clone()).collect();
                if !outputs.is_empty() {
                    table.keep(table.id_key(&scope, "outputs", &id), &scope, Kept::Outputs(outputs.clone()));
                    for call in calls.iter().filter(|call| call.name != tool) {
                        table.keep(table.id_key(&scope, "call", &call.id), &scope, Kept::Outputs(outputs.clone()));
                    }
                }
                if let Some(first) = first_id.filter(|first| *first != id) {
                    table.keep(table.id_key(&scope, "response", &first), &scope, Kept::Goes(id));
                }
            }
            let ours = if verdict == Verdict::Mixed { ours } else { Vec::new() };
            table.keep(key, &scope, Kept::Rounds(Rounds { said: all, ours }));
        }))
    }

    fn rows(&self, calls: &ToolCalls, answers: &[ToolAnswer]) -> (Vec<Value>, Vec<Value>) {
        rows(self.format, self.request.get("store").unwrap_or(&Value::Null), calls, answers)
    }
    fn show(&mut self, said: &[Value], tool: &str) {
        self.visible.add(self.format.read(&json!({field(self.format): said})), tool);
    }
}

/// What the model said, and the answers, as requests of the format hold them.
fn rows(format: Format, store: &Value, calls: &ToolCalls, answers: &[ToolAnswer]) -> (Vec<Value>, Vec<Value>) {
    let mut request = json!({field(format): [], "store": store});
    if calls.append(&mut request, answers).is_err() {
        return Default::default();
    }
    let Value::Array(mut said) = request[field(format)].take() else { return Default::default() };
    let results = match format {
        Format::Anthropic | Format::Gemini => calls.len().min(1),
        _ => calls.len(),
    };
    let results = said.split_off(said.len().saturating_sub(results));
    (said, results)
}

/// The result of one call.
fn result(format: Format, results: &[Value], nth: usize) -> Option<Value> {
    match format {
        Format::Anthropic => results.first()?.get("content")?.get(nth).cloned(),
        Format::Gemini => results.first()?.get("parts")?.get(nth).cloned(),
        _ => results.get(nth).cloned(),
    }
}

fn says_something(format: Format, said: &[Value]) -> bool {
    let read = format.read(&json!({field(format): said}));
    read.messages.iter().any(|message| !message.text().trim().is_empty() || !message.calls.is_empty() || !message.media.is_empty())
}
