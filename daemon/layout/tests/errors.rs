//! Errors name their line and column; limits hold.

use crate::support;
use crate::support::{errors, expression};
use mpiscope_layout::{
    Inputs, LayoutFile, MOST_DEPTH, MOST_FILE_BYTES, MOST_LAYOUTS, MOST_NAME_BYTES, MOST_OPERATIONS,
    MOST_POINTS, MOST_POINTS_PER_RANK, MOST_STATEMENTS,
};
use std::fmt::Write as _;

/// The error of a layout that has this as its second and third line.
fn error_of(lines: &str) -> String {
    let errors = errors(&format!("BEGIN_VIZ=a\n{lines}\nx=0\ny=0\nz=0\nEND_VIZ\n"));
    assert_eq!(errors.len(), 1, "{lines}: {errors:?}");
    errors[0].clone()
}

#[test]
fn errors_say_where_and_what_was_expected() {
    let examples = [
        ("a=1+", "3:1: expected a number, a name or `(`, found `x=`"),
        ("a=*2", "2:3: expected a number, a name or `(`, found `*`"),
        ("a=2 x", "2:5: expected an operator, `,` or the end of the line, found `x`"),
        ("a=1<2", "2:4: expected an operator, `,` or the end of the line, found `<`"),
        ("a b=2", "2:3: expected `=`, found `b`"),
        ("3=2", "2:1: expected a name or END_VIZ, found the number 3.0"),
        ("+ 1", "2:1: expected a name or END_VIZ, found `+`"),
        ("  a=(1+2", "3:1: expected an operator or `)` for the `(` at 2:5, found `x`"),
        ("a=sin(1", "3:1: expected an operator or `)` for the `(` at 2:3, found `x`"),
        ("a=1.2.3", "2:3: expected a number, a name or `(`, found `1.2.3`"),
        ("a=1)", "2:4: expected an operator, `,` or the end of the line, found `)`"),
        ("a=max(1,)", "2:9: expected a number, a name or `(`, found `)`"),
        ("a=", "3:1: expected a number, a name or `(`, found `x=`"),
        ("a=sin()", "2:3: expected 1 argument for `sin`, found 0"),
        ("a=1,b=IF(1,2)", "2:7: expected 3 arguments for `if`, found 2"),
        ("a=log(1,2,3)", "2:3: expected 1 or 2 arguments for `log`, found 3"),
        ("a=max()", "2:3: expected 1 argument or more for `max`, found 0"),
        ("a=pi(1)", "2:3: expected no arguments for `pi`, found 1"),
        ("a=rnak+1", "2:3: unknown name `rnak`; did you mean `rank`?"),
        ("theta=1\nb=tetha", "3:3: unknown name `tetha`; did you mean `theta`?"),
        ("a=pi", "2:3: unknown name `pi`; did you mean `pi()`?"),
        ("a=squrt(2)", "2:3: unknown function `squrt`; did you mean `sqrt`?"),
        ("a=metdata(cpu)", "2:3: unknown function `metdata`; did you mean `metadata`?"),
        ("a=quantile(2)", "2:3: unknown function `quantile`"),
        ("größe=1, a=größe+latency", "2:18: unknown name `latency`"),
        ("a=B\nb=1", "2:3: `B` is used before it is set in line 3"),
        ("a=metadata(cpu\nb=1", "2:3: expected `)` behind the key of metadata, found the end of the line"),
        ("a=\u{7}", "2:3: expected a number, a name or `(`, found `\u{fffd}`"),
        ("a=metadata(\u{7}", "2:3: expected `)` behind the key"),
    ];
    for (lines, expected) in examples {
        let found = error_of(lines);
        assert!(found.starts_with(expected), "{lines}: {found}");
    }
}

#[test]
fn points_need_three_coordinates() {
    let examples = [
        ("a=1", "1:1: expected `x`, `y` and `z`: nothing in this layout places a rank"),
        ("x=1,z=1", "2:1: expected `y`: the layout sets `x` but not `y`"),
        ("x=1,y=1", "2:1: expected `z`: the layout sets `x` but not `z`"),
        ("a=1,y=1", "2:5: expected `x`: the layout sets `y` but not `x`"),
        ("z0=1", "2:1: expected `x0`: the layout sets `z0` but not `x0`"),
        ("x0=1,y0=1,z0=1\nx1=1,y1=1", "3:1: expected `z1`: the layout sets `x1` but not `z1`"),
    ];
    for (lines, expected) in examples {
        assert_eq!(errors(&format!("BEGIN_VIZ=a\n{lines}\nEND_VIZ")), [expected], "{lines}");
    }
}

#[test]
fn blocks_begin_and_end() {
    let whole = "x=0,y=0,z=0\nEND_VIZ\n";
    let examples = [
        (
            format!("\n  Hello, world\nagain\n\nBEGIN_VIZ=a\n{whole}"),
            "2:3: expected BEGIN_VIZ=name, found `Hello,`",
        ),
        (
            format!("BEGIN_VIZ=\n{whole}BEGIN_VIZ=b\n{whole}"),
            "1:1: expected a name after BEGIN_VIZ=, found none",
        ),
        (format!("BEGIN_VIZ=a\n{whole}END_VIZ"), "4:1: expected BEGIN_VIZ=name, found END_VIZ"),
        (
            format!("BEGIN_VIZ=a\nx=0\nBEGIN_VIZ=b\n{whole}"),
            "1:1: expected END_VIZ before the next layout: layout `a` is not ended",
        ),
        (
            format!("BEGIN_VIZ=c\n{whole}BEGIN_VIZ=a\nx=0"),
            "4:1: expected END_VIZ before the end of the file: layout `a` is not ended",
        ),
    ];
    for (text, expected) in examples {
        let file = LayoutFile::parse(text.as_bytes());
        assert_eq!(errors(&text), [expected], "{text}");
        assert_eq!(file.layouts.len(), 1, "{text}");
    }
}

#[test]
fn layouts_with_an_error_leave_the_others() {
    let text = "BEGIN_VIZ=bad\nx=later\nlater=1\nEND_VIZ\nBEGIN_VIZ=good\nx=0\ny=0\nz=0\nEND_VIZ\n\
                BEGIN_VIZ=worse\nx=(1\nEND_VIZ";
    let file = LayoutFile::parse(text.as_bytes());
    assert_eq!(file.layouts.iter().map(|layout| layout.name()).collect::<Vec<_>>(), ["good"]);
    assert_eq!(
        errors(text),
        [
            "2:3: `later` is used before it is set in line 3",
            "12:1: expected an operator or `)` for the `(` at 11:3, found END_VIZ"
        ]
    );
}

#[test]
fn expressions_have_a_greatest_depth() {
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(support::value(&nested(MOST_DEPTH as usize)), 1.0);
    let error = error_of(&format!("a={}", nested(100_000)));
    assert_eq!(error, "2:67: the expression has more than 64 parentheses within each other");
    assert!(error_of(&format!("a={}", "sin(".repeat(100))).contains("64 parentheses"));
    // Signs and operators do not nest.
    assert_eq!(support::value(&format!("{}1", "-".repeat(100_000))), 1.0);
    assert_eq!(support::value(&format!("1{}", "+1".repeat(5_000))), 5_001.0);
}

#[test]
fn layouts_have_a_greatest_size() {
    let many = |count: usize| {
        (0..count).fold(String::new(), |mut text, number| {
            let _ = writeln!(text, "a{number}=1");
            text
        })
    };
    assert!(errors(&format!("BEGIN_VIZ=a\n{}x=0,y=0,z=0\nEND_VIZ", many(MOST_STATEMENTS - 3))).is_empty());
    assert_eq!(error_of(&many(MOST_STATEMENTS)), "1003:1: the layout has more than 1000 statements");
    let error = error_of(&format!("a=1{}", "+1".repeat(MOST_OPERATIONS)));
    assert!(error.ends_with("the layout has more than 20000 numbers, names and operators"), "{error}");
    let mut text = "BEGIN_VIZ=a\n".to_owned();
    for point in 0..=MOST_POINTS_PER_RANK {
        let _ = writeln!(text, "x{point}=0,y{point}=0,z{point}=0");
    }
    assert_eq!(errors(&(text + "END_VIZ")), ["1:1: the layout has more than 64 points per rank"]);
    let error = errors(&"#".repeat(MOST_FILE_BYTES + 1));
    assert_eq!(error, ["1:1: the file has more than 1048576 bytes; split it"]);
}

#[test]
fn runs_have_a_greatest_size() {
    let error = expression("rank").evaluate(&Inputs::new(MOST_POINTS + 1)).unwrap_err().to_string();
    assert_eq!(error, "16777217 ranks with 1 points each are more than 16777216 points");
    assert!(expression("rank").evaluate(&Inputs::new(usize::MAX)).is_err());
    assert!(expression("rank").evaluate(&Inputs::new(0)).unwrap().is_empty());
}

#[test]
fn a_file_has_no_more_layouts_than_a_list_shows() {
    let block = |name: &str| format!("BEGIN_VIZ={name}\nx=0,y=0,z=0\nEND_VIZ\n");
    let many: String = (0..=MOST_LAYOUTS).map(|number| block(&format!("of{number}"))).collect();
    let file = LayoutFile::parse(many.as_bytes());
    assert_eq!(file.layouts.len(), MOST_LAYOUTS);
    let errors: Vec<String> = file.errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors, ["769:1: the file has more than 256 layouts; split it"]);
    let long = block(&"n".repeat(MOST_NAME_BYTES + 1)) + &block("short");
    let file = LayoutFile::parse(long.as_bytes());
    assert_eq!(file.layouts.len(), 1);
    assert!(file.errors[0].to_string().ends_with("the name of the layout has more than 256 bytes"));
}
