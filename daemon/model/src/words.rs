//! Numbers, ranks and causes as people read them.

use std::time::Duration;

const THIN_SPACE: char = '\u{2009}';

/// A count in groups of three.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(THIN_SPACE);
        }
        text.push(digit);
    }
    text
}

/// Bytes in binary units, three significant digits.
pub fn bytes(number: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1024.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", three_digits(value), units[unit])
}

/// A span of time in its own unit, three significant digits.
pub fn nanoseconds(number: u64) -> String {
    let value = number as f64;
    let (value, unit) = match number {
        0..1_000 => return format!("{number} ns"),
        1_000..1_000_000 => (value / 1e3, "us"),
        1_000_000..1_000_000_000 => (value / 1e6, "ms"),
        _ => (value / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A time of the run.
pub fn run_time(duration: Duration) -> String {
    let seconds = duration.as_secs();
    format!("{}:{:02}:{:02}.{:03}", seconds / 3600, seconds / 60 % 60, seconds % 60, duration.subsec_millis())
}

/// Likewise in seconds, whatever number a damaged file says.
pub fn run_time_of(seconds: f64) -> String {
    run_time(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX))
}

/// Text without what could steer a terminal: names in it may be anybody's.
pub fn printable(text: &str) -> String {
    text.chars().filter(|character| *character == '\n' || !character.is_control()).collect()
}

/// "1 rank", "20000 ranks": for texts that programs may read as well.
pub fn counted(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// "1 rank", "20 000 ranks".
pub fn plural(number: u64, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", count(number))
}

/// "rank 3", "ranks 0-2, 7 and 12 more": sorted ranks.
pub fn ranges(ranks: &[u32]) -> String {
    const MOST_RANGES: usize = 3;
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &rank in ranks {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(rank) => *last = rank,
            _ => runs.push((rank, rank)),
        }
    }
    let named = &runs[..runs.len().min(MOST_RANGES)];
    let words = named.iter().map(|&(from, to)| match to - from {
        0 => from.to_string(),
        _ => format!("{from}-{to}"),
    });
    let text = words.collect::<Vec<_>>().join(", ");
    let left: u64 = runs[named.len()..].iter().map(|(from, to)| u64::from(to - from) + 1).sum();
    let more = if left > 0 { format!(" and {} more", count(left)) } else { String::new() };
    format!("rank{} {text}{more}", if ranks.len() == 1 { "" } else { "s" })
}

/// The cause of a verdict at the start of a sentence.
pub fn cause_title(cause: &str) -> &str {
    match cause {
        "mapping" => "Placement",
        "pattern" => "Load imbalance",
        "background" => "Network contention",
        "cpu" => "CPU contention",
        other => other,
    }
}

fn three_digits(value: f64) -> String {
    if value >= 99.95 {
        format!("{value:.0}")
    } else if value >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1\u{2009}234\u{2009}567");
        assert_eq!(
            [bytes(1023), bytes(1024), bytes(10_240), bytes(1_048_575)],
            ["1023 B", "1.00 KiB", "10.0 KiB", "1.00 MiB"]
        );
        assert_eq!(
            [nanoseconds(999), nanoseconds(1500), nanoseconds(99_960)],
            ["999 ns", "1.50 us", "100 us"]
        );
        assert_eq!(run_time(Duration::from_millis(3_661_007)), "1:01:01.007");
        assert_eq!(
            [ranges(&[3]), ranges(&[0, 1, 2, 7]), ranges(&[1, 3, 5, 6, 8, 9, 11])],
            ["rank 3", "ranks 0-2, 7", "ranks 1, 3, 5-6 and 3 more"]
        );
        assert_eq!([plural(1, "rank"), plural(2, "rank")], ["1 rank", "2 ranks"]);
    }
}
