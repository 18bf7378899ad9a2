//! Many things of few owners, in the order of owners.

/// Deals things out to lanes: the numbers of all things, lane by lane and each in its order, and where each lane ends.
/// `lane_of` says the lane of a thing by its number.
#[must_use]
pub fn deal_out(things: usize, lanes: usize, lane_of: impl Fn(usize) -> usize) -> (Vec<u32>, Vec<usize>) {
    let mut ends = vec![0_usize; lanes];
    (0..things).for_each(|thing| ends[lane_of(thing)] += 1);
    // First where each begins, and with each thing one further.
    let mut before = 0;
    for end in &mut ends {
        before += std::mem::replace(end, before);
    }
    let mut numbers = vec![0_u32; things];
    for thing in 0..things {
        let end = &mut ends[lane_of(thing)];
        numbers[*end] = thing as u32;
        *end += 1;
    }
    (numbers, ends)
}

#[cfg(test)]
mod tests {
    use super::deal_out;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_lane_has_its_things_in_their_order(lanes in proptest::collection::vec(0_usize..7, 0..60)) {
            let mut sorted: Vec<u32> = (0..lanes.len() as u32).collect();
            sorted.sort_by_key(|thing| lanes[*thing as usize]);
            let (numbers, ends) = deal_out(lanes.len(), 7, |thing| lanes[thing]);
            prop_assert_eq!(numbers, sorted);
            let until = |lane: usize| lanes.iter().filter(|of| **of <= lane).count();
            prop_assert_eq!(ends, (0..7).map(until).collect::<Vec<_>>());
        }
    }
}
