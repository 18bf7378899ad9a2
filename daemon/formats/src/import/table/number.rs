//! Numbers as programs write them into tables: `1500`, `1500.0`, `1.5e3`, `-7`, and `1500,0` where no comma separates
//! fields. They are read digit by digit, never as binary fractions: whole numbers are exact.

/// A number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number {
    /// Its value, rounded where it is not whole.
    pub(crate) value: i128,
    pub(crate) is_whole: bool,
}

impl Number {
    /// Reads a number; none where the text is something else, or has more than 38 digits before its point.
    pub(crate) fn read(text: &[u8], has_decimal_commas: bool) -> Option<Self> {
        let (is_negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let e = text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'e'));
        let (mantissa, exponent) = match e {
            Some(at) => (&text[..at], exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let is_point = |byte: &u8| *byte == b'.' || (has_decimal_commas && *byte == b',');
        let point = mantissa.iter().position(is_point);
        let (before, behind) = match point {
            Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
            None => (mantissa, &[][..]),
        };
        let mut digits = before.iter().chain(behind);
        if before.len() + behind.len() == 0 || !digits.clone().all(u8::is_ascii_digit) {
            return None;
        }
        if digits.clone().all(|digit| *digit == b'0') {
            return Some(Self { value: 0, is_whole: true });
        }
        let whole_digits = before.len() as i64 + exponent;
        let mut value = 0_i128;
        for _ in 0..whole_digits {
            let digit = digits.next().map_or(0, |digit| digit - b'0');
            value = value.checked_mul(10)?.checked_add(i128::from(digit))?;
        }
        let is_whole = digits.clone().all(|digit| *digit == b'0');
        // Half is rounded away from zero. Below a tenth nothing is.
        let rounds_up = whole_digits >= 0 && digits.next().is_some_and(|digit| *digit >= b'5');
        value = value.checked_add(i128::from(rounds_up))?;
        Some(Self { value: if is_negative { -value } else { value }, is_whole })
    }
}

/// Whether this mark may separate thousands in a number, where it may also be its decimal point: `8.000`.
pub(crate) fn may_be_grouped(text: &[u8], mark: u8) -> bool {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let mut groups = digits.split(|byte| *byte == mark);
    let is_first = |group: &[u8]| {
        (1..=3).contains(&group.len()) && group[0] != b'0' && group.iter().all(u8::is_ascii_digit)
    };
    let is_next = |group: &[u8]| group.len() == 3 && group.iter().all(u8::is_ascii_digit);
    groups.next().is_some_and(is_first) && groups.next().is_some_and(is_next) && groups.all(is_next)
}

/// What is behind the e; one of that many digits is too large or too small in any case.
fn exponent(text: &[u8]) -> Option<i64> {
    const MOST: i64 = 1 << 40;
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        _ => (1, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let read = |sum: i64, digit: &u8| (sum * 10 + i64::from(digit - b'0')).min(MOST);
    Some(sign * digits.iter().fold(0, read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Option<(i128, bool)> {
        Number::read(text.as_bytes(), false).map(|number| (number.value, number.is_whole))
    }

    #[test]
    fn numbers_are_read_as_programs_write_them() {
        let whole = |text: &str, value: i128| assert_eq!(number(text), Some((value, true)), "{text}");
        whole("1500", 1500);
        whole("1500.0", 1500);
        whole("1500.", 1500);
        whole("1.5e3", 1500);
        whole("+1.5E+03", 1500);
        whole("15000e-1", 1500);
        whole("-7", -7);
        whole("-0.0", 0);
        whole("0e99999999999999999999", 0);
        whole("000000000000000000000000000000000000000000000000001", 1);
        // Binary fractions of 64 bits do not have these.
        whole("1700000000000000001", 1_700_000_000_000_000_001);
        whole("1700000000000000001.0", 1_700_000_000_000_000_001);
        whole("1.700000000000000001e+18", 1_700_000_000_000_000_001);
        let rounded = |text: &str, value: i128| assert_eq!(number(text), Some((value, false)), "{text}");
        rounded("2.4999", 2);
        rounded("2.5", 3);
        rounded("-2.5", -3);
        rounded("0.5", 1);
        rounded(".04", 0);
        rounded("5e-1", 1);
        rounded("5e-2", 0);
        rounded("9e-99999999999999999999", 0);
        assert_eq!(Number::read(b"-1500,0", true), Some(Number { value: -1500, is_whole: true }));
        assert_eq!(Number::read(b"1,5e3", true), Some(Number { value: 1500, is_whole: true }));
        let none = [
            "",
            "-",
            ".",
            "e5",
            "1e",
            "1e+",
            "1,5",
            "1.5.0",
            "nan",
            "inf",
            "0x10",
            "1 000",
            "--1",
            "1e999",
            "1e39",
            "170141183460469231731687303715884105727.5",
        ];
        for text in none {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn three_digits_behind_each_mark_may_be_thousands() {
        for text in ["8.000", "-999.125", "+1.000.000", "12.345.678"] {
            assert!(may_be_grouped(text.as_bytes(), b'.'), "{text}");
        }
        for text in
            ["", "8", "8.0", "8.00", "8.0000", "1500.125", "0.125", "8,000", "8.000,5", "8.000e3", ".125"]
        {
            assert!(!may_be_grouped(text.as_bytes(), b'.'), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whole_numbers_are_exact_however_they_are_written(value in any::<i64>(), places in 0_usize..25) {
            let digits = value.unsigned_abs().to_string();
            let sign = if value < 0 { "-" } else { "" };
            let (first, rest) = digits.split_at(1);
            let scientific = format!("{sign}{first}.{rest}{}e{}", "0".repeat(places), rest.len());
            let fixed = format!("{value}.{}", "0".repeat(places));
            for text in [scientific, fixed] {
                prop_assert_eq!(number(&text), Some((value.into(), true)), "{}", text);
            }
        }
    }
}
