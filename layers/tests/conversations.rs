//! Random conversations against an oracle, which knows the rules and nothing of the code. Of each assembled request it checks that
//!
//! * it is the caller's messages, untouched, with texts of ours behind them: those that the longest request it continues had there, a new one
//!   only behind its last place; and in front of the caller's system text the system prompt of the session's start;
//! * it begins with that longest request, in the order in which the provider hashes it, unless the caller rewrote its history;
//! * its round is that of the table, and a settled place collects nothing and says nothing new;
//! * who reads it believes what is true of the world: nothing is said twice, a change is told against what was said before, what went away is
//!   said to be gone, silence changes nothing, and a tool round says no facts;
//! * the bodies of skills that stand in it are those of the skills in force in its branch; where the tail takes no text behind results, they
//!   follow at the branch's next place;
//! * its manifest names these texts, byte for byte, and says where it parts from the last request, and whose doing that is;
//! * results stand directly behind their calls, and at most four cache marks stand in it, each on a block of its own;
//! * assembled again, it stays as it is.
//!
//! That is placement `append`. Of `latest` only the newest turn's texts stand, and the reader of these alone believes what is true; in `front` all of
//! ours stands in the system prompt, and the messages are the caller's. Both say so where they rewrite what was sent, and begin with what was sent
//! where they don't.
//!
//! The caller edits, branches, goes back, retries, compacts, sends at once, drops requests, and sends its history bare, as it was sent, or mixed,
//! with other ids, over each wire, through restarts of a program that keeps nothing but the session's events, from one wire to the next, with texts that
//! quote ours. The host names the session, or a table finds it, or nothing is known of any request before. `CASES=50000` runs so many conversations,
//! `FIRST=1000` begins at that one.

#[path = "conversations/described.rs"]
mod described;
#[path = "conversations/formats.rs"]
mod formats;
#[path = "conversations/generator.rs"]
mod generator;
#[path = "conversations/messages.rs"]
mod messages;
#[path = "conversations/oracle.rs"]
mod oracle;
#[path = "conversations/placed.rs"]
mod placed;
#[path = "conversations/run.rs"]
mod run;
#[path = "conversations/valid.rs"]
mod valid;
#[path = "conversations/world.rs"]
mod world;

use run::Run;

/// `SplitMix64`: the same conversation for the same seed, on every machine.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % n.max(1) as u64).expect("below n")
    }
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

fn converse(seed: u64) -> Result<usize, String> {
    let mut run = Run::new(Rng(seed));
    for _ in 0..4 + run.rng.below(22) {
        run.step().map_err(|fault| format!("seed {seed}, {}: {fault}\n{}", run.kind(), run.log.join("\n")))?;
    }
    Ok(run.settled.len())
}

#[test]
fn in_random_conversations_each_request_extends_the_ones_before_and_says_what_is_true() {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |n| n.parse().expect("a number"));
    let (first, cases) = (number("FIRST", 0), number("CASES", 300));
    let (mut places, mut faults) = (0, Vec::new());
    for seed in first..first + cases {
        match std::panic::catch_unwind(|| converse(seed)).unwrap_or_else(|_| Err(format!("seed {seed} panicked"))) {
            Ok(settled) => places += settled,
            Err(fault) => faults.push((seed, fault)),
        }
    }
    println!("{cases} conversations, {places} places settled");
    let Some((_, shortest)) = faults.iter().min_by_key(|fault| fault.1.len()) else { return };
    let seeds: Vec<u64> = faults.iter().map(|fault| fault.0).take(20).collect();
    panic!("{} faults, seeds {seeds:?}. The shortest:\n{shortest}", faults.len());
}
