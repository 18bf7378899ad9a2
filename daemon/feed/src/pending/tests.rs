//! Reading for one moment is bounded, and a cut answer has a mark.

use super::*;
use crate::question::Grouping;
use crate::{MessageSource, Messages};
use std::ops::Range;

/// Messages that are all in flight, three at a time.
#[derive(Debug)]
struct Many(u64);

impl MessageSource for Many {
    fn visit(
        &self,
        range_ns: &Range<Nanoseconds>,
        visitor: &mut dyn FnMut(&[Message]) -> ControlFlow<()>,
    ) -> Result<(), String> {
        assert_eq!(*range_ns, 50..51, "no more than the moment is asked for");
        let message =
            Message { src: Rank(1), dst: Rank(2), bytes: 10, send_ns: 40, recv_ns: 60, ..Message::default() };
        let mut left = self.0;
        while left > 0 {
            let some = left.min(3);
            left -= some;
            if visitor(&vec![message; some as usize]).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn answer(messages: u64, most_read: u64) -> PendingMessages {
    let source = Dependencies::with_messages(Messages { source: Box::new(Many(messages)), flow: |_| None });
    let question = PendingQuestion { at_ns: 50, ranks: None, by: Grouping::Rank, open: Vec::new(), most: 10 };
    let keys = Rank::all(4).map(|rank| (0, rank));
    pending(&question, &source, None, keys, most_read, &|| true).unwrap()
}

#[test]
fn what_is_cut_is_the_least_that_there_is_and_says_so() {
    let all = answer(9, 9);
    assert_eq!((all.messages, all.bytes, all.is_partial), (9, 90, false));
    let cut = answer(10, 9);
    assert_eq!((cut.messages, cut.is_partial), (9, true));
    assert_eq!((cut.left_out_sends, cut.unreceived), (None, 0));
}

#[test]
fn ranks_that_nobody_knows_are_counted_and_in_no_group() {
    let source = Dependencies::with_messages(Messages { source: Box::new(Many(3)), flow: |_| None });
    let question = PendingQuestion { at_ns: 50, ranks: None, by: Grouping::Rank, open: Vec::new(), most: 10 };
    let found = pending(&question, &source, None, [(0, Rank(1))].into_iter(), 100, &|| true).unwrap();
    assert_eq!((found.messages, found.messages_left_out, found.oldest), (3, 3, None));
}
