//! A simulated job as it would run: its messages come at the speed of real time, and a page shows them.

use anyhow::{Context as _, Result};
use mpiscope_process::private::random;
use mpiscope_recorder::show_told;
use mpiscope_synth::{Run, Spec, Truth, generate};
use mpiscope_wire::Message;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Between two looks whether the job is to end.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// As a shell says that Ctrl-C ended a program.
const INTERRUPTED: i32 = 130;

/// Shows a job at an address, and keeps the recording where one is wanted. What is true of the job is known when it came
/// to its end.
pub(super) fn show(spec: &Spec, address: SocketAddr, out: Option<&Path>) -> Result<Option<Truth>> {
    // What makes no sense is refused before anything is written.
    let mut run = generate(spec)?;
    let is_to_end = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(&is_to_end)).context("wait for Ctrl-C")?;
    }
    let passing = if out.is_none() { Some(Passing::name()?) } else { None };
    let folder = out.or(passing.as_ref().map(Passing::path)).context("nowhere to record")?;
    show_told(folder, address, move |teller| {
        let is_whole = in_real_time(&mut run, &is_to_end, |message| teller.tell(message));
        Ok(is_whole.then(|| run.truth()))
    })
}

/// Hands out the messages of a run, those of each slice when its time has come; says whether it came to its end.
fn in_real_time(run: &mut Run, is_to_end: &AtomicBool, mut tell: impl FnMut(Message)) -> bool {
    let begun = Instant::now();
    let is_to_end = || is_to_end.load(Ordering::Relaxed);
    let mut is_whole = true;
    loop {
        if is_whole && run.is_between_slices() && is_to_end() {
            run.break_off(INTERRUPTED);
            is_whole = false;
        }
        let Some(message) = run.next() else { return is_whole };
        let due = Duration::from_nanos(run.until_ns());
        while let Some(left) = due.checked_sub(begun.elapsed()).filter(|left| !left.is_zero() && !is_to_end())
        {
            std::thread::sleep(left.min(LOOK_EVERY));
        }
        tell(message);
    }
}

/// A recording that nobody wants to keep: a folder that is gone when this ends.
pub(super) struct Passing(PathBuf);

impl Passing {
    pub(super) fn name() -> Result<Self> {
        Ok(Self(std::env::temp_dir().join(format!("mpiscope-synth-{:016x}", random()? as u64))))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        // It may not have been made.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(seconds: f64) -> Spec {
        Spec::new("ring".parse().unwrap(), 4, seconds, 20_000.0)
    }

    #[test]
    fn messages_come_no_earlier_than_they_would_and_all_of_them() {
        let mut run = generate(&spec(0.3)).unwrap();
        let (begun, mut sent) = (Instant::now(), Vec::new());
        assert!(
            in_real_time(&mut run, &AtomicBool::new(false), |message| sent.push((begun.elapsed(), message)))
        );
        let begin_ns = sent.iter().find_map(|(_, message)| match message {
            Message::RunStart(start) => Some(start.monotonic_ns),
            _ => None,
        });
        let mut samples = 0;
        for (at, message) in &sent {
            if let Message::ClockSample(sample) = message {
                samples += 1;
                assert!(
                    *at >= Duration::from_nanos(sample.monotonic_ns - begin_ns.unwrap()).saturating_sub(
                        // The last is a little after the end of the job.
                        Duration::from_millis(2)
                    )
                );
            }
        }
        assert!(samples >= 6, "{samples}");
        let all: Vec<Message> = generate(&spec(0.3)).unwrap().collect();
        assert_eq!(sent.into_iter().map(|(_, message)| message).collect::<Vec<_>>(), all);
    }

    #[test]
    fn a_job_that_is_broken_off_has_an_end() {
        let mut run = generate(&spec(3600.0)).unwrap();
        let (is_to_end, mut sent) = (AtomicBool::new(false), Vec::new());
        let is_whole = in_real_time(&mut run, &is_to_end, |message| {
            // After the first slice with calls.
            is_to_end.fetch_or(matches!(message, Message::Slots(_)), Ordering::Relaxed);
            sent.push(message);
        });
        assert!(!is_whole);
        let Some(Message::RunEnd(end)) = sent.last() else { panic!("{:?}", sent.last()) };
        assert_eq!(end.exit, Some(INTERRUPTED));
        assert!(sent.len() < 40, "{}", sent.len());
    }
}
