//! The program `tower-prompt` as a user runs it: the real binary, in an environment that holds nothing of this machine's.

mod place;

mod program {
    mod configuration;
    mod explain;
    mod invariants;
    mod matching;
    mod render;
    mod run;
    mod session;
    mod skills;
    mod terminal;
}
