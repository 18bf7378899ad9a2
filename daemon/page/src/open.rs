//! Telling the user where the page is, and opening it.

use anyhow::{Context as _, Result};
pub(super) use mpiscope_process::local_host::host_name;
use mpiscope_process::private::{new_private, random};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Says the page's address, and how to reach it from elsewhere.
pub fn say_address(what: &str, url: &str) {
    say!("{what}  {url}");
    let port = url.strip_prefix("http://").and_then(|rest| rest.split('/').next()?.rsplit(':').next());
    if let Some(port) = port {
        let host = host_name();
        say!("from elsewhere   ssh -N -L {port}:localhost:{port} {host}   then the same address");
    }
}

/// A page that was opened in the user's browser.
///
/// Every user of this machine can read the words that a program was started with, and the address has a secret in it. So
/// the browser is given a file that only its owner can read and that leads to the page. It is removed with this.
#[derive(Debug)]
pub struct Opened {
    file: PathBuf,
}

/// Opens the page in the user's browser; where there is none, that is one line and nothing else.
pub fn open_in_browser(url: &str) -> Option<Opened> {
    let own =
        std::env::var_os("XDG_RUNTIME_DIR").and_then(|own| Opened::leading_to(url, Path::new(&own)).ok());
    let opened = own.map_or_else(|| Opened::leading_to(url, &std::env::temp_dir()), Ok).and_then(|opened| {
        let mut command = Command::new("xdg-open");
        command.arg(&opened.file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut opening = command.spawn().context("xdg-open")?;
        // It may stay as long as the browser does; somebody has to take note of its end.
        // Without it a dead child stays until this process ends.
        let _ = std::thread::Builder::new().name("opening".into()).spawn(move || drop(opening.wait()));
        Ok(opened)
    });
    opened.inspect_err(|error| say!("no browser could be opened ({error:#}); open the address yourself")).ok()
}

impl Opened {
    fn leading_to(url: &str, folder: &Path) -> Result<Self> {
        let file = folder.join(format!("mpiscope-{:016x}.html", random()? as u64));
        let mut to = new_private(&file).with_context(|| format!("write {}", file.display()))?;
        let opened = Self { file };
        write!(
            to,
            "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>mpiscope</title>\n\
             <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<a href=\"{url}\">to the page</a>\n"
        )
        .with_context(|| format!("write {}", opened.file.display()))?;
        Ok(opened)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // What stays leads to a page that is gone.
        let _ = std::fs::remove_file(&self.file);
    }
}

#[cfg(test)]
mod tests {
    use super::Opened;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_file_that_leads_to_the_page_is_its_owner_s_and_goes() {
        let folder = tempfile::tempdir().unwrap();
        let url = "http://127.0.0.1:4711/?token=5ec4e7";
        let opened = Opened::leading_to(url, folder.path()).unwrap();
        let file = opened.file.clone();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(std::fs::read_to_string(&file).unwrap().contains(&format!("url={url}\"")));
        drop(opened);
        assert!(!file.exists());
    }
}
