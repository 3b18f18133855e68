//! The choice of one conversation, and the calls that may change it: a pure state machine, which neither waits nor calls.
//!
//! Calls are counted. What a call brings counts only where nothing newer came, so answers may come in any order. A choice belongs to one text of the
//! document: for another text there is none.

use crate::layers::ContentHash;
use crate::layers::invariant::Guidance;

/// So many calls of a conversation may be under way at once; beyond, the oldest ends.
const MAX_UNDER_WAY: usize = 4;

/// Why a call was begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A prompt had no choice, and waits.
    Initial,
    /// An answer was committed.
    Background,
}

struct Call<C> {
    number: u64,
    kind: Kind,
    /// For which text of the document; `None`: for the one that it will read.
    catalog: Option<ContentHash>,
    handle: C,
}

struct Made {
    /// A call brought it.
    is_selected: bool,
    catalog: ContentHash,
    guidance: Guidance,
}

/// What a prompt does.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Step<C> {
    /// Takes the choice.
    Take(Guidance),
    /// Waits for this call.
    Wait(C),
    /// Begins a call, and waits for it.
    Ask,
}

/// One conversation's choice. `C` is what a call is known by outside.
pub(super) struct Choice<C> {
    made: Option<Made>,
    /// Calls begun so far.
    begun: u64,
    /// The newest call that brought a choice; 0: none did.
    newest: u64,
    /// The oldest first.
    under_way: Vec<Call<C>>,
}

impl<C> Default for Choice<C> {
    fn default() -> Self {
        Self { made: None, begun: 0, newest: 0, under_way: Vec::new() }
    }
}

impl<C: Clone> Choice<C> {
    /// The choice for this text of the document.
    pub(super) fn made(&self, catalog: ContentHash) -> Option<&Guidance> {
        self.made.as_ref().filter(|made| made.catalog == catalog).map(|made| &made.guidance)
    }

    /// What a call brought last, and for which text.
    pub(super) fn latest(&self) -> Option<(ContentHash, Guidance)> {
        self.made.as_ref().filter(|made| made.is_selected).map(|made| (made.catalog, made.guidance.clone()))
    }

    /// A choice stays, unless the prompt is to wait for what an answer began. Without one the prompt waits for a call that another prompt began, or
    /// begins one.
    pub(super) fn at_prompt(&self, catalog: ContentHash, waits_for_background: bool) -> Step<C> {
        let newest = |kind: Kind| {
            let fits = |call: &&Call<C>| call.kind == kind && call.catalog.is_none_or(|of| of == catalog);
            self.under_way.iter().rev().find(fits).map(|call| Step::Wait(call.handle.clone()))
        };
        let background = || newest(Kind::Background).filter(|_| waits_for_background);
        match self.made(catalog) {
            Some(guidance) => background().unwrap_or_else(|| Step::Take(guidance.clone())),
            None => newest(Kind::Initial).or_else(background).unwrap_or(Step::Ask),
        }
    }

    /// The number of a new call.
    pub(super) fn next(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    /// A call is under way. Returned are those that are to be cancelled: all older ones where that is wanted, else what is over the bound.
    pub(super) fn begin(&mut self, number: u64, kind: Kind, catalog: Option<ContentHash>, handle: C, cancels_stale: bool) -> Vec<C> {
        let stale = if cancels_stale { self.under_way.len() } else { (self.under_way.len() + 1).saturating_sub(MAX_UNDER_WAY) };
        let cancelled = self.under_way.drain(..stale).map(|call| call.handle).collect();
        self.under_way.push(Call { number, kind, catalog, handle });
        cancelled
    }

    /// A call brought this. `true` where it counts: it was not cancelled, and nothing newer came.
    pub(super) fn came(&mut self, number: u64, catalog: ContentHash, guidance: Guidance) -> bool {
        let counts = self.ended(number) && number > self.newest;
        if counts {
            self.newest = number;
            self.made = Some(Made { is_selected: true, catalog, guidance });
        }
        counts
    }

    /// A call came to nothing. `false` where it was cancelled before.
    pub(super) fn ended(&mut self, number: u64) -> bool {
        let before = self.under_way.len();
        self.under_way.retain(|call| call.number != number);
        self.under_way.len() < before
    }

    /// Where there is no choice for this text, this one stands until a call brings another.
    pub(super) fn fall_back(&mut self, catalog: ContentHash, guidance: Guidance) {
        if self.made(catalog).is_none() {
            self.made = Some(Made { is_selected: false, catalog, guidance });
        }
    }

    /// The calls under way with a number below this: overtaken where that one's result counts.
    pub(super) fn older_than(&self, number: u64) -> impl Iterator<Item = &C> {
        self.under_way.iter().filter(move |call| call.number < number).map(|call| &call.handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(of: &str) -> ContentHash {
        ContentHash::of(of)
    }
    fn these(number: usize) -> Guidance {
        Guidance::of(vec![number])
    }
    /// Begins a call that is known by its number.
    fn begin(choice: &mut Choice<u64>, kind: Kind, cancels_stale: bool) -> (u64, Vec<u64>) {
        let number = choice.next();
        (number, choice.begin(number, kind, (kind == Kind::Initial).then(|| text("a")), number, cancels_stale))
    }

    #[test]
    fn the_first_prompt_asks_and_later_ones_take_what_came() {
        let mut choice = Choice::default();
        assert_eq!(choice.at_prompt(text("a"), false), Step::Ask);
        let (first, _) = begin(&mut choice, Kind::Initial, false);
        assert_eq!(choice.at_prompt(text("a"), false), Step::Wait(first), "two prompts at once ask once");
        assert!(choice.came(first, text("a"), these(1)));
        assert_eq!(choice.at_prompt(text("a"), true), Step::Take(these(1)));
        assert_eq!(choice.at_prompt(text("b"), true), Step::Ask, "of another document nothing was chosen");
    }

    #[test]
    fn a_prompt_waits_for_the_background_where_it_is_told_to() {
        let mut choice = Choice::default();
        choice.fall_back(text("a"), these(1));
        let (background, _) = begin(&mut choice, Kind::Background, false);
        assert_eq!(choice.at_prompt(text("a"), false), Step::Take(these(1)));
        assert_eq!(choice.at_prompt(text("a"), true), Step::Wait(background));
        assert_eq!((choice.at_prompt(text("b"), false), choice.at_prompt(text("b"), true)), (Step::Ask, Step::Wait(background)));
        assert!(choice.ended(background));
        assert_eq!(choice.at_prompt(text("a"), true), Step::Take(these(1)));
    }

    #[test]
    fn what_comes_late_counts_only_if_nothing_newer_came() {
        let mut choice = Choice::default();
        let (first, _) = begin(&mut choice, Kind::Initial, false);
        let (second, _) = begin(&mut choice, Kind::Background, false);
        let (third, _) = begin(&mut choice, Kind::Background, false);
        assert_eq!(choice.older_than(second).collect::<Vec<_>>(), [&first]);
        assert!(choice.came(second, text("a"), these(2)));
        assert!(!choice.came(first, text("a"), these(1)) && choice.made(text("a")) == Some(&these(2)));
        assert!(choice.came(third, text("a"), these(3)) && choice.made(text("a")) == Some(&these(3)));
        assert!(!choice.came(third, text("a"), these(4)), "once");
    }

    #[test]
    fn stale_calls_are_cancelled_where_that_is_wanted_and_beyond_the_bound() {
        let mut choice = Choice::default();
        let (first, _) = begin(&mut choice, Kind::Initial, true);
        assert_eq!(begin(&mut choice, Kind::Background, true), (2, vec![first]));
        assert!(!choice.came(first, text("a"), these(1)), "what was cancelled brings nothing");
        let cancelled: Vec<Vec<u64>> = (0..5).map(|_| begin(&mut choice, Kind::Background, false).1).collect();
        assert_eq!(cancelled, [vec![], vec![], vec![], vec![2], vec![3]]);
    }

    #[test]
    fn a_fall_back_stands_only_where_nothing_does_and_only_until_something_comes() {
        let mut choice = Choice::default();
        let (first, _) = begin(&mut choice, Kind::Initial, false);
        let (second, _) = begin(&mut choice, Kind::Background, false);
        assert!(choice.ended(second));
        choice.fall_back(text("a"), these(9));
        choice.fall_back(text("a"), these(8));
        assert_eq!(choice.made(text("a")), Some(&these(9)));
        assert!(choice.came(first, text("a"), these(1)), "a call older than the failed one still serves");
        choice.fall_back(text("a"), these(9));
        assert_eq!((choice.made(text("a")), choice.latest()), (Some(&these(1)), Some((text("a"), these(1)))));
        let ((older, _), (newer, _)) = (begin(&mut choice, Kind::Background, false), begin(&mut choice, Kind::Background, false));
        assert!(choice.came(newer, text("a"), these(2)));
        choice.fall_back(text("b"), these(9));
        assert!(choice.latest().is_none() && !choice.came(older, text("b"), these(1)), "another text makes nothing older count");
    }

    proptest! {
        /// Calls begin and end in any order: the choice is what the newest of those brought that came, and few are under way.
        #[test]
        fn the_newest_that_came_stands(steps in prop::collection::vec((any::<bool>(), 0..8_u64, any::<bool>()), 0..40)) {
            let (mut choice, mut alive, mut newest) = (Choice::default(), Vec::new(), 0);
            for (begins, which, flag) in steps {
                if begins {
                    let (number, cancelled) = begin(&mut choice, Kind::Background, flag && which == 0);
                    alive.retain(|number| !cancelled.contains(number));
                    alive.push(number);
                    prop_assert!(alive.len() <= MAX_UNDER_WAY);
                } else if flag {
                    let counts = choice.came(which, text("a"), these(usize::try_from(which).unwrap()));
                    prop_assert_eq!(counts, alive.contains(&which) && which > newest);
                    newest = if counts { which } else { newest };
                    alive.retain(|number| *number != which);
                } else {
                    prop_assert_eq!(choice.ended(which), alive.contains(&which));
                    alive.retain(|number| *number != which);
                }
                let made = choice.made(text("a")).map(|guidance| guidance.numbers().to_vec());
                prop_assert_eq!(made, (newest > 0).then(|| vec![usize::try_from(newest).unwrap()]));
            }
        }
    }
}
