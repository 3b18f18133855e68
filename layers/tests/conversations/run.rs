//! One random conversation: the session that it tries, and what the oracle keeps of it.

use crate::Rng;
use crate::formats::ByModel;
use crate::messages::{Key, Own, Sent};
use crate::world::{FACTS, NAMES, World, active_skills, facts, matched_skill};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use tower_prompt_layers::wire::{Conversation, Format, ModelFacts, ModelTable};
use tower_prompt_layers::{
    Context, PromptStack, RepositoryText, Session, SessionEvent, Sessions, Settings, SystemPromptLayer, TextPlacement,
};

/// Where a conversation goes over several, their views are equal.
const FORMATS: [&[Format]; 7] = [
    &[Format::OpenAiChat],
    &[Format::OpenAiResponses],
    &[Format::Anthropic],
    &[Format::Gemini],
    &[Format::Ollama],
    &[Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic],
    &[Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic, Format::Ollama],
];

/// What the oracle remembers of a request that settled its place.
pub(crate) struct Settled {
    /// Of its whole branch, whether they still stand there or not, and at which of these places a turn began.
    pub(crate) texts: Vec<Option<String>>,
    pub(crate) turns: Vec<bool>,
    pub(crate) active: BTreeSet<&'static str>,
    /// Beyond a session's bound, where its place takes no text, no one can say.
    pub(crate) is_active_known: bool,
    /// As it was sent: by whom it was written, and how the provider saw it up to its last place.
    pub(crate) format: Format,
    pub(crate) own_system: Option<&'static str>,
    pub(crate) own: Vec<Own>,
    pub(crate) shown: Vec<Option<String>>,
    pub(crate) units: Vec<Value>,
}

/// How requests of one conversation are known to be that.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum KnownBy {
    Session,
    Table,
    /// Each request stands for itself.
    Nothing,
}

/// A table that holds this one conversation.
#[derive(Clone)]
pub(crate) struct OneSession(Arc<Mutex<Session>>);

impl Sessions for OneSession {
    fn find(&self, _: &Conversation, _: &Context) -> Session {
        self.0.lock().unwrap().clone()
    }
}

/// A request up to its last place.
pub(crate) struct LastSent {
    pub(crate) key: Vec<Key>,
    pub(crate) own_system: Option<&'static str>,
    pub(crate) own: Vec<Own>,
    pub(crate) texts: Vec<Option<String>>,
}

pub(crate) struct Run {
    pub(crate) rng: Rng,
    pub(crate) session: Session,
    /// All that happened to it, as lines of JSON.
    pub(crate) events: Arc<Mutex<Vec<String>>>,
    pub(crate) is_limited: bool,
    pub(crate) placement: TextPlacement,
    pub(crate) known_by: KnownBy,
    table: OneSession,
    pub(crate) world: Arc<Mutex<World>>,
    pub(crate) stack: PromptStack<ByModel>,
    pub(crate) format: Format,
    /// What the conversation goes over, now this, now that.
    pub(crate) formats: Vec<Format>,
    /// Users quote our texts; else they say nothing now and then (nothing with our text behind it, and our text alone, are the same bytes).
    pub(crate) quotes: bool,
    /// How many percent of the messages come as they were sent.
    pub(crate) kept: usize,
    pub(crate) next_id: usize,
    pub(crate) branches: Vec<Vec<Sent>>,
    pub(crate) now: usize,
    pub(crate) own_system: Option<&'static str>,
    pub(crate) ours: Option<String>,
    pub(crate) by_host: BTreeSet<&'static str>,
    pub(crate) settled: HashMap<Vec<Key>, Settled>,
    pub(crate) known: HashSet<Vec<Key>>,
    pub(crate) last: Vec<Key>,
    /// The last request, as its manifest must tell of the next one; none where the program began anew.
    pub(crate) sent: Option<LastSent>,
    pub(crate) texts: Vec<String>,
    pub(crate) log: Vec<String>,
}

/// Writes down what happens from now on.
fn kept(session: Session, events: &Arc<Mutex<Vec<String>>>) -> Session {
    let events = events.clone();
    session.on_event(move |event: &SessionEvent| events.lock().unwrap().push(serde_json::to_string(event).unwrap()))
}

impl Run {
    /// The program ends, and another goes on with what was written down.
    pub(crate) fn restart(&mut self) {
        let events: Vec<SessionEvent> =
            self.events.lock().unwrap().iter().map(|line| serde_json::from_str(line).expect("an event is read back")).collect();
        self.session = kept(Session::replay(events).expect("its own events"), &self.events);
        *self.table.0.lock().unwrap() = self.session.clone();
        self.sent = None;
        self.log.push("the program was started anew".to_owned());
    }
    /// Where nothing is known of requests before, the oracle knows nothing of them either.
    pub(crate) fn forget(&mut self) {
        if self.known_by == KnownBy::Nothing {
            self.settled.clear();
            self.known.clear();
            self.last.clear();
            self.by_host.clear();
            (self.ours, self.sent) = (None, None);
        }
    }
    pub(crate) fn kind(&self) -> String {
        format!("{} {:?} known by {:?}", self.format, self.placement, self.known_by)
    }
    pub(crate) fn new(mut rng: Rng) -> Self {
        let world = Arc::new(Mutex::new(World::default()));
        for fact in FACTS {
            if rng.chance(70) {
                world.lock().unwrap().facts.insert(fact.name, format!("v{}", rng.below(3)));
            }
        }
        world.lock().unwrap().catalog.extend(&NAMES[..rng.below(4)]);
        let placement =
            rng.pick(&[TextPlacement::Append, TextPlacement::Append, TextPlacement::Append, TextPlacement::Latest, TextPlacement::Front]);
        let known_by = rng.pick(&[KnownBy::Session, KnownBy::Session, KnownBy::Session, KnownBy::Table, KnownBy::Nothing]);
        // What is forgotten of a branch decides what of it is the newest turn.
        let is_limited = placement == TextPlacement::Append && rng.chance(15);
        let place = if rng.chance(20) { RepositoryText::Context } else { RepositoryText::System };
        let session = if is_limited { Session::with_max_places(NonZeroUsize::new(5).unwrap()) } else { Session::new() };
        let events = Arc::default();
        let session = kept(session, &events);
        let table = OneSession(Arc::new(Mutex::new(session.clone())));
        let models = ModelTable::default().with(Format::Anthropic.as_str(), ModelFacts::default().with_cache_minimum(1));
        let mut settings = Settings::default().repository_text(place).placement(placement).models(models).cache_marks(rng.chance(50));
        if known_by == KnownBy::Table {
            settings = settings.sessions(table.clone());
        }
        let stack = PromptStack::new(ByModel, settings)
            .with(active_skills)
            .with(matched_skill)
            .with(facts(world.clone()))
            .with(SystemPromptLayer::replaced("BASE"));
        let formats = rng.pick(&FORMATS).to_vec();
        Self {
            session,
            events,
            is_limited,
            placement,
            known_by,
            table,
            stack,
            world,
            format: rng.pick(&formats),
            formats,
            quotes: rng.chance(50),
            kept: rng.pick(&[0, 0, 50, 100]),
            next_id: 0,
            branches: vec![Vec::new()],
            now: 0,
            own_system: rng.pick(&[None, None, Some("HOST"), Some("BASE"), Some("")]),
            ours: None,
            by_host: BTreeSet::new(),
            settled: HashMap::new(),
            known: HashSet::new(),
            last: Vec::new(),
            sent: None,
            texts: Vec::new(),
            log: Vec::new(),
            rng,
        }
    }
}
