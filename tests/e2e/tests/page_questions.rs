//! Questions of the page about single messages, their courses, criteria, call sites, the placement and the next call.
//! The runs have exactly known answers; they are asked while they go on and again as recordings.

use crate::support::{Feed, MODELLED_LIVE, Page, block_on, run_with_page};
use mpiscope_feed::exchange::{Answer, Outgoing};
use mpiscope_feed::{Calls, Courses, Criteria, MessageRows, NONE, Remap, RemapFormat};
use mpiscope_harness::{
    LIMIT, Mpi, Recorded, Running, Signal, Truth, folder, mpiscope, processes, record, report, run,
    source_folder,
};
use mpiscope_model::Rank;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

const RANKS: u32 = 2;
/// What lies beyond every run.
const EVER_NS: f64 = 1e15;

/// Asks the page of a recording.
fn replayed<T>(recording: &Path, asking: impl AsyncFnOnce(&mut Feed) -> T) -> T {
    let running = Running::start(mpiscope(&["replay"]).unwrap().arg(recording)).unwrap();
    let page = Page::open(&running, "mpiscope: replay");
    let answers = block_on(async { asking(&mut Feed::open(&page).await).await });
    processes::signal(running.process(), Signal::INT);
    assert_eq!(running.wait(LIMIT).unwrap().status, 0);
    answers
}

async fn ask(feed: &mut Feed, ask: &str, more: Value) -> Answer {
    let mut question = json!({"ask": ask, "id": 7});
    question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = feed.ask(question).await;
    assert_eq!((answer.id, answer.error()), (7, None), "{ask}");
    answer
}

async fn messages(feed: &mut Feed, from_ns: f64, to_ns: f64, ranks: Value) -> MessageRows {
    let more = json!({"from_ns": from_ns, "to_ns": to_ns, "ranks": ranks});
    ask(feed, "messages", more).await.messages().unwrap()
}

async fn courses(feed: &mut Feed, to_ns: f64, bins: u32, ranks: Value) -> Courses {
    let more = json!({"from_ns": 0, "to_ns": to_ns, "bins": bins, "ranks": ranks});
    ask(feed, "courses", more).await.courses().unwrap()
}

/// The fields of a message: who, what, when.
type MessageFields = (u32, u32, u32, u32, u64, u64, u64, u64);

fn message_fields(rows: &MessageRows) -> BTreeSet<MessageFields> {
    let one = |at: usize| {
        let number = |column: &[f64]| column[at] as u64;
        (
            rows.src.0[at],
            rows.dst.0[at],
            rows.tag.0[at],
            rows.comm.0[at],
            number(&rows.bytes.0),
            number(&rows.send_ns.0),
            number(&rows.recv_ns.0),
            number(&rows.t_msg_ns.0),
        )
    };
    (0..rows.src.0.len()).map(one).collect()
}

/// Each moment at which a call of a rank begins, from one end of the run to the other.
async fn walk(feed: &mut Feed, rank: u32, is_back: bool, hidden: &[u32]) -> Vec<u64> {
    let mut time_ns = if is_back { EVER_NS } else { 0.0 };
    let mut met = Vec::new();
    loop {
        let more = json!({"time_ns": time_ns, "is_back": is_back, "ranks": [[rank, rank]], "hidden": hidden});
        let event = ask(feed, "event", more).await.event().unwrap();
        let Some(at_ns) = event.at_ns else { break met };
        assert!(event.rank == rank && !hidden.contains(&event.function), "{event:?}");
        met.push(at_ns);
        time_ns = at_ns as f64;
    }
}

/// What a page gets while the job runs, about finished calls.
struct Live {
    until_ns: f64,
    messages: BTreeSet<MessageFields>,
    first_calls: Vec<u64>,
    places: BTreeMap<u32, String>,
}

async fn places(feed: &mut Feed) -> BTreeMap<u32, String> {
    let sites = ask(feed, "sites", json!({})).await.sites().unwrap();
    sites.id.0.into_iter().zip(sites.place).collect()
}

async fn live(page: &Page) -> Live {
    let mut feed = Feed::open(page).await;
    // The ranks may begin late: until the first half has messages.
    let (until_ns, rows) = loop {
        if let Outgoing::State(message) = feed.hear().await.unwrap()
            && message.totals.is_some_and(|totals| totals.messages > 200)
            && message.clock.now_ns - message.clock.lag_ns > ENOUGH_NS
        {
            let until_ns = ((message.clock.now_ns - message.clock.lag_ns) / 2) as f64;
            let rows = messages(&mut feed, 0.0, until_ns, Value::Null).await;
            if rows.total > 50 {
                break (until_ns, rows);
            }
        }
    };
    assert!(rows.share >= 1.0 && rows.total as usize == rows.src.0.len(), "{rows:?}");
    let course = courses(&mut feed, until_ns, 10, Value::Null).await;
    let ended = rows.recv_ns.0.iter().filter(|recv_ns| **recv_ns < until_ns).count();
    assert_eq!(course.intra.0.iter().sum::<f64>() as usize, ended);
    assert_eq!((course.messages as usize, course.left_out), (ended, 0));
    let mut first_calls = Vec::new();
    for _ in 0..50 {
        let time_ns = first_calls.last().copied().unwrap_or_default();
        let event =
            ask(&mut feed, "event", json!({"time_ns": time_ns, "ranks": [[1, 1]]})).await.event().unwrap();
        first_calls.push(event.at_ns.unwrap());
    }
    let advice = feed.ask(json!({"ask": "remap", "id": 8})).await;
    assert!(advice.error().is_some_and(|error| error.contains("one node")));
    Live { until_ns, messages: message_fields(&rows), first_calls, places: places(&mut feed).await }
}

#[test]
fn a_run_and_its_recording_give_the_same_answers() {
    for mpi in Mpi::sample_or_skip("page_questions a_run_and_its_recording_give_the_same_answers") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let running = run_with_page(&mpi, RANKS, "linger", &["3", "300"], &out);
        let live = block_on(live(&Page::open(&running, "mpiscope: live page")));
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        let truth = Truth::parse(&ended.stdout).unwrap();
        let recorded = Recorded::load(&out).unwrap();
        let report = report(&out).unwrap();
        replayed(&out, async |feed| {
            assert_eq!(message_fields(&messages(feed, 0.0, live.until_ns, Value::Null).await), live.messages);
            check_messages(feed, &truth, &report).await;
            check_events(feed, &recorded, &live.first_calls).await;
            let places = places(feed).await;
            assert!(!live.places.is_empty());
            assert!(live.places.iter().all(|(site, place)| places[site] == *place), "{places:?}");
        });
    }
}

async fn check_messages(feed: &mut Feed, truth: &Truth, report: &Value) {
    let all = messages(feed, 0.0, EVER_NS, Value::Null).await;
    assert_eq!((all.total, all.bytes.0.iter().sum::<f64>() as u64), truth.all_messages());
    let mut pairs: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    for (src, dst, _, _, bytes, send_ns, recv_ns, t_msg_ns) in message_fields(&all) {
        assert!(send_ns <= recv_ns && t_msg_ns <= recv_ns - send_ns);
        let sum = pairs.entry((src, dst)).or_default();
        *sum = (sum.0 + 1, sum.1 + bytes);
    }
    assert_eq!(pairs, truth.pairs);
    assert!(all.is_inter.0.iter().all(|is_inter| *is_inter == 0));
    // A choice of them, the same each time.
    let more = json!({"from_ns": 0, "to_ns": EVER_NS, "most": 100});
    let some = ask(feed, "messages", more.clone()).await.messages().unwrap();
    assert_eq!((some.total, some.src.0.len()), (all.total, 100));
    assert!((some.share - 100.0 / all.total as f64).abs() < 1e-9);
    assert!(message_fields(&some).is_subset(&message_fields(&all)));
    assert_eq!(message_fields(&ask(feed, "messages", more).await.messages().unwrap()), message_fields(&some));

    let totals = &report["totals"];
    let course = courses(feed, EVER_NS, 512, Value::Null).await;
    assert_eq!(Some(course.intra.0.iter().sum::<f64>() as u64), totals["intra_messages"].as_u64());
    assert_eq!(Some(course.intra_bytes.0.iter().sum::<f64>() as u64), totals["bytes"].as_u64());
    // Both ranks send and receive as much.
    assert_eq!((course.uneven.0[0], course.greatest_load.0[0]), (0.0, 0.0));
    assert_eq!(course.sizes.iter().map(|sizes| sizes.messages).sum::<u64>(), course.messages);
}

async fn check_events(feed: &mut Feed, recorded: &Recorded, first_calls: &[u64]) {
    let begins = |rank: u32, hidden: &[u32]| -> BTreeSet<u64> {
        let of_rank = recorded.calls.iter().filter(|call| call.rank.0 == rank && call.start_ns > 0);
        of_rank.filter(|call| !hidden.contains(&u32::from(call.function))).map(|call| call.start_ns).collect()
    };
    let most = u32::from(recorded.calls[recorded.calls.len() / 2].function);
    for hidden in [&[][..], &[most]] {
        let expected: Vec<u64> = begins(1, hidden).into_iter().collect();
        assert!(!expected.is_empty());
        assert_eq!(walk(feed, 1, false, hidden).await, expected);
        let mut back = walk(feed, 1, true, hidden).await;
        back.reverse();
        assert_eq!(back, expected);
    }
    let expected: Vec<u64> = begins(1, &[]).into_iter().take(first_calls.len()).collect();
    assert_eq!(first_calls, expected, "the answers while it ran");
}

/// The functions of MPI that a source marks, with the words for their place.
fn marks(source: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(source).unwrap();
    let place = |(line, number): (&str, u32)| {
        let mut words = line.split_once("site: ")?.1.split_whitespace();
        let (called, _, calls) = (words.next()?, words.next()?, words.next()?);
        let file = source.file_name()?.to_str()?;
        Some((called.to_owned(), format!("{file}:{number} {calls}()")))
    };
    text.lines().zip(1..).filter_map(place).collect()
}

#[test]
fn calls_name_the_line_from_which_they_are_made() {
    for mpi in Mpi::sample_or_skip("page_questions calls_name_the_line_from_which_they_are_made") {
        let folder = folder().unwrap();
        let (library, program) = (folder.path().join("libplaces.so"), folder.path().join("sites"));
        let source = |name: &str| source_folder().join("sites").join(name);
        let compile = |words: &[&str], name: &str, out: &Path, behind: &[&str]| {
            let mut command = Command::new(&mpi.compiler);
            command
                .args(["-O2", "-g", "-pthread"])
                .args(words)
                .arg("-o")
                .arg(out)
                .arg(source(name))
                .args(behind);
            assert!(command.status().unwrap().success());
        };
        compile(&["-shared", "-fPIC"], "library.c", &library, &[]);
        let path = format!("-Wl,-rpath,{}", folder.path().display());
        compile(&[], "sites.c", &program, &[library.to_str().unwrap(), &path]);
        let out = folder.path().join("recording");
        let ended = run(&mut record(&mpi, RANKS, &program, &[], &out).unwrap(), LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        let (calls, places, names) = replayed(&out, async |feed| {
            let names = feed.state().await.functions.unwrap();
            let more = json!({"from_ns": 0, "to_ns": EVER_NS, "most": 200_000, "ranks": [[0, 0]]});
            let calls: Calls = ask(feed, "calls", more).await.calls().unwrap();
            (calls, places(feed).await, names.id.0.into_iter().zip(names.name).collect::<BTreeMap<_, _>>())
        });
        let recorded = Recorded::load(&out).unwrap();
        assert_eq!(calls.total as usize, recorded.calls.iter().filter(|call| call.rank == Rank(0)).count());
        assert!(calls.rank.0.iter().all(|rank| *rank == 0));
        let mut expected = marks(&source("sites.c"));
        expected.extend(marks(&source("library.c")));
        let mut found = 0;
        for (function, site) in calls.function.0.iter().zip(&calls.site.0) {
            if let Some(place) = expected.get(&names[function]) {
                assert!(
                    *site != NONE && places[site] == *place,
                    "{} {:?}",
                    names[function],
                    places.get(site)
                );
                found += 1;
            }
        }
        assert!(found > 50, "{found}");
    }
}

/// Until then a job has begun to send, however long its start took.
const ENOUGH_NS: u64 = 1_800_000_000;
const DISTURBED: [&str; 6] = ["--style", "blocking", "--disturb", "bad-mapping", "--seconds", "6"];

/// What the command says of a placement: the file for a launcher, and what it writes beside.
fn remapped(recording: &Path, format: &str) -> (String, String) {
    let mut command = mpiscope(&["remap", "--format", format]).unwrap();
    let ended = run(command.arg(recording), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    (ended.output(), ended.errors())
}

fn check_remap(remap: &Remap, recording: &Path, report: &Value) {
    assert!(remap.gains && remap.moved > 0 && remap.ranks == 16, "{remap:?}");
    for (key, value) in [
        ("inter_messages_before", remap.inter_messages_before),
        ("inter_messages_after", remap.inter_messages_after),
        ("inter_bytes_before", remap.inter_bytes_before),
        ("inter_bytes_after", remap.inter_bytes_after),
    ] {
        assert_eq!(report["remap"][key].as_u64(), Some(value), "{key}");
    }
    let formats = [
        ("rankfile", RemapFormat::Rankfile),
        ("machinefile", RemapFormat::Machinefile),
        ("slurm", RemapFormat::Slurm),
    ];
    assert_eq!(remap.files.len(), formats.len());
    for (file, (word, format)) in remap.files.iter().zip(formats) {
        let (text, answers) = remapped(recording, word);
        assert_eq!((file.format, &file.text), (format, &text), "{word}");
        for sentence in &remap.sentences {
            assert!(answers.contains(sentence.as_str()), "{sentence} in {answers}");
        }
        assert!(answers.contains(&file.command.replace(&file.name, "FILE")), "{} in {answers}", file.command);
    }
}

fn check_criteria(criteria: &Criteria, report: &Value) {
    let criterion_rows = report["criteria"].as_array().unwrap();
    assert!(criteria.is_final && criteria.version > 0 && !criterion_rows.is_empty());
    assert_eq!(criteria.median_ns.0.len(), criterion_rows.len());
    for (at, row) in criterion_rows.iter().enumerate() {
        assert_eq!(criteria.is_inter.0[at] == 1, row["scope"] == "inter");
        let figure = |key: &str| row[key].as_f64().unwrap();
        assert_eq!(
            (
                criteria.size_from.0[at],
                criteria.size_to.0[at],
                criteria.samples.0[at],
                criteria.median_ns.0[at]
            ),
            (figure("size_from"), figure("size_to"), figure("samples"), figure("median_ns"))
        );
    }
}

/// All messages of a simulated job are known, and their nodes too.
#[test]
fn a_placement_and_criteria_are_those_of_the_commands() {
    let folder = folder().unwrap();
    let out = folder.path().join("made");
    let running =
        Running::start(mpiscope(&MODELLED_LIVE).unwrap().args(DISTURBED).arg("-o").arg(&out)).unwrap();
    let page = Page::open(&running, "mpiscope: live page");
    let (early, first) = block_on(async {
        let mut feed = Feed::open(&page).await;
        while feed.state().await.found.is_none() {}
        let criteria = ask(&mut feed, "criteria", json!({})).await.criteria().unwrap();
        (criteria, ask(&mut feed, "remap", json!({})).await.remap().unwrap())
    });
    // So early there may be none yet.
    assert!(!early.is_final);
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let report = report(&out).unwrap();
    let figure = |key: &str| report["remap"][key].as_u64().unwrap();
    assert!(first.gains && first.files.len() == 3);
    let before = first.inter_messages_before;
    assert!(before > 0 && before < figure("inter_messages_before"), "{before} of the first part");
    replayed(&out, async |feed| {
        check_remap(&ask(feed, "remap", json!({})).await.remap().unwrap(), &out, &report);
        check_criteria(&ask(feed, "criteria", json!({})).await.criteria().unwrap(), &report);
        let sum = |column: &[f64]| Some(column.iter().sum::<f64>() as u64);
        let all = courses(feed, EVER_NS, 512, Value::Null).await;
        assert_eq!(sum(&all.inter.0), report["totals"]["inter_messages"].as_u64());
        assert_eq!(sum(&all.intra.0), report["totals"]["intra_messages"].as_u64());
        assert!(!all.sizes.is_empty() && all.sizes.iter().all(|sizes| sizes.is_inter));
        // Of one rank, what it sent and what it received.
        let rows = messages(feed, 0.0, EVER_NS, json!([[3, 3]])).await;
        assert!(rows.src.0.iter().zip(&rows.dst.0).all(|(src, dst)| *src == 3 || *dst == 3));
        let of_rank = courses(feed, EVER_NS, 512, json!([[3, 3]])).await;
        assert_eq!((of_rank.messages, of_rank.greatest_rank.0[0]), (rows.total, 3));
        assert!(of_rank.messages > 0 && of_rank.messages < all.messages);
    });
}
