//! A layout file as texts of single layouts, for those who replace one of them.

use crate::blocks::BlockLine;
use crate::blocks::block_line;

/// The name of each layout and its text from the comments before it to its end, as they stand in the file. What belongs to no
/// layout is left out.
pub fn layout_texts(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut waiting = String::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        match block_line(line) {
            BlockLine::Begin(name) => {
                // One that is not ended before the next begins.
                if open.take().is_some() {
                    waiting.clear();
                }
                open = Some(name.to_owned());
            }
            BlockLine::Other if open.is_none() && !line.trim_start().starts_with('#') => {
                waiting.clear();
                continue;
            }
            _ => {}
        }
        waiting.push_str(line);
        waiting.push('\n');
        if matches!(block_line(line), BlockLine::End) {
            let text = std::mem::take(&mut waiting);
            found.extend(open.take().map(|name| (name, text)));
        }
    }
    found
}

/// A file with the layouts of `text` in it, which take the place of those with the same names; `text` has only layouts.
pub fn with_layouts(file: &str, text: &str) -> String {
    let new = layout_texts(text);
    let mut all = layout_texts(file);
    all.retain(|(name, _)| !new.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
    all.into_iter().chain(new).map(|(_, text)| text).collect::<Vec<_>>().join("\n")
}

/// A file without the layout of this name.
pub fn without_layout(file: &str, name: &str) -> String {
    let all = layout_texts(file).into_iter().filter(|(other, _)| !other.eq_ignore_ascii_case(name));
    all.map(|(_, text)| text).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "# first\nBEGIN_VIZ=one\nx=1\nEND_VIZ\n";
    const TWO: &str = "topology_map=Two\nx=2\nend_topology\n";

    #[test]
    fn layouts_are_replaced_by_name() {
        let both = with_layouts(ONE, TWO);
        assert_eq!(both, format!("{ONE}\n{TWO}"));
        let names: Vec<String> = layout_texts(&both).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["one", "Two"]);
        let newer = with_layouts(&both, "BEGIN_VIZ=ONE\nx=3\nEND_VIZ");
        assert_eq!(newer, format!("{TWO}\nBEGIN_VIZ=ONE\nx=3\nEND_VIZ\n"));
        assert_eq!(without_layout(&both, "ONE"), TWO);
        assert_eq!(layout_texts("x=1\nBEGIN_VIZ=a\nBEGIN_VIZ=b\nEND_VIZ").len(), 1);
    }
}
