//! The source text around a call site, for the owner of the run.
//!
//! Which file that is, the program's debug information says, or a recording from elsewhere: only text of plain files is read.

use mpiscope_feed::SourceText;
use mpiscope_model::SiteInfo;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::Path;

/// No source has more.
const MOST_BYTES: u64 = 16 << 20;
/// Lines before and after the place.
const AROUND: u32 = 200;
/// Longer lines are cut.
const MOST_CHARACTERS: usize = 400;

pub(super) fn source_text(site: &SiteInfo) -> Result<SourceText, String> {
    let (Some(file), Some(line)) = (&site.file, site.line) else {
        return Err("its line is not known: build the program with -g".to_owned());
    };
    let path = Path::new(file);
    if !path.is_absolute() {
        return Err(format!("where {file} is was not recorded"));
    }
    let unreadable = |error: std::io::Error| format!("{file} cannot be read here: {error}");
    // Looked at before it is opened: opening a pipe would wait for its writer.
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(format!("{file} is no plain file"));
    }
    let opened = File::open(path).map_err(unreadable)?;
    let metadata = opened.metadata().map_err(unreadable)?;
    if metadata.len() > MOST_BYTES {
        return Err(format!("{file} is too large for a source"));
    }
    let mut bytes = Vec::new();
    opened.take(MOST_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.contains(&0) {
        return Err(format!("{file} is no text"));
    }
    let text = String::from_utf8_lossy(&bytes);
    let from_line = line.saturating_sub(AROUND).max(1);
    let cut = |line: &str| line.chars().take(MOST_CHARACTERS).collect();
    let lines: Vec<String> =
        text.lines().skip(from_line as usize - 1).take(2 * AROUND as usize + 1).map(cut).collect();
    if lines.len() <= (line - from_line) as usize {
        return Err(format!("{file} has no line {line}: it is another than it was then"));
    }
    Ok(SourceText { file: file.clone(), from_line, lines, is_newer: is_newer(&metadata, &site.module) })
}

/// Whether the source was written after the program was built.
fn is_newer(source: &Metadata, module: &str) -> bool {
    let built = Path::new(module).metadata().and_then(|module| module.modified());
    built.is_ok_and(|built| source.modified().is_ok_and(|written| written > built))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    fn site(file: &Path, line: u32) -> SiteInfo {
        SiteInfo { file: Some(file.to_str().unwrap().into()), line: Some(line), ..SiteInfo::default() }
    }

    #[test]
    fn lines_around_the_place_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("main.c");
        let all: String = (1..=1000).map(|line| format!("line {line}\n")).collect();
        std::fs::write(&file, &all).unwrap();
        let text = source_text(&site(&file, 500)).unwrap();
        assert_eq!((text.from_line, text.lines.len()), (300, 401));
        assert_eq!((text.lines[0].as_str(), text.lines[200].as_str()), ("line 300", "line 500"));
        let first = source_text(&site(&file, 1)).unwrap();
        assert_eq!((first.from_line, first.lines[0].as_str()), (1, "line 1"));
        let last = source_text(&site(&file, 1000)).unwrap();
        assert_eq!(last.lines.last().map(String::as_str), Some("line 1000"));
        assert!(source_text(&site(&file, 1001)).unwrap_err().contains("has no line 1001"));
        std::fs::write(&file, "x".repeat(1000)).unwrap();
        assert_eq!(source_text(&site(&file, 1)).unwrap().lines[0].len(), MOST_CHARACTERS);
    }

    #[test]
    fn a_source_that_was_written_after_the_program_is_marked() {
        let dir = tempfile::tempdir().unwrap();
        let (file, program) = (dir.path().join("main.c"), dir.path().join("program"));
        std::fs::write(&file, "int main;\n").unwrap();
        std::fs::write(&program, "").unwrap();
        let place = SiteInfo { module: program.to_str().unwrap().into(), ..site(&file, 1) };
        let written =
            |path: &Path, at| File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
        let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        for (later_s, is_newer) in [(0, false), (1, true)] {
            written(&program, noon);
            written(&file, noon + Duration::from_secs(later_s));
            assert_eq!(source_text(&place).unwrap().is_newer, is_newer);
        }
    }

    #[test]
    fn what_is_no_source_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let refused = |path: &Path, why: &str| {
            let error = source_text(&site(path, 1)).unwrap_err();
            assert!(error.contains(why), "{error}");
        };
        refused(dir.path(), "no plain file");
        refused(Path::new("/dev/zero"), "no plain file");
        refused(Path::new("main.c"), "was not recorded");
        refused(&dir.path().join("gone.c"), "cannot be read");
        let binary = dir.path().join("binary");
        std::fs::write(&binary, [b'a', 0, b'b']).unwrap();
        refused(&binary, "is no text");
        File::create(&binary).unwrap().set_len(MOST_BYTES + 1).unwrap();
        refused(&binary, "too large");
        assert!(source_text(&SiteInfo::default()).unwrap_err().contains("-g"));
    }
}
