//! Splits a file into code, comments, texts and prose.
//!
//! In: the text of a file and its language. Out: pieces in order. It is rough on purpose: a wrong piece moves a word from
//! one count to another, and never hides it.

use std::ops::Range;

/// Where a word was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Code,
    Comments,
    Texts,
    Documents,
    Files,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Comments => "comments",
            Self::Texts => "texts",
            Self::Documents => "documents",
            Self::Files => "files",
        }
    }
}

/// How comments and texts are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    /// C, TypeScript, JavaScript, CSS.
    Braces,
    /// Python, shell, TOML.
    Hash,
    Fortran,
    Markdown,
    /// Only text.
    Plain,
}

impl Language {
    /// By the name of a file and its first bytes; none for files that are not looked at.
    pub(crate) fn of_file(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("rs") => Some(Self::Rust),
            Some("ts" | "tsx" | "js" | "mjs" | "c" | "h" | "cpp" | "css") => Some(Self::Braces),
            Some("py" | "sh" | "toml") => Some(Self::Hash),
            Some("F90") => Some(Self::Fortran),
            Some("md") => Some(Self::Markdown),
            Some("txt" | "html") => Some(Self::Plain),
            None if text.starts_with("#!") => Some(Self::Hash),
            _ => None,
        }
    }
}

/// The pieces of a file; what is in none of them is not looked at.
pub(crate) fn pieces(language: Language, text: &str) -> Vec<(Kind, Range<usize>)> {
    match language {
        Language::Plain => vec![(Kind::Texts, 0..text.len())],
        Language::Markdown => prose(text),
        _ => Lexer { language, bytes: text.as_bytes(), at: 0, code_from: 0, pieces: Vec::new() }.run(),
    }
}

/// The prose of a document: without code blocks, inline code and the targets of links.
fn prose(text: &str) -> Vec<(Kind, Range<usize>)> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, None) => prose_of_line(line, begin, &mut pieces),
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        begin += line.len();
    }
    pieces
}

fn prose_of_line(line: &str, begin: usize, pieces: &mut Vec<(Kind, Range<usize>)>) {
    let mut from = 0;
    while from < line.len() {
        let rest = &line[from..];
        let code = rest.find('`');
        let link = rest.find("](");
        let (until, skip_to) = match (code, link) {
            (Some(code), link) if link.is_none_or(|link| code < link) => {
                let close = rest[code + 1..].find('`').map_or(rest.len(), |close| code + close + 2);
                (code, close)
            }
            (_, Some(link)) => (link, rest[link..].find(')').map_or(rest.len(), |close| link + close + 1)),
            _ => (rest.len(), rest.len()),
        };
        pieces.push((Kind::Documents, begin + from..begin + from + until));
        from += skip_to;
    }
}

struct Lexer<'a> {
    language: Language,
    bytes: &'a [u8],
    at: usize,
    code_from: usize,
    pieces: Vec<(Kind, Range<usize>)>,
}

impl Lexer<'_> {
    fn run(mut self) -> Vec<(Kind, Range<usize>)> {
        while let Some(byte) = self.bytes.get(self.at) {
            // Most bytes begin nothing.
            let piece = if matches!(byte, b'/' | b'#' | b'!' | b'"' | b'\'' | b'`' | b'r' | b'>') {
                self.next_piece()
            } else {
                None
            };
            match piece {
                Some((kind, length)) => self.take(kind, length),
                None => self.at += 1,
            }
        }
        self.end_code();
        self.pieces
    }

    fn end_code(&mut self) {
        if self.code_from < self.at {
            self.pieces.push((Kind::Code, self.code_from..self.at));
        }
    }

    fn take(&mut self, kind: Kind, length: usize) {
        self.end_code();
        let end = (self.at + length).min(self.bytes.len());
        self.pieces.push((kind, self.at..end));
        (self.at, self.code_from) = (end, end);
    }

    /// A comment or a text that begins here, with its length.
    fn next_piece(&self) -> Option<(Kind, usize)> {
        let rest = &self.bytes[self.at..];
        match (self.language, rest[0]) {
            (Language::Rust | Language::Braces, b'/') if rest.starts_with(b"//") => {
                // The slashes of an address are no comment.
                (self.at == 0 || self.bytes[self.at - 1] != b':').then(|| (Kind::Comments, line_length(rest)))
            }
            (Language::Rust | Language::Braces, b'/') if rest.starts_with(b"/*") => {
                Some((Kind::Comments, length_until(rest, b"*/", 2)))
            }
            (Language::Braces, b'/') if self.is_after(b"(") => {
                Some((Kind::Texts, quoted_length(rest, false)))
            }
            (Language::Braces, b'>') if !self.is_after(b"=-") => {
                markup_length(rest).map(|length| (Kind::Texts, length))
            }
            (Language::Hash, b'#') if self.begins_word() => Some((Kind::Comments, line_length(rest))),
            (Language::Fortran, b'!') => Some((Kind::Comments, line_length(rest))),
            (Language::Hash, b'"') if rest.starts_with(b"\"\"\"") => {
                Some((Kind::Comments, length_until(rest, b"\"\"\"", 3)))
            }
            (Language::Rust, b'r') if self.begins_word() => {
                raw_length(rest).map(|length| (Kind::Texts, length))
            }
            (Language::Rust, b'\'') => quoted_char(rest).map(|length| (Kind::Texts, length)),
            (Language::Rust, b'"') => Some((Kind::Texts, quoted_length(rest, true))),
            (Language::Braces, b'`') => Some((Kind::Texts, quoted_length(rest, true))),
            (Language::Braces | Language::Hash | Language::Fortran, b'"' | b'\'') => {
                Some((Kind::Texts, quoted_length(rest, false)))
            }
            _ => None,
        }
    }

    fn is_after(&self, bytes: &[u8]) -> bool {
        self.at > 0 && bytes.contains(&self.bytes[self.at - 1])
    }

    fn begins_word(&self) -> bool {
        self.at == 0
            || !self.bytes[self.at - 1].is_ascii_alphanumeric() && !b"_$".contains(&self.bytes[self.at - 1])
    }
}

fn line_length(rest: &[u8]) -> usize {
    rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
}

fn length_until(rest: &[u8], close: &[u8], from: usize) -> usize {
    let found = rest[from..].windows(close.len()).position(|window| window == close);
    found.map_or(rest.len(), |found| from + found + close.len())
}

/// Of a text in quotes; one that may not go over lines ends with its line.
fn quoted_length(rest: &[u8], may_go_on: bool) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 1,
            b'\n' if !may_go_on => return at,
            byte if byte == rest[0] => return at + 1,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

/// Of the words between two tags of a page: `>words<`.
fn markup_length(rest: &[u8]) -> Option<usize> {
    let words = &rest[1..];
    let end = words.iter().position(|byte| b"<{};=\n".contains(byte))?;
    (words[0].is_ascii_alphabetic() && b"<{".contains(&words[end])).then_some(1 + end)
}

/// Of `r"..."` or `r#"..."#`.
fn raw_length(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.extend(std::iter::repeat_n(b'#', hashes));
    Some(length_until(rest, &close, 2 + hashes))
}

/// Of `'x'` or `'\n'`; none for a lifetime.
fn quoted_char(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        return rest[3..].iter().position(|byte| *byte == b'\'').map(|found| found + 4);
    }
    (rest.get(2) == Some(&b'\'')).then_some(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named_pieces(language: Language, text: &str) -> Vec<(&'static str, &str)> {
        pieces(language, text).into_iter().map(|(kind, range)| (kind.name(), text[range].trim())).collect()
    }

    #[test]
    fn rust_has_code_comments_and_texts() {
        let text = "let a: &'static str = \"b \\\" c\"; // d\n/* e */ 'f' r#\"g\"h\"#";
        let expected = [
            ("code", "let a: &'static str ="),
            ("texts", "\"b \\\" c\""),
            ("code", ";"),
            ("comments", "// d"),
            ("code", ""),
            ("comments", "/* e */"),
            ("code", ""),
            ("texts", "'f'"),
            ("code", ""),
            ("texts", "r#\"g\"h\"#"),
        ];
        assert_eq!(named_pieces(Language::Rust, text), expected);
    }

    #[test]
    fn a_quote_that_is_never_closed_ends_with_its_line() {
        assert_eq!(
            named_pieces(Language::Braces, "a 'b\nc"),
            [("code", "a"), ("texts", "'b"), ("code", "c")]
        );
        assert_eq!(named_pieces(Language::Hash, "a=$# # b"), [("code", "a=$#"), ("comments", "# b")]);
    }

    #[test]
    fn words_between_tags_and_patterns_are_texts() {
        let text = "<h2>What if {a}</h2>; x as Map<B> | C<D>; y.test(/^Of /); (z) =>w; if (a->held) {}";
        let texts: Vec<&str> = named_pieces(Language::Braces, text)
            .into_iter()
            .filter_map(|(kind, text)| (kind == "texts").then_some(text))
            .collect();
        assert_eq!(texts, [">What if", "/^Of /"]);
    }

    #[test]
    fn documents_have_prose_and_nothing_else() {
        let text = "a `b` [c](d/e.md) f\n```\ng\n```\nh `i";
        let words: Vec<&str> =
            named_pieces(Language::Markdown, text).into_iter().map(|(_, text)| text).collect();
        assert_eq!(words, ["a", "[c", "f", "h"]);
    }
}
