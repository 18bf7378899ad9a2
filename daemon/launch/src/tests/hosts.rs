use super::*;

fn spans(fake: &Fake, line: &str) -> bool {
    may_span_hosts(&words(line), fake)
}

fn node(nodes: &str) -> Fake {
    Fake::new().with("SLURM_JOB_ID", "1").with("SLURM_JOB_NUM_NODES", nodes).with("SLURMD_NODENAME", "n1")
}

#[test]
fn plain_lines_stay_here() {
    let lines = [
        "./a",
        "mpirun -n 2 ./a",
        "mpiexec -n 2 ./a : -n 2 ./b",
        "mpirun --host localhost:4,127.0.0.1 ./a",
        "mpiexec -hosts localhost ./a",
        "mpirun --mca btl self,tcp ./a",
        "env A=1 mpirun ./a",
    ];
    for line in lines {
        assert!(!spans(&Fake::new(), line), "{line}");
        assert!(!spans(&node("1"), line), "{line}");
    }
}

#[test]
fn lines_that_name_hosts_may_leave() {
    let lines = [
        "mpirun -H a,b ./a",
        "mpirun --host a:2 ./a",
        "mpirun -hostfile f ./a",
        "mpirun --hostfile=f ./a",
        "mpirun -machinefile f ./a",
        "mpirun --default-hostfile f ./a",
        "mpirun -rf f ./a",
        "mpirun --rankfile f ./a",
        "mpirun --app f",
        "mpirun --mca plm_rsh_agent x ./a",
        "mpirun -n 1 ./a : -mca ras x -n 1 ./b",
        "/opt/5/bin/mpirun --prtemca plm ssh ./a",
        "mpirun --unknown 5 -H b ./a",
        "mpiexec -f hosts ./a",
        "mpiexec -hosts a ./a",
        "mpiexec -configfile f",
        "mpiexec -machinefile f ./a",
        "srun -n 2 ./a",
        "mpiexec.othermpi -n 2 ./a",
        "sh -c mpirun",
    ];
    for line in lines {
        assert!(spans(&Fake::new(), line), "{line}");
    }
}

#[test]
fn the_scheduler_s_word_counts() {
    let line = "mpirun -n 2 ./a";
    assert!(spans(&node("2"), line));
    assert!(!spans(&node("1"), "srun ./a"));
    assert!(spans(&node("2"), "./a"), "it may start others itself");
    // The shell of an salloc is on none of the job's nodes.
    assert!(spans(&Fake::new().with("SLURM_JOB_ID", "1").with("SLURM_JOB_NUM_NODES", "1"), line));
    let pbs = |text: &str| Fake::new().with("PBS_NODEFILE", "/n").file("/n", text);
    assert!(!spans(&pbs("a\na\n"), line));
    assert!(spans(&pbs("a\nb\n"), line));
    assert!(spans(&Fake::new().with("PBS_NODEFILE", "/n"), line));
    for name in ["LSB_HOSTS", "PE_HOSTFILE", "FLUX_URI", "COBALT_NODEFILE", "HYDRA_HOST_FILE"] {
        assert!(spans(&Fake::new().with(name, "x"), line), "{name}");
    }
}

#[test]
fn files_of_open_mpi_count() {
    let spans = |path: &str, text: &str| {
        spans(&Fake::new().with("HOME", "/h").file(path, text), "/opt/o/bin/mpirun -n 2 ./a")
    };
    for path in ["/opt/o/etc/openmpi-default-hostfile", "/etc/openmpi/openmpi-default-hostfile"] {
        assert!(!spans(path, "# a comment\n\n"), "{path}");
        assert!(spans(path, "# a comment\nnode1 slots=2\n"), "{path}");
    }
    assert!(spans("/h/.openmpi/mca-params.conf", "orte_default_hostfile = /x\n"));
    assert!(!spans("/h/.openmpi/mca-params.conf", "btl = self\n"));
}
