//! Selects the calls and messages that are exported.

use crate::limits::MAX_RANKS;
use anyhow::{Result, bail};
use mpiscope_model::{Call, Function, Message, Nanoseconds, Rank, Site};
use mpiscope_recording::{CallFilter, Filter as _};
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

const NS_PER_S: f64 = 1e9;
/// No run takes longer.
const MAX_S: f64 = 9e9;

/// Ranks as people write them: `0,8-15`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankList(Vec<RangeInclusive<Rank>>);

impl FromStr for RankList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "ranks are expected, such as 0,8-15".to_owned();
        let number = |text: &str| text.trim().parse().ok().filter(|&rank| rank < MAX_RANKS);
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let ends = number(first).zip(number(last)).filter(|(first, last)| first <= last);
            ends.map(|(first, last)| Rank(first)..=Rank(last))
        };
        text.split(',').map(range).collect::<Option<_>>().map(Self).ok_or_else(expected)
    }
}

impl RankList {
    /// Its ranges, both ends included.
    pub fn ranges(&self) -> Vec<(Rank, Rank)> {
        self.0.iter().map(|range| (*range.start(), *range.end())).collect()
    }

    /// Whether a rank is in the list.
    pub fn contains(&self, rank: Rank) -> bool {
        self.0.iter().any(|range| range.contains(&rank))
    }
}

/// Reads a range of bytes as people write it: `8`, `1024-65536`, or `1048576-` without an upper bound.
///
/// # Errors
/// A sentence that says what is expected.
pub fn parse_byte_range(text: &str) -> Result<RangeInclusive<u64>, String> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let range = match text.split_once('-') {
        None => number(text).map(|bytes| bytes..=bytes),
        Some((from, "")) => number(from).map(|from| from..=u64::MAX),
        Some((from, to)) => number(from).zip(number(to)).map(|(from, to)| from..=to),
    };
    range
        .filter(|range| !range.is_empty())
        .ok_or_else(|| "bytes are expected, such as 8, 1024-65536 or 1048576-".into())
}

/// Reads a time of the run in seconds.
///
/// # Errors
/// A sentence that says what is expected.
pub fn parse_run_time_ns(text: &str) -> Result<Nanoseconds, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=MAX_S).contains(seconds));
    seconds
        .map(|seconds| (seconds * NS_PER_S).round() as u64)
        .ok_or_else(|| "seconds of the run are expected, such as 2.5".into())
}

/// Reads a duration with its unit.
///
/// # Errors
/// A sentence that says what is expected.
pub fn parse_duration_ns(text: &str) -> Result<Nanoseconds, String> {
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", NS_PER_S)];
    let found = units.iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, ns)));
    let number = found.and_then(|(number, ns)| Some(number.trim().parse::<f64>().ok()? * ns));
    let number = number.filter(|ns| (0.0..=MAX_S * NS_PER_S).contains(ns));
    number
        .map(|ns| ns.round() as u64)
        .ok_or_else(|| "a duration is expected, such as 200us, 1.5ms or 2s".into())
}

/// Which calls and messages are exported.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub(crate) range_ns: Option<Range<Nanoseconds>>,
    pub(crate) ranks: Option<RankList>,
    /// Conditions on calls.
    calls: CallFilter,
    peers: Option<RankList>,
    longer_than_ns: Option<Nanoseconds>,
}

impl Filter {
    /// Keeps what is within a range of times, of certain ranks and functions, and longer than a time. `names` are the names of
    /// all functions, by number.
    ///
    /// # Errors
    /// When there is no function of a name.
    pub fn new(
        range_ns: Option<Range<Nanoseconds>>,
        ranks: Option<&RankList>,
        functions: &[String],
        longer_than_ns: Option<Nanoseconds>,
        names: &[String],
    ) -> Result<Self> {
        let number = |wanted: &String| {
            let found = names.iter().position(|name| !name.is_empty() && name.eq_ignore_ascii_case(wanted));
            let found = found.and_then(|at| Function::try_from(at).ok());
            found.ok_or_else(|| {
                anyhow::anyhow!(
                    "{wanted} is no function that is recorded; names are as in C, such as MPI_Waitall"
                )
            })
        };
        let functions: Vec<Function> = functions.iter().map(number).collect::<Result<_>>()?;
        let calls = CallFilter {
            ranks: ranks.map(|ranks| ranks.0.clone()),
            functions: (!functions.is_empty()).then_some(functions),
            duration_ns: longer_than_ns.map(|least_ns| least_ns.saturating_add(1)..=u64::MAX),
            ..CallFilter::default()
        };
        Ok(Self { range_ns, ranks: ranks.cloned(), calls, peers: None, longer_than_ns })
    }

    /// Keeps only what has one of these ranks on the other side, and a number of bytes within a range.
    #[must_use]
    pub fn with_peers_and_bytes(
        mut self,
        peers: Option<&RankList>,
        bytes: Option<&RangeInclusive<u64>>,
    ) -> Self {
        self.calls.peers = peers.map(|peers| peers.0.clone());
        self.calls.bytes = bytes.cloned();
        self.peers = peers.cloned();
        self
    }

    /// Keeps only calls from call sites whose name contains this. `sites` are the names of all call sites, by number.
    ///
    /// # Errors
    /// When there is no such call site.
    pub fn at_call_site(mut self, place: &str, sites: &[String]) -> Result<Self> {
        let named = (0..).map(Site).zip(sites).filter(|(_, name)| name.contains(place));
        let found: Vec<Site> = named.map(|(site, _)| site).collect();
        if found.is_empty() {
            bail!("no call site matches {place}; `mpiscope report` lists the call sites");
        }
        self.calls.sites = Some(found);
        Ok(self)
    }

    pub(crate) fn keeps_call(&self, call: &Call) -> bool {
        self.is_in_range(call.start_ns, call.end_ns) && self.calls.keeps(call)
    }

    /// Whether a message is kept: one of its two ends has to match.
    pub(crate) fn keeps_message(&self, message: &Message) -> bool {
        let (begin_ns, end_ns) = (message.send_ns.min(message.recv_ns), message.send_ns.max(message.recv_ns));
        let has = |ranks: &Option<RankList>, rank| ranks.as_ref().is_none_or(|ranks| ranks.contains(rank));
        let is_between = |one, other| has(&self.ranks, one) && has(&self.peers, other);
        self.is_in_range(begin_ns, end_ns)
            && (is_between(message.src, message.dst) || is_between(message.dst, message.src))
            && self.calls.bytes.as_ref().is_none_or(|range| range.contains(&message.bytes))
            && self.longer_than_ns.is_none_or(|least_ns| end_ns - begin_ns > least_ns)
    }

    fn is_in_range(&self, begin_ns: Nanoseconds, end_ns: Nanoseconds) -> bool {
        self.range_ns.as_ref().is_none_or(|range| begin_ns < range.end && end_ns >= range.start)
    }
}

impl mpiscope_recording::Filter<Call> for &Filter {
    fn keeps(&self, call: &Call) -> bool {
        self.keeps_call(call)
    }

    fn may_keep(&self, column: &str, least: i64, greatest: i64) -> bool {
        self.calls.may_keep(column, least, greatest)
    }
}

impl mpiscope_recording::Filter<Message> for &Filter {
    fn keeps(&self, message: &Message) -> bool {
        self.keeps_message(message)
    }

    fn may_keep(&self, column: &str, least: i64, greatest: i64) -> bool {
        column != "bytes" || self.calls.may_keep(column, least, greatest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::Comm;

    #[test]
    fn words_become_ranks_times_and_durations() {
        let list: RankList = "0, 8-9,3".parse().unwrap();
        let has: Vec<u32> = (0..12).filter(|&rank| list.contains(Rank(rank))).collect();
        assert_eq!(has, [0, 3, 8, 9]);
        for wrong in ["", "1,", "a", "3-1", "-1", "0-1048576", "1-2-3"] {
            assert!(wrong.parse::<RankList>().is_err(), "{wrong}");
        }
        assert_eq!((parse_run_time_ns("2.5"), parse_run_time_ns("0")), (Ok(2_500_000_000), Ok(0)));
        assert!(["-1", "x", "nan", "inf", "1e10", ""].iter().all(|wrong| parse_run_time_ns(wrong).is_err()));
        let durations = ["7ns", "200us", "1.5ms", "2 s"].map(|text| parse_duration_ns(text).unwrap());
        assert_eq!(durations, [7, 200_000, 1_500_000, 2_000_000_000]);
        assert_eq!(
            (parse_byte_range("8"), parse_byte_range("1-3"), parse_byte_range("9-")),
            (Ok(8..=8), Ok(1..=3), Ok(9..=u64::MAX))
        );
        assert!(["", "-", "3-1", "x", "-5"].iter().all(|wrong| parse_byte_range(wrong).is_err()));
        assert!(["7", "ms", "-1s", "1h", "1e11s"].iter().all(|wrong| parse_duration_ns(wrong).is_err()));
    }

    #[test]
    fn each_filter_takes_its_part() {
        let names = ["", "MPI_Send", "MPI_Wait"].map(str::to_owned);
        let filter = |from: Option<u64>, to: Option<u64>, ranks: Option<&str>, functions: &[&str], longer| {
            let ranks = ranks.map(|ranks| ranks.parse().unwrap());
            let functions: Vec<String> = functions.iter().map(|&name| name.to_owned()).collect();
            let range_ns = from.unwrap_or(0)..to.unwrap_or(u64::MAX);
            Filter::new(Some(range_ns), ranks.as_ref(), &functions, longer, &names)
        };
        let call = Call { rank: Rank(3), function: 2, start_ns: 10, end_ns: 20, ..Call::default() };
        let message = Message {
            src: Rank(3),
            dst: Rank(4),
            tag: 0,
            comm: Comm::WORLD,
            bytes: 0,
            send_ns: 10,
            recv_ns: 20,
            t_msg_ns: 10,
            late_sender_ns: 0,
            late_receiver_ns: None,
            inter: false,
            exact: true,
        };
        let kept = |from, to, ranks, functions: &[&str], longer| {
            let filter = filter(from, to, ranks, functions, longer).unwrap();
            (filter.keeps_call(&call), filter.keeps_message(&message))
        };
        assert_eq!(kept(None, None, None, &[], None), (true, true));
        assert_eq!(kept(Some(20), None, None, &[], None), (true, true));
        assert_eq!(kept(Some(21), None, None, &[], None), (false, false));
        assert_eq!(kept(None, Some(10), None, &[], None), (false, false));
        assert_eq!(kept(None, None, Some("4"), &[], None), (false, true));
        assert_eq!(kept(None, None, Some("0-2"), &[], None), (false, false));
        assert_eq!(kept(None, None, None, &["mpi_send"], None), (false, true));
        assert_eq!(kept(None, None, None, &["MPI_Send", "MPI_Wait"], Some(9)), (true, true));
        assert_eq!(kept(None, None, None, &[], Some(10)), (false, false));
        let rest = |peer: Option<&str>, bytes: Option<&str>| {
            let peer = peer.map(|peer| peer.parse().unwrap());
            let bytes = bytes.map(|bytes| parse_byte_range(bytes).unwrap());
            let filter = filter(None, None, None, &[], None)
                .unwrap()
                .with_peers_and_bytes(peer.as_ref(), bytes.as_ref());
            (filter.keeps_call(&call), filter.keeps_message(&message))
        };
        assert_eq!(rest(Some("4"), None), (false, true), "the call has no peer");
        assert_eq!(rest(Some("5"), None), (false, false));
        assert_eq!((rest(None, Some("0")), rest(None, Some("1-"))), ((true, true), (false, false)));
        let places = ["a.c:1 main()", "b.c:2 main()"].map(str::to_owned);
        let from = |place| filter(None, None, None, &[], None).unwrap().at_call_site(place, &places);
        assert!(from("c.c").is_err());
        let in_b = Call { site: Some(Site(1)), ..call };
        assert!(from("b.c:2").unwrap().keeps_call(&in_b) && !from("a.c").unwrap().keeps_call(&in_b));
        let unknown = filter(None, None, None, &["Send"], None).unwrap_err().to_string();
        assert!(unknown.starts_with("Send is no function"), "{unknown}");
    }
}
