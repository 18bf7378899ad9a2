//! The page's files, inside the program.

/// One file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    pub(crate) path: &'static str,
    pub(crate) media_type: &'static str,
    pub(crate) bytes: &'static [u8],
}

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! asset {
    ($path:literal, $file:literal, $media_type:expr) => {
        Asset {
            path: $path,
            media_type: $media_type,
            bytes: include_bytes!(concat!("../../../dashboard/", $file)),
        }
    };
}

const ASSETS: [Asset; 12] = [
    asset!("/", "index.html", "text/html; charset=utf-8"),
    asset!("/page.css", "page.css", "text/css; charset=utf-8"),
    asset!("/page.js", "page.js", JAVASCRIPT),
    asset!("/decode.js", "decode.js", JAVASCRIPT),
    asset!("/state.js", "state.js", JAVASCRIPT),
    asset!("/words.js", "words.js", JAVASCRIPT),
    asset!("/charts.js", "charts.js", JAVASCRIPT),
    asset!("/colours.js", "colours.js", JAVASCRIPT),
    asset!("/net.js", "net.js", JAVASCRIPT),
    asset!("/views.js", "views.js", JAVASCRIPT),
    asset!("/tables.js", "tables.js", JAVASCRIPT),
    asset!("/favicon.svg", "favicon.svg", "image/svg+xml"),
];

pub(crate) fn find(path: &str) -> Option<Asset> {
    ASSETS.into_iter().find(|asset| asset.path == path)
}
