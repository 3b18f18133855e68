//! Shedding: of texts as they are about to stand, each says less in turn until all of them fit.

use crate::prompt::fragment::{Fragment, Trust};
use crate::prompt::session::{BLOCK_END, BLOCK_START};
use crate::text::{Fitted, GAP, Limit, Room, TokenCounter, escape, prefix};

/// A text that is about to stand somewhere, and what it takes there.
pub(crate) struct Standing<'f> {
    pub(crate) fragment: &'f Fragment,
    limit: Limit,
    is_at_the_tail: bool,
    /// By itself.
    own: usize,
    /// With what stands around it; 0 for an empty text.
    pub(crate) tokens: usize,
    pub(crate) shed: Option<Shed>,
}

/// What is left of a text.
pub(crate) struct Shed {
    /// Tokens that it was given.
    pub(crate) room: usize,
    pub(crate) fitted: Fitted<'static>,
}

/// How often a text is tried in less room before it gets its least.
const TRIES: usize = 6;

impl<'f> Standing<'f> {
    /// Held to its own limit.
    pub(crate) fn new(fragment: &'f Fragment, limit: Limit, is_at_the_tail: bool, counter: &dyn TokenCounter) -> Self {
        let text = fragment.text.fit(&Room::new(limit, counter)).text;
        let (own, tokens) = (counter.count(&text), measure(&text, is_at_the_tail, counter));
        Self { fragment, limit, is_at_the_tail, own, tokens, shed: None }
    }

    /// Takes so many tokens less, or as few as it can.
    pub(crate) fn shed_by(&mut self, over: usize, counter: &dyn TokenCounter) {
        let stated = self.fragment.shedding.map_or(0, |shedding| shedding.floor);
        let floor = stated.max(counter.count(&self.fragment.text.least()));
        if self.own <= floor {
            return;
        }
        let aim = self.tokens.saturating_sub(over);
        let mut room = aim.max(floor);
        for tried in 1.. {
            let fitted = self.within(room, counter);
            let tokens = measure(&fitted.text, self.is_at_the_tail, counter);
            if tokens <= aim || room == floor {
                self.own = counter.count(&fitted.text);
                self.tokens = tokens;
                self.shed = Some(Shed { room, fitted: fitted.into_owned() });
                return;
            }
            room = if tried < TRIES { room.saturating_sub(tokens - aim).max(floor) } else { floor };
        }
    }
    /// Says nothing.
    pub(crate) fn drop_whole(&mut self) {
        let fitted = Fitted::cut("");
        (self.own, self.tokens, self.shed) = (0, 0, Some(Shed { room: 0, fitted }));
    }

    /// In so many tokens, and in its own limit.
    fn within(&self, tokens: usize, counter: &dyn TokenCounter) -> Fitted<'f> {
        let (own, room) = (Room::new(self.limit, counter), Room::new(Limit::Tokens(tokens), counter));
        let both = |fitted: &Fitted<'_>| own.holds(&fitted.text) && room.holds(&fitted.text);
        let fitted = self.fragment.text.fit(&room);
        if both(&fitted) {
            return fitted;
        }
        // A token is a byte at least. This sheds more than it must, where a limit in another unit is the smaller one.
        let fewer = |n: usize| n.min(tokens);
        let limit = match self.limit {
            Limit::Chars(n) => Limit::Chars(fewer(n)),
            Limit::Bytes(n) => Limit::Bytes(fewer(n)),
            Limit::Tokens(n) => Limit::Tokens(fewer(n)),
            Limit::None => Limit::Bytes(tokens),
        };
        let fitted = self.fragment.text.fit(&own.with(limit));
        if both(&fitted) {
            return fitted;
        }
        // A text of a host's own may be wrong about its room.
        let cut = prefix(prefix(&fitted.text, &own), &room).to_owned();
        Fitted::cut(if room.holds(&cut) { cut } else { String::new() }).without_items(fitted.items_left_out)
    }
}

fn measure(text: &str, is_at_the_tail: bool, counter: &dyn TokenCounter) -> usize {
    if text.is_empty() {
        return 0;
    }
    let (text, behind) = if is_at_the_tail { (escape::inside_context(text), "\n") } else { (text.into(), GAP) };
    counter.count(&[&*text, behind].concat())
}

/// What the blocks take that texts at the tail stand in.
pub(crate) struct TailTags([usize; Trust::ALL.len()]);

impl TailTags {
    pub(crate) fn new(counter: &dyn TokenCounter) -> Self {
        Self(Trust::ALL.map(|trust| counter.count(&[BLOCK_START, trust.as_str(), "\">\n", BLOCK_END, "\n"].concat())))
    }
}

/// Tokens of all of them.
pub(crate) fn total(standing: &[Standing<'_>], tags: &TailTags) -> usize {
    let texts: usize = standing.iter().map(|text| text.tokens).sum();
    let stands = |trust: Trust| standing.iter().any(|text| text.is_at_the_tail && text.tokens > 0 && text.fragment.trust == trust);
    let blocks = Trust::ALL.into_iter().zip(tags.0).filter(|(trust, _)| stands(*trust));
    texts + blocks.map(|(_, tokens)| tokens).sum::<usize>()
}

/// Lets them shed in the order of their ranks until all of them take no more than `budget`, or none has anything left to shed.
pub(crate) fn shed(standing: &mut [Standing<'_>], budget: usize, counter: &dyn TokenCounter) {
    let tags = TailTags::new(counter);
    let mut order: Vec<(usize, _)> = standing.iter().enumerate().filter_map(|(n, text)| Some((n, text.fragment.shedding?.rank))).collect();
    order.sort_by_key(|(_, rank)| *rank);
    for (n, _) in order {
        let over = total(standing, &tags).saturating_sub(budget);
        if over == 0 {
            return;
        }
        standing[n].shed_by(over, counter);
    }
}

#[cfg(test)]
mod tests;
