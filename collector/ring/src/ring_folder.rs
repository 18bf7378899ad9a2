//! The folder of the rings: whose it is, and the names in it that a rank and an agent agree on.
#![expect(unsafe_code, reason = "asking whose process this is")]

use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;

/// Locked as long as an agent serves the folder.
pub const AGENT_LOCK: &str = "agent.lock";

/// There when the daemon of the run serves the folder by itself.
pub const SERVED_BY_DAEMON: &str = "served-by-daemon";

/// The environment variable that tells an agent the number of the open file that holds the lock.
pub const AGENT_LOCK_VARIABLE: &str = "MPISCOPE_AGENT_LOCK";

/// Makes a folder into which this user alone may write, or finds that it is one. Rings themselves are for their owner
/// alone; what counts is who may put others in their place.
///
/// # Errors
/// When it cannot be made, or belongs to another user, or is open to others.
pub fn own_folder(folder: &Path) -> io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let found = std::fs::symlink_metadata(folder)?;
    // SAFETY: the call only reads.
    let own = unsafe { libc::getuid() };
    if found.is_dir() && found.uid() == own && found.mode() & 0o022 == 0 {
        Ok(())
    } else {
        Err(io::Error::other("others than this user may write into it"))
    }
}

#[cfg(test)]
mod tests {
    use super::own_folder;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_folder_is_made_or_found_or_refused() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("rings");
        own_folder(&folder).unwrap();
        own_folder(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o770)).unwrap();
        assert!(own_folder(&folder).is_err());
        let link = outer.path().join("link");
        std::os::unix::fs::symlink(outer.path(), &link).unwrap();
        assert!(own_folder(&link).is_err(), "whoever made the link may lead it elsewhere");
        assert!(own_folder(&outer.path().join("none/rings")).is_err());
    }
}
