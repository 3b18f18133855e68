//! What a manifest must say of its request.

use crate::messages::Own;
use crate::oracle::Seen;
use crate::run::Run;
use tower_prompt_layers::{ContentHash, FirstChange, Manifest, Placement, TextPlacement};

impl Run {
    /// The manifest says whose doing it is where a request parts from the last one.
    pub(crate) fn is_foreseen(&self, seen: &Seen, manifest: &Manifest, texts: &[Option<String>]) -> Result<(), String> {
        let Some(last) = &self.sent else {
            return if manifest.foreseen.is_none() { Ok(()) } else { Err("nothing is known of a request before".into()) };
        };
        let Some(foreseen) = &manifest.foreseen else { return Err("nothing is foreseen".into()) };
        if seen.own_system != last.own_system {
            return Ok(());
        }
        let results = |own: &Own| if let Own::Results { content, .. } = own { *content } else { "" };
        let is_in_front = self.placement == TextPlacement::Front;
        let mut expected = None;
        if is_in_front && !texts.iter().flatten().eq(last.texts.iter().flatten()) {
            expected = Some("us");
        }
        let both = last.key.len().min(seen.key.len());
        for (n, text) in texts.iter().enumerate().take(both) {
            if expected.is_some() {
                break;
            }
            if seen.key[n] != last.key[n] || results(&seen.messages[n].0) != results(&last.own[n]) {
                expected = Some("caller");
            } else if !is_in_front && *text != last.texts[n] && (n + 1 < last.key.len() || last.texts[n].is_some()) {
                expected = Some("us");
            }
        }
        let by = foreseen.first_change.as_ref().map(|change| if matches!(change, FirstChange::Us { .. }) { "us" } else { "caller" });
        if by != expected {
            return Err(format!("{:?}, and it was {expected:?}", foreseen.first_change));
        }
        let all: usize = manifest.fragments().map(|(_, fragment)| fragment.tokens).sum();
        if foreseen.kept_tokens + foreseen.new_tokens != all {
            return Err(format!("{foreseen:?} of {all}"));
        }
        Ok(())
    }
}

/// The manifest names our texts in their order, and each fragment's bytes in them.
pub(crate) fn is_described(manifest: &Manifest, ours: &str, texts: &[Option<String>], placement: TextPlacement) -> Result<(), String> {
    let system = (!ours.is_empty()).then_some(ours);
    let expected: Vec<&str> = system.into_iter().chain(texts.iter().flatten().map(String::as_str)).collect();
    if !manifest.texts.iter().map(|text| &*text.text).eq(expected.iter().copied()) {
        return Err(format!("the manifest names {:?}", manifest.texts));
    }
    let is_system = |placement| placement == Placement::System;
    let is_in_front = placement == TextPlacement::Front;
    if manifest.texts.iter().enumerate().any(|(n, text)| is_system(text.placement) != (n == 0 && system.is_some() || is_in_front)) {
        return Err("the system prompt stands first, and once".into());
    }
    for text in &manifest.texts {
        for fragment in text.fragments.iter() {
            let bytes = text.text.get(fragment.offset..fragment.offset + fragment.bytes);
            if bytes.map(ContentHash::of) != Some(fragment.hash) {
                return Err(format!("{} is not {bytes:?}", fragment.id));
            }
        }
    }
    Ok(())
}
