//! Which ranks talk mostly among themselves: by a table, by a recording, and in the report of a run.

use mpiscope_harness::{Ended, LIMIT, Mpi, folder, mpiscope, record, report, run};
use serde_json::{Value, json};
use std::path::Path;

const TABLE: &str = "a,b\n1,2\n1,3\n1,4\n2,3\n3,4\n3,7\n4,5\n5,6\n5,7\n6,7\n7,8\n";

fn regions(words: &[&str], file: &Path) -> Ended {
    run(mpiscope(&["regions"]).unwrap().args(words).arg(file), LIMIT).unwrap()
}

#[test]
fn a_table_is_printed_as_json() {
    let folder = folder().unwrap();
    let file = folder.path().join("edges.csv");
    std::fs::write(&file, format!("{TABLE}20,21,3\n30,30\n")).unwrap();
    let ended = regions(&["--method", "paper", "--json", "--edges"], &file);
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let found: Value = serde_json::from_str(&ended.output()).unwrap();
    assert_eq!(found["ranks"], json!([1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 30]));
    // Two that talk with nobody else are as near as can be.
    assert_eq!(found["regions"], json!([[1, 2, 3, 4], [5, 6, 7, 8], [20, 21], [30]]));
    let distance = |one: usize, other: usize| found["distance"][one][other].as_f64();
    for (one, other, expected) in [(0, 1, 1.18), (0, 5, 3.40), (6, 7, 1.15), (9, 8, 0.0), (3, 3, 0.0)] {
        assert!((distance(one, other).unwrap() - expected).abs() <= 0.005, "{one} {other}");
    }
    assert_eq!((distance(0, 8), distance(10, 0)), (None, None));
    assert!(found["distance"][0][8].is_null());
    // In words; at another distance; and with any number.
    let words = regions(&["--method", "paper", "--edges"], &file).output();
    assert!(words.contains("4 regions of 11 ranks") && words.contains("ranks 5-8"), "{words}");
    let alone = regions(&["--method", "paper", "--cut", "0.5", "--json", "--edges"], &file).output();
    assert!(alone.contains("\"regions\":[[1],[2],[3],[4],[5],[6],[7],[8],[20,21],[30]]"), "{alone}");
    let three = regions(&["--count", "5", "--json", "--edges"], &file).output();
    let three: Value = serde_json::from_str(&three).unwrap();
    assert_eq!(three["regions"].as_array().unwrap().len(), 5);
}

#[test]
fn an_error_is_one_line() {
    let folder = folder().unwrap();
    let file = folder.path().join("edges.csv");
    std::fs::write(&file, "0,1\n1,two\n").unwrap();
    let refused = |words: &[&str], says: &str| {
        let ended = regions(words, &file);
        let errors = ended.errors();
        assert_eq!((ended.status, ended.output().as_str()), (2, ""), "{errors}");
        assert!(errors.lines().count() == 1 && errors.contains(says), "{errors}");
    };
    refused(&["--edges"], "edges.csv, line 2: `two` is no rank");
    refused(&["--cut", "half", "--edges"], "auto or a distance");
    refused(&["--cut", "-1", "--edges"], "mpiscope:");
    refused(&["--method", "metis", "--edges"], "paper or free-energy");
    refused(&["--edges", "elsewhere.csv"], "mpiscope:");
}

#[test]
fn the_rows_of_a_simulated_job_are_found() {
    let folder = folder().unwrap();
    let out = folder.path().join("made");
    let words = [
        "synth",
        "--pattern",
        "cg",
        "--ranks",
        "64",
        "--nodes",
        "4",
        "--seconds",
        "1",
        "--rate",
        "200000",
        "-o",
    ];
    let ended = run(mpiscope(&words).unwrap().arg(&out), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let report = report(&out).unwrap();
    let regions = report["regions"].as_array().unwrap();
    let rows: Vec<Value> = (0..8).map(|row| json!((8 * row..8 * row + 8).collect::<Vec<u32>>())).collect();
    assert_eq!(regions.iter().map(|region| region["ranks"].clone()).collect::<Vec<_>>(), rows);
    for region in regions {
        let latency = region["latency"].as_f64().unwrap();
        assert!((0.5..2.0).contains(&latency), "{region}");
        assert!(region["exact"].as_f64().unwrap() > 0.01, "{region}");
    }
}

#[test]
fn the_report_of_a_run_names_the_rows_that_talk() {
    const RANKS: u32 = 16;
    for mpi in Mpi::sample_or_skip("regions the_report_of_a_run_names_the_rows_that_talk") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let program = mpi.app("rows").unwrap();
        let ended = run(&mut record(&mpi, RANKS, &program, &["40"], &out).unwrap(), LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        let report = report(&out).unwrap();
        let regions = report["regions"].as_array().unwrap();
        let ranks: Vec<Value> = regions.iter().map(|region| region["ranks"].clone()).collect();
        assert_eq!(
            ranks,
            [json!([0, 1, 2, 3]), json!([4, 5, 6, 7]), json!([8, 9, 10, 11]), json!([12, 13, 14, 15])]
        );
        for (id, region) in regions.iter().enumerate() {
            // Four sums with two partners each, from four ranks.
            assert_eq!((&region["id"], &region["messages"]), (&json!(id), &json!(40 * 4 * 2 * 4)));
            let exact = region["exact"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&exact) && region["delayed"].is_u64(), "{region}");
            assert!(region["latency"].is_null() || region["latency"].as_f64().unwrap() > 0.0, "{region}");
        }
        // Each two rows have one pair that is transposed.
        let between = report["between"].as_array().unwrap();
        assert_eq!(between.len(), 6);
        assert!(between.iter().all(|pair| pair["messages"] == 80), "{between:?}");
        let words = run(mpiscope(&["report"]).unwrap().arg(&out), LIMIT).unwrap().output();
        assert!(words.contains("4 regions of 4 ranks communicate mostly within"), "{words}");
        let own = run(mpiscope(&["regions", "--json"]).unwrap().arg(&out), LIMIT).unwrap();
        let own: Value = serde_json::from_str(&own.output()).unwrap();
        assert_eq!(own["regions"], json!(ranks));
    }
}
