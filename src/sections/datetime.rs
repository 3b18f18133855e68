//! The clock.

use crate::Environment;
use crate::layers::{Prompt, Section, Tier, Turn, sections};
use jiff::Timestamp;
use jiff::tz::TimeZone;

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

    fn text(&self) -> Option<String> {
        let now = Timestamp::try_from(self.environment.now()).ok()?;
        let named = self.environment.get("TZ").map(|name| name.trim_start_matches(':'));
        let zone = match named {
            Some(name) => TimeZone::get(name).or_else(|_| TimeZone::posix(name)).unwrap_or(TimeZone::UTC),
            None => TimeZone::try_system().unwrap_or(TimeZone::UTC),
        };
        let zone_name = zone.iana_name().map(|name| format!(", {name}")).unwrap_or_default();
        let local = now.to_zoned_datetime(zone);
        Some(format!("{} ({}{zone_name})", local.strftime("%A, %Y-%m-%d %H:%M:%S %:z"), local.strftime("%Z")))
    }
}

impl Section for CurrentDatetime {
    fn name(&self) -> &'static str {
        "current_datetime"
    }
    fn add(&self, _: &Turn, prompt: &mut Prompt) {
        prompt.add(Tier::Turn, || self.text().map(|text| sections::fragment("current_datetime", &text)));
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
            (":Asia/Kolkata", "Wednesday, 2026-07-01 18:00:15 +05:30 (IST, Asia/Kolkata)"),
            ("UTC", "Wednesday, 2026-07-01 12:30:15 +00:00 (UTC, UTC)"),
            ("EST5EDT,M3.2.0,M11.1.0", "Wednesday, 2026-07-01 08:30:15 -04:00 (EDT)"),
        ] {
            let clock = || UNIX_EPOCH + Duration::from_secs(1_782_909_015);
            let environment = Environment::new("/").variable("TZ", zone).clock(clock);
            assert_eq!(CurrentDatetime::new(environment).text().unwrap(), text);
        }
    }
}
