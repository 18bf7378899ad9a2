//! Any bytes are read without a panic, and expressions have the value that a plain evaluation of each rank finds.

use crate::support;
use mpiscope_layout::{Inputs, LayoutFile, Values};
use proptest::collection::vec;
use proptest::prelude::*;

const NAMES: &[&str] = &["Rank", "maxRank", "node", "event0.val", "event0.mean"];
const ONE: &[&str] = &["sqrt", "floor", "ceil", "round", "abs", "sin", "atan", "exp", "ln", "log"];
const TWO: &[&str] = &["mod", "pow", "atan2", "log"];
const ANY_COUNT: &[&str] = &["min", "max", "avg"];
const OPERATORS: &[char] = &['+', '-', '*', '/', '^'];

/// An expression as a tree.
#[derive(Debug, Clone)]
enum Expression {
    Number(f64),
    Name(&'static str),
    Metadata,
    Negative(Box<Expression>),
    Operator(char, Box<Expression>, Box<Expression>),
    Call(&'static str, Vec<Expression>),
}

use Expression::{Call, Metadata, Name, Negative, Number, Operator};

impl Expression {
    fn binding(&self) -> u32 {
        match self {
            Operator('+' | '-', ..) => 1,
            Operator('*' | '/', ..) => 2,
            Operator(..) => 3,
            _ => 4,
        }
    }

    /// With as few parentheses as the rules of the language allow.
    fn print(&self, least: u32) -> String {
        let text = match self {
            Number(value) => format!("{value:?}"),
            Name(name) => (*name).to_owned(),
            Metadata => "metadata(cpu)".to_owned(),
            Negative(inner) => format!("-{}", inner.print(4)),
            Operator(sign, left, right) => {
                let binding = self.binding();
                format!("{}{sign}\n {}", left.print(binding), right.print(binding + 1))
            }
            Call(name, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(|argument| argument.print(1)).collect();
                format!("{name}({})", arguments.join(", "))
            }
        };
        if self.binding() < least { format!("({text})") } else { text }
    }

    /// For one rank.
    fn value(&self, rank: u32, ranks: u32) -> f64 {
        match self {
            Number(value) => *value,
            Name("Rank") => f64::from(rank),
            Name("maxRank") => f64::from(ranks),
            Name("node") => f64::from(rank / 4),
            Name("event0.val") => 100.0 + f64::from(rank),
            Name(_) => f64::from(ranks + 199) / 2.0,
            Metadata => f64::from(rank % 5),
            Negative(inner) => -inner.value(rank, ranks),
            Operator(sign, left, right) => operate(*sign, left.value(rank, ranks), right.value(rank, ranks)),
            Call(name, arguments) => {
                let arguments: Vec<f64> =
                    arguments.iter().map(|argument| argument.value(rank, ranks)).collect();
                call(name, &arguments)
            }
        }
    }
}

fn operate(sign: char, left: f64, right: f64) -> f64 {
    match sign {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        '/' => left / right,
        _ => left.powf(right),
    }
}

fn call(name: &str, arguments: &[f64]) -> f64 {
    let any_nan = arguments.iter().any(|argument| argument.is_nan());
    match (name, arguments) {
        ("pi", []) => std::f64::consts::PI,
        ("sqrt", [x]) => x.sqrt(),
        ("floor", [x]) => x.floor(),
        ("ceil", [x]) => x.ceil(),
        ("round", [x]) if x - x.floor() >= 0.5 => x.floor() + 1.0,
        ("round", [x]) => x.floor(),
        ("abs", [x]) => x.abs(),
        ("sin", [x]) => x.sin(),
        ("atan", [x]) => x.atan(),
        ("exp", [x]) => x.exp(),
        ("ln", [x]) => x.ln(),
        ("log", [x]) => x.log10(),
        ("log", [x, base]) => x.ln() / base.ln(),
        ("mod", [x, y]) => x % y,
        ("pow", [x, y]) => x.powf(*y),
        ("atan2", [y, x]) => y.atan2(*x),
        ("min" | "max", _) if any_nan => f64::NAN,
        ("min", [first, rest @ ..]) => {
            rest.iter().fold(*first, |one, other| if *other < one { *other } else { one })
        }
        ("max", [first, rest @ ..]) => {
            rest.iter().fold(*first, |one, other| if *other > one { *other } else { one })
        }
        ("avg", [first, rest @ ..]) => {
            rest.iter().fold(*first, |one, other| one + other) / arguments.len() as f64
        }
        ("if", [condition, one, other]) => {
            if *condition != 0.0 {
                *one
            } else {
                *other
            }
        }
        _ => panic!("{name} {arguments:?}"),
    }
}

fn expressions() -> impl Strategy<Value = Expression> {
    let number = prop_oneof![(0_u32..20).prop_map(f64::from), 0.0..1e3, Just(1e300), Just(0.5)];
    let leaf = prop_oneof![
        number.prop_map(Number),
        proptest::sample::select(NAMES).prop_map(Name),
        Just(Metadata),
        Just(Call("pi", Vec::new())),
    ];
    leaf.prop_recursive(6, 60, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            3 => (proptest::sample::select(OPERATORS), boxed.clone(), boxed.clone())
                .prop_map(|(sign, left, right)| Operator(sign, left, right)),
            1 => boxed.prop_map(Negative),
            1 => (proptest::sample::select(ONE), vec(inner.clone(), 1)).prop_map(|(name, list)| Call(name, list)),
            1 => (proptest::sample::select(TWO), vec(inner.clone(), 2)).prop_map(|(name, list)| Call(name, list)),
            1 => (proptest::sample::select(ANY_COUNT), vec(inner.clone(), 1..4))
                .prop_map(|(name, list)| Call(name, list)),
            1 => vec(inner, 3).prop_map(|list| Call("if", list)),
        ]
    })
}

/// Pieces of layout files, sound and not.
fn pieces() -> impl Strategy<Value = String> {
    let pieces = [
        "BEGIN_VIZ=a\n",
        "END_VIZ\n",
        "TOPOLOGY_MAP=",
        "x=",
        "y0=",
        "z=",
        "color1=",
        "restrictDim=",
        "(",
        ")",
        ",",
        "\n",
        "+",
        "-",
        "^",
        "/",
        "rank",
        "maxRank",
        "event0.val",
        "metadata(",
        "metadata(cpu)",
        "sin(",
        "max(",
        "if(",
        "rand()",
        "1",
        "0",
        ".",
        "1e9",
        "2e",
        "#",
        "=",
        "\u{d7}",
        "\u{0}",
        "x=0,y=0,z=0\n",
    ];
    vec(proptest::sample::select(pieces.map(str::to_owned).to_vec()), 0..60)
        .prop_map(|pieces| pieces.concat())
}

/// Reads a file and evaluates what is in it.
fn read(bytes: &[u8]) {
    let file = LayoutFile::parse(bytes);
    for error in &file.errors {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    for layout in &file.layouts {
        let points = layout.evaluate(&support::inputs()).expect("few points");
        assert_eq!(points.len(), 8 * layout.points_per_rank());
    }
}

fn inputs(ranks: u32) -> Inputs {
    let per_rank =
        |value: &dyn Fn(u32) -> u32| Values::PerRank((0..ranks).map(|rank| f64::from(value(rank))).collect());
    let mut inputs = Inputs::new(ranks as usize);
    inputs.set_node(per_rank(&|rank| rank / 4));
    inputs.set_event(0, per_rank(&|rank| 100 + rank));
    inputs.set_metadata("cpu", per_rank(&|rank| rank % 5));
    inputs
}

proptest! {
    #[test]
    fn expressions_have_the_value_of_a_plain_evaluation(
        expression in expressions(),
        ranks in proptest::sample::select(&[1, 8, 512, 1025][..]),
    ) {
        let text = expression.print(1);
        let points = support::expression(&text).evaluate(&inputs(ranks)).expect("few points");
        prop_assert_eq!(points.len(), ranks as usize);
        for (rank, found) in (0..).zip(points.x) {
            let expected = expression.value(rank, ranks);
            let is_same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            prop_assert!(is_same, "{text}: {found:?} instead of {expected:?} for rank {rank}");
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in vec(any::<u8>(), 0..400)) {
        read(&bytes);
    }

    #[test]
    fn any_statements_are_read(bytes in vec(any::<u8>(), 0..200)) {
        read(&[b"BEGIN_VIZ=a\nx=0,y=0,z=0\n", &bytes[..], b"\nEND_VIZ\n"].concat());
    }

    #[test]
    fn any_pieces_are_read(text in pieces()) {
        read(text.as_bytes());
        read(format!("BEGIN_VIZ=a\n{text}\nEND_VIZ").as_bytes());
    }
}
