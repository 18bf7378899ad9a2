use super::*;

#[test]
fn the_collector_is_an_option_and_the_rest_is_inherited() {
    for launcher in ["mpiexec", "mpiexec.hydra"] {
        for rest in ["-n 4 ./a", "-n 1 ./a -genvnone : -n 2 ./b", "-f hosts -ppn 2 ./a"] {
            let line = format!("{launcher} {rest}");
            assert_eq!(Fake::new().line(&line), format!("{launcher} -genv LD_PRELOAD /c.so {rest}"));
        }
    }
    let fake = Fake::new().with(PRELOAD, "/b.so");
    assert_eq!(fake.line("mpiexec ./a"), "mpiexec -genv LD_PRELOAD /c.so:/b.so ./a");
}

#[test]
fn what_the_user_preloads_is_kept() {
    let cases = [
        ("-genv LD_PRELOAD /b.so ./a", "-genv LD_PRELOAD /c.so:/b.so ./a"),
        ("-n 2 -genv LD_PRELOAD=/b.so ./a", "-n 2 -genv LD_PRELOAD=/c.so:/b.so ./a"),
        ("-genv A 1 ./a", "-genv LD_PRELOAD /c.so -genv A 1 ./a"),
        ("-genv A=1 -n 2 ./a", "-genv LD_PRELOAD /c.so -genv A=1 -n 2 ./a"),
        (
            "-n 1 ./a : -env LD_PRELOAD /b.so -n 1 ./b",
            "-genv LD_PRELOAD /c.so -n 1 ./a : -env LD_PRELOAD /c.so:/b.so -n 1 ./b",
        ),
    ];
    for (line, planned) in cases {
        assert_eq!(Fake::new().line(&format!("mpiexec {line}")), format!("mpiexec {planned}"));
    }
}

#[test]
fn limits_are_widened_by_names() {
    let cases = [
        ("-genvnone -n 2 ./a", "-genvlist RINGS,KEY -n 2 ./a"),
        ("-genvlist A,B ./a", "-genvlist A,B,RINGS,KEY ./a"),
        ("-envnone ./a : -envlist A ./b", "-envlist RINGS,KEY ./a : -envlist A,RINGS,KEY ./b"),
        ("--genvnone ./a", "-genvlist RINGS,KEY ./a"),
        ("-genvall ./a", "-genvall ./a"),
        ("-genvlist", "-genvlist"),
    ];
    for (line, planned) in cases {
        let planned = format!("mpiexec -genv LD_PRELOAD /c.so {planned}");
        assert_eq!(Fake::new().line(&format!("mpiexec {line}")), planned);
    }
}
