//! `serve` in a build without the proxy: says what is missing.

use super::{Failure, Outcome};
use clap::Args;
use std::ffi::OsString;

/// Needs the feature `proxy`, which this build is without.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(super) struct Serve {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<OsString>,
}

impl Serve {
    pub(super) fn run(self) -> Outcome {
        Err(Failure::Usage("this build has no proxy: `serve` needs the features `cli,proxy`".into()))
    }
}
