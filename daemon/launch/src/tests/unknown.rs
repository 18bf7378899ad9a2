use super::*;

fn in_a_job() -> Fake {
    Fake::new().with("SLURM_JOB_ID", "1").with("SLURM_JOB_NUM_NODES", "2").with("SLURMD_NODENAME", "n1")
}

#[test]
fn the_program_itself_gets_the_collector() {
    for line in ["./a", "./a -x", "mpiexec.othermpi -n 2 ./a", "mpirun.missing ./a", "env -i mpirun ./a"] {
        assert_eq!(Fake::new().sets(line, PRELOAD), "/c.so", "{line}");
        assert_eq!(Fake::new().line(line), line);
        assert_eq!(Fake::new().sets(line, EXPORT), "");
    }
    assert_eq!(Fake::new().sets("./a", LIST), "");
    assert_eq!(Fake::new().with(PRELOAD, "/b.so").sets("./a", PRELOAD), "/c.so:/b.so");
}

#[test]
fn what_a_nested_srun_exports_is_extended_only_where_it_is_limited() {
    let sets = |list: &str| Fake::new().with(EXPORT, list).sets("./job.sh", EXPORT);
    assert_eq!(sets("NONE"), "RINGS,KEY,LD_PRELOAD=/c.so");
    assert_eq!(sets("ALL"), "ALL,LD_PRELOAD=/c.so");
}

#[test]
fn a_nested_mpirun_gets_the_list_where_that_cannot_end_the_job() {
    let list = "RINGS;KEY;LD_PRELOAD";
    let script = |text: &str| in_a_job().file("./job.sh", text).sets("bash ./job.sh", LIST);
    assert_eq!(script("#!/bin/sh\nmpirun -n 4 ./a\n"), list);
    assert_eq!(in_a_job().sets("sh -c mpirun", LIST), list);
    for text in
        ["mpirun -x A ./a", "mpirun --tune f ./a", "mpirun --mca mca_base_env_list A", "./prepare", ""]
    {
        assert_eq!(script(text), "", "{text}");
    }
    // On this host alone ranks inherit it.
    let fake = Fake::new().with("SLURM_JOB_ID", "1").with("SLURM_JOB_NUM_NODES", "1");
    assert_eq!(fake.with("SLURMD_NODENAME", "n").sets("./a", LIST), "");
    // A list of the user's is extended anyway: it has ruled the options out.
    assert_eq!(Fake::new().with(LIST, "A;LD_PRELOAD").sets("./a", LIST), format!("A;{list}"));
}
