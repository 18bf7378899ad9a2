//! `mpiscope report`: its keys, its sums, its refusals.

use mpiscope_harness::{LIMIT, Mpi, Recorded, folder, mpiscope, record, report, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn assert_has(value: &Value, expected: &[&str]) {
    let found = keys(value);
    for key in expected {
        assert!(found.contains(key), "{key} is not among {found:?}");
    }
}

/// Records an application that makes calls of every form.
fn recorded(mpi: &Mpi, out: &Path) {
    let ended = run(&mut record(mpi, 4, &mpi.app("forms").unwrap(), &[], out).unwrap(), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
}

#[test]
fn its_json_has_the_keys_of_the_contract() {
    for mpi in Mpi::sample_or_skip("report its_json_has_the_keys_of_the_contract") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        recorded(&mpi, &out);
        let report = report(&out).unwrap();
        assert_eq!(report["schema"], "mpiscope.report/1");
        assert_has(&report, &["schema", "job", "totals", "functions", "ranks", "message_sizes", "remap"]);
        assert_has(&report, &["criteria", "budget", "efficiency", "waits", "attribution", "verdict"]);
        assert_has(&report["job"], &["ranks", "nodes", "mpi", "command", "duration_s", "exit"]);
        let totals = ["calls", "messages", "bytes", "intra_messages", "inter_messages", "unmatched_sends"];
        assert_has(&report["totals"], &totals);
        assert_has(&report["totals"], &["unmatched_receives", "lost_calls", "polls"]);
        assert_has(&report["functions"][0], &["name", "calls", "seconds", "p50_ns", "p99_ns", "max_ns"]);
        let rank = ["rank", "node", "state", "run_s", "wait_s", "stopped_s", "voluntary", "involuntary"];
        assert_has(&report["ranks"][3], &rank);
        assert_has(&report["message_sizes"][0], &["from_bytes", "to_bytes", "messages", "bytes"]);
        assert_eq!(report["job"]["ranks"], 4);
        assert_eq!(report["job"]["exit"], 0);
        assert_eq!(report["job"]["nodes"][0]["ranks"], serde_json::json!([0, 1, 2, 3]));
        assert!(!report["job"]["nodes"][0]["name"].as_str().unwrap().is_empty());
        assert!(report["job"]["duration_s"].as_f64().unwrap() > 0.0);
        let words: Vec<String> = mpi
            .words(4, &mpi.app("forms").unwrap(), &[])
            .iter()
            .map(|word| word.to_str().unwrap().to_owned())
            .collect();
        assert_eq!(report["job"]["command"], serde_json::json!(words));
    }
}

/// A figure summed over the size classes of a report.
fn in_classes(report: &Value, key: &str) -> u64 {
    let classes = report["message_sizes"].as_array().unwrap();
    classes.iter().map(|class| class[key].as_u64().unwrap()).sum()
}

#[test]
fn its_sums_are_those_of_the_tables() {
    for mpi in Mpi::sample_or_skip("report its_sums_are_those_of_the_tables") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        recorded(&mpi, &out);
        let (report, recorded) = (report(&out).unwrap(), Recorded::load(&out).unwrap());
        let totals = |name: &str| report["totals"][name].as_u64().unwrap();
        let polls: u64 = recorded.calls.iter().map(|call| call.count - 1).sum();
        assert!(polls > 0, "the application polls");
        let bytes: u64 = recorded.messages.iter().map(|message| message.bytes).sum();
        assert_eq!((totals("calls"), totals("polls")), (recorded.calls.len() as u64, polls));
        assert_eq!((totals("messages"), totals("bytes")), (recorded.messages.len() as u64, bytes));
        assert_eq!((totals("intra_messages"), totals("inter_messages")), (totals("messages"), 0));
        assert_eq!(in_classes(&report, "messages"), recorded.messages.len() as u64);
        assert_eq!(in_classes(&report, "bytes"), bytes);
        for class in report["message_sizes"].as_array().unwrap() {
            let figure = |name: &str| class[name].as_u64().unwrap();
            let range = figure("from_bytes")..figure("to_bytes");
            let inside =
                || recorded.messages.iter().map(|row| row.bytes).filter(|bytes| range.contains(bytes));
            let expected = (inside().count() as u64, inside().sum());
            assert_eq!((figure("messages"), figure("bytes")), expected, "{class}");
        }
        let mut sums: BTreeMap<String, (u64, u64, u64, u64)> = BTreeMap::new();
        for call in &recorded.calls {
            let sum = sums.entry(recorded.name(call).to_owned()).or_default();
            let time_ns = call.end_ns - call.start_ns;
            *sum = (sum.0 + 1, sum.1 + call.count - 1, sum.2 + time_ns, sum.3.max(time_ns));
        }
        let functions = report["functions"].as_array().unwrap();
        assert_eq!(functions.len(), sums.len());
        for function in functions {
            let (calls, polls, time_ns, longest_ns) = sums[function["name"].as_str().unwrap()];
            assert_eq!((function["calls"].as_u64(), function["polls"].as_u64()), (Some(calls), Some(polls)));
            let seconds = function["seconds"].as_f64().unwrap();
            assert!((seconds - time_ns as f64 / 1e9).abs() < 1e-9, "{function} and {time_ns} ns");
            let figure = |name: &str| function[name].as_u64().unwrap();
            assert!(
                figure("p50_ns") <= figure("p99_ns") && figure("p99_ns") <= figure("max_ns"),
                "{function}"
            );
            // Folded polls count as the time of one of them.
            assert!(polls > 0 || figure("max_ns") == longest_ns, "{function} and {longest_ns} ns");
        }
    }
}

#[test]
fn its_text_has_the_main_figures() {
    let Some(mpi) = Mpi::sample_or_skip("report its_text_has_the_main_figures").into_iter().next() else {
        return;
    };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    recorded(&mpi, &out);
    let figures = report(&out).unwrap();
    let ended = run(mpiscope(&["report"]).unwrap().arg(&out), LIMIT).unwrap();
    assert_eq!((ended.status, ended.errors().as_str()), (0, ""));
    let text = ended.output();
    for (row, name) in [
        ("calls", "calls"),
        ("messages", "messages"),
        ("unmatched sends", "unmatched_sends"),
        ("unmatched receives", "unmatched_receives"),
        ("lost calls", "lost_calls"),
    ] {
        let line = text.lines().find(|line| line.trim_start().starts_with(row)).unwrap();
        let digits: String = line.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(digits, figures["totals"][name].as_u64().unwrap().to_string(), "{line}");
    }
    // It fits on a page: the functions that took longest are named, the others counted.
    assert!(text.lines().count() <= 60, "{text}");
    let functions = figures["functions"].as_array().unwrap();
    let named = |function: &&Value| text.contains(&format!("  {} ", function["name"].as_str().unwrap()));
    let (named_functions, rest): (Vec<&Value>, Vec<&Value>) = functions.iter().partition(named);
    let seconds = |function: &&Value| function["seconds"].as_f64().unwrap();
    let least = named_functions.iter().map(seconds).fold(f64::INFINITY, f64::min);
    assert!(rest.iter().map(seconds).all(|seconds| seconds <= least), "{text}");
    assert!(rest.is_empty() || text.contains(&format!("{} more functions", rest.len())), "{text}");
    assert!(text.contains("4 ranks") && text.contains("exit status 0"), "{text}");
}

/// A report of the part of a recording that these options select.
fn report_of(out: &Path, options: &[&str]) -> Value {
    let mut command = mpiscope(&["report", "--json"]).unwrap();
    let ended = run(command.arg(out).args(options), LIMIT).unwrap();
    assert_eq!((ended.status, ended.errors().as_str()), (0, ""), "{options:?}");
    serde_json::from_str(&ended.output()).unwrap()
}

#[test]
fn parts_of_a_run_sum_to_its_figures() {
    let name = "report parts_of_a_run_sum_to_its_figures";
    let Some(mpi) = Mpi::sample_or_skip(name).into_iter().next() else { return };
    let folder = folder().unwrap();
    let out = folder.path().join("recording");
    recorded(&mpi, &out);
    let whole = report(&out).unwrap();
    // Where machines are busy all calls may be in one half of the run.
    let (mut from, mut to) = (0.0, whole["job"]["duration_s"].as_f64().unwrap());
    let parts = (0..30).find_map(|_| {
        let middle = (from + to) / 2.0;
        let [before, after] =
            ["--to", "--from"].map(|option| report_of(&out, &[option, &format!("{middle:.6}")]));
        match [&before, &after].map(|part| part["totals"]["calls"].as_u64().unwrap()) {
            [0, _] => from = middle,
            [_, 0] => to = middle,
            _ => return Some([before, after]),
        }
        None
    });
    let parts = parts.unwrap();
    for key in ["calls", "polls", "messages", "bytes", "intra_messages", "inter_messages"] {
        let of = |report: &Value| report["totals"][key].as_u64().unwrap();
        assert_eq!(parts.iter().map(of).sum::<u64>(), of(&whole), "{key}");
    }
    for key in ["messages", "bytes"] {
        let of = |report: &Value| in_classes(report, key);
        assert_eq!(parts.iter().map(of).sum::<u64>(), of(&whole), "{key} of size classes");
    }
    let seconds = |report: &Value| -> f64 {
        let functions = report["functions"].as_array().unwrap();
        functions.iter().map(|function| function["seconds"].as_f64().unwrap()).sum()
    };
    assert!((parts.iter().map(seconds).sum::<f64>() - seconds(&whole)).abs() < 1e-6);
    let of_rank = report_of(&out, &["--rank", "1,3"]);
    let rank = |report: &Value, rank: u64| -> Value {
        let ranks = report["ranks"].as_array().unwrap();
        ranks.iter().find(|each| each["rank"] == rank).cloned().unwrap()
    };
    assert_eq!(of_rank["ranks"].as_array().unwrap().len(), 2);
    assert_eq!((rank(&of_rank, 1), rank(&of_rank, 3)), (rank(&whole, 1), rank(&whole, 3)));
    assert_eq!(of_rank["verdict"], Value::Null, "what is of the whole run only is left out");
    let causes = ["mapping", "pattern", "background", "cpu", "none"];
    for of_part in [&of_rank, &parts[0], &parts[1]] {
        let (verdict, figure) =
            (&of_part["selection"]["verdict"], |key: &str| of_part["selection"][key].as_f64().unwrap());
        if figure("budget_to_s") - figure("budget_from_s") < figure("window_s") {
            assert_eq!(verdict, &Value::Null, "of a part of a window");
            continue;
        }
        assert!(causes.contains(&verdict["cause"].as_str().unwrap()), "{verdict}");
        assert!(verdict["sentence"].as_str().unwrap().contains("avoidable"), "{verdict}");
    }
    assert!(of_rank["missing"].to_string().contains("without --from, --to and --rank"));
}

#[test]
fn a_part_that_cannot_be_is_refused() {
    assert_refused(&["report", "recording", "--from", "1", "--fail-above", "0.1"]);
    assert_refused(&["report", "recording", "--rank", "8-3"]);
}

fn assert_refused(arguments: &[&str]) {
    let ended = run(&mut mpiscope(arguments).unwrap(), LIMIT).unwrap();
    let errors = ended.errors();
    assert_eq!((ended.status, ended.output().as_str()), (2, ""), "{arguments:?}: {errors}");
    assert_eq!(errors.lines().count(), 1, "not one line for {arguments:?}:\n{errors}");
}

#[test]
fn what_is_no_recording_is_refused_in_one_line() {
    let folder = folder().unwrap();
    let path = folder.path().to_str().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    for path in [path, file.to_str().unwrap(), "/does/not/exist", "/"] {
        assert_refused(&["report", path]);
        assert_refused(&["report", "--json", path]);
    }
    std::fs::write(folder.path().join("manifest.json"), "no JSON").unwrap();
    assert_refused(&["report", path]);
    std::fs::write(folder.path().join("manifest.json"), r#"{"schema": "mpiscope.recording/99"}"#).unwrap();
    assert_refused(&["report", path]);
}

#[test]
fn bad_arguments_are_refused_in_one_line() {
    assert_refused(&["report"]);
    assert_refused(&["report", "--nonsense", "x"]);
    assert_refused(&["nonsense"]);
    assert_refused(&["run"]);
    assert_refused(&["run", "--window", "0", "--", "true"]);
    assert_refused(&["run", "--window", "many", "--", "true"]);
    assert_refused(&["run", "--listen", "nowhere", "--", "true"]);
    assert_refused(&["run", "--nonsense", "--", "true"]);
}

#[test]
fn every_command_has_help() {
    for arguments in
        [&["--help"][..], &["run", "--help"], &["report", "--help"], &["doctor", "--help"], &["--version"]]
    {
        let ended = run(&mut mpiscope(arguments).unwrap(), LIMIT).unwrap();
        assert_eq!((ended.status, ended.errors().as_str()), (0, ""), "{arguments:?}");
        assert!(ended.output().contains("mpiscope"), "{}", ended.output());
    }
}
