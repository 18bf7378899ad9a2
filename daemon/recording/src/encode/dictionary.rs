//! Few different numbers, and which of them each value is.

use super::number::Number;
use std::collections::HashMap;

/// Numbers that lie no further apart are looked up in a table.
const TABLE: u64 = 1 << 18;

pub(super) struct Dictionary<N> {
    /// In the order in which they came.
    pub(super) numbers: Vec<N>,
    /// For each value where its number stands.
    pub(super) places: Vec<u32>,
}

impl<N: Number> Dictionary<N> {
    /// Of values between these two; none where there are more different ones than may be.
    pub(super) fn new(values: &[N], (least, greatest): (N, N), most: usize) -> Option<Self> {
        let span = greatest.wide().wrapping_sub(least.wide()).cast_unsigned();
        if span == 0 {
            return Some(Self { numbers: vec![least], places: vec![0; values.len()] });
        }
        if span < TABLE {
            // A place and one more; 0 is for none.
            let mut table = vec![0_u32; span as usize + 1];
            return Self::find(values, most, |number, next| {
                let known = &mut table[number.minus(least) as usize];
                if *known == 0 {
                    *known = next + 1;
                }
                *known - 1
            });
        }
        // Of numbers that somebody chose, none may make it slow.
        let mut known = HashMap::new();
        let mut last = None;
        Self::find(values, most, |number, next| match last {
            Some((of, place)) if of == number => place,
            _ => {
                let place = *known.entry(number).or_insert(next);
                last = Some((number, place));
                place
            }
        })
    }

    /// `place` says where a number stands; it gets the next place if it has none.
    fn find(values: &[N], most: usize, mut place: impl FnMut(N, u32) -> u32) -> Option<Self> {
        let mut numbers: Vec<N> = Vec::new();
        let mut places = Vec::with_capacity(values.len());
        for &value in values {
            let place = place(value, numbers.len() as u32);
            if place as usize == numbers.len() {
                if numbers.len() == most {
                    return None;
                }
                numbers.push(value);
            }
            places.push(place);
        }
        Some(Self { numbers, places })
    }
}
