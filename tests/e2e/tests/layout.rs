//! Layout files of 3D views are checked, and evaluated as CSV.

use mpiscope_harness::{Ended, LIMIT, Mpi, folder, mpiscope, run};
use std::path::Path;

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
fn an_error_is_one_line() {
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

#[test]
fn a_description_of_the_machine_gives_metadata() {
    let folder = folder().unwrap();
    let (file, table) = (folder.path().join("racks.txt"), folder.path().join("nodes.csv"));
    std::fs::write(&file, "BEGIN_VIZ=r\nx=metadata(rack)\ny=metadata(host)\nz=metadata(slot)\nEND_VIZ\n")
        .unwrap();
    std::fs::write(&table, "node,key,value\na,rack,R1\nb,rack,R2\n").unwrap();
    let topology = table.to_str().unwrap();
    let ended = layout(&["eval", "--ranks", "4", "--topology", topology], &file);
    let expected =
        "rank,x,y,z,color\n0,0.0,0.0,0.0,0.0\n1,0.0,0.0,1.0,0.0\n2,1.0,1.0,0.0,0.0\n3,1.0,1.0,1.0,0.0\n";
    assert_eq!((ended.status, ended.output().as_str(), ended.errors().as_str()), (0, expected, ""));
    let checked = layout(&["check", "--topology", topology], &file);
    assert_eq!((checked.status, checked.output().as_str()), (0, "r: 1 point per rank, 0 warnings\n"));
    std::fs::write(&table, "node,key,value\na,rack\n").unwrap();
    let ended = layout(&["eval", "--ranks", "4", "--topology", topology], &file);
    let says = format!("{topology}:2: expected three fields with commas between them");
    assert!(ended.status == 2 && ended.errors().contains(&says), "{}", ended.errors());
}

/// A million ranks and a layout as long as it may be: refused at once, in place of minutes of work.
#[test]
fn a_check_that_would_take_long_is_refused() {
    let folder = folder().unwrap();
    let file = folder.path().join("long.txt");
    let statement = format!("a={}\n", vec!["sin(rank)"; 190].join("+"));
    let text = format!("BEGIN_VIZ=long\n{}x=a\ny=a\nz=a\nEND_VIZ\n", statement.repeat(30));
    std::fs::write(&file, text).unwrap();
    assert_eq!(layout(&["check", "--ranks", "1000"], &file).status, 0);
    let ended = layout(&["check", "--ranks", "1048576"], &file);
    let says = "to place 1048576 ranks takes too long; use fewer --ranks";
    assert!(ended.status == 2 && ended.errors().contains(says), "{}", ended.errors());
}

#[test]
fn a_recording_keeps_what_its_run_was_given() {
    for mpi in Mpi::sample_or_skip("layout a_recording_keeps_what_its_run_was_given") {
        let folder = folder().unwrap();
        let (file, table) = (folder.path().join("mine.txt"), folder.path().join("ranks.csv"));
        std::fs::write(&file, SPHERE).unwrap();
        std::fs::write(&table, "rank,key,value\n1,rack,R2\n0,rack,R1\n").unwrap();
        let out = folder.path().join("recording");
        let words = ["run", "--topology"].map(String::from).into_iter();
        let paths = [table.display().to_string(), "--layout".to_owned(), file.display().to_string()];
        let rest = ["--out".to_owned(), out.display().to_string(), "--".to_owned()];
        let words: Vec<String> = words.chain(paths).chain(rest).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = mpiscope(&words).unwrap();
        command.args(mpi.words(2, &mpi.app("ring").unwrap(), &[]));
        mpi.prepare(&mut command).unwrap();
        let ended = run(&mut command, LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert_eq!(std::fs::read(out.join("topology-1.txt")).unwrap(), std::fs::read(&table).unwrap());
        assert_eq!(std::fs::read_to_string(out.join("layouts.txt")).unwrap(), SPHERE);
        let checked = run(mpiscope(&["check"]).unwrap().arg(&out), LIMIT).unwrap();
        assert!(checked.status == 0 && !checked.output().contains("not listed"), "{}", checked.output());
    }
}
