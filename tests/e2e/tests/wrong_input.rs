//! Files among the rings that are none, or that lie: the daemon goes on, and says which.

use mpiscope_harness::{Ended, LIMIT, Mpi, Recorded, Truth, folder, mpiscope, report, run};
use std::path::Path;

const RANKS: u32 = 2;

/// Records `linger` and a script that puts files among the rings meanwhile; `$job` in it starts the job, and `$ring` is
/// then one of its rings, which the daemon has found before anything is put beside it.
fn record_with(mpi: &Mpi, script: &str, out: &Path) -> Ended {
    let program = mpi.app("linger").unwrap();
    let words = mpi.words(RANKS, &program, &["1.5", "500"]);
    let job: Vec<String> = words.iter().map(|word| format!("'{}'", word.to_str().unwrap())).collect();
    let start = format!(
        "{} & job=$!; while sleep 0.05; do set -- \"$MPISCOPE_RINGS\"/*[0-9][0-9].ring; \
         ring=$1; [ $# -ge {RANKS} ] && [ -e \"$ring\" ] && break; done; sleep 0.3",
        job.join(" ")
    );
    let script = format!("cd \"$MPISCOPE_RINGS\" || exit 99\n{}\nwait $job", script.replace("$job", &start));
    let mut command = mpiscope(&["run", "--no-dashboard", "--out"]).unwrap();
    mpi.prepare(&mut command).unwrap();
    run(command.arg(out).args(["--", "sh", "-c", &script]), LIMIT).unwrap()
}

/// The real ranks are recorded to the last call, and what was wrong is named on stderr and in the report.
fn check(test: &str, script: &str, named: &[&str]) {
    for mpi in Mpi::sample_or_skip(&format!("wrong_input {test}")) {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let ended = record_with(&mpi, script, &out);
        let stderr = ended.errors();
        assert_eq!(ended.status, 0, "{stderr}");
        let truth = Truth::parse(&ended.stdout).unwrap();
        let recorded = Recorded::load(&out).unwrap();
        assert_eq!(recorded.differences(&truth), Vec::<String>::new(), "{stderr}");
        assert_eq!(recorded.manifest.job.ranks, RANKS, "{stderr}");
        let report = report(&out).unwrap();
        let missing = report["missing"].to_string();
        for word in named {
            assert!(stderr.contains(word), "stderr does not name {word}: {stderr}");
            assert!(missing.contains(word), "the report does not name {word}: {missing}; stderr: {stderr}");
        }
    }
}

#[test]
fn a_file_of_garbage() {
    let script = "printf 'no ring at all' > 1.ring; head -c 10000 /dev/urandom > 2.ring; : > 3.ring\n$job";
    check("a_file_of_garbage", script, &["1.ring", "2.ring", "3.ring"]);
}

#[test]
fn what_is_no_file() {
    let script = "mkdir 1.ring; ln -s /dev/zero 2.ring; ln -s /etc/passwd 3.ring; mkfifo 4.ring\n$job";
    check("what_is_no_file", script, &["1.ring", "2.ring", "3.ring", "4.ring"]);
}

#[test]
fn a_ring_that_was_cut_off() {
    let script = "$job\ncp \"$ring\" cut; truncate -s 9000 cut; mv cut 1.ring; head -c 100 \"$ring\" > cut; mv cut 2.ring";
    check("a_ring_that_was_cut_off", script, &["1.ring", "2.ring"]);
}

/// The number of slots written is at the start of the second page.
#[test]
fn a_ring_that_says_it_wrote_more_than_it_holds() {
    let script = "$job\ncp \"$ring\" lie; \
                  printf '\\377\\377\\077\\0' | dd of=lie bs=1 seek=20 conv=notrunc 2>/dev/null; \
                  printf '\\377\\377\\377\\377\\377\\377\\377\\177' | dd of=lie bs=1 seek=4096 conv=notrunc 2>/dev/null; \
                  mv lie 1.ring";
    check("a_ring_that_says_it_wrote_more_than_it_holds", script, &["not read again"]);
}

/// Sixty thousand slots of noise behind a sound header: whatever comes of them, the daemon lives.
#[test]
fn slots_of_noise() {
    let script = "$job\ncp \"$ring\" lie; \
                  printf '\\377\\377\\077\\0' | dd of=lie bs=1 seek=20 conv=notrunc 2>/dev/null; \
                  head -c 2097152 /dev/urandom | dd of=lie bs=4096 seek=2 conv=notrunc 2>/dev/null; \
                  printf '\\140\\352\\0\\0\\0\\0\\0\\0' | dd of=lie bs=1 seek=4096 conv=notrunc 2>/dev/null; \
                  mv lie 1.ring";
    for mpi in Mpi::sample_or_skip("wrong_input slots_of_noise") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let ended = record_with(&mpi, script, &out);
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert!(!ended.errors().contains("daemon died"), "{}", ended.errors());
        let report = report(&out).unwrap();
        assert_eq!(report["job"]["state"], "complete", "{report:#}");
    }
}
