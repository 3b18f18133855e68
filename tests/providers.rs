//! Providers of skills, with real programs that do what they must not.
#![cfg(unix)]

#[expect(dead_code, reason = "no repository is made here")]
mod place;

mod providers {
    mod process;
    mod registry;
    mod samples;
    mod script;
}
