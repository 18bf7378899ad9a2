//! Recordings whose files are whole, and traces of other tools, with one number that no run has: no command takes memory or
//! time by it, or panics. In full these are some 40,000 cases: `MPISCOPE_PART=0/10` runs the first of ten parts.

use crate::support::numbers::{Place, columns, set};
use crate::support::recordings::files_in;
use mpiscope_harness::{Ended, all_of, folder_in_memory, full_run, mpiscope, part_of, run, skip};
use mpiscope_recording::Manifest;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// For a recording of less than a megabyte. The machine may be busy.
const LIMIT: Duration = Duration::from_secs(30);
const MOST_KIB: u64 = 4 << 20;

const VALUES: [u64; 8] = [0, 1, 1 << 16, 1 << 31, u32::MAX as u64, 1 << 60, 1 << 63, u64::MAX];

/// The commands, where `R` is the changed recording, `S` the sound one, and `O` a folder for what they write.
const COMMANDS: [&str; 17] = [
    "report --json R",
    "report --json --from 0.2 --to 0.6 R",
    "whatif --latency 0.5 --quiet --own-cores --place advised --json R",
    "export --format otf2 -o O/otf2 R",
    "compare --json S R",
    "check --json R",
    "report R",
    "report --json --rank 0-2 R",
    "export --format csv -o O/calls.csv R",
    "export --format csv --table messages -o O/messages.csv R",
    "export --format parquet -o O/calls.parquet R",
    "export --format perfetto -o O/trace.json R",
    "export --format picl -o O/trace.picl R",
    "compare R S",
    "regions --json R",
    "remap --format rankfile R",
    "repair -o O/repaired R",
];

/// Once these ran out of memory, did not end or panicked.
const ONCE_WRONG: [(&str, &str, Place, u64, usize); 8] = [
    ("calls/000000.parquet", "rank", Place::Last, u32::MAX as u64, 2),
    ("calls/000000.parquet", "rank", Place::Last, 1 << 31, 3),
    ("messages/000000.parquet", "src", Place::Last, 1 << 31, 3),
    ("messages/000000.parquet", "dst", Place::Last, 1 << 31, 3),
    ("tables/ranks.parquet", "rank", Place::Last, u32::MAX as u64, 1),
    ("summary/rank_sums.parquet", "calls", Place::Last, 1 << 63, 1),
    ("summary/densities.parquet", "ranks", Place::First, u32::MAX as u64, 0),
    ("summary/densities.parquet", "ranks", Place::First, u32::MAX as u64, 4),
];

/// A recording of all kinds of files.
fn sound(folder: &Path) -> PathBuf {
    let out = folder.join("sound");
    let options =
        "synth --pattern halo2d --ranks 8 --nodes 2 --seconds 1 --rate 3000 --disturb drifting-clocks -o";
    let words: Vec<&str> = options.split(' ').collect();
    assert_eq!(run(mpiscope(&words).unwrap().arg(&out), LIMIT).unwrap().status, 0);
    out
}

fn copy_of(dir: &Path, out: &Path) {
    for file in files_in(dir) {
        let to = out.join(file.strip_prefix(dir).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&file, to).unwrap();
    }
}

/// Runs a command with bounded memory.
fn bounded(words: impl IntoIterator<Item = PathBuf>) -> Ended {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {MOST_KIB}; exec \"$@\""), "sh"]);
    shell.arg(mpiscope(&[]).unwrap().get_program()).args(words).stdin(Stdio::null());
    run(&mut shell, LIMIT).unwrap_or_else(|error| panic!("{shell:?}: {error:#}"))
}

/// Runs one of [`COMMANDS`].
fn bounded_command(words: &str, recording: &Path, sound: &Path, out: &Path) -> Ended {
    bounded(words.split(' ').map(|word| match word {
        "R" => recording.to_owned(),
        "S" => sound.to_owned(),
        _ => word.strip_prefix("O/").map_or_else(|| word.into(), |name| out.join(name)),
    }))
}

/// Runs a command on a recording with a change; it ends as it should. If it refuses, it says why in a sentence, and before
/// that maybe what was left out.
fn is_survived(sound: &Path, what: &str, words: &str, change: impl FnOnce(&Path) -> bool) {
    let folder = folder_in_memory().unwrap();
    let (recording, out) = (folder.path().join("recording"), folder.path().join("out"));
    copy_of(sound, &recording);
    fs::create_dir(&out).unwrap();
    if !change(&recording) {
        return;
    }
    let ended = bounded_command(words, &recording, sound, &out);
    let errors = ended.errors();
    let is_panic = errors.contains("panicked") || errors.contains("memory allocation");
    assert!([0, 1, 2].contains(&ended.status) && !is_panic, "{what}: {words}: {}: {errors}", ended.status);
    assert!(ended.status != 2 || [1, 2].contains(&errors.lines().count()), "{what}: {words}: {errors}");
}

#[test]
fn a_number_that_no_run_has_is_survived() {
    let folder = folder_in_memory().unwrap();
    let sound = sound(folder.path());
    let mut cases: Vec<(String, String, Place, u64, usize)> = ONCE_WRONG
        .map(|(file, column, place, value, command)| {
            (file.to_owned(), column.to_owned(), place, value, command)
        })
        .into();
    let tables =
        files_in(&sound).into_iter().filter(|file| file.extension().is_some_and(|end| end == "parquet"));
    for file in tables {
        let name = file.strip_prefix(&sound).unwrap().to_str().unwrap().to_owned();
        for (column, bits) in columns(&file) {
            let values = VALUES.into_iter().filter(|value| value.checked_shr(bits).unwrap_or(0) == 0);
            if full_run() {
                for value in values {
                    for (place, command) in [Place::First, Place::Last]
                        .into_iter()
                        .flat_map(|place| (0..COMMANDS.len()).map(move |command| (place, command)))
                    {
                        cases.push((name.clone(), column.clone(), place, value, command));
                    }
                }
            } else {
                // By turns, the commands that most is read by.
                let turn = cases.len();
                cases.push((name.clone(), column.clone(), Place::First, values.max().unwrap(), turn % 6));
            }
        }
    }
    let cases = part_of(cases);
    println!("{} cases", cases.len());
    all_of(cases, |(file, column, place, value, command)| {
        let what = format!("{value} as {column} in the {place:?} row of {file}");
        is_survived(&sound, &what, COMMANDS[command], |dir| set(dir, &file, &column, place, value));
    });
}

/// The places of all numbers in a text of JSON; of lists only the first member.
fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(at.to_owned()),
        Value::Array(members) => {
            members.iter().take(1).for_each(|member| numbers(member, &format!("{at}/0"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| numbers(field, &format!("{at}/{name}"), found));
        }
        _ => {}
    }
}

#[test]
fn so_is_one_in_the_manifest() {
    let folder = folder_in_memory().unwrap();
    let sound = sound(folder.path());
    let manifest: Value = serde_json::from_slice(&fs::read(sound.join("manifest.json")).unwrap()).unwrap();
    let mut places = Vec::new();
    numbers(&manifest, "", &mut places);
    let mut cases: Vec<(String, u64, usize)> = ["/job/ranks", "/job/ranks", "/job/ranks"]
        .into_iter()
        .zip([3, 11, 14])
        .map(|(at, command)| (at.into(), 1 << 23, command))
        .collect();
    cases.push(("/job/duration_s".into(), u64::MAX, 6));
    for (turn, at) in places.into_iter().enumerate() {
        if full_run() {
            let all =
                VALUES.into_iter().flat_map(|value| (0..COMMANDS.len()).map(move |command| (value, command)));
            cases.extend(all.map(|(value, command)| (at.clone(), value, command)));
        } else {
            cases.push((at.clone(), u64::MAX, turn % 6));
            cases.push((at, u32::MAX.into(), turn % 6));
        }
    }
    let cases = part_of(cases);
    println!("{} cases", cases.len());
    all_of(cases, |(at, value, command)| {
        is_survived(&sound, &format!("{value} as {at} of the manifest"), COMMANDS[command], |dir| {
            let mut changed = manifest.clone();
            *changed.pointer_mut(&at).unwrap() = value.into();
            // One that does not parse is refused, which others test.
            serde_json::from_value::<Manifest>(changed).is_ok_and(|manifest| manifest.write(dir).is_ok())
        });
    });
}

/// Two ranks exchange a message, and another one two years later.
const TABLE: &str = "rank,type,timestamp_ns,source,destination,size,tag,duration_ns\n\
                     0,send,1000,0,1,8,0,100\n\
                     1,receive,2000,0,1,8,0,100\n\
                     0,send,63072000000000000,0,1,8,0,100\n\
                     1,receive,63072000000001000,0,1,8,0,100\n";

/// What a rank of a DUMPI trace calls, at these seconds.
fn dumpi_text(seconds: [u64; 2]) -> String {
    let barrier = |second: u64| {
        let when = |ns: u64| format!("walltime {second}.{ns:09}, cputime 0.1 seconds in thread 0.");
        format!(
            "MPI_Barrier entering at {}\nMPI_Comm comm=2 (MPI_COMM_WORLD)\nMPI_Barrier returning at {}\n",
            when(1_000),
            when(2_000)
        )
    };
    seconds.map(barrier).concat()
}

#[test]
fn so_is_a_wrong_time_in_a_trace_of_another_tool() {
    let test = "absurd so_is_a_wrong_time_in_a_trace_of_another_tool";
    let folder = folder_in_memory().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("table.csv"), TABLE).unwrap();
    fs::write(path("dumpi-0000.txt"), dumpi_text([5, 63_072_005])).unwrap();
    fs::write(path("dumpi-0001.txt"), dumpi_text([5, 6])).unwrap();
    let import = |file: &str, calls: u64| {
        let out = path(file).with_extension("recording");
        let ended = bounded(["import".into(), path(file), "-o".into(), out.clone()]);
        let is_named = ended.errors().contains("its times span 2.0 years, from");
        assert!(ended.status == 0 && is_named, "{file}: {}: {}", ended.status, ended.errors());
        let report = bounded(["report".into(), "--json".into(), out.clone()]);
        assert_eq!(report.status, 0, "{file}: {}", report.errors());
        let report: Value = serde_json::from_slice(&report.stdout).unwrap();
        assert_eq!(report["totals"]["calls"], calls, "{file}");
        // No imported file says how the job ended.
        let text = bounded(["report".into(), out.clone()]);
        assert!(!text.output().contains("exit status"), "{file}: {}", text.output());
        out
    };
    let recording = import("table.csv", 4);
    import("dumpi-0000.txt", 4);
    for (format, written, file) in
        [("picl", "other.picl", "other.picl"), ("otf2", "otf2", "otf2/traces.otf2")]
    {
        let words = ["export", "--format", format, "-o"].map(PathBuf::from);
        let ended = bounded(words.into_iter().chain([path(written), recording.clone()]));
        if ended.status == 2 && ended.errors().contains("install libopen-trace-format2-10") {
            skip(test, "the OTF2 library is not on this machine");
            continue;
        }
        assert_eq!(ended.status, 0, "{format}: {}", ended.errors());
        import(file, 4);
    }
}
