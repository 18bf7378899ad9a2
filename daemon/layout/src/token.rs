//! The words of a layout: numbers, names and signs, each with its position.

use crate::error::Position;
use crate::function::METADATA;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TokenKind<'a> {
    Number(f64),
    /// Begins like a number and is none.
    BadNumber(&'a str),
    Name(&'a str),
    /// `metadata(key)`: the key.
    Metadata(&'a str),
    Sign(char),
    LineEnd,
    /// The end of the block.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind<'a>,
    pub(crate) position: Position,
}

impl Token<'_> {
    /// How an error names it.
    pub(crate) fn describe(&self) -> String {
        match self.kind {
            TokenKind::Number(value) => format!("the number {value:?}"),
            TokenKind::BadNumber(text) | TokenKind::Name(text) => format!("`{}`", shown(text)),
            TokenKind::Metadata(key) => format!("`{METADATA}({})`", shown(key)),
            TokenKind::Sign(sign) => format!("`{}`", sign.escape_debug()),
            TokenKind::LineEnd => "the end of the line".to_owned(),
            TokenKind::End => "END_VIZ".to_owned(),
        }
    }
}

/// The tokens of a line without its comment, and then its end.
pub(crate) fn tokenize<'a>(line: &'a str, number: u32, tokens: &mut Vec<Token<'a>>) {
    let mut rest = line;
    let mut column = 1;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = match first {
            '#' => break,
            _ if first.is_whitespace() => (None, first.len_utf8()),
            '0'..='9' | '.' => number_at(rest),
            _ if is_name_start(first) => name_at(rest),
            _ => (Some(TokenKind::Sign(first)), first.len_utf8()),
        };
        let (taken, behind) = rest.split_at(length);
        if let Some(kind) = kind {
            tokens.push(Token { kind, position: Position { line: number, column } });
        }
        column = column.saturating_add(u32::try_from(taken.chars().count()).unwrap_or(u32::MAX));
        rest = behind;
    }
    tokens.push(Token { kind: TokenKind::LineEnd, position: Position { line: number, column } });
}

fn is_name_start(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

/// Bytes of `text` until the first character that is not `wanted`.
fn length_of(text: &str, wanted: impl Fn(char) -> bool) -> usize {
    text.find(|character| !wanted(character)).unwrap_or(text.len())
}

fn number_at(text: &str) -> (Option<TokenKind<'_>>, usize) {
    let mut length = length_of(text, |character| character.is_ascii_digit() || character == '.');
    let behind = &text[length..];
    if behind.starts_with(['e', 'E']) {
        let signed = usize::from(behind[1..].starts_with(['+', '-']));
        let digits = length_of(&behind[1 + signed..], |character| character.is_ascii_digit());
        if digits > 0 {
            length += 1 + signed + digits;
        }
    }
    let number = &text[..length];
    (Some(number.parse().map_or(TokenKind::BadNumber(number), TokenKind::Number)), length)
}

fn name_at(text: &str) -> (Option<TokenKind<'_>>, usize) {
    let length = length_of(text, |character| character.is_alphanumeric() || matches!(character, '_' | '.'));
    let name = &text[..length];
    if name.eq_ignore_ascii_case(METADATA)
        && let Some((key, length)) = key_at(text, length)
    {
        return (Some(TokenKind::Metadata(key)), length);
    }
    (Some(TokenKind::Name(name)), length)
}

const MOST_KEY_CHARACTERS: usize = 1_000;
const MOST_SHOWN_CHARACTERS: usize = 40;

/// A name for a sentence: it comes from a file and may be of any length.
pub(crate) fn shown(name: &str) -> String {
    match name.char_indices().nth(MOST_SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// The key in the parentheses behind `metadata`, and where they end.
fn key_at(text: &str, name_length: usize) -> Option<(&str, usize)> {
    let behind = &text[name_length..];
    let key = behind.trim_start().strip_prefix('(')?;
    let opened = text.len() - key.len();
    // A bound for the search: a file may open such a key again and again and close none.
    let (length, _) =
        key.char_indices().take(MOST_KEY_CHARACTERS).find(|(_, character)| *character == ')')?;
    Some((key[..length].trim(), opened + length + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(line: &str) -> Vec<TokenKind<'_>> {
        let mut tokens = Vec::new();
        tokenize(line, 1, &mut tokens);
        tokens.into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn numbers_names_and_keys() {
        use TokenKind::{BadNumber, LineEnd, Metadata, Name, Number, Sign};
        assert_eq!(kinds("1.5e-3*.5 # 2"), [Number(1.5e-3), Sign('*'), Number(0.5), LineEnd]);
        assert_eq!(kinds("2e 1.2.3"), [Number(2.0), Name("e"), BadNumber("1.2.3"), LineEnd]);
        assert_eq!(kinds("Event0.Val"), [Name("Event0.Val"), LineEnd]);
        assert_eq!(kinds("Metadata ( Memory Size ) "), [Metadata("Memory Size"), LineEnd]);
        assert_eq!(kinds("metadata(cpu"), [Name("metadata"), Sign('('), Name("cpu"), LineEnd]);
    }

    #[test]
    fn columns_count_characters() {
        let mut tokens = Vec::new();
        tokenize("größe = x", 7, &mut tokens);
        let columns: Vec<u32> = tokens.iter().map(|token| token.position.column).collect();
        assert_eq!(columns, [1, 7, 9, 10]);
    }
}
