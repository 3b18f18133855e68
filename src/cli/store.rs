//! `serve --store`: where conversations are kept.

use super::Failure;
use crate::config::TextForm;
use crate::sessions::SessionStore;
use std::sync::Arc;

/// Says what is wanted, and not what was given: a password may be in it.
pub(super) fn check(url: &str) -> Result<(), Failure> {
    if TextForm::Store.fits(url) {
        return Ok(());
    }
    let allowed = crate::config::KeyKind::Form(TextForm::Store).allowed();
    Err(Failure::Usage(format!("--store: wanted is {allowed}")))
}

/// A path that is not absolute hangs from the working directory.
pub(super) async fn open(url: &str) -> Result<Arc<dyn SessionStore>, Failure> {
    #[cfg(feature = "store-sqlite")]
    if let Some(path) = url.strip_prefix("sqlite:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        let environment = crate::Environment::of_process();
        let path = environment.resolve(path, environment.working_directory());
        return Ok(Arc::new(crate::sessions::SqliteStore::connect(path).await.map_err(Failure::failed)?));
    }
    #[cfg(feature = "store-postgres")]
    if url.starts_with("postgres") {
        return Ok(Arc::new(crate::sessions::PostgresStore::connect(url).await.map_err(Failure::failed)?));
    }
    let feature = if url.starts_with("sqlite:") { "store-sqlite" } else { "store-postgres" };
    Err(Failure::failed(format!("this build keeps no conversations in {url}: it needs the feature `{feature}`")))
}
