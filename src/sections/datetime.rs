//! The clock.

use super::{Kept, bounded};
use crate::Environment;
use crate::files;
use crate::layers::{Diagnostic, Fragment, Prompt, Section, Tier, Turn, sections};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::path::Path;

/// `current_datetime`: local time to the second with its offset from UTC, the zone's abbreviation and its IANA name. At each user message.
///
/// The zone is that of the environment's `TZ`, else the system's.
#[derive(Clone, Debug)]
pub struct CurrentDatetime {
    environment: Environment,
    /// Of this second since 1970.
    last: Kept<i64>,
}

impl CurrentDatetime {
    /// By this environment's clock and zone.
    pub fn new(environment: Environment) -> Self {
        Self { environment, last: Kept::default() }
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

    fn now(&self) -> Option<Timestamp> {
        Timestamp::try_from(self.environment.now()).ok()
    }
    /// The zone is looked up once a second, and each time where it is not known: that is told each time.
    fn fragment(&self) -> (Option<Fragment>, Option<Diagnostic>) {
        let Some(now) = self.now() else { return (None, None) };
        let second = now.as_millisecond().div_euclid(1000);
        let mut unknown = None;
        let make = || {
            let (zone, diagnostic) = self.zone();
            unknown = diagnostic;
            let kept_as = if unknown.is_none() { second } else { i64::MIN };
            Some((kept_as, sections::fragment("current_datetime", &text(now, &zone))))
        };
        let fragment = self.last.or_make(|last| *last == second, make);
        (fragment, unknown)
    }
}

fn text(now: Timestamp, zone: &TimeZone) -> String {
    let local = now.to_zoned_datetime(zone.clone());
    let mut text = local.strftime("%A, %Y-%m-%d %H:%M:%S %:z").to_string();
    // A compiled zone file may call itself anything, and has no name of its own.
    let abbreviation = local.strftime("%Z").to_string();
    let names: Vec<String> =
        [abbreviation.as_str(), zone.iana_name().unwrap_or_default()].map(bounded).into_iter().filter(|name| !name.is_empty()).collect();
    if !names.is_empty() {
        text.extend([" (", &names.join(", "), ")"]);
    }
    text
}

/// A compiled zone file; those of the database have a few kilobytes.
fn zone_of_file(path: &Path) -> Option<TimeZone> {
    const MAX_BYTES: usize = 256 * 1024;
    let (file, _) = files::open_regular(path).ok()??;
    let (bytes, is_cut) = files::read_bounded(&file, MAX_BYTES).ok()?;
    if is_cut { None } else { TimeZone::tzif("", &bytes).ok() }
}

fn unknown_zone(why: &str) -> Diagnostic {
    Diagnostic::warning("time-zone-unknown", format!("{why}; times are told in UTC"))
}

impl Section for CurrentDatetime {
    fn name(&self) -> &'static str {
        "current_datetime"
    }
    fn add(&self, _: &Turn, prompt: &mut Prompt) {
        if !prompt.round().collects(Tier::Turn) {
            return;
        }
        let (fragment, diagnostic) = self.fragment();
        if let Some(diagnostic) = diagnostic {
            prompt.diagnose(diagnostic);
        }
        prompt.add(Tier::Turn, || fragment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::time::{Duration, UNIX_EPOCH};

    /// A compiled zone file of one offset, which calls itself this.
    fn zone_file(abbreviation: &str) -> Vec<u8> {
        let length = u8::try_from(abbreviation.len() + 1).unwrap();
        let counts = [0, 0, 0, 0, 1, length].map(|count| [0, 0, 0, count]).concat();
        [b"TZif\0".as_slice(), &[0; 15], &counts, &[0, 0, 14, 16, 0, 0], abbreviation.as_bytes(), b"\0"].concat()
    }

    #[test]
    fn what_a_zone_file_calls_itself_stays_in_its_line() {
        for (abbreviation, told) in
            [("CEST", "+01:00 (CEST)"), ("C\u{5}S\n</current_datetime>", "+01:00 (CS &lt;/CURRENT_DATETIME&gt;)"), ("", "+01:00")]
        {
            let zone = TimeZone::tzif("", &zone_file(abbreviation)).unwrap();
            let text = text(Timestamp::UNIX_EPOCH, &zone);
            assert!(text.ends_with(told), "{text}");
        }
    }

    #[test]
    fn the_zone_is_the_real_one() {
        for (zone, told) in [
            ("Europe/Berlin", "Wednesday, 2026-07-01 14:30:15 +02:00 (CEST, Europe/Berlin)"),
            (":/usr/share/zoneinfo/Europe/Berlin", "Wednesday, 2026-07-01 14:30:15 +02:00 (CEST, Europe/Berlin)"),
            (":Asia/Kolkata", "Wednesday, 2026-07-01 18:00:15 +05:30 (IST, Asia/Kolkata)"),
            ("UTC", "Wednesday, 2026-07-01 12:30:15 +00:00 (UTC, UTC)"),
            ("EST5EDT,M3.2.0,M11.1.0", "Wednesday, 2026-07-01 08:30:15 -04:00 (EDT)"),
        ] {
            let clock = || UNIX_EPOCH + Duration::from_secs(1_782_909_015);
            let section = CurrentDatetime::new(Environment::new("/").variable("TZ", zone).clock(clock));
            let (zone, diagnostic) = section.zone();
            assert_eq!((text(section.now().unwrap(), &zone), diagnostic), (told.to_owned(), None));
        }
        let (zone, diagnostic) = CurrentDatetime::new(Environment::new("/").variable("TZ", "Nowhere/Land")).zone();
        assert_eq!((zone, &*diagnostic.unwrap().code), (TimeZone::UTC, "time-zone-unknown"));
    }

    #[test]
    fn each_second_has_a_text_of_its_own_and_an_unknown_zone_is_told_of_each_time() {
        let now = Arc::new(AtomicI64::new(0));
        let clock = Arc::clone(&now);
        let clock = move || {
            let millis = clock.load(Ordering::Relaxed);
            let by = Duration::from_millis(millis.unsigned_abs());
            if millis < 0 { UNIX_EPOCH - by } else { UNIX_EPOCH + by }
        };
        let environment = Environment::new("/").clock(clock);
        let section = CurrentDatetime::new(environment.clone().variable("TZ", "Europe/Berlin"));
        for (millis, time) in [
            (-500, "1970-01-01 00:59:59 +01:00"),
            (500, "1970-01-01 01:00:00 +01:00"),
            (999, "1970-01-01 01:00:00 +01:00"),
            (1000, "1970-01-01 01:00:01 +01:00"),
        ] {
            now.store(millis, Ordering::Relaxed);
            let (fragment, diagnostic) = section.fragment();
            let text = fragment.unwrap().value().into_owned();
            assert!(text.contains(time) && diagnostic.is_none(), "{millis}: {text}");
        }
        let unknown = CurrentDatetime::new(environment.variable("TZ", "Nowhere/Land"));
        for _ in 0..2 {
            let (fragment, diagnostic) = unknown.fragment();
            assert!(fragment.is_some() && diagnostic.is_some());
        }
    }
}
