//! What `./deploy/test` takes for a test that failed, and when it tries it once more.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use mpiscope_harness::{folder, root};
use std::process::Command;

/// A log of cargo's in which a test of that name failed, and one beside it did not.
fn log(failed: &str) -> String {
    format!(
        "     Running tests/one.rs (target/debug/deps/one-1)\n\nrunning 2 tests\ntest fine ... ok\n\
         test {failed} ... mpiscope: said meanwhile\nFAILED\n\nfailures:\n\n---- {failed} stdout ----\n\
         thread panicked:\n    it has words, and is no name\n\n\nfailures:\n    {failed}\n\n\
         test result: FAILED. 1 passed; 1 failed; 0 ignored\n\n     Running tests/two.rs (target/debug/deps/two-2)\n\n\
         running 1 test\ntest other ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n"
    )
}

/// What comes of that log where only the test `slow::once` passes by itself: the status, passed, failed, and who.
fn tried(log: &str, failed: u32) -> String {
    let folder = folder().unwrap();
    std::fs::write(folder.path().join("a-check.log"), log).unwrap();
    let script = format!(
        r#"set -u; logs=$1; passed=10; failed={failed}; . deploy/again.sh
        one() {{ [ "$2" = slow::once ] && echo "test result: ok. 1 passed; 0 failed"; }}
        pass_again a-check one > "$logs/said"; echo "$? $passed $failed ${{only_again[*]-}}""#
    );
    let done = Command::new("bash")
        .args(["-c", &script, "bash"])
        .arg(folder.path())
        .current_dir(root())
        .output()
        .unwrap();
    assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

#[test]
fn what_passes_by_itself_is_counted_and_named() {
    assert_eq!(tried(&log("slow::once"), 1), "0 11 0 a-check: slow::once");
    let page = "\nrunning 2 tests\ntest slow::once ... FAILED (1.2 s)\ntest fine ... ok (0.1 s)\n\nfailures:\n\n\
                ---- slow::once\nError: not yet\n\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n";
    assert_eq!(tried(page, 1), "0 11 0 a-check: slow::once");
}

#[test]
fn what_fails_again_has_failed() {
    assert_eq!(tried(&log("broken"), 1), "1 10 1");
    let both = log("slow::once") + &log("broken");
    assert_eq!(tried(&both, 2), "1 11 1 a-check: slow::once");
}

#[test]
fn a_crash_and_many_failures_are_not_tried_again() {
    let crashed = log("slow::once") + "     Running tests/three.rs (x)\n\nrunning 4 tests\ntest y ... \n";
    assert_eq!(tried(&crashed, 1), "1 10 1");
    assert_eq!(tried(&log("slow::once").repeat(4), 4), "1 10 4");
    assert_eq!(tried("error: could not compile\n", 1), "1 10 1");
}
