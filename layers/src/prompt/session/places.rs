//! Reads a conversation: takes our own texts out of it, and gives each place its anchor.
//!
//! Callers send their history as it was, or as we sent it, or in part as one and in part as the other. All must give the same anchors, and what a
//! user pasted must stay the user's even where it equals a text of ours. One hash pass over the messages.

use super::event::hex;
use super::hashing::{ByHash, Pieces};
use crate::prompt::fragment::Trust;
use crate::prompt::manifest::{CallersMessage, ContentHash};
use crate::wire::{Conversation, GAP, Message, Removal, Role, Spot};
use serde::{Deserialize, Serialize};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

/// Of all messages up to a place.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Anchor(#[serde(with = "hex")] u128);

/// Of one message, or of a message and our text behind it.
pub(crate) type Digest = u128;

/// Behind a user message, or behind a run of tool results.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) anchor: Anchor,
    pub(crate) role: Role,
    pub(crate) at: usize,
    pub(crate) spot: Spot,
    pub(crate) message: Digest,
    /// It came with a cache mark.
    pub(crate) is_marked: bool,
    /// Of that message among all that were read.
    pub(crate) ordinal: usize,
}

impl Place {
    fn new(anchor: Anchor, message: &Message, digest: Digest) -> Self {
        let Message { at, spot, role, is_marked, .. } = *message;
        Self { anchor, role, at, spot, message: digest, is_marked, ordinal: 0 }
    }
}

/// A message as it was read.
struct Read {
    digest: Digest,
    /// The message without our texts, where it held any.
    bare: Option<Message>,
    removals: Vec<Removal>,
}

/// What is hashed is hashed with a key, so that no text can be made to look like another.
/// Sessions of one key can be looked up by how their conversations begin.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AnchorKey(#[serde(with = "hex")] u128);

impl std::fmt::Debug for AnchorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AnchorKey(..)")
    }
}

/// How a conversation begins: its messages up to its first place, as a keyed hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Opening(Anchor);

impl AnchorKey {
    /// A new key, which no one can guess.
    #[must_use]
    pub fn random() -> Self {
        let half = || u128::from(RandomState::new().hash_one(0));
        Self(half() << 64 | half())
    }
    /// One that all know: the hashes in a manifest are then the same in every run. For one who talks with a model alone, since who knows the key can
    /// forge the messages of a conversation.
    #[must_use]
    pub fn public() -> Self {
        Self(0)
    }
    fn hasher(&self) -> Pieces {
        Pieces::new(self.0.to_le_bytes())
    }
    fn digest(&self, value: impl Hash) -> Digest {
        let mut hasher = self.hasher();
        value.hash(&mut hasher);
        hasher.finish128().as_u128()
    }
    /// Tells whose hashes can be compared.
    pub(crate) fn mark(&self) -> ContentHash {
        self.hash_of("key")
    }
    /// Of something of the caller's, for the manifest.
    pub(crate) fn hash_of(&self, value: impl Hash) -> ContentHash {
        ContentHash::of_digest(self.digest((b'm', value)))
    }
    /// Left out is what callers change along the way: ids, the content of results, thinking, blanks at the end, the form of a single text.
    fn message(&self, message: &Message) -> Digest {
        let mut hasher = self.hasher();
        message.role.hash(&mut hasher);
        let texts = || message.texts.iter().map(|part| (part.index, part.text.trim_end())).filter(|(_, text)| !text.is_empty());
        texts().for_each(|(_, text)| (b't', text).hash(&mut hasher));
        // A picture ahead of a text is another message than one behind it: behind it, the text may be ours.
        let mut indices: Vec<usize> = if message.media.is_empty() { Vec::new() } else { texts().map(|(index, _)| index).collect() };
        indices.sort_unstable();
        for part in &message.media {
            let ahead = indices.partition_point(|index| *index < part.index);
            (b'm', ahead as u64, &part.text).hash(&mut hasher);
        }
        message.calls.iter().for_each(|call| (b'c', &call.name, &call.arguments).hash(&mut hasher));
        message.answers.iter().for_each(|answer| (b'r', answer.map_or(u64::MAX, |n| n as u64)).hash(&mut hasher));
        hasher.write_u8(b'.');
        hasher.finish128().as_u128()
    }
    /// The anchor behind a message whose own hash is `message`.
    fn chain(&self, before: Anchor, message: Digest) -> Anchor {
        Anchor(self.digest((before.0, message)))
    }
    /// Where a conversation begins that the provider holds under this name.
    pub(crate) fn named(&self, name: &str) -> Anchor {
        Anchor(self.digest((b'n', name)))
    }
    /// A name by which others may know it.
    pub(crate) fn public_name(&self) -> String {
        format!("{:032x}", self.digest(b'k'))
    }
    /// How `conversation` may have begun: as it stands, then without what may be a text of ours in its first message. Empty without a place.
    #[must_use]
    pub fn openings(&self, conversation: &Conversation) -> Vec<Opening> {
        let mut chain = Anchor::default();
        for message in &conversation.messages {
            let anchor = self.chain(chain, self.message(message));
            if message.role == Role::Assistant {
                chain = anchor;
                continue;
            }
            let bare = endings(message).into_iter().map(|ending| self.chain(chain, self.message(&ending.bare)));
            return [anchor].into_iter().chain(bare).map(Opening).collect();
        }
        Vec::new()
    }
}

/// What a session remembers of what it read and sent, as hashes, each counted by the entries that rely on it.
#[derive(Clone)]
pub(crate) struct Memory {
    pub(crate) key: AnchorKey,
    read: ByHash<Anchor, u32>,
    /// Message and text together: the text alone would take a user's quotation of it for ours.
    sent: ByHash<Digest, u32>,
}

/// What was found in a conversation.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) removals: Vec<Removal>,
    /// Oldest first; the last is the one to settle.
    pub(crate) places: Vec<Place>,
    /// All messages, as the manifest tells of them.
    pub(crate) messages: Vec<CallersMessage>,
}

impl Memory {
    pub(crate) fn new(key: AnchorKey) -> Self {
        Self { key, read: ByHash::default(), sent: ByHash::default() }
    }
    /// The caller's messages were read like this before, up to here.
    pub(crate) fn knows(&self, anchor: Anchor) -> bool {
        self.read.contains_key(&anchor)
    }
    pub(crate) fn remember_read(&mut self, anchor: Anchor) {
        *self.read.entry(anchor).or_default() += 1;
    }
    pub(crate) fn forget_read(&mut self, anchor: Anchor) {
        release(&mut self.read, &anchor);
    }
    /// Notes that `text` was sent behind a message; what is returned forgets it again.
    pub(crate) fn remember_sent(&mut self, message: Digest, text: &str) -> u128 {
        let pair = self.pair(message, text);
        *self.sent.entry(pair).or_default() += 1;
        pair
    }
    pub(crate) fn forget_sent(&mut self, pair: u128) {
        release(&mut self.sent, &pair);
    }

    fn pair(&self, message: Digest, text: &str) -> Digest {
        self.key.digest((message, text))
    }
    fn was_sent_behind(&self, message: Digest, text: &str) -> bool {
        !self.sent.is_empty() && self.sent.contains_key(&self.pair(message, text))
    }

    /// How many of its first places were read before: what tells the longest of several conversations.
    pub(crate) fn known_places(&self, conversation: &Conversation) -> usize {
        let (mut chain, mut results, mut known) = (Anchor::default(), None, 0);
        for message in &conversation.messages {
            let Ok(read) = self.read_one(chain, results.take().as_ref(), message) else { continue };
            chain = self.key.chain(chain, read.digest);
            if message.role != Role::Assistant {
                if !self.knows(chain) {
                    break;
                }
                known += 1;
                results = (message.role == Role::Tool).then(|| Place::new(chain, message, read.digest));
            }
        }
        known
    }

    /// One pass over the messages, which go on where `seed` stands; what is ours leaves `conversation`.
    pub(crate) fn read(&self, conversation: &mut Conversation, seed: Anchor) -> Reading {
        let all = conversation.messages.len();
        let mut reading = Reading { places: Vec::with_capacity(all), messages: Vec::with_capacity(all), ..Reading::default() };
        let mut chain = seed;
        // The results right before, until our text behind them was found.
        let mut results: Option<Place> = None;
        let mut result_chars: Vec<usize> = Vec::new();
        conversation.messages.retain_mut(|message| {
            let read = match self.read_one(chain, results.take().as_ref(), message) {
                Ok(read) => read,
                Err(removal) => {
                    reading.removals.push(removal);
                    return false;
                }
            };
            reading.removals.extend(read.removals);
            if let Some(bare) = read.bare {
                *message = bare;
            }
            chain = self.key.chain(chain, read.digest);
            let ordinal = reading.messages.len();
            // What anchors leave out, since callers clear results along the way, breaks a prefix all the same.
            // Where a message stands says nothing.
            result_chars.clear();
            result_chars.extend(message.result_chars.iter().map(|(_, chars)| *chars));
            let hash = ContentHash::of_digest(self.key.digest((read.digest, &result_chars)));
            reading.messages.push(CallersMessage { at: message.at, role: message.role, hash });
            if message.role != Role::Assistant {
                let place = Place { ordinal, ..Place::new(chain, message, read.digest) };
                results = (message.role == Role::Tool).then(|| place.clone());
                reading.places.push(place);
            }
            true
        });
        reading
    }

    /// A message as the caller wrote it; where all of it is ours, what takes it away.
    fn read_one(&self, chain: Anchor, results: Option<&Place>, message: &Message) -> Result<Read, Removal> {
        let mut read = Read { digest: self.key.message(message), bare: None, removals: Vec::new() };
        if message.role != Role::User {
            return Ok(read);
        }
        // A message known as it stands is the caller's, whatever it holds.
        if let Some(before) = results
            && !self.knows(self.key.chain(chain, read.digest))
            && let Some(removal) = self.ours_behind_results(before, message)
        {
            let mut bare = message.clone();
            bare.texts.remove(0);
            // Of a message that holds results and our text alone, nothing was the user's: there is no place.
            if bare.texts.is_empty() && bare.media.is_empty() {
                return Err(removal);
            }
            read.removals.push(removal);
            read.digest = self.key.message(&bare);
            read.bare = Some(bare);
        }
        let own = read.bare.as_ref().unwrap_or(message);
        if !self.knows(self.key.chain(chain, read.digest))
            && let Some((ending, digest)) = self.ours_at_the_end(own)
        {
            read.removals.push(ending.removal);
            (read.digest, read.bare) = (digest, Some(ending.bare));
        }
        Ok(read)
    }

    /// Our text behind results stands first in what follows them: in the same message, or as a message of its own.
    fn ours_behind_results(&self, results: &Place, message: &Message) -> Option<Removal> {
        let first = message.texts.first().filter(|first| self.was_sent_behind(results.message, &first.text))?;
        match results.spot {
            Spot::NewMessage => (message.texts.len() == 1 && message.media.is_empty()).then_some(Removal::Message { at: message.at }),
            Spot::BehindPart(result) if message.at == results.at && first.index == result + 1 => {
                Some(Removal::Part { at: message.at, part: first.index })
            }
            _ => None,
        }
    }

    /// Our text behind a user message, with the message's own hash without it.
    fn ours_at_the_end(&self, message: &Message) -> Option<(Ending, Digest)> {
        if self.sent.is_empty() {
            return None;
        }
        endings(message).into_iter().find_map(|ending| {
            let bare = self.key.message(&ending.bare);
            self.was_sent_behind(bare, &ending.text).then_some((ending, bare))
        })
    }
}

fn release<K: Hash + Eq>(counts: &mut ByHash<K, u32>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// How a text of ours begins, whatever it says. No text that we send holds this within one of its blocks.
pub(crate) const BLOCK_START: &str = "<context origin=\"";
pub(crate) const BLOCK_END: &str = "</context>";

/// What may be a text of ours at a message's end.
struct Ending {
    text: String,
    /// The message without it.
    bare: Message,
    removal: Removal,
}

/// Our text behind a user message is its last part, or the end of its string, and begins at one of its last blocks: of each trust there is one.
fn endings(message: &Message) -> Vec<Ending> {
    let Some(last) = message.texts.last().filter(|last| last.text.ends_with(BLOCK_END)) else { return Vec::new() };
    let (at, part) = (message.at, last.index);
    if !message.is_string && message.media.last().is_some_and(|media| media.index > part) {
        return Vec::new();
    }
    let ending = |start: usize| {
        let mut bare = message.clone();
        let own = bare.texts.last_mut()?;
        let text = own.text.split_off(start);
        if start == 0 {
            bare.texts.pop();
            // A string of ours alone is the user's: with a text of ours behind it, it would begin with the gap.
            return (!message.is_string).then_some(Ending { text, bare, removal: Removal::Part { at, part } });
        }
        let keep = own.text.strip_suffix(GAP)?.len();
        own.text.truncate(keep);
        Some(Ending { text, bare, removal: Removal::Cut { at, part, keep } })
    };
    let starts = last.text.rmatch_indices(BLOCK_START).map(|(start, _)| start).take(Trust::ALL.len());
    starts.filter_map(ending).collect()
}
