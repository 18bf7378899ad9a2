//! Hosts whose agent did not deliver everything, in sentences.

use mpiscope_model::words::run_time;
use mpiscope_recording::Uncounted;
use std::time::Duration;

/// What is missing of a host.
#[must_use]
pub fn sentence(host: &Uncounted) -> String {
    match host.after_ns {
        Some(after_ns) => format!(
            "{}: cut off at {}; calls that its ranks made after that are not counted",
            host.node,
            run_time(Duration::from_nanos(after_ns))
        ),
        None => format!("{}: cut off from the start; calls that its ranks made are not counted", host.node),
    }
}

/// What follows a number of lost calls.
#[must_use]
pub fn note(uncounted: &[Uncounted]) -> String {
    match uncounted {
        [] => String::new(),
        [host] => format!(", {} not fully counted", host.node),
        hosts => format!(", {} hosts not fully counted", hosts.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_with_the_time() {
        let host = |after_ns| Uncounted { node: "node3".into(), after_ns };
        let at = "node3: cut off at 0:00:12.345; calls that its ranks made after that are not counted";
        assert_eq!(sentence(&host(Some(12_345_678_901))), at);
        let never = "node3: cut off from the start; calls that its ranks made are not counted";
        assert_eq!(sentence(&host(None)), never);
        assert_eq!(note(&[]), "");
        assert_eq!(note(&[host(None)]), ", node3 not fully counted");
        assert_eq!(note(&[host(None), host(Some(1))]), ", 2 hosts not fully counted");
    }
}
