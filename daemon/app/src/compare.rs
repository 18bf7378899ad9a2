//! `mpiscope compare`: what changed between two recordings, in words, as JSON, or on a page.

use crate::command_line::CompareOptions;
use anyhow::{Context as _, Result};
use mpiscope_compare::AlignBy;
use mpiscope_compare::{Digest, compared, comparison, text};
use mpiscope_feed::{
    CallSource, Comparison, FeedState, Hangs, Job, JobState, Library, RunSource, Switch, Update,
};
use mpiscope_model::words::printable;
use mpiscope_model::{Call, Losses, Nanoseconds, Totals};
use mpiscope_page::{self as page, Feeding, Page};
use mpiscope_process::output::print;
use mpiscope_process::private::random;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn compare(options: &CompareOptions) -> Result<ExitCode> {
    let has_page = options.open || options.listen.is_some();
    let align = AlignBy::from(options.align);
    let with_calls = has_page || align != AlignBy::Start;
    let (a, b) = (Digest::read(&options.a, with_calls)?, Digest::read(&options.b, with_calls)?);
    let comparison = comparison(&a, &b, align)?;
    if options.json {
        print(&(serde_json::to_string_pretty(&comparison)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&printable(&text(&comparison)))?;
    if has_page {
        serve(options, comparison, &a, &b)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows both until somebody ends it.
fn serve(options: &CompareOptions, comparison: Comparison, a: &Digest, b: &Digest) -> Result<()> {
    // Before the address is printed: a signal from then on cleans up.
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).context("wait for Ctrl-C")?;
    let compared = compared(comparison, a, b)?;
    let job = Job {
        run: format!("{} and {}", a.side.run, b.side.run),
        source: RunSource::Replay,
        state: JobState::Ended,
        exit: Some(0),
        ..Job::default()
    };
    let now_ns = compared.a.duration_ns.max(compared.b.duration_ns);
    let state = FeedState::new(job.clone()).with_comparison(compared);
    let token = format!("{:032x}", random()?);
    let library = Arc::new(Library::new(Box::new(NoCalls)));
    let (page, mut feeding) =
        Page::open_with(options.listen.unwrap_or(page::ANYWHERE), &token, state, library, None)?;
    publish(&mut feeding, &job, now_ns);
    let page = page.admit();
    page::say_address("compare", page.url());
    say!("Ctrl-C ends it");
    let opened = options.open.then(|| page::open_in_browser(page.url()));
    // Whichever comes first.
    let _ = signals.forever().next();
    drop(opened);
    page.close();
    Ok(())
}

/// Shows a job without figures of its own.
fn publish(feeding: &mut Feeding, job: &Job, now_ns: u64) {
    feeding.publisher.publish(&Update {
        now_ns,
        lag_ns: 0,
        job,
        totals: Totals::default(),
        losses: Losses::default(),
        functions: &[],
        ranks: &[],
        nodes: &[],
        timeline: &[],
        in_flight: &[],
        hangs: &Hangs::default(),
        switch: &Switch::default(),
        calls: &[],
        faults: &[],
        found: None,
    });
}

/// Single calls are looked at where a recording is replayed.
#[derive(Debug)]
struct NoCalls;

impl CallSource for NoCalls {
    fn visit(&self, _: &Range<Nanoseconds>, _: &mut dyn FnMut(&Call)) -> Result<(), String> {
        Ok(())
    }
}
