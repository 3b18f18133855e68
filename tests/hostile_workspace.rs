//! A workspace that does everything wrong at once. The program starts in time all the same, every good skill is there, every bad one is told of once,
//! what is sent is well-formed, and where the disk is full nothing is sent that could not be stored without a word.
#![cfg(unix)]

#[allow(dead_code, reason = "no git runs here")]
mod place;

mod hostile_workspace {
    mod files;
    mod full_disk;
    mod holds;
}
