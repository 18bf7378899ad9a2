//! The switch of a lab: it forwards Ethernet frames between the hosts that `deploy/lab/lab` makes on one machine.
//!
//! What it is: a TAP interface for each host and a machine that decides when a frame leaves, or that it does not; delay,
//! jitter, rate, loss and cuts for each direction of each pair of hosts. The kernel can do this as well, but not every
//! kernel was built with it. What it is not: a switch that learns addresses or joins other networks. Who starts it:
//! `lab up --shaped`. What must hold: frames of one link keep their order, and no queue grows without a bound.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "whoever starts it reads its output")]

mod control;
mod link;
mod port;
mod random;
mod switch;

use anyhow::{Context as _, Result};
use clap::Parser;
use rustix::event::epoll;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use switch::Switch;

/// Frames that are taken from a host before the others have their turn.
const FRAMES_IN_A_TURN: usize = 64;

/// What a TAP interface hands over at most.
const FRAME_BYTES: usize = 64 << 10;

/// The number that events of the timer carry; those of hosts carry their port.
const TIMER: u64 = u64::MAX;

/// Forwards frames between TAP interfaces port1, port2, ... that it makes where it is started.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// How many
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000))]
    ports: u16,
    /// The Unix socket to make, over which links are set and counters asked
    #[arg(long)]
    control: PathBuf,
    /// Decides which frames get lost and how delays vary
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let ports: Vec<File> =
        (1..=arguments.ports).map(|number| port::open(&format!("port{number}"))).collect::<Result<_>>()?;
    let switch = Arc::new(Mutex::new(Switch::new(ports.len(), arguments.seed)));
    let listener = UnixListener::bind(&arguments.control)
        .with_context(|| format!("make the socket {}", arguments.control.display()))?;
    let shared = Arc::clone(&switch);
    std::thread::spawn(move || control::serve(&listener, &shared));
    // Whoever started it waits for this line.
    println!("ready");
    forward(&ports, &switch)
}

/// Never returns but when something is wrong.
fn forward(ports: &[File], switch: &Mutex<Switch>) -> Result<()> {
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (index, port) in ports.iter().enumerate() {
        epoll::add(&poll, port, epoll::EventData::new_u64(index as u64), epoll::EventFlags::IN)?;
    }
    epoll::add(&poll, &timer, epoll::EventData::new_u64(TIMER), epoll::EventFlags::IN)?;
    let mut events = Vec::with_capacity(ports.len() + 1);
    let mut frame = vec![0; FRAME_BYTES];
    loop {
        events.clear();
        match epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).context("wait for frames"),
        }
        let mut switch = locked(switch);
        for event in &events {
            match usize::try_from(event.data.u64()) {
                Ok(from) if from < ports.len() => take(&mut switch, ports, from, &mut frame),
                // What the timer says is only that it rang.
                _ => drop(rustix::io::read(&timer, &mut [0; 8])),
            }
        }
        release(&mut switch, ports);
        set_timer(&timer, switch.next_release_ns())?;
    }
}

fn take(switch: &mut Switch, ports: &[File], from: usize, frame: &mut [u8]) {
    for _ in 0..FRAMES_IN_A_TURN {
        // An interface that is down for a moment, or has nothing more, is asked again when there is something.
        let Ok(length) = (&ports[from]).read(frame) else { return };
        switch.take(now_ns(), from, &frame[..length]);
    }
}

fn release(switch: &mut Switch, ports: &[File]) {
    while let Some((ends, frame)) = switch.due(now_ns()) {
        if (&ports[ends.1]).write(&frame).is_err() {
            switch.refused(ends);
        }
    }
}

fn set_timer(timer: &OwnedFd, at_ns: Option<u64>) -> Result<()> {
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    let at = at_ns.map_or(none, |at_ns| Timespec {
        // A time beyond all clocks is as good as the last one.
        tv_sec: i64::try_from(at_ns / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(at_ns % 1_000_000_000).unwrap_or(0),
    });
    let at = Itimerspec { it_interval: none, it_value: at };
    timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &at).context("set the timer")?;
    Ok(())
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The monotonic clock counts from the start of the machine: neither part is negative.
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

fn locked(switch: &Mutex<Switch>) -> MutexGuard<'_, Switch> {
    switch.lock().unwrap_or_else(PoisonError::into_inner)
}
