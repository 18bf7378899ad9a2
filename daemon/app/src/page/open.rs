//! Telling the user where the page is, and opening it.

use crate::here::host_name;
use std::process::{Command, Stdio};

/// Says the page's address, and how to reach it from elsewhere.
pub(crate) fn say_address(what: &str, url: &str) {
    say!("{what}  {url}");
    let port = url.strip_prefix("http://").and_then(|rest| rest.split('/').next()?.rsplit(':').next());
    if let Some(port) = port {
        let host = host_name();
        say!("from elsewhere   ssh -N -L {port}:localhost:{port} {host}   then the same address");
    }
}

/// Opens the page in the user's browser; where there is none, that is one line and nothing else.
pub(crate) fn open_in_browser(url: &str) {
    let mut command = Command::new("xdg-open");
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(mut opening) => {
            // It may stay as long as the browser does; somebody has to take note of its end.
            std::thread::spawn(move || drop(opening.wait()));
        }
        Err(error) => {
            say!("no browser could be opened (xdg-open: {error}); open the address yourself");
        }
    }
}
