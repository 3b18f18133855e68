//! Which skills the words of a text fit, by what skills say of themselves: most declare no keywords.
//!
//! A word of a text that stands in a skill's name, keywords or description counts by how rare it is among the skills, as stems. A registry of five says
//! little about rarity, so some two hundred further skills are supposed, which use words as skills do on the whole: [`common`] knows which words many
//! tasks share. A name's word weighs more than one of the opening sentence, that more than one further on; a word of a clause such as `not for PDFs`
//! weighs against. The sum is scaled by how much of the text it explains, since a short text means all of its words; a lone word counts for less.
//! Scores compare across registries, so one threshold does.

mod clauses;
mod common;
mod index;
mod stem;
mod tokens;
mod typing;

// Stems are kept as hashes: two that meet by chance are one word.
use crate::text::hash::{NOTHING, and, hash};
pub(super) use index::{Fits, Words};
use std::hash::{BuildHasherDefault, Hasher};
pub(super) use typing::Typed;

/// Where a skill says a word. The order is that of the weights.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Field {
    Name,
    Keyword,
    Opening,
    Description,
    Exclusion,
}

impl Field {
    const ALL: [Self; 5] = [Self::Name, Self::Keyword, Self::Opening, Self::Description, Self::Exclusion];

    fn weight(self) -> f32 {
        match self {
            Self::Name => 1.25,
            Self::Keyword => 1.2,
            Self::Opening => 0.85,
            Self::Description => 0.65,
            Self::Exclusion => -0.8,
        }
    }
}

/// For keys that are hashes or small numbers; who makes them collide gains nothing.
type Mixed = BuildHasherDefault<Mixer>;

#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }
    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }
}

/// Whether `text` holds nothing but words that say little of what is meant.
pub(super) fn says_little(text: &str) -> bool {
    let mut says_little = true;
    tokens::tokens(text, &mut |token| {
        if let tokens::Token::Word(word, hash_of_word) = token
            && !common::is_silent(word, hash_of_word)
        {
            let mut stem = word.to_owned();
            stem::stem(&mut stem);
            says_little &= common::is_generic(hash(&stem));
        }
    });
    says_little
}
