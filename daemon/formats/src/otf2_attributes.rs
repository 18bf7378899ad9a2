//! Names of the attributes that an exported OTF2 archive has and that an import reads back.

/// How many calls in a row a call stands for.
pub(crate) const POLLS: &str = "mpiscope polls";
/// The call site of a call.
pub(crate) const CALL_SITE: &str = "mpiscope place";
/// When the message was sent that a receive received.
pub(crate) const SENT: &str = "mpiscope sent";
