//! Puts the built page into the program. Without one, tests build with an empty page; what is released does not.

#![allow(clippy::print_stdout, reason = "Cargo reads it")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let page = root.join("../../dashboard/dist");
    println!("cargo::rerun-if-changed={}", page.display());
    let mut files = Vec::new();
    collect(&page, &mut files);
    files.sort();
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if files.is_empty() && is_release {
        println!(
            "cargo::error=the page is not built: (cd dashboard && npm ci && npm run build), or ./deploy/quickstart"
        );
    }
    let mut list = format!("[Asset; {}] = [\n", files.len());
    for file in &files {
        let path = file.strip_prefix(&page).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let address = if path == "index.html" { "/".to_owned() } else { format!("/{path}") };
        let media_type = media_type(file);
        // A path of ours on this machine: it has no control characters, and both kinds of quotes are enough.
        let _ = writeln!(
            list,
            "    Asset {{ path: {address:?}, media_type: {media_type:?}, bytes: include_bytes!({:?}) }},",
            file.display().to_string()
        );
    }
    list.push_str("];\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("assets.rs");
    let text = format!("const ASSETS: {list}");
    if let Err(error) = fs::write(&out, text) {
        println!("cargo::error=write {}: {error}", out.display());
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            println!("cargo::rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
}

fn media_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
