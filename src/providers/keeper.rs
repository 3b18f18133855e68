//! Who runs the program of a provider: one thread, which alone knows what is under way. Whatever happens comes to it as an event, in one line.

use super::backoff::Backoff;
use super::child::{self, Slot};
use super::event::{Ask, Event, Kept, Running, Sent, Why};
use super::process::ProviderProgram;
use crate::layers::Diagnostic;
use crate::layers::skill::SkillList;
use crate::layers::skill::provider::{AnswerLine, MAX_LIST_LINE_BYTES, SkillError, SkillErrorCode, SkillResponse, read_answer};
use crate::layers::text::{escape, shorten};
use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Instant;

/// Requests under way at once.
const MAX_ASKED: usize = 32;
/// Requests that nobody waits for any more, and whose answers may still come.
const MAX_EXPECTED: usize = 64;
/// Of one list, all its lines together.
const MAX_LIST_BYTES: usize = 8 * 1024 * 1024;
const MAX_LIST_SKILLS: usize = 10_000;
/// Of a process, what answers nothing.
const MAX_STRAY_LINES: usize = 64;
const MAX_STRAY_BYTES: usize = 1024 * 1024;

pub(super) struct Keeper {
    program: ProviderProgram,
    events: Sender<Event>,
    child: Slot,
    running: Option<Running>,
    processes: u64,
    backoff: Backoff,
    /// Why the last one ended.
    last_failure: String,
    sent: BTreeMap<u64, Sent>,
}

impl Keeper {
    /// On a thread of its own; `None` where there is none to be had.
    pub(super) fn start(program: ProviderProgram) -> Option<Kept> {
        let ((events, heard), child) = (mpsc::channel(), Slot::default());
        let kept = Kept { events: events.clone(), child: child.clone() };
        let (backoff, last_failure, sent) = (Backoff::default(), String::new(), BTreeMap::new());
        let keeper = Self { program, events, child, running: None, processes: 0, backoff, last_failure, sent };
        thread::Builder::new().name("tower-prompt".into()).spawn(move || keeper.run(&heard)).ok()?;
        Some(kept)
    }

    fn run(mut self, heard: &Receiver<Event>) {
        loop {
            let next = self.sent.values().filter_map(|sent| sent.deadline).min();
            let event = match next {
                Some(deadline) => heard.recv_timeout(deadline.saturating_duration_since(Instant::now())),
                None => heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(Event::Ask(ask)) => self.ask(ask),
                Ok(Event::Abandoned(id)) => self.abandon(id),
                Ok(Event::Said { process, line }) => self.said(process, &line),
                Ok(Event::Ended { process, error }) => self.ended(process, error),
                Ok(Event::Over) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            // Whatever else happens: who floods must not keep a deadline from passing.
            self.look_at_the_clock();
        }
        self.child.end(false);
    }

    fn ask(&mut self, ask: Ask) {
        let Ask { id, line, request, deadline, answer } = ask;
        let asked = self.sent.values().filter(|sent| sent.answer.is_some()).count();
        let sent = if asked >= MAX_ASKED {
            Err(unavailable(format!("{MAX_ASKED} requests are under way already")))
        } else {
            let busy = || unavailable("it takes no more requests".to_owned());
            self.running().and_then(|running| running.pipes.requests.try_send(line).map_err(|_| busy()))
        };
        match sent {
            Ok(()) => {
                let sent =
                    Sent { request, at: Instant::now(), deadline, answer: Some(answer), list: SkillList::default(), bytes: 0, skills: 0 };
                self.sent.insert(id, sent);
            }
            // It may have been dropped meanwhile.
            Err(error) => drop(answer.send(Err(error))),
        }
    }

    /// The process that runs, or a new one.
    fn running(&mut self) -> Result<&mut Running, SkillError> {
        if self.running.is_none() {
            let now = self.program.environment.now();
            if let Some(left) = self.backoff.left(now) {
                let message = format!("{}; it may be started again in {} ms", self.last_failure, left.as_millis().max(1));
                return Err(unavailable(message));
            }
            self.processes += 1;
            match child::start(&self.program, self.processes, &self.child, &self.events) {
                Ok(pipes) => {
                    self.running = Some(Running {
                        number: self.processes,
                        started: now,
                        pipes,
                        last_answer: None,
                        stray_lines: 0,
                        stray_bytes: 0,
                        first_stray: None,
                    });
                }
                Err(error) => {
                    self.child.end(false);
                    self.backoff.failed(now, now);
                    self.last_failure = format!("it could not be started: {error}");
                    return Err(unavailable(self.last_failure.clone()));
                }
            }
        }
        self.running.as_mut().ok_or_else(|| unavailable("it does not run".to_owned()))
    }

    fn abandon(&mut self, id: u64) {
        // Its deadline stays: who never answers is noticed though nobody waits.
        if let Some(sent) = self.sent.get_mut(&id) {
            (sent.answer, sent.list) = (None, SkillList::default());
        }
    }

    fn said(&mut self, process: u64, line: &[u8]) {
        let Some(running) = self.running.as_mut().filter(|running| running.number == process) else { return };
        // There is one: it was sent ahead of the line.
        let _ = running.pipes.credits.try_recv();
        let read = read_answer(line, &self.program.source);
        let (answer, sent) = match read {
            Ok(answer) => match self.sent.get_mut(&answer.id) {
                Some(sent) => (answer, sent),
                None => return self.stray(line, &format!("an answer to {}, which was not asked", answer.id)),
            },
            Err(error) => return self.stray(line, &error.message),
        };
        running.last_answer = Some(Instant::now());
        let AnswerLine { id, answer, more, .. } = answer;
        let is_flood = matches!(&answer, Err(error) if error.code == SkillErrorCode::TooLarge && line.len() > MAX_LIST_LINE_BYTES);
        sent.bytes = sent.bytes.saturating_add(line.len());
        match answer {
            Ok(SkillResponse::List(part)) => {
                sent.skills = sent.skills.saturating_add(part.skills.len());
                if sent.answer.is_some() {
                    sent.list.skills.extend(part.skills);
                    sent.list.diagnostics.extend(part.diagnostics);
                }
                if sent.bytes > MAX_LIST_BYTES || sent.skills > MAX_LIST_SKILLS {
                    let message = format!("its list has more than {MAX_LIST_BYTES} bytes or {MAX_LIST_SKILLS} skills; it was ended");
                    self.stop(Why::For(SkillErrorCode::TooLarge, message));
                } else if !more {
                    let list = std::mem::take(&mut sent.list);
                    self.finish(id, Ok(SkillResponse::List(list)));
                }
            }
            Err(error) if is_flood => self.stop(Why::For(error.code, format!("{}; it was ended", error.message))),
            other => self.finish(id, other),
        }
    }

    /// Hands an answer to who waits for it, with what else was noticed.
    fn finish(&mut self, id: u64, answer: Result<SkillResponse, SkillError>) {
        let Some(Sent { request, answer: Some(waiting), .. }) = self.sent.remove(&id) else { return };
        let mut answer = answer.and_then(|answer| answer.to(&request));
        let diagnostics = match &mut answer {
            Ok(SkillResponse::List(list)) => Some(&mut list.diagnostics),
            Ok(SkillResponse::Context(context)) => Some(&mut context.diagnostics),
            _ => None,
        };
        if let (Some(diagnostics), Some(running)) = (diagnostics, &mut self.running)
            && let Some(stray) = running.strays()
        {
            diagnostics.push(Diagnostic::note("provider-stray", format!("the skill provider {}: {stray}", self.program.source.label)));
            running.first_stray = None;
        }
        // It may have been dropped meanwhile.
        drop(waiting.send(answer));
    }

    fn stray(&mut self, line: &[u8], why: &str) {
        let Some(running) = &mut self.running else { return };
        running.stray_lines += 1;
        running.stray_bytes = running.stray_bytes.saturating_add(line.len());
        if running.first_stray.is_none() {
            let said = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
            running.first_stray = Some(format!("{why}: {:?}", shorten(&escape::one_line(&said), 80)));
        }
        if running.stray_lines > MAX_STRAY_LINES || running.stray_bytes > MAX_STRAY_BYTES {
            let strays = running.strays().unwrap_or_default();
            self.stop(Why::For(SkillErrorCode::TooLarge, format!("{strays}; it was ended")));
        }
    }

    fn ended(&mut self, process: u64, error: Option<io::Error>) {
        if self.running.as_ref().is_some_and(|running| running.number == process) {
            self.stop(match error {
                None => Why::Closed,
                Some(error) if error.kind() == io::ErrorKind::InvalidData => {
                    Why::For(SkillErrorCode::TooLarge, format!("{error}; it was ended"))
                }
                Some(error) => Why::For(SkillErrorCode::Unavailable, format!("its output can't be read: {error}")),
            });
        }
    }

    /// Whose deadline passed is late; who said nothing at all meanwhile hangs.
    fn look_at_the_clock(&mut self) {
        let (now, deadline) = (Instant::now(), self.program.deadline);
        let last_answer = self.running.as_ref().and_then(|running| running.last_answer);
        let strays = self.running.as_ref().and_then(Running::strays).map(|strays| format!("; {strays}")).unwrap_or_default();
        let mut hangs = false;
        for sent in self.sent.values_mut().filter(|sent| sent.deadline.is_some_and(|deadline| deadline <= now)) {
            sent.deadline = None;
            hangs |= last_answer.is_none_or(|last| last < sent.at);
            sent.list = SkillList::default();
            if let Some(waiting) = sent.answer.take() {
                let message = format!("it did not answer `{}` within {} ms{strays}", sent.request.kind(), deadline.as_millis());
                drop(waiting.send(Err(SkillError::new(SkillErrorCode::Late, message))));
            }
        }
        if hangs {
            let message = format!("it said nothing for {} ms; it was ended", deadline.as_millis());
            self.stop(Why::For(SkillErrorCode::Unavailable, message));
        }
        let expected = self.sent.iter().filter(|(_, sent)| sent.answer.is_none() && sent.deadline.is_none()).map(|(id, _)| *id);
        let expected: Vec<u64> = expected.collect();
        for id in &expected[..expected.len().saturating_sub(MAX_EXPECTED)] {
            self.sent.remove(id);
        }
    }

    /// Ends the process, and tells all who wait why.
    fn stop(&mut self, why: Why) {
        let Some(running) = self.running.take() else { return };
        let status = self.child.end(matches!(why, Why::Closed));
        let (code, mut message) = match why {
            Why::Closed => (SkillErrorCode::Unavailable, format!("it ended ({})", status.as_deref().unwrap_or("nobody knows how"))),
            Why::For(code, message) => (code, message),
        };
        let complaint = running.pipes.complaint.text();
        if !complaint.trim().is_empty() {
            message.push_str(&format!("; it complained: {}", shorten(&escape::one_line(&complaint), 200)));
        }
        self.backoff.failed(running.started, self.program.environment.now());
        tracing::warn!(provider = %self.program.source.label, "{message}");
        for sent in std::mem::take(&mut self.sent).into_values() {
            if let Some(waiting) = sent.answer {
                drop(waiting.send(Err(SkillError::new(code, message.clone()))));
            }
        }
        self.last_failure = message;
    }
}

fn unavailable(message: String) -> SkillError {
    SkillError::new(SkillErrorCode::Unavailable, message)
}
