//! The page of a running job: closed without its token, and live with it.

use crate::support::{Feed, Page, block_on, run_with_page, status};
use mpiscope_feed::JobState;
use mpiscope_feed::exchange::Outgoing;
use mpiscope_feed::message::Kind;
use mpiscope_harness::{LIMIT, Mpi, Running, Signal, Truth, daemon_of, folder, mpiscope, processes};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

const RANKS: u32 = 2;

#[test]
fn without_the_token_nothing_is_served() {
    let Some(mpi) = Mpi::sample_or_skip("page without_the_token_nothing_is_served").into_iter().next() else {
        return;
    };
    let folder = folder().unwrap();
    let running = run_with_page(&mpi, RANKS, "linger", &["1", "500"], &folder.path().join("recording"));
    let page = Page::open(&running, "mpiscope: live page");
    assert!(page.address.ip().is_loopback(), "{page:?}");
    assert_eq!(page.token.len(), 32);
    let wrong = "0".repeat(32);
    for path in ["/", "/feed", "/health", "/nothing", &format!("/?token={wrong}")] {
        let answer = page.get(path, "");
        assert_eq!(status(&answer), 403, "{path}: {answer}");
    }
    let upgrade =
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    assert_eq!(status(&page.get("/feed", upgrade)), 403);
    assert_eq!(status(&page.get("/", &format!("Cookie: mpiscope_{}={wrong}\r\n", page.address.port()))), 403);

    let entered = page.get(&format!("/?token={}", page.token), "");
    assert!(status(&entered) == 303 && entered.contains(&page.cookie()), "{entered}");
    let html = page.get("/", &format!("Cookie: {}\r\n", page.cookie()));
    assert!(status(&html) == 200 && html.contains("<html"), "{html}");
    assert_eq!(running.wait(LIMIT).unwrap().status, 0);
}

/// What a browser is started with may be read by every user of the machine.
#[test]
fn the_browser_is_opened_without_the_token_among_its_words() {
    let test = "page the_browser_is_opened_without_the_token_among_its_words";
    let Some(mpi) = Mpi::sample_or_skip(test).into_iter().next() else { return };
    let folder = folder().unwrap();
    let (browser, words, seen) =
        (folder.path().join("xdg-open"), folder.path().join("words"), folder.path().join("seen"));
    let script = format!(
        "#!/bin/sh\necho \"$@\" > {words}.new; cat \"$1\" > {seen}; mv {words}.new {words}\n",
        words = words.display(),
        seen = seen.display()
    );
    std::fs::write(&browser, script).unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut command = mpiscope(&["run", "--open", "--out"]).unwrap();
    command.arg(folder.path().join("recording")).arg("--");
    command.args(mpi.words(RANKS, &mpi.app("linger").unwrap(), &["1", "500"]));
    mpi.prepare(&mut command).unwrap();
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", folder.path().display())).env("XDG_RUNTIME_DIR", folder.path());
    let running = Running::start(&mut command).unwrap();
    let page = Page::open(&running, "mpiscope: live page");
    let words = processes::until(LIMIT, || std::fs::read_to_string(&words).ok()).expect("nothing is opened");
    let file = std::path::Path::new(words.trim());
    assert!(file.starts_with(folder.path()) && !words.contains(&page.token), "{words}");
    let leads = std::fs::read_to_string(&seen).unwrap();
    assert!(leads.contains(&format!("http://{}/?token={}", page.address, page.token)), "{leads}");
    assert_eq!(running.wait(LIMIT).unwrap().status, 0);
    assert!(!file.exists(), "{words} is left");
}

#[test]
fn the_feed_grows_while_the_job_runs_and_ends_with_all_of_it() {
    for mpi in Mpi::sample_or_skip("page the_feed_grows_while_the_job_runs_and_ends_with_all_of_it") {
        let folder = folder().unwrap();
        let running = run_with_page(&mpi, RANKS, "linger", &["2", "500"], &folder.path().join("recording"));
        let page = Page::open(&running, "mpiscope: live page");
        let messages = block_on(async { Feed::open(&page).await.all().await });
        let ended = running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert_eq!(messages[0].kind, Kind::Snapshot);
        let totals: Vec<_> = messages.iter().filter_map(|message| message.totals).collect();
        let mut different: Vec<u64> = totals.iter().map(|totals| totals.messages).collect();
        assert!(different.is_sorted(), "{different:?}");
        different.dedup();
        assert!(different.len() > 5, "{different:?} of {} messages", messages.len());
        let truth = Truth::parse(&ended.stdout).unwrap();
        let last = totals.last().unwrap();
        assert_eq!((last.messages, last.bytes), truth.all_messages());
        assert_eq!(last.calls + last.polls, truth.all_calls());
        let job = messages.iter().filter_map(|message| message.job.as_ref()).next_back().unwrap();
        assert_eq!((job.ranks, job.exit), (RANKS, Some(0)));
        // Every call is in one delta, or is counted there.
        let shown: u64 = messages.iter().filter_map(|message| Some(message.calls.as_ref()?.total)).sum();
        let first = messages[0].totals.unwrap().calls;
        assert!(
            shown <= last.calls && shown + first >= last.calls,
            "{shown} of {}, {first} before",
            last.calls
        );
    }
}

/// A page that comes back at the first moment never sees an empty run.
#[test]
fn the_first_state_of_a_second_daemon_has_all_that_the_log_has() {
    let test = "page the_first_state_of_a_second_daemon_has_all_that_the_log_has";
    let Some(mpi) = Mpi::sample_or_skip(test).into_iter().next() else { return };
    let folder = folder().unwrap();
    let running = run_with_page(&mpi, RANKS, "linger", &["3", "500"], &folder.path().join("recording"));
    let page = Page::open(&running, "mpiscope: live page");
    let (before, first) = block_on(async {
        let mut feed = Feed::open(&page).await;
        let mut before = 0;
        while before < 500 {
            before = feed.state().await.totals.map_or(before, |totals| totals.calls + totals.polls);
        }
        processes::signal(daemon_of(&running).unwrap(), Signal::KILL);
        let begun = Instant::now();
        let mut feed = loop {
            match Feed::try_open(&page).await {
                Ok(feed) => break feed,
                Err(error) => assert!(begun.elapsed() < LIMIT, "{error}"),
            }
            tokio::task::yield_now().await;
        };
        (before, feed.state().await)
    });
    assert_eq!(running.wait(LIMIT).unwrap().status, 0);
    assert_eq!(first.kind, Kind::Snapshot);
    let (job, totals) = (first.job.unwrap(), first.totals.unwrap());
    assert_eq!((job.ranks, job.state), (RANKS, JobState::Running));
    assert!(totals.calls + totals.polls >= before, "{totals:?}, {before} before");
}

#[test]
fn one_may_look_back_while_the_job_runs() {
    let Some(mpi) = Mpi::sample_or_skip("page one_may_look_back_while_the_job_runs").into_iter().next()
    else {
        return;
    };
    let folder = folder().unwrap();
    let running = run_with_page(&mpi, RANKS, "linger", &["3", "500"], &folder.path().join("recording"));
    let page = Page::open(&running, "mpiscope: live page");
    block_on(async {
        let mut feed = Feed::open(&page).await;
        let until_ns = loop {
            if let Outgoing::State(message) = feed.hear().await.unwrap()
                && message.totals.is_some_and(|totals| totals.calls > 300)
            {
                break message.clock.now_ns - message.clock.lag_ns - 1;
            }
        };
        let ask = |kind| json!({"ask": kind, "id": 1, "from_ns": 0, "to_ns": until_ns, "most": 200_000, "bins": 10});
        let calls = feed.ask(ask("calls")).await.calls().unwrap();
        assert!(calls.total > 100 && calls.share >= 1.0, "{calls:?}");
        assert_eq!(calls, feed.ask(ask("calls")).await.calls().unwrap(), "the past changes");
        let timeline = feed.ask(ask("timeline")).await.timeline().unwrap();
        // The last bins reach beyond what was asked for.
        let bin_ns = (timeline.to_ns - timeline.from_ns) / u64::from(timeline.bins);
        let whole = ((until_ns - timeline.from_ns) / bin_ns) as usize;
        let counted: f64 = timeline
            .counts
            .0
            .chunks(timeline.bins as usize)
            .map(|row| row[..whole].iter().sum::<f64>())
            .sum();
        let before = (timeline.from_ns + whole as u64 * bin_ns) as f64;
        assert_eq!(counted as usize, calls.start_ns.0.iter().filter(|start_ns| **start_ns < before).count());
        assert!(counted > 0.0);
        let ended = |row: &usize| calls.start_ns.0[*row] + calls.duration_ns.0[*row] < until_ns as f64;
        let history = feed.ask(ask("history")).await.history().unwrap();
        assert_eq!(history.total as usize, (0..calls.kept()).filter(ended).count());
    });
    assert_eq!(running.wait(LIMIT).unwrap().status, 0);
}
