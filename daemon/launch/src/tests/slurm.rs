use super::*;

#[test]
fn by_default_the_variable_says_it() {
    for line in
        ["srun ./a", "srun -n 2 -N 1 ./a --export=NONE", "srun -n 1 ./a : -n 2 ./b", "/usr/bin/srun -N2 ./a"]
    {
        assert_eq!(Fake::new().line(line), line);
        assert_eq!(Fake::new().sets(line, EXPORT), "ALL,LD_PRELOAD=/c.so");
        let fake = Fake::new().with(PRELOAD, "/b.so");
        assert_eq!(fake.sets(line, EXPORT), "ALL,LD_PRELOAD=/c.so:/b.so");
    }
}

#[test]
fn what_the_user_exports_is_extended() {
    let cases = [
        ("NONE", "RINGS,KEY,LD_PRELOAD=/c.so"),
        ("nil", "RINGS,KEY,LD_PRELOAD=/c.so"),
        ("A,B=1", "A,B=1,RINGS,KEY,LD_PRELOAD=/c.so"),
        ("ALL,X=1", "ALL,X=1,LD_PRELOAD=/c.so:/b.so"),
        ("ALL,LD_PRELOAD=/d.so", "ALL,LD_PRELOAD=/c.so:/d.so"),
        ("A,LD_PRELOAD", "A,RINGS,KEY,LD_PRELOAD=/c.so:/b.so"),
    ];
    for (list, planned) in cases {
        let fake = Fake::new().with(PRELOAD, "/b.so");
        assert_eq!(fake.line(&format!("srun --export={list} ./a")), format!("srun --export={planned} ./a"));
        assert_eq!(
            fake.line(&format!("srun -n 2 --export {list} ./a")),
            format!("srun -n 2 --export {planned} ./a")
        );
        assert_eq!(fake.line(&format!("srun --exp={list} ./a")), format!("srun --exp={planned} ./a"));
        assert_eq!(fake.sets(&format!("srun --export={list} ./a"), EXPORT), "");
        assert_eq!(fake.with(EXPORT, list).sets("srun ./a", EXPORT), planned);
    }
}

#[test]
fn each_program_of_a_line_gets_it() {
    let fake = Fake::new();
    let line = "srun --export=A ./a : -n 2 ./b";
    assert_eq!(fake.line(line), "srun --export=A,RINGS,KEY,LD_PRELOAD=/c.so ./a : -n 2 ./b");
    assert_eq!(fake.sets(line, EXPORT), "ALL,LD_PRELOAD=/c.so");
}

#[test]
fn a_comma_in_what_was_preloaded_goes_through_the_environment() {
    let fake = Fake::new().with(PRELOAD, "/b,b.so");
    assert_eq!(fake.sets("srun ./a", EXPORT), "ALL,LD_PRELOAD");
    assert_eq!(fake.sets("srun ./a", PRELOAD), "/c.so:/b,b.so");
}

#[test]
fn what_srun_has_itself_would_count_instead_of_the_list() {
    let fake = Fake::new().with(PRELOAD, "/b.so");
    assert_eq!(fake.plan("srun ./a").removed, [PRELOAD]);
    assert_eq!(fake.plan("srun --export=A ./a").removed, [""; 0]);
    assert_eq!(Fake::new().plan("srun ./a").removed, [""; 0]);
    assert_eq!(
        Fake::new().line("env LD_PRELOAD=/d.so srun --export=ALL ./a"),
        "env --unset=LD_PRELOAD srun --export=ALL,LD_PRELOAD=/c.so:/d.so ./a"
    );
}
