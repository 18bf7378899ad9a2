//! Messages together with what collectives carry, as rows of a subscription.

use super::filter::Filter;
use super::rows::{Key, LateRows, Marks, Row, or, push_message};
use mpiscope_feed::exchange::Ranks;
use mpiscope_feed::{ExpandedMessage, Library};
use mpiscope_model::{Message, Nanoseconds};
use mpiscope_protocol::{Batch, MessageColumns, NONE};
use std::ops::Range;

/// The longest stretch whose collectives are kept at once.
const LONGEST_NS: u64 = 1_000_000_000;

fn plain(message: &Message) -> ExpandedMessage {
    ExpandedMessage { message: *message, collective: None, known_ns: message.recv_ns }
}

impl Row for ExpandedMessage {
    fn key(&self) -> Key {
        let [recv_ns, send_ns, src, dst, tag, comm, bytes, t_msg_ns, late_sender_ns, rest @ ..] =
            self.message.key();
        let [late_receiver_ns, inter, exact] = rest;
        let collective = self
            .collective
            .map_or(0, |(function, instance)| 1 + (u64::from(function) << 32 | u64::from(instance)));
        let flags = or(Some(late_receiver_ns)) << 2 | inter << 1 | exact;
        [
            self.known_ns,
            recv_ns,
            send_ns,
            src,
            dst,
            tag,
            comm,
            bytes,
            t_msg_ns,
            late_sender_ns,
            flags,
            collective,
        ]
    }

    fn keeps(&self, filter: &Filter, ranks: &Ranks) -> bool {
        filter.keeps_expanded(self, ranks)
    }

    fn late(
        library: &Library,
        after: Marks,
        most: usize,
        _: (&Filter, &Ranks),
    ) -> Result<LateRows<Self>, String> {
        let messages = library.late_messages(after.messages, most);
        let mut rows: Vec<Self> = messages.rows.iter().map(plain).collect();
        // One by one: each may be in many pairs. None while there are messages.
        let calls = library.late_calls(after.calls, usize::from(rows.is_empty()));
        for call in &calls.rows {
            // All that the read saw is in a list that is taken after it.
            rows = library.late_collective(call, || library.late_calls(calls.next, usize::MAX).rows)?;
        }
        Ok(LateRows {
            rows,
            missed: messages.missed + calls.missed,
            next: Marks { calls: calls.next, messages: messages.next },
            has_more: messages.has_more() || calls.has_more(),
        })
    }

    fn came_into(library: &Library, after: Marks, range_ns: &Range<Nanoseconds>, _: &Filter) -> bool {
        // A late call is in pairs that come after it.
        library.any_late_message(after.messages, range_ns)
            || library.any_late_call(after.calls, &(0..range_ns.end))
    }

    fn visit(
        library: &Library,
        range_ns: &Range<Nanoseconds>,
        (filter, ranks): (&Filter, &Ranks),
        visitor: &mut dyn FnMut(&Self),
    ) -> Result<(), String> {
        if !filter.has_functions() {
            Message::visit(library, range_ns, (filter, ranks), &mut |message| visitor(&plain(message)))?;
        }
        library.visit_collectives(range_ns, visitor)
    }

    fn longest_ns(_: &Filter) -> u64 {
        LONGEST_NS
    }

    fn fill(batch: &mut Batch, rows: &[Self], library: &Library) {
        let (mut columns, usual) = (MessageColumns::default(), library.usual());
        for row in rows {
            let latency = if row.collective.is_some() { f64::NAN } else { usual.latency(&row.message) };
            push_message(&mut columns, &row.message, latency);
            let (function, instance) =
                row.collective.map_or((NONE, NONE), |(function, instance)| (function.into(), instance));
            columns.function.push(function);
            columns.collective.push(instance);
            columns.known_ns.push(row.known_ns as f64);
        }
        let known = |of: &mut Vec<f64>, what: &dyn Fn(&Message) -> u64| {
            let unknown = rows.iter().map(|row| what(&row.message) == u64::MAX);
            of.iter_mut()
                .zip(unknown)
                .filter(|(_, is_unknown)| *is_unknown)
                .for_each(|(of, _)| *of = f64::NAN);
        };
        known(&mut columns.bytes, &|message| message.bytes);
        known(&mut columns.transfer_ns, &|message| message.t_msg_ns);
        batch.messages = Some(Box::new(columns));
    }
}
