//! Single claims, each on the shortest conversation that shows it.

mod common;

#[path = "claims/added_tools.rs"]
mod added_tools;
#[path = "claims/alike.rs"]
mod alike;
#[path = "claims/branches.rs"]
mod branches;
#[path = "claims/budget.rs"]
mod budget;
#[path = "claims/cache.rs"]
mod cache;
#[path = "claims/foreign.rs"]
mod foreign;
#[path = "claims/formats.rs"]
mod formats;
#[path = "claims/held.rs"]
mod held;
#[path = "claims/in_results.rs"]
mod in_results;
#[path = "claims/kept_marks.rs"]
mod kept_marks;
#[path = "claims/manifest.rs"]
mod manifest;
#[path = "claims/placement.rs"]
mod placement;
#[path = "claims/prefix.rs"]
mod prefix;
#[path = "claims/purge.rs"]
mod purge;
#[path = "claims/rebase.rs"]
mod rebase;
#[path = "claims/recognised.rs"]
mod recognised;
#[path = "claims/said.rs"]
mod said;
#[path = "claims/session.rs"]
mod session;
#[path = "claims/tools.rs"]
mod tools;
#[path = "claims/ways_in.rs"]
mod ways_in;
