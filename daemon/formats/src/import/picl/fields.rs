//! Splits a line of a PICL trace into its fields.

/// Times in nanoseconds are below this: sums and differences of them do not overflow.
const MAX_NS: i128 = 1 << 61;
const NS_PER_S: i64 = 1_000_000_000;
/// Digits behind the point that make a difference.
const DIGITS: usize = 9;

/// The fields of a line, one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a>(&'a str);

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self(line.trim())
    }

    /// What is left of the line.
    pub(super) fn rest(self) -> &'a str {
        self.0
    }

    /// The next field as a whole number.
    ///
    /// # Errors
    /// A sentence that says what is expected.
    pub(super) fn number(&mut self, what: &str) -> Result<i64, String> {
        let Some(field) = self.next() else { return Err(format!("{what} is missing")) };
        field.parse().map_err(|_| format!("{what} is expected, not {}", quoted(field)))
    }

    /// The next field as a number of 32 bits.
    ///
    /// # Errors
    /// A sentence that says what is expected.
    pub(super) fn short_number(&mut self, what: &str) -> Result<i32, String> {
        let number = self.number(what)?;
        i32::try_from(number).map_err(|_| format!("{what} cannot be {number}"))
    }

    /// The next field as a time in seconds. Returns nanoseconds.
    ///
    /// # Errors
    /// A sentence that says what is expected.
    pub(super) fn time_ns(&mut self) -> Result<i64, String> {
        let Some(field) = self.next() else { return Err("the time is missing".into()) };
        parse_time_ns(field)
            .ok_or_else(|| format!("a time of a run in seconds is expected, not {}", quoted(field)))
    }

    /// Skips a format in quotes, if it comes next.
    pub(super) fn skip_format(&mut self) -> bool {
        let Some(format) = self.0.strip_prefix('"') else { return false };
        self.0 = format.split_once('"').map_or("", |(_, rest)| rest.trim_start());
        true
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (field, rest) =
            self.0.split_once(|separator: char| separator.is_ascii_whitespace()).unwrap_or((self.0, ""));
        self.0 = rest.trim_start();
        (!field.is_empty()).then_some(field)
    }
}

/// A field for a message, however long it is.
pub(super) fn quoted(field: &str) -> String {
    const MOST: usize = 40;
    let short: String = field.chars().take(MOST).collect();
    let more = if short.len() < field.len() { "..." } else { "" };
    format!("\"{}{more}\"", mpiscope_model::words::printable(&short))
}

/// A time in seconds to the nanosecond; none if it is no number or no time of a run.
pub(super) fn parse_time_ns(text: &str) -> Option<i64> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_plain = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    if !is_plain(whole) || !is_plain(part) {
        // With an exponent.
        let ns = text.parse::<f64>().ok()? * NS_PER_S as f64;
        return (ns.abs() < MAX_NS as f64).then(|| ns.round() as i64);
    }
    let seconds: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let known = &part[..part.len().min(DIGITS)];
    let fraction: i128 = format!("{known:0<DIGITS$}").parse().ok()?;
    let is_up = part.as_bytes().get(DIGITS).is_some_and(|digit| *digit >= b'5');
    let ns = seconds.checked_mul(NS_PER_S.into())?.checked_add(fraction + i128::from(is_up))?;
    (ns < MAX_NS).then(|| if is_negative { -ns as i64 } else { ns as i64 })
}

/// A time as the old format has it: seconds and microseconds.
pub(super) fn clock_ns(seconds: i64, microseconds: i64) -> Option<i64> {
    let ns = seconds.checked_mul(NS_PER_S)?.checked_add(microseconds.checked_mul(1000)?)?;
    (i128::from(ns).abs() < MAX_NS).then_some(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_to_the_nanosecond() {
        let expected = [
            ("0", 0),
            ("1.5", 1_500_000_000),
            (".25", 250_000_000),
            ("3.", 3_000_000_000),
            ("1234567890.123456789", 1_234_567_890_123_456_789),
            ("0.0000000014", 1),
            ("0.0000000015", 2),
            ("-0.5", -500_000_000),
            ("1e-05", 10_000),
            ("2.5E+1", 25_000_000_000),
        ];
        for (text, ns) in expected {
            assert_eq!(parse_time_ns(text), Some(ns), "{text}");
        }
        for text in ["", "-", ".", "x", "1,5", "nan", "inf", "1e300", "99999999999999", "1.2.3", "--1"] {
            assert_eq!(parse_time_ns(text), None, "{text}");
        }
        assert_eq!(clock_ns(2, 5), Some(2_000_005_000));
        assert_eq!((clock_ns(i64::MAX, 0), clock_ns(0, i64::MIN), clock_ns(1 << 32, 0)), (None, None, None));
    }

    #[test]
    fn fields_are_separated_by_any_blanks() {
        let mut fields = Fields::new("  -3\t7   \"%d %s\"  4 text of it \r\n");
        assert_eq!((fields.number("a type"), fields.short_number("a type")), (Ok(-3), Ok(7)));
        assert!(fields.skip_format() && !fields.skip_format());
        assert_eq!(fields.number("a length"), Ok(4));
        assert_eq!((fields.rest(), fields.collect::<Vec<_>>().len()), ("text of it", 3));
        assert_eq!(Fields::new("").number("a type"), Err("a type is missing".into()));
        let mut open = Fields::new("\"%d never closed");
        assert!(open.skip_format() && open.next().is_none());
        assert!(Fields::new("5000000000").short_number("a type").unwrap_err().contains("5000000000"));
    }
}
