//! A provider that is a few lines of shell, in a folder that notes what it did.

use crate::place::Place;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tower_prompt::Environment;
use tower_prompt::layers::skill::SkillId;
use tower_prompt::layers::skill::provider::{SharedProvider, SkillContextRequest, SkillError};
use tower_prompt::providers::{ProcessProvider, ProviderProgram};

/// No test waits so long for what it expects.
pub(super) const LONG: Duration = Duration::from_secs(60);
/// Enough for a shell to start on a busy machine, and not for one that never answers.
pub(super) const SHORT: Duration = Duration::from_secs(2);

/// Shell functions: `next` reads a request and takes its `id` and `skill`; `say` answers it.
const PRELUDE: &str = r#"
next() {
    read -r line || exit 0
    id=${line#*'"id":'}; id=${id%%[,\}]*}
    skill=${line#*'"skill":"'}; skill=${skill%%'"'*}
}
say() { printf '{"api":"bcode.skill/v1","id":%s,%s}\n' "$id" "$1"; }
list() { say '"kind":"list","skills":[{"id":"a","description":"A"}]'; }
body() { say "\"kind\":\"context\",\"body\":\"of $skill\""; }
echo started >> starts
"#;

pub(super) struct Script {
    pub(super) place: Place,
    seconds: Arc<AtomicU64>,
    path: std::path::PathBuf,
}

impl Script {
    pub(super) fn new(script: &str) -> Self {
        let place = Place::new();
        let path = place.write("provider.sh", format!("{PRELUDE}\n{script}\n"));
        Self { place, seconds: Arc::default(), path }
    }
    /// Its clock stands still but for [`later`](Self::later).
    pub(super) fn environment(&self) -> Environment {
        let seconds = Arc::clone(&self.seconds);
        let clock = move || SystemTime::UNIX_EPOCH + Duration::from_secs(1_782_909_015 + seconds.load(Ordering::Relaxed));
        Environment::new(self.place.at("work")).variable("PATH", "/usr/bin:/bin").variable("SECRET", "1").clock(clock)
    }
    pub(super) fn program(&self) -> ProviderProgram {
        ProviderProgram::new("plugin:script", "sh", &self.environment()).arguments([&self.path]).deadline(LONG)
    }
    pub(super) fn provider(&self) -> SharedProvider {
        SharedProvider::new(ProcessProvider::new(self.program()))
    }
    /// One that has not long to answer.
    pub(super) fn hurried(&self) -> SharedProvider {
        SharedProvider::new(ProcessProvider::new(self.program().deadline(SHORT)))
    }
    pub(super) fn later(&self, seconds: u64) {
        self.seconds.fetch_add(seconds, Ordering::Relaxed);
    }
    /// How often it was started.
    pub(super) fn starts(&self) -> usize {
        fs::read_to_string(self.place.at("work/starts")).unwrap_or_default().lines().count()
    }
}

pub(super) fn of(id: &str) -> SkillContextRequest {
    SkillContextRequest::new(SkillId::new(id).unwrap())
}
pub(super) async fn body(provider: &SharedProvider, id: &str) -> Result<String, SkillError> {
    provider.context(of(id)).await.map(|context| context.body)
}
