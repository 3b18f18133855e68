//! The locks of this package. In its own tests with `--cfg shuttle` they are those of shuttle, which chooses the order in which threads run: see
//! `prompt/session/orders.rs`.

#[cfg(all(test, shuttle))]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(all(test, shuttle)))]
pub(crate) use std::sync::{Mutex, MutexGuard};
