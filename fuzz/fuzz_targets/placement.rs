//! A conversation out of any bytes, against the oracle of the random conversations (see `layers/tests/conversations.rs`): each byte is a choice of the
//! caller, the user, the model or the host. So a fault found here is a fault of a seed there, and both try the same promises.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../layers/tests/conversations/described.rs"]
mod described;
#[path = "../../layers/tests/conversations/formats.rs"]
mod formats;
#[path = "../../layers/tests/conversations/generator.rs"]
mod generator;
#[path = "../../layers/tests/conversations/messages.rs"]
mod messages;
#[path = "../../layers/tests/conversations/oracle.rs"]
mod oracle;
#[path = "../../layers/tests/conversations/placed.rs"]
mod placed;
#[path = "../../layers/tests/conversations/run.rs"]
mod run;
#[path = "../../layers/tests/conversations/valid.rs"]
mod valid;
#[path = "../../layers/tests/conversations/world.rs"]
mod world;

/// So that an input is quick to try: what is wrong in a long conversation is wrong in a shorter one.
const STEPS: usize = 6;

/// The bytes that are left; behind the last of them each choice is the first.
struct Rng(Vec<u8>);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        if n > 1 { usize::from(self.0.pop().unwrap_or_default()) % n } else { 0 }
    }
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut run = run::Run::new(Rng(bytes.iter().rev().copied().collect()));
    for _ in 0..STEPS {
        if let Err(fault) = run.step() {
            panic!("{}: {fault}\n{}", run.kind(), run.log.join("\n"));
        }
        if run.rng.0.is_empty() {
            break;
        }
    }
});
