//! Functions and operators: their names, how many arguments they take, and what they compute.

/// A function of one argument, or a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unary {
    Negate,
    Sqrt,
    Floor,
    Ceil,
    Round,
    Abs,
    Sign,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Exp,
    Ln,
    Log2,
    Log10,
}

/// A function of two arguments, or an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Modulo,
    Atan2,
    LogToBase,
    Min,
    Max,
}

/// What a name with parentheses stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Function {
    Constant(f64),
    Random,
    One(Unary),
    Two(Binary),
    /// One argument: to base 10; two: to a base.
    Log,
    /// Applied to any number of arguments from left to right.
    Fold(Binary),
    Average,
    If,
}

use Function::{Constant, Fold, One, Two};

pub(crate) const FUNCTIONS: [(&str, Function); 33] = [
    ("pi", Constant(std::f64::consts::PI)),
    ("e", Constant(std::f64::consts::E)),
    ("rand", Function::Random),
    ("sqrt", One(Unary::Sqrt)),
    ("floor", One(Unary::Floor)),
    ("ceil", One(Unary::Ceil)),
    ("round", One(Unary::Round)),
    ("abs", One(Unary::Abs)),
    ("sign", One(Unary::Sign)),
    ("sin", One(Unary::Sin)),
    ("cos", One(Unary::Cos)),
    ("tan", One(Unary::Tan)),
    ("asin", One(Unary::Asin)),
    ("acos", One(Unary::Acos)),
    ("atan", One(Unary::Atan)),
    ("sinh", One(Unary::Sinh)),
    ("cosh", One(Unary::Cosh)),
    ("tanh", One(Unary::Tanh)),
    ("asinh", One(Unary::Asinh)),
    ("acosh", One(Unary::Acosh)),
    ("atanh", One(Unary::Atanh)),
    ("exp", One(Unary::Exp)),
    ("ln", One(Unary::Ln)),
    ("lg", One(Unary::Log2)),
    ("log", Function::Log),
    ("mod", Two(Binary::Modulo)),
    ("pow", Two(Binary::Power)),
    ("atan2", Two(Binary::Atan2)),
    ("min", Fold(Binary::Min)),
    ("max", Fold(Binary::Max)),
    ("sum", Fold(Binary::Add)),
    ("avg", Function::Average),
    ("if", Function::If),
];

/// Takes a key as it stands between the parentheses, so the tokenizer knows it and the table does not.
pub(crate) const METADATA: &str = "metadata";

impl Function {
    /// Whether it takes this number of arguments; else how many it takes.
    pub(crate) fn check_count(self, count: usize) -> Result<(), &'static str> {
        let (least, most, expected) = match self {
            Constant(_) | Self::Random => (0, 0, "no arguments"),
            One(_) => (1, 1, "1 argument"),
            Two(_) => (2, 2, "2 arguments"),
            Self::Log => (1, 2, "1 or 2 arguments"),
            Fold(_) | Self::Average => (1, usize::MAX, "1 argument or more"),
            Self::If => (3, 3, "3 arguments"),
        };
        if (least..=most).contains(&count) { Ok(()) } else { Err(expected) }
    }
}

/// Rounds a half up, as Java does.
pub(crate) fn round_half_up(value: f64) -> f64 {
    let below = value.floor();
    if value - below >= 0.5 { below + 1.0 } else { below }
}

/// The smaller one; NaN when one is NaN.
pub(crate) fn least(one: f64, other: f64) -> f64 {
    if other < one || other.is_nan() { other } else { one }
}

/// The larger one; NaN when one is NaN.
pub(crate) fn greatest(one: f64, other: f64) -> f64 {
    if other > one || other.is_nan() { other } else { one }
}

/// -1, 0 or 1.
pub(crate) fn sign(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.signum() }
}

/// The remainder with the sign of the dividend. Whole numbers, which ranks and sizes are, take a shorter way to the same result.
pub(crate) fn remainder(dividend: f64, divisor: f64) -> f64 {
    // These casts saturate, and NaN becomes 0.
    let (whole_dividend, whole_divisor) = (dividend as u32, divisor as u32);
    let are_whole = f64::from(whole_dividend) == dividend && f64::from(whole_divisor) == divisor;
    if are_whole && whole_divisor != 0 && dividend.is_sign_positive() {
        f64::from(whole_dividend % whole_divisor)
    } else {
        dividend % divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_are_exact() {
        let numbers =
            [0.0, -0.0, 1.0, 2.5, 3.0, 7.0, -7.0, 1024.0, 4_294_967_295.0, 4_294_967_296.0, 1e300, f64::NAN];
        for dividend in numbers.into_iter().chain([f64::INFINITY]) {
            for divisor in numbers {
                let (found, expected) = (remainder(dividend, divisor), dividend % divisor);
                let is_same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
                assert!(is_same, "{dividend} {divisor}: {found}");
            }
        }
    }
}
