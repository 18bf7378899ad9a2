//! The lab does what it promises: hosts are separate, links follow their settings, launchers reach all hosts, and
//! nothing is left behind.

use mpiscope_harness::{
    Family, LIMIT, Lab, LabOptions, Mpi, Placement, Running, Start, Truth, compile, folder, processes, root,
    run, skip,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A lab for this test, or the test is skipped.
macro_rules! lab_or_return {
    ($options:expr, $test:literal) => {
        match Lab::up_or_skip(&$options, concat!("lab ", $test)).unwrap() {
            Some(lab) => lab,
            None => return,
        }
    };
}

fn shell(lab: &Lab, host: &str, script: &str) -> (i32, String) {
    let ended = run(&mut lab.exec(host, &["sh", "-c", script]), LIMIT).unwrap();
    (ended.status, ended.output() + &ended.errors())
}

fn output(lab: &Lab, host: &str, script: &str) -> String {
    let (status, output) = shell(lab, host, script);
    assert_eq!(status, 0, "{script}: {output}");
    output
}

fn echo(lab: &Lab, host: &str, words: &[&str]) -> Command {
    let script = root().join("tests/e2e/lab_echo.py");
    lab.exec(host, &[&["python3", script.to_str().unwrap()], words].concat())
}

fn serve(lab: &Lab, host: &str) -> Running {
    let server = Running::start(&mut echo(lab, host, &["serve"])).unwrap();
    let ready = || (server.output_until_now() == "ready\n").then_some(());
    processes::until(LIMIT, ready).expect("the server starts");
    server
}

/// Questions from the first host to another, with this number of seconds between them.
fn ask(lab: &Lab, host: &str, count: u32, pause: &str) -> Value {
    let ended = run(&mut echo(lab, "node1", &["ask", host, &count.to_string(), pause]), LIMIT).unwrap();
    serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.errors()))
}

fn answers(asked: &Value, figure: &str) -> Vec<f64> {
    asked["answers"].as_array().unwrap().iter().map(|answer| answer[figure].as_f64().unwrap()).collect()
}

fn median_ms(asked: &Value, figure: &str) -> f64 {
    let mut times = answers(asked, figure);
    times.sort_by(f64::total_cmp);
    times[times.len() / 2] * 1e3
}

#[test]
fn hosts_see_each_other_and_nothing_else() {
    let lab = lab_or_return!(LabOptions::hosts(3), "hosts_see_each_other_and_nothing_else");
    for host in ["node1", "node2", "node3"] {
        assert_eq!(output(&lab, host, "uname -n"), format!("{host}\n"));
        assert_eq!(output(&lab, host, "ls /sys/class/net"), "eth0\nlo\n");
        let routes = output(&lab, host, "ip route");
        assert!(routes.starts_with("10.77.0.0/24 dev eth0") && routes.lines().count() == 1, "{routes}");
    }
    let _servers = [serve(&lab, "node2"), serve(&lab, "node3")];
    for host in ["node2", "node3"] {
        assert_eq!(answers(&ask(&lab, host, 3, "0.01"), "there").len(), 3);
    }
    // node1 itself serves nothing, and does not reach the servers by names of the machine.
    assert_eq!(answers(&ask(&lab, "localhost", 1, "0.01"), "there"), [0.0; 0]);
}

#[test]
fn hosts_have_folders_of_their_own_and_share_the_others() {
    let lab = lab_or_return!(LabOptions::hosts(2), "hosts_have_folders_of_their_own_and_share_the_others");
    for own in ["/tmp", "/run", "/dev/shm"] {
        assert_eq!(output(&lab, "node1", &format!("stat -c %a {own}")), "1777\n");
        let file = format!("{own}/{}", lab.name());
        output(&lab, "node1", &format!("echo mine > {file}"));
        assert!(shell(&lab, "node2", &format!("cat {file}")).0 != 0 && !Path::new(&file).exists(), "{file}");
    }
    let shared = lab.shared().join("file");
    output(&lab, "node1", &format!("echo ours > {}", shared.display()));
    assert_eq!(output(&lab, "node2", &format!("cat {}", shared.display())), "ours\n");
    assert_eq!(std::fs::read_to_string(&shared).unwrap(), "ours\n");
    // System V shared memory and its like.
    output(&lab, "node1", "ipcmk --shmem 4096");
    assert_eq!(output(&lab, "node1", "ipcs -m | grep -c 0x"), "1\n");
    assert_eq!(shell(&lab, "node2", "ipcs -m | grep -c 0x").1, "0\n");
}

#[test]
fn a_command_on_a_host_is_like_one_here() {
    let lab = lab_or_return!(LabOptions::hosts(1), "a_command_on_a_host_is_like_one_here");
    let script = "cat; pwd; echo $COLOUR; echo wrong >&2; exit 7";
    let mut command = lab.exec("node1", &["sh", "-c", script]);
    command.env("COLOUR", "green").current_dir(lab.shared());
    let ended = mpiscope_harness::run_with_input(&mut command, b"given\n".to_vec(), LIMIT).unwrap();
    let expected = format!("given\n{}\ngreen\n", lab.shared().display());
    assert_eq!((ended.status, ended.output(), ended.errors()), (7, expected, "wrong\n".to_owned()));
    let ended = run(lab.command("exec").args(["--user", "nobody", "node1", "id", "-un"]), LIMIT).unwrap();
    assert_eq!((ended.status, ended.output().as_str()), (0, "nobody\n"));
    let ended = run(&mut lab.exec("node2", &["true"]), LIMIT).unwrap();
    assert!(ended.status == 1 && ended.errors().contains("has no host node2"), "{}", ended.errors());
}

#[test]
fn the_agent_starts_with_a_fresh_environment() {
    let lab = lab_or_return!(LabOptions::hosts(2), "the_agent_starts_with_a_fresh_environment");
    let script = "uname -n; env | grep -c COLOUR; exit 5";
    let mut command = lab.command("agent");
    let ended =
        run(command.args(["-x", "-l", "root", "node2", script]).env("COLOUR", "green"), LIMIT).unwrap();
    assert_eq!((ended.status, ended.output().as_str()), (5, "node2\n0\n"), "{}", ended.errors());
    let agent = format!("/run/mpiscope-lab/{}/agent", lab.name());
    assert_eq!(output(&lab, "node1", &format!("{agent} node2 uname -n")), "node2\n");
}

#[test]
fn a_delay_is_as_long_as_told_and_one_way() {
    let lab = lab_or_return!(LabOptions::hosts(3).shaped(), "a_delay_is_as_long_as_told_and_one_way");
    let _server = serve(&lab, "node2");
    let before = ask(&lab, "node2", 10, "0.01");
    lab.link(&["node1", "node2", "--delay", "80ms"]).unwrap();
    let asked = ask(&lab, "node2", 10, "0.01");
    let (there, back) = (median_ms(&asked, "there"), median_ms(&asked, "back"));
    assert!((80.0..150.0).contains(&there) && back < 60.0, "{there} ms there, {back} ms back");
    assert!(median_ms(&before, "there") < 60.0, "{before}");
    // What is not named stays as it is, and all together go.
    lab.link(&["node1", "node2", "--jitter", "20ms", "--distribution", "uniform"]).unwrap();
    let there = answers(&ask(&lab, "node2", 20, "0.03"), "there");
    assert!(there.iter().all(|seconds| *seconds > 0.0599), "{there:?}");
    assert!(there.iter().any(|seconds| *seconds > 0.08) && there.iter().any(|seconds| *seconds < 0.1));
    lab.link(&["--clear"]).unwrap();
    assert!(median_ms(&ask(&lab, "node2", 10, "0.01"), "there") < 60.0);
}

#[test]
fn losses_are_those_that_the_switch_counts() {
    let lab = lab_or_return!(LabOptions::hosts(2).shaped(), "losses_are_those_that_the_switch_counts");
    let _server = serve(&lab, "node2");
    lab.link(&["node1", "node2", "--loss", "0.3"]).unwrap();
    let asked = ask(&lab, "node2", 200, "0.002");
    let counted = |figure| lab.counted("node1", "node2", figure).unwrap();
    let answered = u64::try_from(answers(&asked, "there").len()).unwrap();
    assert_eq!((counted("frames"), counted("forwarded")), (200, answered));
    assert_eq!(counted("lost"), 200 - answered);
    assert!((30..90).contains(&counted("lost")), "{} of 200", counted("lost"));
    assert_eq!(lab.counted("node2", "node1", "lost").unwrap(), 0);
}

/// Both kinds of lab cut a host off, each in its own way.
#[test]
fn a_cut_is_over_after_its_time() {
    for options in [LabOptions::hosts(2), LabOptions::hosts(2).shaped()] {
        let lab = lab_or_return!(options, "a_cut_is_over_after_its_time");
        let _server = serve(&lab, "node2");
        let begun = Instant::now();
        lab.cut("node2", Duration::from_secs(1)).unwrap();
        let cut_until = begun.elapsed().as_secs_f64();
        let asked = ask(&lab, "node2", 80, "0.02");
        let first = answers(&asked, "asked").first().unwrap() - asked["begun"].as_f64().unwrap();
        // From the cut to the first question the program had to start.
        assert!((0.2..1.5).contains(&first), "{options:?}: back {first} s later, {cut_until}");
        assert!(answers(&asked, "there").len() >= 20, "{asked}");
    }
}

#[test]
fn what_is_planned_comes_by_itself() {
    let lab = lab_or_return!(LabOptions::hosts(2).shaped(), "what_is_planned_comes_by_itself");
    let _server = serve(&lab, "node2");
    // Who asks takes a while to start on a busy machine, and answers take longer.
    lab.link(&["node1", "node2", "--delay", "400ms", "--after", "2500ms", "--for", "700ms"]).unwrap();
    let there = answers(&ask(&lab, "node2", 200, "0.02"), "there");
    let delayed: Vec<bool> = there.iter().map(|seconds| *seconds >= 0.4).collect();
    let changes = delayed.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(!delayed[0] && !delayed[delayed.len() - 1] && changes == 2, "{there:?}");
}

#[test]
fn without_the_switch_a_link_does_only_what_the_kernel_can_do() {
    let options = LabOptions::hosts(2);
    let lab = lab_or_return!(options, "without_the_switch_a_link_does_only_what_the_kernel_can_do");
    for (words, why) in [
        (&["node1", "node2", "--delay", "1ms"][..], "--shaped"),
        (&["node1", "node2", "--cut"], "--shaped"),
        (&["node1", "all", "--cut"], "--both"),
        (&["node1", "node3", "--cut"], "no host node3"),
        (&["node1", "all"], "nothing is asked"),
    ] {
        let error = format!("{:#}", lab.link(words).unwrap_err());
        assert!(error.contains(why), "{words:?}: {error}");
    }
    lab.link(&["node1", "all", "--rate", "10mbit"]).unwrap();
    assert!(output(&lab, "node1", "tc qdisc show dev eth0").contains("tbf"));
    lab.link(&["--clear"]).unwrap();
    assert!(!output(&lab, "node1", "tc qdisc show dev eth0").contains("tbf"));
}

#[test]
fn clocks_are_as_far_apart_as_stated() {
    let options = LabOptions::hosts(3).skewed_clocks();
    let lab = lab_or_return!(options, "clocks_are_as_far_apart_as_stated");
    let stated = lab.clock_offsets_ns().unwrap();
    let second = 1_000_000_000;
    let expected = [("node1", 1000), ("node2", 2000), ("node3", 3000)];
    let expected: BTreeMap<String, i64> =
        expected.iter().map(|(host, ahead)| ((*host).to_owned(), ahead * second)).collect();
    assert_eq!(stated, expected);
    let script = "import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))";
    let clock = |command: &mut Command| -> i64 {
        run(command.args(["-c", script]), LIMIT).unwrap().output().trim().parse().unwrap()
    };
    for (host, ahead) in stated {
        let before = clock(&mut Command::new("python3"));
        let there = clock(&mut lab.exec(&host, &["python3"]));
        let after = clock(&mut Command::new("python3"));
        assert!((before..after).contains(&(there - ahead)), "{host}: {before} {there} {after}");
    }
}

fn slurm_starts(lab: &Lab, family: Family) -> bool {
    let plugin = match family {
        Family::OpenMpi => "pmix",
        Family::Mpich => "pmi2",
    };
    shell(lab, "node1", "srun --mpi=list").1.split_whitespace().any(|word| word == plugin)
}

fn ranks_are_where_they_belong(lab: &Lab, start: Start, test: &str) {
    for mpi in Mpi::all_or_skip(test) {
        if start == Start::Slurm && !slurm_starts(lab, mpi.family) {
            skip(&format!("{test} ({})", mpi.family.word()), "Slurm has no plugin that starts it");
            continue;
        }
        let program = compile(&mpi, &root().join("tests/e2e/lab_hosts.c")).unwrap();
        for placement in [Placement::Block, Placement::Cyclic] {
            let mut command = lab.plain(&mpi, 8, placement, start, &program).unwrap();
            let ended = run(&mut command, LIMIT).unwrap();
            let output = ended.output();
            let mut lines: Vec<&str> = output.lines().collect();
            lines.sort_unstable();
            let host = |rank: u32| 1 + if placement == Placement::Block { rank / 2 } else { rank % 4 };
            let expected: Vec<String> =
                (0..8).map(|rank| format!("rank {rank} on node{} of 2", host(rank))).collect();
            assert_eq!(lines, expected, "{} {placement:?}: {}", mpi.family.word(), ended.errors());
        }
        let ring = lab.plain(&mpi, 8, Placement::Cyclic, start, &mpi.app("ring").unwrap());
        let ended = run(&mut ring.unwrap(), LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        assert_eq!(Truth::parse(&ended.stdout).unwrap().all_messages().0, 800);
    }
}

#[test]
fn both_families_run_over_all_hosts() {
    let lab = lab_or_return!(LabOptions::hosts(4), "both_families_run_over_all_hosts");
    ranks_are_where_they_belong(&lab, Start::Agent, "lab both_families_run_over_all_hosts");
}

#[test]
fn both_families_run_under_slurm() {
    let lab = lab_or_return!(LabOptions::hosts(4).racks(2).slurm(), "both_families_run_under_slurm");
    ranks_are_where_they_belong(&lab, Start::Slurm, "lab both_families_run_under_slurm");
}

/// Hosts with process numbers of their own are reached by ssh alone.
#[test]
fn both_families_run_over_ssh() {
    let lab = lab_or_return!(LabOptions::hosts(4).own_pids(), "both_families_run_over_ssh");
    assert_eq!(output(&lab, "node3", "cat /proc/1/comm"), "sleep\n");
    ranks_are_where_they_belong(&lab, Start::Ssh, "lab both_families_run_over_ssh");
}

#[test]
fn ranks_go_where_a_file_says() {
    let lab = lab_or_return!(LabOptions::hosts(3), "ranks_go_where_a_file_says");
    for mpi in Mpi::all_or_skip("lab ranks_go_where_a_file_says") {
        let file = lab.shared().join("places");
        let (text, expected) = match mpi.family {
            Family::OpenMpi => (
                "rank 0=node3 slot=0\nrank 1=node1 slot=0\nrank 2=node3 slot=0\n",
                ["rank 0 on node3 of 2", "rank 1 on node1 of 1", "rank 2 on node3 of 2"],
            ),
            Family::Mpich => (
                "node3:2\nnode1:1\n",
                ["rank 0 on node3 of 2", "rank 1 on node3 of 2", "rank 2 on node1 of 1"],
            ),
        };
        std::fs::write(&file, text).unwrap();
        let program = compile(&mpi, &root().join("tests/e2e/lab_hosts.c")).unwrap();
        let command = lab.plain(&mpi, 3, Placement::File(&file), Start::Agent, &program);
        let ended = run(&mut command.unwrap(), LIMIT).unwrap();
        let output = ended.output();
        let mut lines: Vec<&str> = output.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, expected, "{}: {}", mpi.family.word(), ended.errors());
    }
}

#[test]
fn traffic_moves_bytes_and_a_rate_holds_it() {
    let test = "lab traffic_moves_bytes_and_a_rate_holds_it";
    if Command::new("iperf3").arg("--version").output().is_err() {
        skip(test, "iperf3 is not installed");
        return;
    }
    let lab = lab_or_return!(LabOptions::hosts(4).racks(2), "traffic_moves_bytes_and_a_rate_holds_it");
    let flow = |words: &[&str]| -> f64 {
        let mut command = lab.command("traffic");
        let ended =
            run(command.args(words).args(["--seconds", "1", "--streams", "2", "--wait"]), LIMIT).unwrap();
        let flow: Value = serde_json::from_slice(&ended.stdout).unwrap();
        let flow = &flow[flow.as_array().unwrap().len() - 1];
        assert!(flow["bytes"].as_u64().is_some_and(|bytes| bytes > 100_000), "{flow} {}", ended.errors());
        flow["bits_per_second"].as_f64().unwrap()
    };
    let asked = flow(&["node1", "node2", "--rate", "40mbit"]);
    assert!((10e6..60e6).contains(&asked), "{asked}");
    lab.link(&["rack1", "spine", "--rate", "20mbit"]).unwrap();
    let limited = flow(&["node1", "node3"]);
    assert!(limited < 40e6, "{limited}");
    // Within a rack nothing changed.
    assert!(flow(&["node1", "node2"]) > 100e6);
    run(lab.command("traffic").args(["node1", "node3", "--seconds", "100"]), LIMIT).unwrap();
    assert_eq!(run(lab.command("traffic").arg("--stop"), LIMIT).unwrap().status, 0);
    let left = run(lab.command("traffic").arg("--wait"), LIMIT).unwrap();
    assert_eq!(left.output(), "[]\n");
}

/// The mounts and interfaces of this machine, and the processes that see a mount of the lab.
fn traces(name: &str) -> (Vec<String>, Vec<String>, Vec<u32>) {
    let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let names = std::fs::read_dir("/sys/class/net").unwrap();
    let mut interfaces: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    interfaces.sort();
    let sees = |process: &u32| {
        let mounts = std::fs::read_to_string(format!("/proc/{process}/mountinfo")).unwrap_or_default();
        mounts.contains(&format!(" mpiscope-lab/{name}/"))
    };
    let mounts = lines(std::fs::read_to_string("/proc/self/mounts").unwrap());
    (mounts, interfaces, processes::all().into_iter().filter(sees).collect())
}

#[test]
fn nothing_is_left_of_a_lab() {
    let options = LabOptions::hosts(2).shaped().slurm().sshd().skewed_clocks();
    let before = traces("");
    let lab = lab_or_return!(options, "nothing_is_left_of_a_lab");
    let name = lab.name().to_owned();
    // What a test starts and lets go of is killed with it; this one is the lab's to end.
    let sleeping = Running::start(&mut lab.exec("node2", &["setsid", "--wait", "sleep", "1000"])).unwrap();
    let name_of = |process| std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    let is_asleep =
        || sleeping.family().into_iter().any(|process| name_of(process) == "sleep\n").then_some(());
    assert!(processes::until(LIMIT, is_asleep).is_some());
    lab.link(&["all", "all", "--cut", "--after", "1000s"]).unwrap();
    let (mounts, interfaces, processes) = traces(&name);
    assert_eq!((&mounts, &interfaces), (&before.0, &before.1), "a lab stays in its namespaces");
    assert!(processes.len() >= 10, "{processes:?}");
    drop(lab);
    assert_eq!(sleeping.family(), [0; 0]);
    let (mounts, interfaces, processes) = traces(&name);
    assert_eq!((mounts, interfaces, processes), (before.0, before.1, Vec::new()));
    assert!(!Path::new("/run/mpiscope-lab").join(&name).exists());
    // One that is not there needs no end.
    let mut again = Command::new(root().join("deploy/lab/lab"));
    assert_eq!(run(again.args(["down", "--name", &name]), LIMIT).unwrap().status, 0);
}

#[test]
fn a_name_is_used_once() {
    let lab = lab_or_return!(LabOptions::hosts(1), "a_name_is_used_once");
    let again = run(lab.command("up").arg("1"), LIMIT).unwrap();
    assert!(again.status == 1 && again.errors().contains("already up"), "{}", again.errors());
    assert_eq!(output(&lab, "node1", "uname -n"), "node1\n");
}

#[test]
fn a_lab_that_does_not_come_up_leaves_nothing() {
    let _works = lab_or_return!(LabOptions::hosts(1).shaped(), "a_lab_that_does_not_come_up_leaves_nothing");
    // A switch that ends at once: the hosts are there by then.
    let target = folder().unwrap();
    std::fs::create_dir(target.path().join("release")).unwrap();
    std::fs::copy("/bin/false", target.path().join("release/mpiscope-lab-switch")).unwrap();
    let name = format!("fails-{}", std::process::id());
    let mut command = Command::new(root().join("deploy/lab/lab"));
    command.args(["up", "2", "--shaped", "--name", &name]).env("CARGO_TARGET_DIR", target.path());
    let ended = run(&mut command, LIMIT).unwrap();
    assert!(ended.status == 1 && ended.errors().contains("the switch did not start"), "{}", ended.errors());
    assert_eq!(traces(&name).2, Vec::<u32>::new());
    assert!(!Path::new("/run/mpiscope-lab").join(&name).exists());
}
