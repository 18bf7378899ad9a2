//! How long messages and collectives take.

use crate::random::{LogNormal, Purpose, Stream, unit};
use crate::spec::{Network, Noise, Spec};

/// No message takes this many times as long as usual.
const LONGEST_FACTOR: f64 = 1000.0;
const SIZES: usize = 256;

/// Others use the network.
#[derive(Debug)]
pub(crate) struct Others {
    /// By node, whether it is concerned; none is all.
    pub(crate) nodes: Vec<bool>,
    pub(crate) during_ns: (u64, u64),
    pub(crate) factor: f64,
    pub(crate) spread: LogNormal,
}

impl Others {
    fn concerns(&self, node: u32) -> bool {
        self.nodes.is_empty() || self.nodes.get(node as usize).is_some_and(|&concerned| concerned)
    }

    /// Whether there is a way between nodes that is concerned: collectives go over all.
    fn concerns_some(&self) -> bool {
        self.nodes.is_empty() || self.nodes.iter().filter(|&&concerned| concerned).count() > 1
    }

    fn is_at(&self, at_ns: u64) -> bool {
        (self.during_ns.0..self.during_ns.1).contains(&at_ns)
    }
}

/// The network.
#[derive(Debug)]
pub(crate) struct Wires {
    network: Network,
    stream: Stream,
    spread: LogNormal,
    tail: Option<(f64, f64)>,
    sizes: Box<[u32]>,
    same_size: bool,
    meetings: Stream,
    traffic: Stream,
    others: Vec<Others>,
    /// Whether there are several nodes, and how many steps a collective takes within and between them.
    levels: (u32, u32),
}

/// A message on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flight {
    pub(crate) bytes: u32,
    /// How long it takes.
    pub(crate) takes_ns: u64,
    /// How much of that its bytes take.
    pub(crate) bytes_take_ns: u64,
}

/// A message: its channel and its number there.
pub(crate) type Number = (u32, u32);

impl Wires {
    pub(crate) fn new(spec: &Spec, network: Network, others: Vec<Others>) -> Self {
        let levels = |count: u32| count.next_power_of_two().ilog2();
        let (least, most) = (spec.sizes.min_bytes.max(1) as f64, spec.sizes.max_bytes.max(1) as f64);
        let size = |at: usize| {
            let share = (at as f64 + 0.5) / SIZES as f64;
            (least * (most / least).powf(share)).round() as u32
        };
        let same_size = spec.sizes.min_bytes == spec.sizes.max_bytes;
        let all =
            if same_size { [spec.sizes.min_bytes as u32].into() } else { (0..SIZES).map(size).collect() };
        Self {
            network,
            stream: Stream::new(spec.seed, Purpose::Messages),
            spread: LogNormal::new(spec.noise.sigma()),
            tail: match spec.noise {
                Noise::HeavyTailed { share, exponent, .. } => Some((share, exponent)),
                _ => None,
            },
            sizes: all,
            same_size,
            meetings: Stream::new(spec.seed, Purpose::Collectives),
            traffic: Stream::new(spec.seed, Purpose::Traffic),
            others,
            levels: (levels(spec.ranks.div_ceil(spec.nodes)), levels(spec.nodes)),
        }
    }

    /// Other messages are slow than were.
    pub(crate) fn draw_anew(&mut self, seed: u64, luck: u64) {
        self.stream = Stream::new(seed ^ (luck << 32), Purpose::Messages);
    }

    /// What a message carries.
    #[inline]
    pub(crate) fn bytes(&self, (channel, number): Number) -> u32 {
        if self.same_size {
            return self.sizes[0];
        }
        self.sizes[(self.stream.word(channel, u64::from(number)) & 0xFF) as usize]
    }

    /// How a message goes that is sent at a moment. The nodes are those of sender and receiver.
    #[inline]
    pub(crate) fn flight(&self, message: Number, (from, to): (u32, u32), at_ns: u64) -> Flight {
        let word = self.stream.word(message.0, u64::from(message.1));
        let bytes = if self.same_size { self.sizes[0] } else { self.sizes[(word & 0xFF) as usize] };
        let network = &self.network;
        let (base_ns, byte_ns) = if from == to {
            (network.intra_base_ns, network.intra_byte_ns)
        } else {
            (network.inter_base_ns, network.inter_byte_ns)
        };
        let mut factor = f64::from(self.spread.sample(word));
        if let Some((share, exponent)) = self.tail {
            factor *= tail(word, share, exponent);
        }
        if from != to && !self.others.is_empty() {
            factor *= self.hindrance(message, |others| others.concerns(from) && others.concerns(to), at_ns);
        }
        let bytes_take_ns = byte_ns * f64::from(bytes) * factor;
        let takes_ns = base_ns * factor + bytes_take_ns;
        Flight { bytes, takes_ns: (takes_ns as u64).max(1), bytes_take_ns: bytes_take_ns as u64 }
    }

    #[inline(never)]
    fn hindrance(&self, message: Number, concerns: impl Fn(&Others) -> bool, at_ns: u64) -> f64 {
        let word = self.traffic.word(message.0, u64::from(message.1));
        let active = self.others.iter().filter(|others| others.is_at(at_ns) && concerns(others));
        active.map(|others| (others.factor * f64::from(others.spread.sample(word))).max(1.0)).product()
    }

    /// How long a collective takes from when its last member that counts has entered.
    pub(crate) fn operation(&self, number: u32, bytes: u64, at_ns: u64) -> u64 {
        let network = &self.network;
        let word = self.meetings.word(0, u64::from(number));
        let level = |levels: u32, base: f64, byte: f64| f64::from(levels) * (base + byte * bytes as f64);
        let inside = level(self.levels.0, network.intra_base_ns, network.intra_byte_ns);
        let mut between = level(self.levels.1, network.inter_base_ns, network.inter_byte_ns);
        if self.levels.1 > 0 {
            between *= self.hindrance((u32::MAX, number), Others::concerns_some, at_ns);
        }
        (((inside + between) * f64::from(self.spread.sample(word))) as u64).max(1)
    }
}

/// The factor of a message that may be in the tail.
fn tail(word: u64, share: f64, exponent: f64) -> f64 {
    // The middle of the word: its ends say the size and where in the body it is.
    let place = unit(word << 12);
    if place >= share {
        return 1.0;
    }
    ((place.max(1e-12) / share).powf(-1.0 / exponent)).min(LONGEST_FACTOR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pattern, Sizes};

    fn wires(change: impl FnOnce(&mut Spec)) -> Wires {
        let mut spec = Spec::new(Pattern::Ring, 16, 1.0, 1e4);
        change(&mut spec);
        let network =
            Network { intra_base_ns: 500.0, intra_byte_ns: 0.1, inter_base_ns: 2000.0, inter_byte_ns: 1.0 };
        Wires::new(&spec, network, Vec::new())
    }

    #[test]
    fn without_noise_a_message_costs_what_the_network_says() {
        let wires = wires(|spec| {
            spec.noise = Noise::None;
            spec.sizes = Sizes { min_bytes: 1000, max_bytes: 1000 };
        });
        let flight = |takes_ns, bytes_take_ns| Flight { bytes: 1000, takes_ns, bytes_take_ns };
        assert_eq!(wires.flight((3, 4), (0, 0), 0), flight(600, 100));
        assert_eq!(wires.flight((3, 4), (0, 1), 0), flight(3000, 1000));
        assert_eq!(wires.operation(0, 0, 0), 3 * 500 + 2000);
    }

    #[test]
    fn sizes_stay_in_their_range_and_both_sides_see_the_same() {
        let wires = wires(|_| {});
        let sizes: Vec<u32> = (0..500).map(|number| wires.bytes((7, number))).collect();
        assert!(sizes.iter().all(|size| (1024..=8192).contains(size)));
        assert!(sizes.iter().min() < Some(&1200) && sizes.iter().max() > Some(&7000));
        assert!(sizes.iter().zip(0..).all(|(&size, at)| wires.flight((7, at), (0, 1), 0).bytes == size));
    }

    #[test]
    fn a_heavy_tail_has_its_share() {
        let wires = wires(|spec| {
            spec.noise = Noise::HeavyTailed { sigma: 0.0, share: 0.05, exponent: 1.5 };
            spec.sizes = Sizes { min_bytes: 0, max_bytes: 0 };
        });
        let times: Vec<u64> = (0..20_000).map(|at| wires.flight((1, at), (0, 0), 0).takes_ns).collect();
        let above = |ns| times.iter().filter(|&&time| time > ns).count();
        assert!((800..1200).contains(&above(500)), "{}", above(500));
        assert!((15..60).contains(&above(5000)), "{}", above(5000));
    }
}
