//! The words of all skills, and how well the words of a text fit each.

use super::super::beginning;
use super::clauses;
use super::common::{is_generic, is_silent};
use super::stem::stem;
use super::tokens::{Token, tokens};
use super::typing::Typed;
use super::{Field, Mixed, hash};
use crate::skill::SkillSummary;
use std::collections::HashMap;

/// So many skills are supposed beside those that are there,
const SUPPOSED: f32 = 200.0;
/// and this share of them uses a word,
const USE_A_WORD: f32 = 0.008;
/// or one that many tasks share.
const USE_A_GENERIC_WORD: f32 = 0.2;

/// Beside words that name a thing, generic ones say so much of what a text is about.
const GENERIC_MEANS: f32 = 0.5;
/// A word that no skill says, may be about none of them.
const UNKNOWN_MEANS: f32 = 0.8;
/// Of the pairs in a script without spaces every other is no word.
const UNKNOWN_PAIR_MEANS: f32 = 0.3;
/// What another name of the thing, or a word that was mistyped, weighs.
const BY_ANOTHER_NAME: f32 = 0.75;
const MISTYPED: f32 = 0.7;
/// How much of the score depends on the share of the text that it explains.
const BY_SHARE: f32 = 0.3;
/// A long text needs to be explained no further than so much.
const LONG: f32 = 6.0;
/// A word alone.
const LONE: f32 = 0.75;
/// Texts of so many words are short: in these each word counts, the mistyped too.
const SHORT: usize = 16;

/// Of a longer name, keyword or description the beginning counts: four times what the Agent Skills specification allows.
const MAX_NAME_BYTES: usize = 256;
const MAX_DESCRIPTION_BYTES: usize = 4096;

/// Words that many more skills say than this, and than an eighth of all, tell nothing and cost much.
const COMMON: usize = 1024;

/// A sum of so much is worth a suggestion: one rare word of a name, if the text has little else, or two of a description.
const WORTH_A_SUGGESTION: f32 = 1.3;
const SCALE: f32 = super::super::SUGGESTION_THRESHOLD / WORTH_A_SUGGESTION;

/// The words of all skills.
pub(in super::super) struct Words {
    skills: usize,
    stems: HashMap<u64, Stem, Mixed>,
    postings: Vec<Posting>,
    /// How rare a word is that no skill says, and one of many tasks.
    unknown: f32,
    unknown_generic: f32,
}

struct Stem {
    /// Its postings.
    start: u32,
    end: u32,
    /// How many skills say it of themselves, and what that makes of it.
    says: u32,
    rarity: f32,
}

/// A skill, and where it says a word: eight times the skill, and the field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Posting(u32);

impl Posting {
    fn new(skill: u32, field: Field) -> Self {
        Self(skill << 3 | field as u32)
    }
    fn skill(self) -> u32 {
        self.0 >> 3
    }
    fn field(self) -> Field {
        Field::ALL[(self.0 & 7) as usize]
    }
}

/// What a word of the text stands for (itself, another name of the thing, what it was mistyped for), by who says it.
struct Meaning<'a> {
    /// The word's number.
    word: usize,
    postings: &'a [Posting],
    /// What it gives a skill by a field of weight one.
    gives: f32,
    /// How much of the text's sense the word has.
    means: f32,
}

impl Meaning<'_> {
    /// The most that one field of the skill gives, and what those give that say what it is not for.
    fn given(&self, skill: u32) -> (f32, f32) {
        let from = self.postings.partition_point(|posting| posting.skill() < skill);
        let of_skill = self.postings[from..].iter().take_while(|posting| posting.skill() == skill);
        of_skill.fold((0.0, 0.0), |(best, against), posting| {
            let weight = self.gives * posting.field().weight();
            if weight < 0.0 { (best, against + weight) } else { (best.max(weight), against) }
        })
    }
}

/// Of one skill, as the words of a text are gone through.
#[derive(Clone, Default)]
struct Sum {
    score: f32,
    explained: f32,
    words: u32,
    /// The word gone through last, counted from one, and what it gave.
    last: usize,
    given: f32,
}

impl Sum {
    /// Of one word, the weightiest counts; what speaks against a skill does so each time.
    fn add(&mut self, word: usize, weight: f32, means: f32) {
        if weight < 0.0 {
            self.score += weight;
        } else if self.last != word {
            self.score += weight;
            self.explained += means;
            self.words += 1;
            (self.last, self.given) = (word, weight);
        } else if weight > self.given {
            self.score += weight - self.given;
            self.given = weight;
        }
    }
}

/// How well a text's words fit one skill.
pub(in super::super) struct Fit {
    pub(in super::super) skill: u32,
    pub(in super::super) score: f32,
    /// What each of its words' weights is scaled by.
    scale: f32,
}

/// How well a text's words fit each skill that they speak of.
pub(in super::super) struct Fits<'a> {
    typed: &'a Typed,
    meanings: Vec<Meaning<'a>>,
    /// In the order of the skills.
    all: Vec<Fit>,
}

impl<'a> Fits<'a> {
    /// No words were looked for.
    pub(in super::super) fn none(typed: &'a Typed) -> Self {
        Self { typed, meanings: Vec::new(), all: Vec::new() }
    }
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = &Fit> {
        self.all.iter()
    }
    pub(in super::super) fn of(&self, skill: u32) -> Option<&Fit> {
        self.all.binary_search_by_key(&skill, |fit| fit.skill).ok().map(|at| &self.all[at])
    }
    /// Each word with what it gives to the score of `fit`, and whether it is quoted.
    pub(in super::super) fn why(&self, fit: &Fit) -> impl Iterator<Item = (&'a str, f32, bool)> {
        let of_a_word = self.meanings.chunk_by(|a, b| a.word == b.word);
        of_a_word.flat_map(move |meanings| {
            let word = &self.typed.words[meanings[0].word];
            let given = meanings.iter().map(|meaning| meaning.given(fit.skill));
            let (best, against) = given.fold((0.0_f32, 0.0), |(best, all), (weight, against)| (best.max(weight), all + against));
            let given = [best, against].into_iter().filter(|weight| *weight != 0.0);
            given.map(move |weight| (self.typed.typed(word), weight * fit.scale, word.is_quoted))
        })
    }
}

impl Words {
    pub(in super::super) fn of<'a>(skills: impl IntoIterator<Item = &'a SkillSummary>) -> Self {
        let mut all: Vec<(u64, Posting)> = Vec::new();
        let mut count = 0;
        let mut stemmed = String::new();
        // Eight times its number must fit 32 bits; nobody has half a billion skills.
        for (skill, summary) in (0..u32::MAX >> 3).zip(skills) {
            let start = all.len();
            let mut note = |word: &str, field: Field| {
                if !is_silent(word, hash(word)) {
                    stemmed.clear();
                    stemmed.push_str(word);
                    stem(&mut stemmed);
                    all.push((hash(&stemmed), Posting::new(skill, field)));
                }
            };
            let mut note_all = |text: &str, field: Field| {
                tokens(text, &mut |token| {
                    if let Token::Word(word, _) = token {
                        note(word, field);
                    }
                });
            };
            note_all(summary.id.as_str(), Field::Name);
            note_all(beginning(&summary.name, MAX_NAME_BYTES), Field::Name);
            // A keyword of one word is meant to the letter, and found as such.
            let phrases = summary.activation.keywords.iter().filter(|keyword| keyword.contains(|c: char| c.is_whitespace() || c == '-'));
            phrases.for_each(|keyword| note_all(beginning(keyword, MAX_NAME_BYTES), Field::Keyword));
            clauses::words(beginning(&summary.description, MAX_DESCRIPTION_BYTES), &mut note);
            // Of a word said twice the weightier place stands, and what it is not for beside it.
            all[start..].sort_unstable();
            let mut kept = start;
            for at in start..all.len() {
                let (stem, posting) = all[at];
                let before = all[start..kept].last().filter(|(before, _)| *before == stem);
                if before.is_none_or(|(_, before)| before.field() != posting.field() && posting.field() == Field::Exclusion) {
                    all[kept] = (stem, posting);
                    kept += 1;
                }
            }
            all.truncate(kept);
            count += 1;
        }
        all.sort_unstable();
        let mut stems: HashMap<u64, Stem, _> = HashMap::default();
        for (at, (stem, posting)) in (0..).zip(&all) {
            let stem = stems.entry(*stem).or_insert(Stem { start: at, end: at, says: 0, rarity: 0.0 });
            stem.end = at + 1;
            stem.says += u32::from(posting.field() != Field::Exclusion);
        }
        stems.iter_mut().for_each(|(hash, stem)| stem.rarity = rarity(stem.says, is_generic(*hash), count));
        stems.shrink_to_fit();
        let (unknown, unknown_generic) = (rarity(0, false, count), rarity(0, true, count));
        Self { skills: count, stems, postings: all.into_iter().map(|(_, posting)| posting).collect(), unknown, unknown_generic }
    }

    /// Every skill that the words speak of at all.
    pub(in super::super) fn fits<'a>(&'a self, typed: &'a Typed) -> Fits<'a> {
        let mut meanings = Vec::with_capacity(typed.words.len());
        let all: f32 = (0..typed.words.len()).map(|word| self.meanings(typed, word, &mut meanings)).sum();
        let all = all.clamp(0.5, LONG);
        // Nothing to add up is usual.
        let some = if meanings.is_empty() { 0 } else { 64 };
        let mut sums: HashMap<u32, Sum, Mixed> = HashMap::with_capacity_and_hasher(some, Mixed::default());
        for meaning in &meanings {
            for posting in meaning.postings {
                let weight = meaning.gives * posting.field().weight();
                sums.entry(posting.skill()).or_default().add(meaning.word + 1, weight, meaning.means);
            }
        }
        let fits = sums.into_iter().filter(|(_, sum)| sum.score > 0.0).map(|(skill, sum)| {
            let share = (sum.explained / all).min(1.0);
            let lone = if sum.words == 1 { LONE } else { 1.0 };
            let scale = SCALE * lone * (1.0 - BY_SHARE + 2.0 * BY_SHARE * share);
            Fit { skill, score: sum.score * scale, scale }
        });
        let mut all: Vec<Fit> = fits.collect();
        all.sort_unstable_by_key(|fit| fit.skill);
        Fits { typed, meanings, all }
    }

    /// Adds what the word of this number stands for, and says how much of the text's sense it has.
    fn meanings<'a>(&'a self, typed: &'a Typed, number: usize, meanings: &mut Vec<Meaning<'a>>) -> f32 {
        let word = &typed.words[number];
        let first = meanings.len();
        let mut sense = 0.0_f32;
        let mut add = |stem: &Stem, surely: f32| {
            sense = sense.max(stem.rarity * surely);
            let (postings, gives) = (self.postings(stem), stem.rarity * surely * word.factor());
            meanings.push(Meaning { word: number, postings, gives, means: 0.0 });
        };
        let mut is_known = false;
        let own = self.stems.get(&word.stem);
        if let Some(own) = own {
            add(own, 1.0);
            is_known = true;
        } else if typed.words.len() <= SHORT && !word.is_generic {
            let meant = word.slips(typed, |stem| self.stems.contains_key(&stem));
            if let Some(meant) = meant.and_then(|meant| self.stems.get(&meant)) {
                add(meant, MISTYPED);
                is_known = true;
            }
        }
        for other in word.other_names().iter().filter_map(|name| self.stems.get(name)) {
            add(other, BY_ANOTHER_NAME);
            is_known = true;
        }
        if !is_known {
            let means = if word.is_pair { UNKNOWN_PAIR_MEANS } else { UNKNOWN_MEANS };
            sense = means * if word.is_generic { self.unknown_generic } else { self.unknown };
        }
        let means = sense * if word.is_generic { GENERIC_MEANS } else { 1.0 };
        meanings[first..].iter_mut().for_each(|meaning| meaning.means = means);
        means * word.factor()
    }

    fn postings(&self, stem: &Stem) -> &[Posting] {
        let is_common = stem.says as usize > COMMON.max(self.skills / 8);
        if is_common { &[] } else { &self.postings[stem.start as usize..stem.end as usize] }
    }
}

/// From 0 for a word that all skills use to 1 for one that a single skill does, however many skills there are.
#[expect(clippy::cast_precision_loss, reason = "counts of skills are small")]
fn rarity(says: u32, is_generic: bool, skills: usize) -> f32 {
    let share = if is_generic { USE_A_GENERIC_WORD } else { USE_A_WORD };
    let all = skills as f32 + SUPPOSED;
    let of_one = (all / (1.0 + SUPPOSED * USE_A_WORD)).ln();
    ((all / (says as f32 + SUPPOSED * share)).ln() / of_one).max(0.0)
}

#[cfg(test)]
mod tests;
