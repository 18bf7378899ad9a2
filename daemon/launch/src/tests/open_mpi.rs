use super::*;

const OURS: &str = "RINGS;KEY;LD_PRELOAD=/c.so";
const OPTIONS: &str = "-x RINGS -x KEY -x LD_PRELOAD=/c.so";

#[test]
fn every_program_of_a_line_gets_options() {
    let cases = [
        ("mpirun -n 4 ./a", format!("mpirun {OPTIONS} -n 4 ./a")),
        (
            "mpirun.openmpi -np 2 ./a : -np 1 ./b",
            format!("mpirun.openmpi {OPTIONS} -np 2 ./a : {OPTIONS} -np 1 ./b"),
        ),
        ("/opt/o/bin/mpirun ./a y -x", format!("/opt/o/bin/mpirun {OPTIONS} ./a y -x")),
        ("mpirun -x A=1 -n 2 ./a", format!("mpirun {OPTIONS} -x A=1 -n 2 ./a")),
        ("mpirun -n 2 ./a : -x A -n 1 ./b", format!("mpirun {OPTIONS} -n 2 ./a : {OPTIONS} -x A -n 1 ./b")),
        ("mpirun --tune f ./a", format!("mpirun {OPTIONS} --tune f ./a")),
        ("mpirun --new 5 -x A ./a", format!("mpirun {OPTIONS} --new 5 -x A ./a")),
        ("/opt/5/bin/mpirun -n 2 ./a", format!("/opt/5/bin/mpirun {OPTIONS} -n 2 ./a")),
        ("prterun -n 2 ./a : ./b", format!("prterun {OPTIONS} -n 2 ./a : {OPTIONS} ./b")),
        ("mpirun", format!("mpirun {OPTIONS}")),
    ];
    for (line, planned) in cases {
        assert_eq!((Fake::new().line(line), Fake::new().sets(line, LIST)), (planned, String::new()));
    }
    let fake = Fake::new().with(PRELOAD, "/b;b.so");
    assert_eq!(fake.line("mpirun ./a"), format!("mpirun {OPTIONS}:/b;b.so ./a"));
}

#[test]
fn a_list_of_the_user_s_is_extended() {
    let sets = |list: &str| Fake::new().with(LIST, list).sets("mpirun ./a", LIST);
    assert_eq!(sets("A=1;B"), format!("A=1;B;{OURS}"));
    assert_eq!(sets("LD_PRELOAD=/b.so;A"), format!("A;{OURS}:/b.so"));
    let fake = Fake::new().with(LIST, "LD_PRELOAD").with(PRELOAD, "/b.so");
    assert_eq!(fake.sets("mpirun ./a", LIST), format!("{OURS}:/b.so"));
    let line = |list: &str| format!("mpirun -n 2 --mca btl self --mca mca_base_env_list {list} ./a -x");
    assert_eq!(Fake::new().line(&line("A=1")), line(&format!("A=1;{OURS}")));
    // The line's list counts, whatever the variable holds.
    let fake = Fake::new().with(LIST, "B");
    assert_eq!(
        (fake.line(&line("A")), fake.sets(&line("A"), LIST)),
        (line(&format!("A;{OURS}")), String::new())
    );
}

#[test]
fn a_list_in_a_parameter_file_is_extended() {
    let text = "# a comment\nmca_base_env_list = A;B\nbtl = self\n";
    let fake = Fake::new().with("HOME", "/home/u");
    let user = fake.clone().file("/home/u/.openmpi/mca-params.conf", text);
    let installed = fake.clone().file("/opt/o/etc/openmpi-mca-params.conf", text);
    let from_environment = fake.with("OMPI_MCA_mca_base_param_files", "/x,/y").file("/y", text);
    for fake in [user, installed, from_environment] {
        assert_eq!(fake.sets("/opt/o/bin/mpirun ./a", LIST), format!("A;B;{OURS}"));
    }
}

#[test]
fn options_that_preload_are_kept() {
    let fake = Fake::new().with(PRELOAD, "/env.so");
    assert_eq!(
        fake.line("mpirun -x LD_PRELOAD=/b.so ./a : ./b"),
        "mpirun -x RINGS -x KEY -x LD_PRELOAD=/c.so:/b.so ./a : -x RINGS -x KEY -x LD_PRELOAD=/c.so:/env.so ./b"
    );
    assert_eq!(
        fake.line("mpirun -x LD_PRELOAD ./a"),
        "mpirun -x RINGS -x KEY -x LD_PRELOAD=/c.so:/env.so ./a"
    );
}

#[test]
fn what_would_split_a_list_goes_through_the_environment() {
    let fake = Fake::new().with(PRELOAD, "/b;b.so").with(LIST, "A");
    assert_eq!(fake.sets("mpirun ./a", LIST), "A;RINGS;KEY;LD_PRELOAD");
    assert_eq!(fake.sets("mpirun ./a", PRELOAD), "/c.so:/b;b.so");
}

#[test]
fn an_appfile_with_options_leaves_the_environment() {
    let fake = Fake::new().file("plain", "-n 1 ./a\n").file("own", "-x A -n 1 ./a\n");
    assert_eq!(fake.sets("mpirun --app plain", LIST), OURS);
    for file in ["own", "missing"] {
        let line = format!("mpirun --app {file}");
        assert_eq!((fake.sets(&line, LIST), fake.sets(&line, PRELOAD)), (String::new(), "/c.so".into()));
        assert_eq!(fake.line(&line), line);
    }
}

#[test]
fn a_list_in_a_file_of_options_leaves_the_environment() {
    let fake = Fake::new().file("f", "-mca mca_base_env_list A=1\n").file("g", "-x A=1\n");
    for line in
        ["mpirun --tune f ./a", "mpirun -am f ./a", "env OMPI_MCA_mca_base_envar_file_prefix=f mpirun ./a"]
    {
        assert_eq!((fake.line(line), fake.sets(line, PRELOAD)), (line.to_owned(), "/c.so".to_owned()));
    }
    assert_eq!(fake.line("mpirun --tune g ./a"), format!("mpirun {OPTIONS} --tune g ./a"));
}
