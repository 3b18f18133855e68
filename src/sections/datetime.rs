//! The clock.

use crate::Environment;
use crate::files;
use crate::layers::{Diagnostic, Prompt, Section, Tier, Turn, sections};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::path::Path;

/// `current_datetime`: local time to the second with its offset from UTC, the zone's abbreviation and its IANA name. At each user message.
///
/// The zone is that of the environment's `TZ`, else the system's.
#[derive(Clone, Debug)]
pub struct CurrentDatetime {
    environment: Environment,
}

impl CurrentDatetime {
    /// By this environment's clock and zone.
    pub fn new(environment: Environment) -> Self {
        Self { environment }
    }

    /// The zone; an unknown one is UTC, and said so.
    fn zone(&self) -> (TimeZone, Option<Diagnostic>) {
        let Some(name) = self.environment.get("TZ").map(|name| name.trim_start_matches(':')) else {
            return match TimeZone::try_system() {
                Ok(zone) => (zone, None),
                Err(error) => (TimeZone::UTC, Some(unknown_zone(&format!("the system's time zone is not known ({error})")))),
            };
        };
        // A path in the zone database is told by its name, any other by its file.
        let path = Path::new(name);
        let named = name.rsplit_once("/zoneinfo/").map_or(name, |(_, name)| name);
        let of_file = || path.is_absolute().then(|| zone_of_file(path)).flatten();
        match TimeZone::get(named).ok().or_else(of_file).map_or_else(|| TimeZone::posix(name), Ok) {
            Ok(zone) => (zone, None),
            Err(_) => (TimeZone::UTC, Some(unknown_zone(&format!("`TZ` is {name:?}, which is no time zone")))),
        }
    }

    fn text(&self, zone: &TimeZone) -> Option<String> {
        let now = Timestamp::try_from(self.environment.now()).ok()?;
        let local = now.to_zoned_datetime(zone.clone());
        let mut text = local.strftime("%A, %Y-%m-%d %H:%M:%S %:z (%Z").to_string();
        if let Some(name) = zone.iana_name() {
            text.extend([", ", name]);
        }
        text.push(')');
        Some(text)
    }
}

/// A compiled zone file; those of the database have a few kilobytes.
fn zone_of_file(path: &Path) -> Option<TimeZone> {
    const MAX_BYTES: usize = 256 * 1024;
    let (file, _) = files::open_regular(path).ok()??;
    let (bytes, is_cut) = files::read_bounded(&file, MAX_BYTES).ok()?;
    if is_cut { None } else { TimeZone::tzif("", &bytes).ok() }
}

fn unknown_zone(why: &str) -> Diagnostic {
    Diagnostic::warning("unknown-time-zone", format!("{why}; times are told in UTC"))
}

impl Section for CurrentDatetime {
    fn name(&self) -> &'static str {
        "current_datetime"
    }
    fn add(&self, _: &Turn, prompt: &mut Prompt) {
        if !prompt.round().collects(Tier::Turn) {
            return;
        }
        let (zone, diagnostic) = self.zone();
        if let Some(diagnostic) = diagnostic {
            prompt.diagnose(diagnostic);
        }
        prompt.add(Tier::Turn, || self.text(&zone).map(|text| sections::fragment("current_datetime", &text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn the_zone_is_the_real_one() {
        for (zone, text) in [
            ("Europe/Berlin", "Wednesday, 2026-07-01 14:30:15 +02:00 (CEST, Europe/Berlin)"),
            (":/usr/share/zoneinfo/Europe/Berlin", "Wednesday, 2026-07-01 14:30:15 +02:00 (CEST, Europe/Berlin)"),
            (":Asia/Kolkata", "Wednesday, 2026-07-01 18:00:15 +05:30 (IST, Asia/Kolkata)"),
            ("UTC", "Wednesday, 2026-07-01 12:30:15 +00:00 (UTC, UTC)"),
            ("EST5EDT,M3.2.0,M11.1.0", "Wednesday, 2026-07-01 08:30:15 -04:00 (EDT)"),
        ] {
            let clock = || UNIX_EPOCH + Duration::from_secs(1_782_909_015);
            let section = CurrentDatetime::new(Environment::new("/").variable("TZ", zone).clock(clock));
            let (zone, diagnostic) = section.zone();
            assert_eq!((section.text(&zone).as_deref(), diagnostic), (Some(text), None));
        }
        let (zone, diagnostic) = CurrentDatetime::new(Environment::new("/").variable("TZ", "Nowhere/Land")).zone();
        assert_eq!((zone, &*diagnostic.unwrap().code), (TimeZone::UTC, "unknown-time-zone"));
    }
}
