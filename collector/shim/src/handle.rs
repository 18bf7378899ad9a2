//! Handles of MPI, as this library passes them on.

/// A handle in a register: an address in one family, 32 bits in the other.
pub(crate) type Handle = usize;

/// What a handle is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandleKind {
    Comm,
    Datatype,
    Request,
    Message,
    Window,
    File,
}
