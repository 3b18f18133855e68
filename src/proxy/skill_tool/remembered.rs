//! What clients never saw, kept until they come back: the rounds inside the proxy, by the place in a conversation that they belong to.
//!
//! A place is known by a keyed hash over the caller's own messages up to the answer that the client was given: roles, texts without their white space,
//! calls. What callers change along the way (ids, thinking, the content of results) plays no part, as with the stack's anchors. What is lost (too many
//! conversations, a restart, another replica) costs a cache miss: what the client has is whole without it.

use crate::layers::wire::{Conversation, Format, Message, Role};
use serde_json::Value;
use std::collections::HashMap;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many things are kept, and so many bytes of them; what was unused longest goes.
const MAX_KEPT: usize = 4096;
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// What stands at a key.
#[derive(Debug)]
pub(super) enum Kept {
    /// In place of an answer that a client has.
    Rounds(Rounds),
    /// Results of ours that the provider, who holds the history, waits for.
    Outputs(Vec<Value>),
    /// The response that a history goes on behind, where the client was first told another id.
    Goes(String),
}

/// Messages or items as requests hold them.
#[derive(Debug)]
pub(super) struct Rounds {
    /// The rounds inside the proxy, and the answer as the model gave it.
    pub(super) said: Vec<Value>,
    /// Results of the calls of ours among that answer's, by their ordinal among its calls; those of the others the client brings.
    pub(super) ours: Vec<(usize, Value)>,
}

/// Whose a thing is: hashed credentials, and the conversation that a header names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::proxy) struct Scope(Arc<str>);

impl Scope {
    pub(in crate::proxy) fn new(credentials: &str, session: Option<&[u8]>) -> Self {
        let session = session.map(String::from_utf8_lossy).unwrap_or_default();
        Self(format!("{credentials} {session}").into())
    }
}

/// The hash of a conversation so far.
#[derive(Clone)]
pub(super) struct Chain(DefaultHasher);

impl Chain {
    pub(super) fn push(&mut self, message: &Message) {
        self.say(message.role, message.texts.iter().map(|part| &*part.text));
        message.media.iter().for_each(|part| part.text.hash(&mut self.0));
        message.calls.iter().for_each(|call| (&call.name, &call.arguments).hash(&mut self.0));
        message.answers.len().hash(&mut self.0);
    }
    fn say<'t>(&mut self, role: Role, texts: impl Iterator<Item = &'t str>) {
        role.hash(&mut self.0);
        texts.flat_map(str::split_whitespace).for_each(|word| self.0.write(word.as_bytes()));
        self.0.write_u8(0xff);
    }
    pub(super) fn key(&self) -> u64 {
        self.0.finish()
    }
}

struct Entry {
    kept: Arc<Kept>,
    scope: Scope,
    bytes: usize,
    used: u64,
}

#[derive(Default)]
struct Table {
    uses: u64,
    bytes: usize,
    entries: HashMap<u64, Entry>,
}

/// The table of them.
#[derive(Default)]
pub(super) struct Remembered {
    secret: RandomState,
    table: Mutex<Table>,
}

impl Remembered {
    /// Of no message yet.
    pub(super) fn chain(&self, scope: &Scope, format: Format) -> Chain {
        let mut hasher = self.secret.build_hasher();
        (&*scope.0, format).hash(&mut hasher);
        Chain(hasher)
    }
    /// Of what an id names.
    pub(super) fn id_key(&self, scope: &Scope, what: &str, id: &str) -> u64 {
        self.secret.hash_one((&*scope.0, what, id))
    }
    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic between two changes leaves a count that is a little off.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
    pub(super) fn get(&self, key: u64, scope: &Scope) -> Option<Arc<Kept>> {
        let table = &mut *self.table();
        table.uses += 1;
        let entry = table.entries.get_mut(&key).filter(|entry| entry.scope == *scope)?;
        entry.used = table.uses;
        Some(entry.kept.clone())
    }
    pub(super) fn keep(&self, key: u64, scope: &Scope, kept: Kept) {
        let bytes = size(&kept);
        if bytes > MAX_BYTES {
            return;
        }
        let table = &mut *self.table();
        table.uses += 1;
        let entry = Entry { kept: Arc::new(kept), scope: scope.clone(), bytes, used: table.uses };
        table.bytes += bytes;
        if let Some(before) = table.entries.insert(key, entry) {
            table.bytes -= before.bytes;
        }
        while table.entries.len() > MAX_KEPT || table.bytes > MAX_BYTES {
            let oldest = table.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key);
            let Some(entry) = oldest.and_then(|key| table.entries.remove(&key)) else { break };
            table.bytes -= entry.bytes;
        }
    }
}

fn size(kept: &Kept) -> usize {
    let written = |values: &mut dyn Iterator<Item = &Value>| values.map(|value| value.to_string().len()).sum::<usize>();
    match kept {
        Kept::Rounds(rounds) => written(&mut rounds.said.iter().chain(rounds.ours.iter().map(|(_, result)| result))),
        Kept::Outputs(outputs) => written(&mut outputs.iter()),
        Kept::Goes(id) => id.len(),
    }
}

/// The answer as a client has it, over all rounds of which it was shown something.
#[derive(Clone, Default, Debug)]
pub(super) struct Visible(Message);

impl Visible {
    /// What the model said in a round, but for its calls of this tool.
    pub(super) fn add(&mut self, said: Conversation, tool: &str) {
        for message in said.messages.into_iter().filter(|message| message.role == Role::Assistant) {
            self.0.texts.extend(message.texts);
            self.0.media.extend(message.media);
            self.0.calls.extend(message.calls.into_iter().filter(|call| call.name != tool));
        }
    }
    /// The key of the place behind it.
    pub(super) fn key(mut self, mut chain: Chain) -> u64 {
        self.0.role = Role::Assistant;
        chain.push(&self.0);
        chain.key()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_place_is_known_however_it_is_written_and_to_its_owner_alone() {
        let (table, format) = (Remembered::default(), Format::OpenAiChat);
        let key = |scope: &Scope, messages: Value| {
            let mut chain = table.chain(scope, format);
            crate::layers::wire::Wire::read(&format, &json!({"messages": messages}))
                .messages
                .iter()
                .for_each(|message| chain.push(message));
            chain.key()
        };
        let (mine, yours) = (Scope::new("a", Some(b"1")), Scope::new("b", Some(b"1")));
        let once = json!([{"role": "system", "content": "now"}, {"role": "user", "content": "Hi  there\n"}]);
        let again = json!([{"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "there"}]}]);
        assert_eq!(key(&mine, once.clone()), key(&mine, again));
        assert_ne!(key(&mine, once.clone()), key(&yours, once.clone()));
        assert_ne!(key(&mine, once.clone()), key(&mine, json!([{"role": "user", "content": "Hi"}])));
        table.keep(1, &mine, Kept::Goes("x".into()));
        assert!(table.get(1, &mine).is_some() && table.get(1, &yours).is_none());
    }

    #[test]
    fn what_was_unused_longest_goes() {
        let (table, scope) = (Remembered::default(), Scope::new("a", None));
        let half = || Kept::Goes("x".repeat(MAX_BYTES / 2));
        table.keep(1, &scope, half());
        table.keep(2, &scope, half());
        assert!(table.get(1, &scope).is_some());
        table.keep(3, &scope, half());
        assert!(table.get(2, &scope).is_none() && table.get(1, &scope).is_some() && table.get(3, &scope).is_some());
        table.keep(3, &scope, half());
        assert_eq!(table.table().bytes, MAX_BYTES);
        table.keep(4, &scope, Kept::Goes("x".repeat(MAX_BYTES + 1)));
        assert!(table.get(4, &scope).is_none());
        (10..10 + MAX_KEPT as u64 + 5).for_each(|key| table.keep(key, &scope, Kept::Goes(String::new())));
        assert_eq!(table.table().entries.len(), MAX_KEPT);
    }
}
