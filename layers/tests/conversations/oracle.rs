//! What must be so of each request, by the rules alone.

use crate::described::is_described;
use crate::formats::{last_texts, plain, possible_ours, render, units};
use crate::messages::{Key, Own, Sent, count_places, keys};
use crate::placed::Said;
use crate::run::{KnownBy, LastSent, Run, Settled};
use crate::valid::is_valid;
use crate::world::{Belief, SKILLS, World};
use serde_json::Value;
use std::collections::BTreeSet;
use std::task::{Context as Cx, Poll, Waker};
use tower_prompt_layers::wire::Format;
use tower_prompt_layers::{Context, Manifest, PromptRequest, Purpose, Report, Round, TextPlacement};

/// A request that was opened, with what the oracle knew then.
pub(crate) struct Flight {
    request: PromptRequest<Value>,
    report: Report,
    seen: Seen,
}

pub(crate) struct Seen {
    branch: usize,
    pub(crate) messages: Vec<Sent>,
    pub(crate) key: Vec<Key>,
    purpose: Purpose,
    format: Format,
    pub(crate) own_system: Option<&'static str>,
    world: World,
    round: Round,
    /// How many of its messages the longest request that it continues had, and whether that is sure to be remembered.
    held: usize,
    is_sure: bool,
    active: BTreeSet<&'static str>,
    is_active_known: bool,
    told: Belief,
}

impl Seen {
    /// No text may stand behind results in this format.
    fn tail_takes_text(&self) -> bool {
        self.format != Format::Gemini || !matches!(self.key.last(), Some(Key::Results(_)))
    }
}

/// Nothing waits in this test.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match std::pin::pin!(future).poll(&mut Cx::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing waits"),
    }
}

impl Run {
    /// Of the requests that settled their place the longest that this one continues.
    fn longest(&self, key: &[Key]) -> usize {
        (1..=key.len()).rev().find(|n| self.settled.contains_key(&key[..*n])).unwrap_or(0)
    }
    fn active(&self, key: &[Key]) -> BTreeSet<&'static str> {
        self.settled.get(key).map(|settled| settled.active.clone()).unwrap_or_default()
    }
    fn is_active_known(&self, key: &[Key]) -> bool {
        self.settled.get(key).is_none_or(|settled| settled.is_active_known)
    }
    fn goes_on(&self, key: &[Key]) -> bool {
        (1..=key.len()).any(|n| self.known.contains(&key[..n]))
    }
    fn round(&self, key: &[Key], compacted: bool, purpose: Purpose) -> Round {
        let first_message_edited = count_places(key) == 1 && count_places(&self.last) <= 1;
        match key.last() {
            _ if self.settled.contains_key(key) => Round::Settled,
            _ if self.ours.is_none() => Round::Start,
            _ if purpose == Purpose::SamePrefix => Round::Settled,
            _ if compacted || !(self.goes_on(key) || first_message_edited) => Round::Compacted,
            Some(Key::User(..)) => Round::User,
            _ => Round::Tool,
        }
    }
    /// Beyond its bound a session is sure to remember the branch of its last request alone.
    fn is_sure(&self, key: &[Key], held: usize) -> bool {
        !self.is_limited || self.last == key[..held] || (held == 0 && !self.goes_on(key))
    }
    pub(crate) fn begin(&mut self, branch: usize, count: usize, compacted: bool, purpose: Purpose) -> Flight {
        self.forget();
        let purpose = if self.known_by == KnownBy::Nothing { Purpose::Converse } else { purpose };
        let messages = self.branches[branch][..count].to_vec();
        let key = keys(&messages);
        let (round, held) = (self.round(&key, compacted, purpose), self.longest(&key));
        let from = if round == Round::Compacted { &self.last } else { &key[..held] };
        let (mut active, is_active_known) = (self.active(from), self.is_active_known(from));
        active.extend(&self.by_host);
        let told = Belief::of(self.ours.as_deref().unwrap_or_default(), &self.told(&key[..held], round)).expect("it was read before");

        let is_sure = self.is_sure(&key, held);
        // A text of ours that was forgotten is the caller's.
        let kept = if is_sure && self.known_by != KnownBy::Nothing { self.kept } else { 0 };
        let texts = self.said(&key[..held]).texts;
        let mut given = messages.clone();
        for (n, Sent(_, text)) in given.iter_mut().enumerate() {
            // Settled anew since it was forgotten, a place may have another.
            let is_remembered = !self.is_limited || texts.get(n) == Some(text);
            text.take_if(|_| !self.rng.chance(kept) || !is_remembered);
        }
        let shown = self.shown(&key[..held]);
        let ours = self.ours.clone().filter(|_| self.rng.chance(kept));
        let own_system = if ours.is_some() { self.callers_system(self.own_system, ours.as_deref()) } else { self.own_system };
        let ours = ours.map(|ours| self.system(&ours, &shown));
        let request = render(self.format, own_system, ours.as_deref(), &given);
        self.log.push(format!("{round:?} {purpose:?} {request}"));
        let report = Report::default();
        let context = Context::default().purpose(purpose).compacted(compacted).report(report.clone());
        let context = match self.known_by {
            KnownBy::Session => context.session(self.session.clone()),
            KnownBy::Table => context.scope("the caller's"),
            KnownBy::Nothing => context,
        };
        let seen = Seen {
            branch,
            is_sure,
            messages,
            key,
            purpose,
            format: self.format,
            own_system: self.own_system,
            world: self.world.lock().unwrap().clone(),
            round,
            held,
            active,
            is_active_known,
            told,
        };
        Flight { request: self.stack.begin(request, context), report, seen }
    }

    pub(crate) fn finish(&mut self, flight: Flight) -> Result<(), String> {
        self.forget();
        let Flight { request, report, mut seen } = flight;
        let (round, is_empty) = (request.turn.round, request.prompt.is_empty());
        let out = ready(self.stack.finish(request));
        self.log.push(format!("   -> {out}"));
        let manifest = report.manifest().expect("it was filled");
        let settled = manifest.settled;
        let held = self.longest(&seen.key);
        seen.is_sure &= self.is_sure(&seen.key, held);
        let settles = seen.purpose == Purpose::Converse && held < seen.key.len();
        if seen.is_sure && (round != seen.round || settled != settles || (round == Round::Settled && !is_empty)) {
            return Err(format!("{round:?}, not {:?}; settled {settled}, nothing collected {is_empty}", seen.round));
        }
        let (ours, said) = self.read_bytes(&seen, &out, &manifest)?;
        let texts = said.shown(self.placement);
        is_described(&manifest, &ours, &texts, self.placement)?;
        is_valid(seen.format, &out)?;
        if seen.is_sure {
            self.extends(&seen, &out, held, &texts)?;
        }
        self.says_what_it_rewrites(&manifest, &self.shown(&seen.key[..held]), &texts)?;
        self.is_foreseen(&seen, &manifest, &texts)?;
        if seen.purpose == Purpose::SamePrefix {
            return Ok(());
        }
        seen.is_active_known &= seen.is_sure && self.is_active_known(&seen.key[..held]);
        let active = self.read_texts(&seen, &ours, &texts, settled, round)?;
        let count = seen.key.len();
        if settled {
            let places = (1..=count).filter(|n| !matches!(seen.key[n - 1], Key::Answer(..)));
            self.known.extend(places.map(|n| seen.key[..n].to_vec()));
            self.texts.extend(texts[count - 1].clone());
            let own: Vec<Own> = seen.messages[..count].iter().map(|m| m.0.clone()).collect();
            let behind = self.behind_messages(&texts);
            let system = self.system(&ours, &texts);
            let own_system = self.callers_system(seen.own_system, Some(&ours));
            let cut = render(seen.format, own_system, Some(&system), &with(&seen.messages[..count], &behind));
            let units = units(&out)[..units(&cut).len()].to_vec();
            let settled = Settled {
                texts: said.texts[..count].to_vec(),
                turns: said.turns[..count].to_vec(),
                active,
                is_active_known: seen.is_active_known || seen.tail_takes_text(),
                format: seen.format,
                own_system: seen.own_system,
                own,
                shown: texts[..count].to_vec(),
                units,
            };
            self.settled.insert(seen.key.clone(), settled);
        }
        self.ours = Some(ours);
        let own = seen.messages[..count].iter().map(|m| m.0.clone()).collect();
        let (key, own_system, texts_sent) = (seen.key.clone(), seen.own_system, texts[..count].to_vec());
        self.sent = Some(LastSent { key, own_system, own, texts: texts_sent });
        self.last = seen.key;

        if self.known_by != KnownBy::Nothing {
            let again = ready(self.stack.assemble(out.clone(), Context::default().session(self.session.copy())));
            if again != out {
                return Err(format!("assembled again it is\n{again}"));
            }
        }
        if self.rng.chance(92) {
            let keeps_former = self.placement == TextPlacement::Latest && self.rng.chance(50);
            let behind = self.behind_messages(&texts);
            let kept = self.branches[seen.branch].iter_mut().zip(behind).filter(|(_, text)| text.is_some() || !keeps_former);
            kept.for_each(|(message, text)| message.1 = text);
        }
        Ok(())
    }

    /// The system prompt and our texts in a request, which is nothing else than these and what the caller wrote.
    fn read_bytes(&self, seen: &Seen, out: &Value, manifest: &Manifest) -> Result<(String, Said), String> {
        let settled = manifest.settled;
        let is_in_front = self.placement == TextPlacement::Front;
        let bytes = |ours: &str, said: &Said| {
            let texts = said.shown(self.placement);
            let messages = with(&seen.messages, &self.behind_messages(&texts));
            let own_system = self.callers_system(seen.own_system, Some(ours));
            plain(render(seen.format, own_system, Some(&self.system(ours, &texts)), &messages))
        };
        let put_back = |held: usize| {
            let mut said = self.said(&seen.key[..held]);
            said.texts.resize(seen.messages.len(), None);
            said.turns.resize(seen.messages.len(), false);
            said
        };
        let longest = self.longest(&seen.key);
        // In front one text stands behind the other, and which is which the manifest tells; that they stand there is seen from the bytes.
        let described = || manifest.texts.iter().map(|text| text.text.to_string());
        let last = if is_in_front { described().skip(1).last().into_iter().collect() } else { last_texts(out) };
        let new: Vec<String> = last.into_iter().filter(|_| settled && seen.tail_takes_text()).collect();
        let first = || if is_in_front { described().take(1).collect() } else { possible_ours(out, seen.own_system) };
        for ours in self.ours.clone().map_or_else(first, |ours| vec![ours]) {
            for held in if seen.is_sure { longest..=longest } else { 0..=longest }.rev() {
                for new in std::iter::once(None).chain(new.iter().map(Some)) {
                    let mut said = put_back(held);
                    if new.is_some() {
                        said.texts[seen.key.len() - 1] = new.cloned();
                    }
                    if settled {
                        let is_users = matches!(seen.key.last(), Some(Key::User(..)));
                        said.turns[seen.key.len() - 1] = is_users || manifest.round == Round::Compacted;
                    }
                    if bytes(&ours, &said) == plain(out.clone()) {
                        return Ok((ours, said));
                    }
                }
            }
        }
        Err(format!("{out}\nis not, but for a new text at the end,\n{}", bytes("(ours)", &put_back(longest))))
    }

    /// As the provider hashes it, a request begins with the longest that it continues, where the caller left that as it was.
    fn extends(&self, seen: &Seen, out: &Value, held: usize, texts: &[Option<String>]) -> Result<(), String> {
        let Some(before) = self.settled.get(&seen.key[..held]) else { return Ok(()) };
        let own = seen.messages[..held].iter().map(|m| &m.0);
        let as_it_was = before.format == seen.format && before.own_system == seen.own_system && own.eq(&before.own);
        // What this placement rewrites is known by the rules alone: see `Said::shown`.
        let is_kept = match self.placement {
            TextPlacement::Front => texts.iter().flatten().eq(before.shown.iter().flatten()),
            _ => texts[..held] == before.shown,
        };
        if self.placement == TextPlacement::Append && !is_kept {
            return Err(format!("of {:?} there is {texts:?}", before.shown));
        }
        let now = units(out);
        if as_it_was && is_kept && !now.starts_with(&before.units) {
            return Err(format!("{now:?}\ndoes not begin with\n{:?}", before.units));
        }
        Ok(())
    }

    /// What a reader believes is true; the skills now in force.
    fn read_texts(
        &self,
        seen: &Seen,
        ours: &str,
        texts: &[Option<String>],
        settled: bool,
        round: Round,
    ) -> Result<BTreeSet<&'static str>, String> {
        let before = Belief::of(ours, &texts[..seen.key.len() - 1])?;
        let belief = Belief::of(ours, &texts[..seen.key.len()])?;
        if !settled {
            return Ok(BTreeSet::new());
        }
        let held = self.longest(&seen.key);
        if round == Round::Tool {
            if (&belief.facts, &belief.catalog) != (&before.facts, &before.catalog) {
                return Err("facts in a tool round".into());
            }
        } else if seen.tail_takes_text() && (seen.is_sure || held == seen.held) {
            // Before the start nothing was told, whatever was settled since.
            let told = if seen.is_sure || seen.round == Round::Start { &seen.told } else { &before };
            seen.world.is_told(told, &before, &belief)?;
        }
        let mut active = seen.active.clone();
        if held != seen.held {
            active.extend(self.active(&seen.key[..held]));
        }
        if seen.messages.iter().rfind(|m| m.0.is_user()).is_some_and(|m| m.0.says("borrow")) {
            active.insert("rust");
        }
        // In `latest` what another request brought into force meanwhile stands with that one's turn alone, and with the next turn again.
        let is_overtaken = self.placement == TextPlacement::Latest && held != seen.held;
        if !seen.tail_takes_text() || is_overtaken {
            return Ok(active);
        }
        if !seen.is_active_known {
            active = SKILLS.into_iter().filter(|skill| belief.bodies.contains(*skill)).collect();
        }
        if !belief.bodies.iter().map(String::as_str).eq(active.iter().copied()) {
            return Err(format!("bodies of {:?}, in force {active:?}", belief.bodies));
        }
        Ok(active)
    }
}

fn with(messages: &[Sent], texts: &[Option<String>]) -> Vec<Sent> {
    messages.iter().zip(texts).map(|(message, text)| Sent(message.0.clone(), text.clone())).collect()
}
