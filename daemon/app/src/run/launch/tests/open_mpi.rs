use super::*;

const OURS: &str = "RINGS;KEY;LD_PRELOAD=/c.so";
const OPTIONS: &str = "-x RINGS -x KEY -x LD_PRELOAD=/c.so";

#[test]
fn the_list_is_used_where_nothing_speaks_against_it() {
    let lines =
        ["mpirun -n 4 ./a", "mpirun.openmpi -np 2 ./a : -np 1 ./b", "/opt/o/bin/mpirun ./a y z", "mpirun"];
    for line in lines {
        assert_eq!(Fake::new().line(line), line);
        assert_eq!(Fake::new().sets(line, LIST), OURS);
        assert_eq!(Fake::new().with(PRELOAD, "/b.so").sets(line, LIST), format!("{OURS}:/b.so"));
    }
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
    let said = fake.with("OMPI_MCA_mca_base_param_files", "/x,/y").file("/y", text);
    for fake in [user, installed, said] {
        assert_eq!(fake.sets("/opt/o/bin/mpirun ./a", LIST), format!("A;B;{OURS}"));
    }
}

#[test]
fn where_the_user_has_options_ours_join_them() {
    let cases = [
        ("mpirun -x A=1 -n 2 ./a", format!("mpirun {OPTIONS} -x A=1 -n 2 ./a")),
        ("mpirun -n 2 ./a : -x A -n 1 ./b", format!("mpirun {OPTIONS} -n 2 ./a : {OPTIONS} -x A -n 1 ./b")),
        ("mpirun --tune f ./a", format!("mpirun {OPTIONS} --tune f ./a")),
        // An unknown option hides where the program begins.
        ("mpirun --new 5 -x A ./a", format!("mpirun {OPTIONS} --new 5 -x A ./a")),
        ("mpirun ./a -x", format!("mpirun {OPTIONS} ./a -x")),
    ];
    for (line, planned) in cases {
        assert_eq!((Fake::new().line(line), Fake::new().sets(line, LIST)), (planned, String::new()));
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
fn what_would_split_the_list_goes_another_way() {
    let fake = Fake::new().with(PRELOAD, "/b;b.so");
    assert_eq!(fake.line("mpirun ./a"), format!("mpirun {OPTIONS}:/b;b.so ./a"));
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
fn version_5_gets_the_options_it_documents() {
    for launcher in ["mpirun5", "prterun"] {
        let line = format!("{launcher} -n 2 ./a : ./b");
        assert_eq!(Fake::new().line(&line), format!("{launcher} {OPTIONS} -n 2 ./a : {OPTIONS} ./b"));
        assert_eq!(Fake::new().sets(&line, LIST), "");
        assert_eq!(Fake::new().with(LIST, "A").sets(&line, LIST), format!("A;{OURS}"));
    }
}
