//! Lists of nodes as Slurm writes them: `tux[0-3,7],login`.

/// Nodes of one list.
const MOST_NODES: usize = 1 << 17;

/// The nodes of a list; none where it cannot be understood or has too many.
pub(super) fn expand(list: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for item in items(list)? {
        let mut names = vec![String::new()];
        let mut rest = item;
        while let Some((before, after)) = rest.split_once('[') {
            let (ranges, behind) = after.split_once(']')?;
            let numbers = numbers(ranges)?;
            if names.len().checked_mul(numbers.len())? > MOST_NODES {
                return None;
            }
            let longer = |name: &String| {
                let with = |number: &String| format!("{name}{before}{number}");
                numbers.iter().map(with).collect::<Vec<_>>()
            };
            names = names.iter().flat_map(longer).collect();
            rest = behind;
        }
        names.iter_mut().for_each(|name| name.push_str(rest));
        found.extend(names);
        if found.len() > MOST_NODES {
            return None;
        }
    }
    Some(found)
}

/// Cuts at commas outside of brackets.
fn items(list: &str) -> Option<Vec<&str>> {
    let (mut found, mut begin, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, character) in list.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                found.push(list.get(begin..at)?);
                begin = at + 1;
            }
            _ => {}
        }
        if depth > 1 {
            return None;
        }
    }
    found.push(list.get(begin..)?);
    (depth == 0 && found.iter().all(|item| !item.is_empty())).then_some(found)
}

/// `0-3,07`: as many digits as the first number has.
fn numbers(ranges: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (from, to): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if from > to || (to - from) as usize >= MOST_NODES || first.len() > 10 {
            return None;
        }
        found.extend((from..=to).map(|number| format!("{number:0width$}", width = first.len())));
        if found.len() > MOST_NODES {
            return None;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn lists_are_expanded() {
        let list = |text: &str| expand(text).map(|names| names.join(" "));
        assert_eq!(list("tux[0-2,7],login").as_deref(), Some("tux0 tux1 tux2 tux7 login"));
        assert_eq!(list("r[1-2]n[08-10]x").as_deref(), Some("r1n08x r1n09x r1n10x r2n08x r2n09x r2n10x"));
        for wrong in ["", "a,", "a[", "a]", "a[3-1]", "a[x]", "a[[1]]", "a[0-4000000]", "a[0-999]b[0-999]"] {
            assert_eq!(list(wrong), None, "{wrong}");
        }
    }
}
