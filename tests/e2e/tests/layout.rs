//! Layout files of 3D views are checked, and evaluated as CSV.

use mpiscope_harness::{Ended, folder, mpiscope, run};
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
const SPHERE: &str = "\
BEGIN_VIZ=sphere
rootRanks=sqrt(maxRank)
theta=2*pi() /
    rootRanks*mod(rank , rootRanks)
phi=pi() /
    rootRanks*(floor(rank/rootRanks))
x=cos(theta)*sin(phi)*100
y=sin(theta)*sin(phi)*100
z=cos(phi)*100
END_VIZ
";
const PAIRS: &str = "BEGIN_VIZ=Pairs\nx0=rank,y0=0,z0=0\nx1=rank,y1=metadata(cpu),z1=0,color1=7\nEND_VIZ\n";

fn layout(words: &[&str], file: &Path) -> Ended {
    let (command, options) = words.split_first().unwrap();
    run(mpiscope(&["layout", command]).unwrap().arg(file).args(options), LIMIT).unwrap()
}

/// The fields of a line of numbers.
fn numbers(line: &str) -> Vec<f64> {
    line.split(',').map(|field| field.parse().unwrap()).collect()
}

#[test]
fn the_sphere_of_the_paper_is_printed_as_csv() {
    let folder = folder().unwrap();
    let file = folder.path().join("sphere.txt");
    std::fs::write(&file, SPHERE).unwrap();
    let ended = layout(&["eval", "--ranks", "16"], &file);
    assert_eq!((ended.status, ended.errors().as_str()), (0, ""));
    let text = ended.output();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (17, "rank,x,y,z,color"));
    for (found, expected) in numbers(lines[6]).into_iter().zip([5.0, 0.0, 70.71, 70.71, 0.0]) {
        assert!((found - expected).abs() < 0.005, "{}", lines[6]);
    }
    let checked = layout(&["check"], &file);
    assert_eq!((checked.status, checked.output().as_str()), (0, "sphere: 1 point per rank, 0 warnings\n"));
}

#[test]
fn one_of_several_layouts_is_chosen_by_name() {
    let folder = folder().unwrap();
    let file = folder.path().join("both.txt");
    std::fs::write(&file, format!("{SPHERE}{PAIRS}")).unwrap();
    let ended = layout(&["eval", "--ranks", "2", "--name", "pairs"], &file);
    let expected =
        "rank,x,y,z,color\n0,0.0,0.0,0.0,0.0\n0,0.0,0.0,0.0,7.0\n1,1.0,0.0,0.0,0.0\n1,1.0,0.0,0.0,7.0\n";
    assert_eq!((ended.status, ended.output().as_str()), (0, expected));
    let warning = format!("{}:13:12: warning: metadata `cpu` is missing; 0 is used\n", file.display());
    assert_eq!(ended.errors(), warning);
    let checked = layout(&["check", "--ranks", "64"], &file);
    let lines = "sphere: 1 point per rank, 0 warnings\nPairs: 2 points per rank, 1 warning\n";
    assert_eq!((checked.status, checked.output().as_str()), (0, lines));
    assert_eq!(checked.errors(), warning);
    let first = layout(&["eval", "--ranks", "1"], &file);
    assert!(
        first.status == 0 && first.errors().contains("2 layouts; this is `sphere`"),
        "{}",
        first.errors()
    );
}

#[test]
fn what_is_wrong_is_said_in_a_line() {
    let folder = folder().unwrap();
    let file = folder.path().join("bad.txt");
    std::fs::write(&file, format!("BEGIN_VIZ=bad\nx=rnak\nEND_VIZ\n{SPHERE}")).unwrap();
    let expected = format!("{}:2:3: unknown name `rnak`; did you mean `rank`?\n", file.display());
    for words in [&["check"][..], &["eval", "--ranks", "4"]] {
        let ended = layout(words, &file);
        assert_eq!((ended.status, ended.output().as_str(), ended.errors()), (2, "", expected.clone()));
    }
    // The other layout can be used.
    let ended = layout(&["eval", "--ranks", "4", "--name", "SPHERE"], &file);
    assert_eq!((ended.status, ended.output().lines().count(), ended.errors()), (0, 5, expected));

    let refused = |words: &[&str], file: &Path, says: &str| {
        let ended = layout(words, file);
        let errors = ended.errors();
        assert_eq!((ended.status, ended.output().as_str()), (2, ""), "{errors}");
        assert!(errors.lines().count() == 1 && errors.contains(says), "{errors}");
    };
    std::fs::write(&file, SPHERE).unwrap();
    refused(&["eval", "--ranks", "4", "--name", "cube"], &file, "has no layout `cube`: it has `sphere`");
    refused(&["eval"], &file, "--ranks");
    refused(&["eval", "--ranks", "0"], &file, "--ranks");
    refused(&["check"], &folder.path().join("none.txt"), "none.txt");
    refused(&["check"], folder.path(), "directory");
    std::fs::write(&file, "").unwrap();
    refused(&["check"], &file, "bad.txt:1:1: expected BEGIN_VIZ=name");
    refused(&["eval", "--ranks", "4"], &file, "bad.txt:1:1: expected BEGIN_VIZ=name");
}
