//! Lengths of time as people write them.

use std::time::Duration;

/// The shortest and the longest timeout that the library takes.
const BOUNDS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_secs(3600));

/// Parses `500ms`, `10s`, `1.5s`, `2m`, `1h` or `1m30s`; 1 ms to 1 h.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let total = sum(text).ok_or("write a time as in 500ms, 10s, 1m30s or 1h")?;
    if (BOUNDS.0..=BOUNDS.1).contains(&total) {
        Ok(total)
    } else {
        Err("a time lies between 1ms and 1h".to_owned())
    }
}

fn sum(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = Duration::ZERO;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let unit = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let seconds = number.parse::<f64>().ok()? * unit_seconds(&tail[..unit])?;
        total = total.checked_add(Duration::try_from_secs_f64(seconds).ok()?)?;
        rest = tail[unit..].trim_start();
    }
    Some(total)
}

fn unit_seconds(unit: &str) -> Option<f64> {
    match unit {
        "ms" => Some(0.001),
        "s" | "sec" => Some(1.0),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_times_in_many_ways() {
        for (text, millis) in [
            ("1ms", 1),
            ("500ms", 500),
            ("10s", 10_000),
            ("1.5s", 1500),
            ("2m", 120_000),
            ("1m30s", 90_000),
            ("1m 30s", 90_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in
            ["", " ", "10", "s", "-1s", "1d", "1.2.3s", "ten s", "0s", "2h", "1e400s", "1 2s"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        let long = "9".repeat(400) + "s";
        assert!(parse(&long).is_err());
    }
}
