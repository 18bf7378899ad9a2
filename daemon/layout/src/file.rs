//! A layout file: the layouts that can be used, and what is wrong with the others.

use crate::blocks::read_blocks;
use crate::error::{LayoutError, Position, SyntaxError};
use crate::layout::Layout;
use crate::limits::{MOST_FILE_BYTES, MOST_LAYOUTS, MOST_NAME_BYTES};
use crate::parser::parse_layout;
use crate::warning::{LayoutWarning, WarningKind};
use std::collections::HashMap;

/// What a layout file holds.
#[derive(Debug, Clone, Default)]
pub struct LayoutFile {
    /// Layouts that can be drawn, as they stand in the file. No two have the same name.
    pub layouts: Vec<Layout>,
    /// What is wrong, as it stands in the file; at most one error for a layout.
    pub errors: Vec<LayoutError>,
    /// Layouts that are left out because of their name.
    pub warnings: Vec<LayoutWarning>,
}

impl LayoutFile {
    /// Reads a file. Bytes that are no UTF-8 and control characters count as unknown characters, so
    /// names in other encodings can be read.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut file = Self::default();
        if bytes.len() > MOST_FILE_BYTES {
            file.errors.push(SyntaxError::FileTooLong.located(Position { line: 1, column: 1 }));
            return file;
        }
        let text: String = String::from_utf8_lossy(bytes).chars().map(printable).collect();
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut first_lines = HashMap::new();
        for block in read_blocks(text, &mut file.errors) {
            if block.name.len() > MOST_NAME_BYTES {
                file.errors.push(SyntaxError::NameTooLong.located(block.position));
                continue;
            }
            if file.layouts.len() == MOST_LAYOUTS {
                file.errors.push(SyntaxError::TooManyLayouts.located(block.position));
                break;
            }
            match parse_layout(&block) {
                Err(error) => file.errors.push(error),
                Ok(layout) => match first_lines.get(&layout.name.to_lowercase()) {
                    None => {
                        first_lines.insert(layout.name.to_lowercase(), layout.position.line);
                        file.layouts.push(layout);
                    }
                    Some(&first_line) => {
                        let kind = WarningKind::Duplicate { name: layout.name, first_line };
                        file.warnings.push(LayoutWarning { position: layout.position, kind });
                    }
                },
            }
        }
        if file.layouts.is_empty() && file.errors.is_empty() {
            let (expected, found) = ("BEGIN_VIZ=name", "the end of the file".to_owned());
            file.errors
                .push(SyntaxError::Expected { expected, found }.located(Position { line: 1, column: 1 }));
        }
        file.errors.sort_by_key(|error| error.position);
        file
    }

    /// The layout with this name; case does not matter.
    pub fn layout(&self, name: &str) -> Option<&Layout> {
        let name = name.to_lowercase();
        self.layouts.iter().find(|layout| layout.name.to_lowercase() == name)
    }
}

/// Names and keys are shown on terminals, so nothing in them may control one.
fn printable(character: char) -> char {
    match character {
        '\n' | '\t' => character,
        '\r' => ' ',
        _ if character.is_control() => char::REPLACEMENT_CHARACTER,
        _ => character,
    }
}
