//! What tower asks of middleware: readiness and back-pressure handed on, the instance that was polled ready called, errors passed through, clones
//! and dropped futures without harm.

mod common;

#[path = "services/clients.rs"]
mod clients;
#[path = "services/composed.rs"]
mod composed;
#[path = "services/dropped.rs"]
mod dropped;
#[path = "services/readiness.rs"]
mod readiness;
#[path = "services/stored.rs"]
mod stored;
