use super::file::File;
use super::load::{Candidate, candidates};
use super::*;
use anyhow::Result;
use std::ffi::OsString;
use std::path::Path;

fn parse(text: &str) -> Result<Site> {
    let mut site = Site::default();
    File::parse(text, Path::new("/etc/mpiscope.toml"))?.apply(&mut site);
    Ok(site)
}

#[test]
fn the_example_names_every_key_with_its_default() {
    let example = include_str!("../../../../deploy/mpiscope.toml");
    assert_eq!(parse(example).unwrap(), Site::default(), "the example as it is changes nothing");
    let is_key = |line: &str| line.starts_with('#') && line.contains(" = ") && !line.starts_with("# ");
    let uncommented: Vec<&str> =
        example.lines().map(|line| if is_key(line) { &line[1..] } else { line }).collect();
    assert_eq!(parse(&uncommented.join("\n")).unwrap(), Site::default());
    for (key, _) in Site::default().settings() {
        let key = key.split('.').nth(1).unwrap();
        let lines = uncommented.iter().filter(|line| line.starts_with(&format!("{key} = "))).count();
        assert!(lines == 1 || (key == "spool" && lines == 2), "{key} stands {lines} times in the example");
    }
}

#[test]
fn every_key_is_understood() {
    let site = parse(
        r#"
        [agents]
        start = "by-hand"
        listen = "always"
        addresses = ["10.0.0.1", "fe80::1"]
        ports = "40000-40100"
        tls = false
        [analysis]
        shell = ["rsh", "-x"]
        [paths]
        rings = "/run/rings"
        spool = "/scratch"
        [limits]
        spool = "512 MiB"
        patience_s = 5
        ring_slots = 1024
        "#,
    )
    .unwrap();
    assert_eq!(
        site.changes(),
        [
            "agents.start = \"by-hand\"",
            "agents.listen = \"always\"",
            "agents.addresses = [\"10.0.0.1\", \"fe80::1\"]",
            "agents.ports = \"40000-40100\"",
            "agents.tls = false",
            "analysis.shell = [\"rsh\", \"-x\"]",
            "paths.rings = \"/run/rings\"",
            "paths.spool = \"/scratch\"",
            "limits.spool = \"512 MiB\"",
            "limits.patience_s = 5",
            "limits.ring_slots = 1024",
        ]
    );
    assert_eq!((site.agents.ports.0, site.limits.spool_bytes), (Some((40_000, 40_100)), 512 << 20));
    assert_eq!(Site::default().changes(), Vec::<String>::new());
}

#[test]
fn what_is_wrong_is_reported_in_one_line_with_its_place() {
    let cases = [
        ("[agents]\nstrat = 1\n", "line 2, strat: unknown field `strat`"),
        ("[agent]\n", "line 1, [agent]: unknown field `agent`"),
        ("\n\n[agents]\ntls = 5\n", "line 4, tls: invalid type"),
        ("[agents]\nstart = \"x\"\n", "line 2, start: unknown variant `x`"),
        ("[agents]\naddresses = [\"here\"]\n", "line 2, addresses: "),
        ("[agents]\nports = \"9-8\"\n", "line 2, ports: \"9-8\" is no range of ports"),
        ("[analysis]\nshell = []\n", "line 2, shell: it has no program"),
        ("[limits]\nspool = \"4 GB\"\n", "line 2, spool: \"4 GB\" is no size"),
        ("[limits]\nring_slots = 65\n", "line 2, ring_slots: 65 is no power of two"),
        ("[paths]\nrings = \"here\"\n", "line 2, rings: \"here\" does not begin with /"),
        ("[agents\n", "line 1, "),
        ("[agents]\ntls = true\ntls = true\n", "line 3, tls: duplicate key"),
    ];
    for (text, expected) in cases {
        let error = format!("{:#}", parse(text).unwrap_err());
        assert!(error.contains(&format!("/etc/mpiscope.toml, {expected}")), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn later_files_change_single_keys() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let mut site = Site::default();
    let first = write("a", "[agents]\ntls = false\nlisten = \"never\"\n");
    let second = write("b", "[agents]\nlisten = \"always\"\n");
    for path in [&first, &folder.path().join("missing"), &second] {
        site.read(&Candidate { path: path.clone(), named: false }).unwrap();
    }
    assert_eq!((site.agents.tls, site.agents.listen), (false, Listen::Always));
    assert_eq!(site.files, [first, second]);
    let missing = Candidate { path: folder.path().join("missing"), named: true };
    assert!(format!("{:#}", site.read(&missing).unwrap_err()).contains("missing"));
}

#[test]
fn files_are_looked_for_where_they_should_be() {
    let paths = |explicit: Option<&str>, variables: &[(&str, &str)]| -> Vec<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let found = candidates(explicit.map(Path::new), variable);
        found.into_iter().map(|one| one.path.to_str().unwrap().to_owned()).collect()
    };
    assert_eq!(paths(None, &[]), ["/etc/mpiscope.toml"]);
    assert_eq!(paths(None, &[("HOME", "/h")]), ["/etc/mpiscope.toml", "/h/.config/mpiscope.toml"]);
    let all = [("HOME", "/h"), ("XDG_CONFIG_HOME", "/x"), ("MPISCOPE_SITE", "/s")];
    assert_eq!(paths(None, &all), ["/etc/mpiscope.toml", "/x/mpiscope.toml", "/s"]);
    assert_eq!(paths(Some("/e"), &all), ["/etc/mpiscope.toml", "/x/mpiscope.toml", "/e"]);
}
