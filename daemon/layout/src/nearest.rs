//! The known name that looks most like a mistyped one.

/// Longer names are not compared: the work grows with the square of the length.
const MOST_CHARACTERS: usize = 40;

/// The candidate with the fewest changed characters, unless more than about a third of them would have to change.
pub(crate) fn nearest_name<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name: Vec<char> = name.to_lowercase().chars().take(MOST_CHARACTERS + 1).collect();
    let most = name.len().div_ceil(3).min(name.len().saturating_sub(1));
    let distance = |candidate: &'a str| {
        let letters: Vec<char> = candidate.to_lowercase().chars().take(MOST_CHARACTERS + 1).collect();
        (edit_distance(&name, &letters), candidate)
    };
    if name.len() > MOST_CHARACTERS {
        return None;
    }
    let candidates = candidates.into_iter().map(distance).filter(|(distance, _)| *distance <= most);
    candidates.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// How many characters to insert, remove, replace or swap with their neighbour.
fn edit_distance(one: &[char], other: &[char]) -> usize {
    let width = other.len() + 1;
    let mut table = vec![0; (one.len() + 1) * width];
    for row in 0..=one.len() {
        for column in 0..width {
            table[row * width + column] = if row == 0 || column == 0 {
                row + column
            } else {
                let same = one[row - 1] == other[column - 1];
                let replaced = table[(row - 1) * width + column - 1] + usize::from(!same);
                let removed = table[(row - 1) * width + column] + 1;
                let inserted = table[row * width + column - 1] + 1;
                let swaps = row > 1
                    && column > 1
                    && one[row - 1] == other[column - 2]
                    && one[row - 2] == other[column - 1];
                let swapped = if swaps { table[(row - 2) * width + column - 2] + 1 } else { usize::MAX };
                replaced.min(removed).min(inserted).min(swapped)
            };
        }
    }
    table[one.len() * width + other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        let known = ["rank", "maxRank", "node", "theta", "x"];
        assert_eq!(nearest_name("rnak", known), Some("rank"));
        assert_eq!(nearest_name("MAXRANKS", known), Some("maxRank"));
        assert_eq!(nearest_name("tetha", known), Some("theta"));
        assert_eq!(nearest_name("latency", known), None);
        assert_eq!(nearest_name(&"x".repeat(100), known), None);
        assert_eq!(nearest_name("y", known), None);
        assert_eq!(nearest_name("", []), None);
    }
}
