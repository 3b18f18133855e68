//! How much of a fragment there is room for.

use super::entry::{Told, Value, Values};
use super::said::{Piece, Said};
use super::state::State;
use crate::prompt::Diagnostic;
use crate::prompt::fragment::Fragment;
use crate::prompt::manifest::{LimitKind, LimitOutcome};
use crate::skill::ActiveSkill;
use crate::text::{Fitted, Limit, Room, prefix};
use std::borrow::Cow;

impl Said<'_> {
    /// Shares out the room of the skills' bodies among those that are to be said: what is told already of those in force is taken, and those that need
    /// less than an equal share leave the rest to the others. What can't stand in its share, frame and all, leaves all of it: the largest such first.
    pub(super) fn share_out<'f>(&mut self, fragments: &[&'f Fragment], told: &Told, in_force: &[ActiveSkill]) {
        let share = |f: &&'f Fragment| {
            let (pool, value) = (f.pool?, f.value());
            told.get(&f.id).is_none_or(|before| *before != *value).then(|| (value.len(), *f, pool))
        };
        let mut new: Vec<(usize, &Fragment, usize)> = fragments.iter().filter_map(share).collect();
        if new.is_empty() {
            return;
        }
        new.sort_by_key(|(bytes, ..)| *bytes);
        let room = new.iter().map(|(.., pool)| *pool).min().unwrap_or_default().saturating_sub(told.body_bytes(in_force));
        loop {
            let mut left = room;
            let mut without_room = None;
            for (n, (bytes, fragment, _)) in new.iter().enumerate() {
                let share = left / (new.len() - n);
                self.shares.insert((&fragment.id).into(), Limit::Bytes(share));
                left -= share.min(*bytes);
                if fragment.text.fit(&self.room(Limit::Bytes(share))).text.is_empty() {
                    without_room = Some(n);
                }
            }
            // One alone has all the room there is.
            let Some(n) = without_room.filter(|_| new.len() > 1) else { break };
            let (_, fragment, _) = new.remove(n);
            self.shares.insert((&fragment.id).into(), Limit::Bytes(0));
        }
    }
    pub(super) fn limit(&self, fragment: &Fragment) -> Limit {
        self.shares.get(&*fragment.id).copied().unwrap_or(fragment.limit)
    }
    pub(super) fn room(&self, limit: Limit) -> Room<'_> {
        Room::new(limit, self.counter)
    }
    /// As much as its limit holds, or what a budget left of it.
    pub(super) fn fit<'f>(&self, fragment: &'f Fragment) -> Fitted<'f> {
        match self.shed.get(&*fragment.id) {
            Some(shed) => shed.fitted.clone(),
            None => fragment.text.fit(&self.room(self.limit(fragment))),
        }
    }
    /// `None` where nothing of it fits, which is diagnosed. `whole`: what would be said without a limit.
    pub(super) fn piece<'f, 'w>(
        &mut self,
        fragment: &'f Fragment,
        whole: impl FnOnce() -> Cow<'w, str>,
        fitted: Fitted<'f>,
    ) -> Option<Piece<'f>> {
        let Fitted { mut text, mut is_cut, items_left_out } = fitted;
        let shed = self.shed.get(&*fragment.id);
        let limit = shed.map_or_else(|| self.limit(fragment), |shed| Limit::Tokens(shed.room));
        // A text of a host's own may be wrong about its room: the limit holds all the same.
        if !self.room(limit).holds(&text) {
            text = Cow::Owned(prefix(&text, &self.room(limit)).to_owned());
            is_cut = true;
        }
        let whole = is_cut.then(whole);
        let outcome = limit.amount().map(|_| {
            let room = self.room(limit);
            let kind = if shed.is_some() { LimitKind::Budget } else { LimitKind::Own };
            let after = room.size(&text);
            let before = whole.as_ref().map_or(after, |whole| room.size(whole));
            LimitOutcome { kind, limit, before, after, cut: is_cut, items_left_out }
        });
        if let Some(whole) = whole {
            let what = if text.is_empty() { "left out" } else { "cut" };
            let message = |of| format!("`{}` was {what}: {} bytes, and {of} is {limit}", fragment.id, whole.len());
            self.diagnostics.push(match shed {
                Some(_) => Diagnostic::warning("budget", message("what the budget leaves it")),
                None => Diagnostic::warning("limit", message("its limit")),
            });
        }
        if text.is_empty() {
            self.refused.insert((&fragment.id).into());
            return None;
        }
        Some(Piece { text, fragment, limit: outcome })
    }

    /// What a budget left nothing of counts as told: it is no news in the next turn.
    pub(super) fn leaves_untold(&self, state: &mut State, fragment: &Fragment, value: &str, values: &mut Values) {
        if self.shed.contains_key(&*fragment.id) {
            values.insert((&fragment.id).into(), Some(Value::of(state, fragment, value, "")));
        }
    }
}
