//! The names that a rank and an agent agree on in the folder of the rings, beside the rings themselves.

/// Locked as long as an agent serves the folder.
pub const AGENT_LOCK: &str = "agent.lock";

/// There when the daemon of the run serves the folder by itself.
pub const SERVED_BY_DAEMON: &str = "served-by-daemon";

/// The environment variable that tells an agent the number of the open file that holds the lock.
pub const AGENT_LOCK_VARIABLE: &str = "MPISCOPE_AGENT_LOCK";
