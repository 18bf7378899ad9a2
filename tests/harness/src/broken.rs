//! Standard descriptors that cannot be used.

use anyhow::{Context as _, Result};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::File;
use std::io::{ErrorKind, PipeReader, PipeWriter, Write as _, pipe};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

/// What is wrong with a standard descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// It is not open.
    Closed,
    /// It is `/dev/full`: there is no room for what is written.
    FullDevice,
    /// It is a pipe that is full, and that nobody reads. Of an input: one that nobody writes to.
    FullPipe,
    /// It is a pipe whose other end is closed.
    NoOtherEnd,
}

impl Broken {
    /// All that can be wrong.
    pub const ALL: [Self; 4] = [Self::Closed, Self::FullDevice, Self::FullPipe, Self::NoOtherEnd];
}

/// A broken descriptor for commands. It is broken as long as this lives.
#[derive(Debug)]
pub struct BrokenDescriptor {
    number: u8,
    /// None of a closed one.
    file: Option<OwnedFd>,
    _other_end: Option<OwnedFd>,
}

impl BrokenDescriptor {
    /// Breaks standard input (0), output (1) or error (2).
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(number: u8, broken: Broken) -> Result<Self> {
        let of_pipe = |(reader, writer): (PipeReader, PipeWriter)| {
            let (reader, writer) = (OwnedFd::from(reader), OwnedFd::from(writer));
            if number == 0 { (reader, writer) } else { (writer, reader) }
        };
        let (file, other_end) = match broken {
            Broken::Closed => (None, None),
            Broken::FullDevice => {
                let file = File::options().read(true).write(true).open("/dev/full");
                (Some(file.context("open /dev/full")?.into()), None)
            }
            Broken::FullPipe => {
                let (file, other_end) = of_pipe(if number == 0 { pipe()? } else { full_pipe()? });
                (Some(file), Some(other_end))
            }
            Broken::NoOtherEnd => (Some(of_pipe(pipe()?).0), None),
        };
        Ok(Self { number, file, _other_end: other_end })
    }

    /// The command with this descriptor, and with pipes for the other two.
    ///
    /// # Errors
    /// When there are too many open files.
    pub fn give_to(&self, command: &Command) -> Result<Command> {
        let mut given = match self.file {
            Some(_) => copy(command, command.get_program().into(), Vec::new()),
            None => {
                let script = format!("exec \"$@\" {}>&-", self.number);
                let before = ["-c".into(), script.into(), "sh".into(), command.get_program().into()];
                copy(command, "sh".into(), before.into())
            }
        };
        given.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(file) = &self.file {
            let file = file.try_clone()?;
            match self.number {
                0 => given.stdin(file),
                1 => given.stdout(file),
                _ => given.stderr(file),
            };
        }
        Ok(given)
    }
}

/// The command with its arguments and environment behind another program and its arguments.
pub(crate) fn copy(of: &Command, program: std::ffi::OsString, before: Vec<std::ffi::OsString>) -> Command {
    let mut copy = Command::new(program);
    copy.args(before).args(of.get_args());
    for (name, value) in of.get_envs() {
        match value {
            Some(value) => copy.env(name, value),
            None => copy.env_remove(name),
        };
    }
    copy
}

/// A pipe into which not one more byte goes.
fn full_pipe() -> Result<(PipeReader, PipeWriter)> {
    let (reader, mut writer) = pipe()?;
    let flags = fcntl_getfl(&writer)?;
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK)?;
    for chunk in [&[0_u8; 4096][..], &[0]] {
        loop {
            match writer.write(chunk) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
    }
    fcntl_setfl(&writer, flags)?;
    Ok((reader, writer))
}
