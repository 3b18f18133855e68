//! What callers, users, models and hosts do.

use crate::messages::{Own, Sent, count_places, keys};
use crate::run::Run;
use crate::world::{FACTS, NAMES, SKILLS};
use tower_prompt_layers::Purpose;
use tower_prompt_layers::skill::SkillId;
use tower_prompt_layers::wire::Format;

impl Run {
    fn branch(&mut self) -> &mut Vec<Sent> {
        &mut self.branches[self.now]
    }
    fn fork(&mut self, messages: Vec<Sent>) {
        self.branches.push(messages);
        self.now = self.branches.len() - 1;
    }
    fn push(&mut self, mut own: Own) {
        // Right behind results a text of ours, or nothing at all with a text behind it, cannot be told from what we say there.
        if let (Own::User { texts, .. }, Some(Sent(Own::Results { .. }, _))) = (&mut own, self.branches[self.now].last())
            && let Some(first) = texts.first_mut()
            && (self.texts.contains(first) || first.is_empty())
        {
            *first = "stop".into();
        }
        self.branch().push(Sent(own, None));
    }
    fn push_user(&mut self) {
        let user = self.user();
        self.push(user);
    }
    fn user(&mut self) -> Own {
        let ours = self.rng.below(self.texts.len());
        let text = match self.rng.below(100) {
            n @ 0..15 if self.quotes && !self.texts.is_empty() => match n % 3 {
                0 => self.texts[ours].clone(),
                1 => format!("what is this?\n\n{}", self.texts[ours]),
                _ => format!("{}\n\nhi", self.texts[ours]),
            },
            15..20 if self.quotes => "<context origin=\"host\">\nF clock=>v1\n</context>".into(),
            15..19 => String::new(),
            20..28 => "borrow".into(),
            _ => self.rng.pick(&["continue", "hi", "go on ", "x\n\n", "y\n", "do it"]).into(),
        };
        let holds_strings_alone = self.formats.contains(&Format::Ollama);
        // How an image is written is the wire's own.
        if self.formats.len() == 1 && self.rng.chance(5) {
            let texts = if self.rng.chance(50) { Vec::new() } else { vec![text] };
            return Own::User { texts, image: true, is_string: false, beside_results: false };
        }
        let is_string = holds_strings_alone || self.rng.chance(60);
        let more = (!is_string && self.rng.chance(20)).then(|| "and".to_owned());
        Own::User { texts: [text].into_iter().chain(more).collect(), image: false, is_string, beside_results: false }
    }
    fn answer(&mut self) {
        if self.branch().last().is_some_and(|sent| sent.0.is_place()) {
            let text = self.rng.pick(&["ok", "done"]).into();
            self.push(Own::Answer { text, calls: Vec::new() });
        }
    }
    fn call(&mut self) {
        self.next_id += 1;
        let calls: Vec<String> = (0..=self.rng.below(3)).map(|n| format!("c{}.{n}", self.next_id)).collect();
        if self.branch().last().is_some_and(|sent| !sent.0.is_place()) {
            self.branch().pop();
        }
        let text = self.rng.pick(&["let me see", ""]).into();
        self.push(Own::Answer { text, calls: calls.clone() });
        self.push(Own::Results { calls, content: "files" });
    }

    /// The world goes on, and the caller changes how it sends what it said.
    fn drift(&mut self) {
        let mut world = self.world.lock().unwrap();
        for fact in FACTS {
            match self.rng.below(16) {
                0 => drop(world.facts.remove(fact.name)),
                1..4 => drop(world.facts.insert(fact.name, format!("v{}", self.rng.below(3)))),
                _ => {}
            }
        }
        let name = self.rng.pick(&NAMES);
        if self.rng.chance(25) && !world.catalog.remove(name) {
            world.catalog.insert(name);
        }
        let names = FACTS.iter().map(|fact| fact.name).chain(["catalog"]);
        world.silent = names.filter(|_| self.rng.chance(12)).collect();
        drop(world);
        if self.rng.chance(6) {
            self.own_system = self.rng.pick(&[None, Some("HOST"), Some("HOST 2"), Some("BASE")]);
        }
        if self.rng.chance(15) {
            self.kept = self.rng.pick(&[0, 50, 100]);
        }
        if self.rng.chance(30) {
            self.format = self.rng.pick(&self.formats);
        }
        self.rewrite();
    }
    /// Another form of a message, other ids, results cleared: what callers do along the way.
    fn rewrite(&mut self) {
        let at = self.rng.below(self.branches[self.now].len());
        self.next_id += 1;
        let id = self.next_id;
        match &mut self.branches[self.now][at..] {
            _ if self.rng.chance(80) => {}
            [Sent(Own::User { texts, is_string, image: false, beside_results: false }, kept), ..] if texts.len() == 1 => {
                *is_string = !*is_string;
                if self.rng.chance(50) {
                    // As it was sent, it had no such blank.
                    (*kept, texts[0]) = (None, format!("{} ", texts[0]));
                }
            }
            [Sent(Own::Answer { calls, .. }, _), Sent(Own::Results { calls: answered, content }, _), ..] => {
                *content = "cleared";
                *calls = (0..calls.len()).map(|n| format!("d{id}.{n}")).collect();
                (*answered).clone_from(calls);
            }
            _ => {}
        }
    }
    fn host_switches_skills(&mut self) {
        let skill = self.rng.pick(&SKILLS);
        let id = SkillId::new(skill).unwrap();
        match self.rng.below(100) {
            0..6 => {
                self.session.activate(id, None);
                self.by_host.insert(skill);
            }
            6..10 => {
                self.session.deactivate(&id);
                self.by_host.remove(skill);
                self.settled.values_mut().for_each(|settled| settled.active.retain(|active| *active != skill));
            }
            _ => return,
        }
        self.log.push(format!("the host has now activated {:?}", self.by_host));
    }

    pub(crate) fn step(&mut self) -> Result<(), String> {
        if self.rng.chance(15) {
            self.restart();
        }
        self.drift();
        self.host_switches_skills();
        if self.branches[0].is_empty() {
            return self.start();
        }
        match self.rng.below(100) {
            0..24 => {
                self.answer();
                self.push_user();
                self.send(false)
            }
            24..44 => {
                self.call();
                self.send(false)
            }
            44..50 => self.speak_beside_results(),
            50..58 => self.retry(),
            58..68 => self.edit(),
            68..76 => {
                self.now = self.rng.below(self.branches.len());
                self.send(false)
            }
            76..82 => self.compact(),
            82..88 => {
                // the same request twice at once, or one that goes on where the other stands
                self.answer();
                self.push_user();
                let one = self.branch().len();
                if self.rng.chance(50) {
                    self.push_user();
                }
                self.send_both((self.now, one), (self.now, self.branches[self.now].len()))
            }
            88..92 => {
                // dropped before it was settled
                self.answer();
                self.push_user();
                self.begin(self.now, self.branches[self.now].len(), false, Purpose::Converse);
                Ok(())
            }
            92..97 => self.summarise(),
            _ => {
                // another conversation in the same session, that may begin with the same words
                let first = self.branches[0][0].0.clone();
                let own = if self.rng.chance(60) { first } else { self.user() };
                self.fork(Vec::new());
                self.push(own);
                self.send(false)
            }
        }
    }

    fn send(&mut self, compacted: bool) -> Result<(), String> {
        let flight = self.begin(self.now, self.branches[self.now].len(), compacted, Purpose::Converse);
        self.finish(flight)
    }
    /// Opened one behind the other, settled in either order.
    fn send_both(&mut self, one: (usize, usize), other: (usize, usize)) -> Result<(), String> {
        let one = self.begin(one.0, one.1, false, Purpose::Converse);
        self.drift();
        let other = self.begin(other.0, other.1, false, Purpose::Converse);
        let (first, second) = if self.rng.chance(50) { (one, other) } else { (other, one) };
        self.finish(first)?;
        self.finish(second)
    }
    fn start(&mut self) -> Result<(), String> {
        if self.rng.chance(15) {
            // in the middle of a conversation
            self.push_user();
            self.answer();
        }
        self.push_user();
        if self.rng.chance(5) {
            // in the middle of a tool loop
            self.call();
        }
        if !self.rng.chance(15) {
            return self.send(false);
        }
        let other = if self.rng.chance(50) { vec![Sent(self.user(), None)] } else { self.branch().clone() };
        self.branches.push(other);
        self.send_both((0, self.branches[0].len()), (1, self.branches[1].len()))
    }
    /// With the beginning of an answer now and then.
    fn retry(&mut self) -> Result<(), String> {
        let count = self.branch().len();
        if self.rng.chance(30) {
            self.answer();
        }
        self.send(false)?;
        if self.rng.chance(50) {
            self.branch().truncate(count);
        }
        Ok(())
    }
    /// An earlier message edited, or answered anew.
    fn edit(&mut self) -> Result<(), String> {
        let users: Vec<usize> = (0..self.branch().len()).filter(|n| self.branches[self.now][*n].0.is_user()).collect();
        let at = self.rng.pick(&users);
        let own = if self.rng.chance(20) { self.branch()[at].0.clone() } else { self.user() };
        let before = self.branch()[..at].to_vec();
        self.fork(before);
        self.push(own);
        self.send(false)
    }
    fn summarise(&mut self) -> Result<(), String> {
        let mark = self.branch().clone();
        if self.rng.chance(50) {
            self.answer();
            self.push(Own::user("summarise"));
        }
        let flight = self.begin(self.now, self.branches[self.now].len(), false, Purpose::SamePrefix);
        *self.branch() = mark;
        self.finish(flight)
    }
    fn speak_beside_results(&mut self) -> Result<(), String> {
        if !matches!(self.branch().last(), Some(Sent(Own::Results { .. }, _))) {
            self.call();
            if self.rng.chance(70) {
                self.send(false)?;
                self.drift();
            }
        }
        let mut own = self.user();
        if let Own::User { beside_results, .. } = &mut own {
            *beside_results = self.rng.chance(60);
        }
        self.push(own);
        self.send(false)
    }
    fn compact(&mut self) -> Result<(), String> {
        let old = self.branch().clone();
        if self.last != keys(&old) || count_places(&self.last) < 2 {
            return Ok(());
        }
        let keeps_head = self.rng.chance(40);
        let mut head = if keeps_head { 1 + self.rng.below(2) } else { 0 };
        if matches!(&old[..head], [.., Sent(Own::Answer { calls, .. }, _)] if !calls.is_empty()) {
            head -= 1;
        }
        self.fork(old[..head].to_vec());
        self.answer();
        self.next_id += 1;
        self.push(Own::user(&format!("summary {}", self.next_id)));
        let tail = old.iter().skip(1).position(|sent| matches!(sent.0, Own::User { beside_results: false, .. }));
        if let Some(at) = tail
            && !keeps_head
            && self.rng.chance(40)
        {
            self.answer();
            self.branch().extend_from_slice(&old[at + 1..]);
        }
        match self.rng.below(3) {
            0 => self.call(),
            1 => {
                self.answer();
                self.push_user();
            }
            _ => {}
        }
        self.send(keeps_head)
    }
}
