//! Reading what an answer is made of, with bounded memory.

use crate::call_source::CallSource;
use crate::message_source::MessageSource;
use crate::question::REPLACED;
use mpiscope_model::{Comm, Flow, Function, Message, Nanoseconds};
use mpiscope_topology::{DagScope, LogicalTime, Meeting, Member};
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// The events of a stretch, in logical time.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) time: LogicalTime,
    pub(crate) collectives: usize,
}

impl Gathered {
    pub(crate) fn build(messages: &[Message], meetings: &[Meeting], range_ns: &Range<Nanoseconds>) -> Self {
        Self { time: LogicalTime::build(messages, meetings, range_ns), collectives: meetings.len() }
    }
}

/// Shows all messages as long as the answer is wanted.
pub(super) fn visit(
    source: &dyn MessageSource,
    range_ns: &Range<Nanoseconds>,
    is_wanted: &dyn Fn() -> bool,
    take: &mut dyn FnMut(&[Message]) -> ControlFlow<()>,
) -> Result<(), String> {
    let mut is_replaced = false;
    source.visit(range_ns, &mut |messages| {
        is_replaced = !is_wanted();
        if is_replaced { ControlFlow::Break(()) } else { take(messages) }
    })?;
    if is_replaced { Err(REPLACED.to_owned()) } else { Ok(()) }
}

/// The messages of a scope, the earliest where there are too many; up to when these are all, and how many more there are.
pub(super) fn earliest(
    source: &dyn MessageSource,
    scope: &DagScope,
    most: usize,
    is_wanted: &dyn Fn() -> bool,
) -> Result<(Vec<Message>, Nanoseconds, u64), String> {
    let mut kept: Vec<(Nanoseconds, Message)> = Vec::new();
    let (mut until_ns, mut left_out) = (scope.range_ns.end, 0_u64);
    visit(source, &scope.range_ns, is_wanted, &mut |messages| {
        for message in messages {
            let Some(first_ns) = scope.first_ns(message) else { continue };
            if first_ns < until_ns {
                kept.push((first_ns, *message));
            } else {
                left_out += 1;
            }
        }
        if kept.len() > 2 * most {
            left_out += shorten(&mut kept, most, &mut until_ns);
        }
        ControlFlow::Continue(())
    })?;
    if kept.len() > most {
        left_out += shorten(&mut kept, most, &mut until_ns);
    }
    Ok((kept.into_iter().map(|(_, message)| message).collect(), until_ns, left_out))
}

/// Ends the stretch before the first message that there is no room for; says how many were let go.
fn shorten(kept: &mut Vec<(Nanoseconds, Message)>, most: usize, until_ns: &mut Nanoseconds) -> u64 {
    let before = kept.len();
    *until_ns = kept.select_nth_unstable_by_key(most, |(first_ns, _)| *first_ns).1.0;
    kept.retain(|(first_ns, _)| *first_ns < *until_ns);
    (before - kept.len()) as u64
}

/// The messages that do something in a range.
pub(super) fn all(
    source: &dyn MessageSource,
    range_ns: &Range<Nanoseconds>,
    most: usize,
    is_wanted: &dyn Fn() -> bool,
) -> Result<Vec<Message>, String> {
    let mut kept = Vec::new();
    visit(source, range_ns, is_wanted, &mut |messages| {
        let is_in =
            |message: &&Message| range_ns.contains(&message.send_ns) || range_ns.contains(&message.recv_ns);
        kept.extend(messages.iter().filter(is_in));
        if kept.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if kept.len() > most {
        return Err(format!("more than {most} messages lie in this range: choose a shorter one"));
    }
    Ok(kept)
}

/// The collectives of a range: calls of the same number on the same communicator. Ranks stand for the order of the
/// communicator, which decides only in scans.
pub(super) fn meetings(
    calls: &dyn CallSource,
    flow: fn(Function) -> Option<Flow>,
    range_ns: &Range<Nanoseconds>,
    most: usize,
) -> Result<Vec<Meeting>, String> {
    let mut met: BTreeMap<(Comm, u32), Meeting> = BTreeMap::new();
    let mut count = 0;
    calls.visit(range_ns, &mut |call| {
        let (Some(comm), Some(instance)) = (call.comm, call.instance) else { return };
        let Some(flow) = flow(call.function) else { return };
        count += 1;
        if count > most {
            return;
        }
        let member = Member { rank: call.rank, enter_ns: call.start_ns, exit_ns: call.end_ns };
        let meeting = met.entry((comm, instance));
        let meeting = meeting.or_insert_with(|| Meeting { flow, root: call.peer, members: Vec::new() });
        meeting.members.push(member);
    })?;
    if count > most {
        return Err(format!("more than {most} calls of collectives lie in this range: choose a shorter one"));
    }
    let mut meetings: Vec<Meeting> = met.into_values().collect();
    meetings.iter_mut().for_each(|meeting| meeting.members.sort_unstable_by_key(|member| member.rank));
    Ok(meetings)
}
