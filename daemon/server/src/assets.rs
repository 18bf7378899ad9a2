//! The page's files, inside the program; see `build.rs`.

/// One file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    pub(crate) path: &'static str,
    pub(crate) media_type: &'static str,
    pub(crate) bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// What a program that was built without the page says.
const NO_PAGE: Asset = Asset {
    path: "/",
    media_type: "text/plain; charset=utf-8",
    bytes: b"This mpiscope was built without its page.\n",
};

pub(crate) fn find(path: &str) -> Option<Asset> {
    ASSETS.into_iter().find(|asset| asset.path == path).or_else(|| (path == "/").then_some(NO_PAGE))
}
