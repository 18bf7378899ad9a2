//! Tables of values: `rank,key,value` or `node,key,value`, one value a line.

use super::description::{MOST_NAME_BYTES, SiteDescription, Subject};
use super::error::SiteError;

impl SiteDescription {
    pub(super) fn read_table(&mut self, text: &str) -> Result<(), SiteError> {
        let lines = (1..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let (first, header) = lines.next().unwrap_or((1, ""));
        let fields: Vec<String> = header.split(',').map(|field| unquoted(field).to_lowercase()).collect();
        let is_of_rank = match fields.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["rank", "key", "value"] => true,
            ["node", "key", "value"] => false,
            _ => {
                let text = "expected the header `rank,key,value` or `node,key,value`, Slurm's SwitchName=..., or \
                            hwloc XML";
                return Err(SiteError { line: first, text: text.to_owned() });
            }
        };
        for (number, line) in lines {
            let error = |text: String| SiteError { line: number, text };
            let mut fields = line.splitn(3, ',').map(unquoted);
            let (Some(subject), Some(key), Some(value)) = (fields.next(), fields.next(), fields.next())
            else {
                return Err(error("expected three fields with commas between them".to_owned()));
            };
            let subject = if is_of_rank {
                let rank = subject.parse().map_err(|_| {
                    error(format!("expected the number of a rank, found `{}`", subject.escape_debug()))
                })?;
                Subject::Rank(rank)
            } else if subject.is_empty() || subject.len() > MOST_NAME_BYTES {
                return Err(error("expected the name of a node".to_owned()));
            } else {
                Subject::Node(subject)
            };
            self.set(subject, key, value, number)?;
        }
        Ok(())
    }
}

fn unquoted(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(field).trim()
}
