//! `skills install` and `skills remove`: from each kind of source, from sources that mean harm, and killed in between.

#[allow(dead_code, reason = "other tests use more of it")]
mod place;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "program/run.rs"]
mod run;

mod install {
    mod archives;
    mod bounded;
    mod folders;
    mod killed;
    mod programs;
    mod removed;
    mod zip_bytes;
}
