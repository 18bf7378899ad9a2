//! How long a window of one region takes: series of noise, flat and with stretches in it.

use crate::Took;
use mpiscope_diagnosis::{EvolutionOptions, Ratios, Series, Tally, Window};
use mpiscope_model::MessageTime;

const SERIES: u64 = 20;
const WINDOWS: u64 = 10_000;

/// Numbers that look random and are the same each time.
fn random(seed: u64) -> f64 {
    let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn window(series: u64, number: u64, level: f64) -> (Window, Ratios) {
    let noise = 1.0 + 0.2 * random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(series * WINDOWS + number + 1));
    let mut tally = Tally::default();
    tally.message();
    let took_ns = (1e6 * level * noise) as u64;
    let time = MessageTime { took_ns, expected_ns: 1_000_000, normal_ns: 1_200_000 };
    tally.exact(time);
    let mut ratios = Ratios::default();
    ratios.add(time.ratio());
    (Window { number, tally, version: 1 }, ratios)
}

/// The level of a series in each of its windows.
type Level = fn(u64) -> f64;

pub(crate) fn all() {
    let levels: [(&str, Level); 3] = [
        ("flat", |_| 1.0),
        ("a stretch that is steady or grows in each hundred windows", |at| match at % 200 {
            50..70 => 2.0,
            150..180 => 1.0 + (at % 200 - 150) as f64 / 15.0,
            _ => 1.0,
        }),
        ("another level in each eight windows", |at| 1.0 + (at / 8 % 3) as f64),
    ];
    for (name, level) in levels {
        let mut segments = 0;
        let mut took_s = 0.0;
        for at in 0..SERIES {
            let windows: Vec<_> = (0..WINDOWS).map(|number| window(at, number, level(number))).collect();
            let begun = Took::begin();
            let mut series = Series::new(EvolutionOptions::default());
            windows.iter().for_each(|(window, ratios)| series.push_with(window, ratios));
            took_s += begun.end().processor_s;
            series.finish();
            segments += series.closed().len();
        }
        let ns = took_s * 1e9 / (SERIES * WINDOWS) as f64;
        println!("{ns:6.0} ns a window and region, {segments} segments kept of {SERIES} series: {name}");
    }
}
