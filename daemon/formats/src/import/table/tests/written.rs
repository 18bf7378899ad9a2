//! Tables as pandas, R, Excel and awk write them say the same.

use super::*;

const TABLE: &str = "rank,type,timestamp_ns,source,destination,size,duration_ns,tag\n\
                     0,send,1700000000000000500,0,1,100,50,4\n\
                     1,receive,1700000000000000900,0,1,100,300,4\n";

fn expected() -> Vec<Event> {
    events(TABLE).unwrap().0
}

#[test]
fn separators_marks_quotes_and_ends_of_lines_do_not_matter() {
    let quoted = TABLE.replace(',', "\",\"").replace('\n', "\"\n\"");
    let texts = [
        TABLE.replace(',', ";"),
        TABLE.replace(',', "\t"),
        TABLE.replace(',', " "),
        TABLE.replace(',', ", "),
        format!("\u{feff}{}", TABLE.replace(',', ";").replace('\n', "\r\n")),
        format!("sep=;\r\n{}", TABLE.replace(',', ";").replace('\n', "\r\n")),
        format!("\"{}", quoted.trim_end_matches('"')),
        // R's tables name rows, with a column for that or without; Excel ends lines that have empty cells.
        "\"\",\"rank\",\"type\",\"timestamp_ns\",\"source\",\"destination\",\"size\",\"duration_ns\",\"tag\"\n\
         \"1\",0,\"send\",1700000000000000500,0,1,100,50,4\n\
         \"2\",1,\"receive\",1700000000000000900,0,1,100,300,4\n"
            .into(),
        "\"rank\" \"type\" \"timestamp_ns\" \"source\" \"destination\" \"size\" \"duration_ns\" \"tag\"\n\
         \"1\" 0 \"send\" 1700000000000000500 0 1 100 50 4\n\
         \"2\" 1 \"receive\" 1700000000000000900 0 1 100 300 4\n"
            .into(),
        TABLE.replace(",4\n", ",4,\n"),
        TABLE.replace("send", "Send").replace("receive", "RECV"),
    ];
    for text in texts {
        assert_eq!(events(&text).unwrap().0, expected(), "{text}");
    }
}

/// The files of `foreign`, which its scripts have written.
#[test]
fn files_of_other_programs_say_the_same() {
    let files = [
        ("pandas", include_str!("foreign/pandas.csv")),
        ("pandas, with an index", include_str!("foreign/pandas_index.csv")),
        ("pandas, floating-point", include_str!("foreign/pandas_float.tsv")),
        ("pandas, decimal comma", include_str!("foreign/pandas_decimal_comma.csv")),
        ("R, csv", include_str!("foreign/R.csv")),
        ("R, csv2", include_str!("foreign/R_decimal_comma.csv")),
        ("R, blanks", include_str!("foreign/R_blanks.txt")),
        ("R, tabs", include_str!("foreign/R_tabs.tsv")),
        ("awk", include_str!("foreign/awk.txt")),
        ("Python", include_str!("foreign/python_excel.csv")),
        ("Python, tabs", include_str!("foreign/python_excel_tab.tsv")),
        ("Python, quotes", include_str!("foreign/python_unix.txt")),
        ("Polars", include_str!("foreign/polars.csv")),
        ("Polars, for Excel", include_str!("foreign/polars_excel.csv")),
        ("DuckDB", include_str!("foreign/duckdb.csv")),
        ("DuckDB, tabs", include_str!("foreign/duckdb_tabs.tsv")),
        ("Arrow", include_str!("foreign/arrow.csv")),
        ("Gnumeric", include_str!("foreign/gnumeric.csv")),
        ("Gnumeric, tabs", include_str!("foreign/gnumeric_tabs.txt")),
    ];
    for (program, text) in files {
        assert_eq!(events(text).unwrap().0, expected(), "{program}");
    }
}

#[test]
fn numbers_with_points_and_exponents_are_exact() {
    let texts = [
        // A column with an empty cell has points in all others.
        TABLE.replace(",4\n", ",4.0\n").replace(",50,", ",50.0,"),
        TABLE.replace("1700000000000000500", "1.7000000000000005e+18").replace(",100,", ",1e2,"),
        TABLE.replace("1700000000000000900", "1700000000000000900.000"),
        TABLE
            .replace(',', ";")
            .replace("1700000000000000500", "1,7000000000000005E+18")
            .replace("50;4", "50,0;4"),
        TABLE.replace(',', "\t").replace("1700000000000000900", "1700000000000000900,0"),
    ];
    for text in texts {
        let (found, summary) = events(&text).unwrap();
        assert_eq!((found, summary.rounded), (expected(), 0), "{text}");
    }
    let (found, summary) = events(&TABLE.replace("0500,", "0499.5,").replace(",300,", ",300.25,")).unwrap();
    assert_eq!((found, summary.rounded), (expected(), 2));
}

/// Excel writes 8000 as `8.000` where the comma is the decimal point, and as `8,000` elsewhere.
#[test]
fn a_number_that_has_two_meanings_is_refused() {
    let line = |separator: &str, line: &str| {
        let table = format!("{HEADER},comm\n{line}\n").replace(',', separator).replace('_', ",");
        wrong(&table.replace("timestamp,ns", "timestamp_ns"))
    };
    let expected = |mark: &str, column: &str, found: &str| {
        format!(
            "t.csv, line 2: the {mark} in {column}, \"{found}\", separates thousands or decimals: \
             write whole numbers without it"
        )
    };
    assert_eq!(line(";", "0,send,5,0,1,8.000,1"), expected("point", "size", "8.000"));
    assert_eq!(line(";", "0,send,-1.500.000,0,1,8,1"), expected("point", "timestamp_ns", "-1.500.000"));
    assert_eq!(line(";", "0,send,5,0,1,8,1.000"), expected("point", "comm", "1.000"));
    assert_eq!(
        line("\t", "0,send,5,0,1,8_000,1"),
        expected("comma", "size", "8_000".replace('_', ",").as_str())
    );
    // These have one meaning.
    let time = |separator: &str, written: &str| {
        let table = format!("{HEADER}\n0,send,TIME,0,1,8\n").replace(',', separator).replace("TIME", written);
        let (events, summary) = events(&table).unwrap();
        (events[0].timestamp_ns, summary.rounded)
    };
    assert_eq!(time(";", "8,5"), (9, 1));
    assert_eq!(time(";", "8,000"), (8, 0));
    assert_eq!(time(";", "1500.0"), (1500, 0));
    assert_eq!(time("\t", "8.000"), (8, 0));
    assert_eq!(time(",", "8.000"), (8, 0));
}

#[test]
fn cells_without_a_value_are_empty() {
    for nothing in ["", "NA", "NaN", "nan", "null"] {
        let text = format!(
            "{HEADER},tag,comm,duration_ns,call\n0,send,5,0,1,8,{nothing},{nothing},{nothing},{nothing}\n"
        );
        let (found, summary) = events(&text).unwrap();
        assert_eq!((found[0].tag, found[0].comm, summary.untimed), (0, 0, 1), "{text}");
    }
    let text = format!("{HEADER},comm\n0,send,5,0,1,8,0.0\n0,send,6,0,1,8,3.0\n0,send,7,0,1,8,3\n");
    let comms: Vec<u32> = events(&text).unwrap().0.iter().map(|event| event.comm).collect();
    assert_eq!(comms, [0, 1, 1]);
    // Names are names, also where they look like a number.
    let text = format!("{HEADER},comm\n0,send,5,0,1,8,1\n0,send,6,0,1,8,01\n0,send,7,0,1,8,1e0\n");
    let comms: Vec<u32> = events(&text).unwrap().0.iter().map(|event| event.comm).collect();
    assert_eq!(comms, [1, 2, 3]);
}

#[test]
fn times_before_zero_are_times() {
    let text = "rank,type,timestamp_ns,source,destination,size,duration_ns\n\
                0,send,-500,0,1,100,50\n1,receive,-100,0,1,100,300\n1,receive,20,0,1,7,100\n0,send,-450,0,1,7,10\n";
    let read_back = read_back(text, 10, 100);
    let mut found: Vec<_> = read_back
        .messages
        .iter()
        .map(|message| (message.send_ns, message.recv_ns, message.t_msg_ns))
        .collect();
    found.sort_unstable();
    assert_eq!(found, [(0, 400, 300), (50, 520, 100)]);
    assert_eq!((read_back.faults, read_back.unmatched), (0, (0, 0)));
}

#[test]
fn what_is_no_time_is_reported_without_regard_to_others() {
    let line = |line: &str| {
        wrong(&format!("{HEADER},duration_ns\n0,send,5,0,1,8,1\n{line}\n")).replace("t.csv, line 3: ", "")
    };
    let time = "a number of nanoseconds, within 146 years of 0, is expected in timestamp_ns, not";
    let length = "a number of nanoseconds from 0 on, at most 146 years, is expected in duration_ns, not";
    assert_eq!(line("0,send,1e99,0,1,8,1"), format!("{time} \"1e99\""));
    assert_eq!(line("0,send,12:30,0,1,8,1"), format!("{time} \"12:30\""));
    assert_eq!(line("0,send,,0,1,8,1"), format!("{time} \"\""));
    assert_eq!(line("1,receive,5,0,1,8,-1"), format!("{length} \"-1\""));
    assert_eq!(line("1,receive,5,0,1,8,1e99"), format!("{length} \"1e99\""));
    assert_eq!(
        line("0.5,send,5,0,1,8,1"),
        "a whole number from 0 to 1048575 is expected in rank, not \"0.5\""
    );
    assert_eq!(
        line("0,send,-4611686018427387903,0,1,8,1"),
        "the times of lines 3 and 2 are more than 146 years apart"
    );
}

#[test]
fn files_of_nodes_are_written_by_the_same_programs() {
    let plain = "rank,node\n0,a\n1,b c\n";
    let texts = [
        plain.replace(',', ";"),
        plain.replace(',', "\t").replace('\n', "\r\n"),
        format!("\u{feff}sep=;\r\n{}", plain.replace(',', ";")),
        plain.replace("0,", "0.0,").replace("1,", "1e0,"),
        "\"rank\",\"node\"\n\"1\",0,\"a\"\n\"2\",1,\"b c\"\n".into(),
    ];
    for text in texts {
        let mut summary = events(TABLE).unwrap().1;
        let found =
            node_table::read_nodes(Records::from_input(text.as_bytes(), "n.csv".into()), &mut summary)
                .unwrap();
        assert_eq!(found, (vec!["a".into(), "b c".into()], Vec::new()), "{text}");
    }
}

/// A zero among nanoseconds since 1970, and events years apart.
#[test]
fn times_that_no_run_spans_are_named() {
    let table = TABLE.replace("1700000000000000500", "0");
    let sentence = events(&table).unwrap().1.describe_long_span("t.csv").unwrap();
    assert_eq!(
        sentence,
        "t.csv: its times span 53.9 years, from 0 (line 2) to 1700000000000000900 (line 3): check both"
    );
    assert_eq!(events(TABLE).unwrap().1.describe_long_span("t.csv"), None);
}
