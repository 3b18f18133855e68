//! The request model, and the spine that carries it.

mod diagnostic;

pub use diagnostic::{Diagnostic, Severity};
