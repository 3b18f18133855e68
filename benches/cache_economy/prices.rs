//! What a conversation costs under a model of each provider's cache, in tokens at the full price.
//!
//! | provider | model |
//! | --- | --- |
//! | Anthropic | what ends at a mark is kept for five minutes since it was last read; of a mark the 20 blocks are looked at that end with its own; from 1,024 tokens on; a write costs 1.25, a read 0.1 |
//! | OpenAI | the longest prefix of an earlier request, kept for ten minutes, from 1,024 tokens on in steps of 128; a read costs 0.25 |
//! | Gemini | the same (implicit caching), from 2,048 tokens on, to the token |
//! | a local server | the request before, for five minutes (then the model is unloaded); what follows its first changed token is read anew, the rest costs nothing |
//! | none | each token of each request is read anew |
//!
//! The floor of Anthropic marks as if it knew what comes: what is read again in time is written, all else costs the full price and no more.

use crate::bodies::Block;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use tower_prompt::layers::text::{EstimatedTokens, TokenCounter};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Cache {
    Marked,
    Automatic { from: usize, step: usize, read: f64, seconds: u64 },
    LastRequest { seconds: u64 },
    None,
}

impl Cache {
    pub(crate) const OPENAI: Self = Self::Automatic { from: 1024, step: 128, read: 0.25, seconds: 600 };
    pub(crate) const GEMINI: Self = Self::Automatic { from: 2048, step: 1, read: 0.25, seconds: 600 };
    pub(crate) const LOCAL: Self = Self::LastRequest { seconds: 300 };
}

/// How Anthropic's cache is paid for: its time to live, and what a write costs.
#[derive(Clone, Copy)]
pub(crate) struct Lifetime {
    seconds: u64,
    write: f64,
}
pub(crate) const FIVE_MINUTES: Lifetime = Lifetime { seconds: 300, write: 1.25 };
pub(crate) const ONE_HOUR: Lifetime = Lifetime { seconds: 3600, write: 2.0 };
const READ: f64 = 0.1;
const LOOK_BACK: usize = 20;
const MINIMUM: usize = 1024;

/// Requests as numbers: equal blocks have the same.
#[derive(Default)]
pub(crate) struct Ledger {
    numbers: HashMap<String, usize>,
    texts: Vec<String>,
    tokens: Vec<usize>,
}

pub(crate) struct Sent {
    pub(crate) at: u64,
    blocks: Vec<usize>,
    marks: Vec<usize>,
}

impl Sent {
    /// It begins with the whole of the other.
    pub(crate) fn extends(&self, other: &Self) -> bool {
        self.blocks.starts_with(&other.blocks)
    }
    /// The prefix up to each block, as a number.
    fn prefixes(&self) -> Vec<u64> {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        self.blocks
            .iter()
            .scan(0, |prefix, block| {
                *prefix = hasher.hash_one((*prefix, block));
                Some(*prefix)
            })
            .collect()
    }
}

impl Ledger {
    pub(crate) fn sent(&mut self, at: u64, blocks: &[Block]) -> Sent {
        let numbers = blocks.iter().map(|block| {
            self.numbers.get(&block.text).copied().unwrap_or_else(|| {
                let number = self.texts.len();
                self.numbers.insert(block.text.clone(), number);
                self.tokens.push(EstimatedTokens.count(&block.text));
                self.texts.push(block.text.clone());
                number
            })
        });
        let numbers = numbers.collect();
        let marks = blocks.iter().enumerate().filter(|(_, block)| block.is_marked).map(|(n, _)| n).collect();
        Sent { at, blocks: numbers, marks }
    }

    fn tokens_of(&self, blocks: &[usize]) -> usize {
        blocks.iter().map(|block| self.tokens[*block]).sum()
    }
    /// Tokens that both begin with.
    fn common(&self, one: &Sent, other: &Sent) -> usize {
        let same = one.blocks.iter().zip(&other.blocks).take_while(|(one, other)| one == other).count();
        let mut tokens = self.tokens_of(&one.blocks[..same]);
        if let (Some(one), Some(other)) = (one.blocks.get(same), other.blocks.get(same)) {
            let (one, other) = (&self.texts[*one], &self.texts[*other]);
            let bytes = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
            let end = (0..=bytes).rev().find(|end| one.is_char_boundary(*end)).unwrap_or_default();
            tokens += EstimatedTokens.count(&one[..end]);
        }
        tokens
    }

    pub(crate) fn cost(&self, cache: Cache, all: &[Sent]) -> f64 {
        match cache {
            Cache::Marked => self.marked(all),
            Cache::None => all.iter().map(|sent| self.tokens_of(&sent.blocks) as f64).sum(),
            Cache::Automatic { from, step, read, seconds } => self.by_prefix(all, read, |now, before| {
                let common = if now.at - before.at <= seconds { self.common(now, before) } else { 0 };
                if common < from { 0 } else { common - common % step }
            }),
            Cache::LastRequest { seconds } => self.by_prefix(all, 0.0, |now, before| {
                let is_last = all.iter().rfind(|sent| sent.at < now.at).is_some_and(|last| last.at == before.at);
                if is_last && now.at - before.at <= seconds { self.common(now, before) } else { 0 }
            }),
        }
    }
    fn by_prefix(&self, all: &[Sent], read: f64, kept: impl Fn(&Sent, &Sent) -> usize) -> f64 {
        let cost = |(n, sent): (usize, &Sent)| {
            let kept = all[..n].iter().map(|before| kept(sent, before)).max().unwrap_or_default();
            (self.tokens_of(&sent.blocks) - kept) as f64 + kept as f64 * read
        };
        all.iter().enumerate().map(cost).sum()
    }

    /// As the marks say.
    fn marked(&self, all: &[Sent]) -> f64 {
        let mut kept: HashMap<u64, u64> = HashMap::new();
        let mut cost = 0.0;
        for sent in all {
            let prefixes = sent.prefixes();
            let until = |block: usize| self.tokens_of(&sent.blocks[..=block]);
            let marks: Vec<usize> = sent.marks.iter().copied().filter(|mark| until(*mark) >= MINIMUM).collect();
            let lives =
                |kept: &HashMap<u64, u64>, block: usize| kept.get(&prefixes[block]).is_some_and(|at| sent.at - at <= FIVE_MINUTES.seconds);
            let found = |mark: &usize| (mark.saturating_sub(LOOK_BACK - 1)..=*mark).rev().find(|block| lives(&kept, *block));
            let hits: Vec<usize> = marks.iter().filter_map(found).collect();
            let read = hits.iter().max().map_or(0, |block| until(*block));
            let written = marks.last().map_or(read, |mark| until(*mark)).max(read);
            let whole = self.tokens_of(&sent.blocks);
            cost += read as f64 * READ + (written - read) as f64 * FIVE_MINUTES.write + (whole - written) as f64;
            for block in hits.into_iter().chain(marks) {
                kept.insert(prefixes[block], sent.at);
            }
        }
        cost
    }
    /// As it would cost if what comes were known.
    pub(crate) fn marked_at_best(&self, all: &[Sent], lifetime: Lifetime) -> f64 {
        let same = |one: &Sent, other: &Sent| one.blocks.iter().zip(&other.blocks).take_while(|(one, other)| one == other).count();
        let mut cost = 0.0;
        for (n, sent) in all.iter().enumerate() {
            let in_time = |other: &&Sent| sent.at.abs_diff(other.at) <= lifetime.seconds;
            let longest = |others: &[Sent]| others.iter().filter(in_time).map(|other| same(sent, other)).max().unwrap_or_default();
            let read = self.tokens_of(&sent.blocks[..longest(&all[..n])]);
            let written = self.tokens_of(&sent.blocks[..longest(&all[n + 1..])]).max(read);
            let whole = self.tokens_of(&sent.blocks);
            cost += read as f64 * READ + (written - read) as f64 * lifetime.write + (whole - written) as f64;
        }
        cost
    }
}
