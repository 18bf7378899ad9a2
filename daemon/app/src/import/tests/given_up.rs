//! An import that fails leaves nothing, and may be repeated.

use super::*;
use crate::command_line::ImportOptions;
use crate::import::import;

fn options(folder: &Path, table: &str) -> ImportOptions {
    let file = folder.join("t.csv");
    std::fs::write(&file, table).unwrap();
    ImportOptions { file, nodes: None, output: folder.join("deep/out") }
}

#[test]
fn a_table_that_is_refused_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = options(folder.path(), &format!("{HEADER}\n0,send,x,0,1,8\n"));
    assert!(import(&wrong).is_err());
    assert!(!folder.path().join("deep").exists());
    import(&options(folder.path(), TABLE)).unwrap();
    assert_eq!(Manifest::read(&wrong.output).unwrap().state, State::Complete);
    // What is there of another stays.
    assert!(import(&options(folder.path(), TABLE)).is_err());
    assert_eq!(Manifest::read(&wrong.output).unwrap().state, State::Complete);
}

/// Somebody else begins to write there between the look at the folder and the recording.
#[test]
fn what_another_writes_meanwhile_stays() {
    let folder = tempfile::tempdir().unwrap();
    let ImportOptions { file, output, .. } = options(folder.path(), TABLE);
    let progress = Progress::new(&Interrupt::none(""));
    let table = read(&file, None, &output, &progress).unwrap();
    imported(folder.path(), TABLE, None);
    let error = record(table, Vec::new(), &folder.path().join("imported"), &progress).unwrap_err();
    assert!(crate::import::is_of_others(&error), "{error:#}");
}
