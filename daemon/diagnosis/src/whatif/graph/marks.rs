//! What replays look up for each call, put together once.

/// By call.
#[derive(Debug)]
pub(crate) struct Marks {
    /// Its thread.
    pub(crate) threads: Vec<u32>,
    /// What is special about it.
    pub(crate) calls: Vec<Mark>,
}

/// What is special about a call. Most wait for nothing but messages.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mark {
    /// Its end depends on more than messages, or on none of them.
    pub(crate) ends_otherwise: bool,
    /// Others wait for its entry into a collective.
    pub(crate) is_awaited: bool,
    /// It waits for the answer to a request.
    pub(crate) waits_for_answer: bool,
}
