//! What sites say of their machines becomes metadata of ranks.

use mpiscope_layout::{Inputs, RankPlacement, SiteDescription, Values};
use proptest::prelude::*;

fn site(files: &[&str]) -> SiteDescription {
    let mut site = SiteDescription::default();
    files.iter().for_each(|file| site.read(file.as_bytes()).expect(file));
    site
}

fn error(text: &str) -> String {
    SiteDescription::default().read(text.as_bytes()).unwrap_err().to_string()
}

/// Ranks 0 and 1 on node `a.site`, 2 and 3 on `b`, bound to CPUs 0 and 3.
fn placement() -> RankPlacement {
    RankPlacement {
        hosts: vec![0.0, 0.0, 1.0, 1.0],
        node_names: vec!["a.site".to_owned(), "b".to_owned()],
        cpus: vec![Some(0), Some(3), Some(0), None],
        regions: Vec::new(),
    }
}

fn inputs(files: &[&str]) -> Inputs {
    let placement = placement();
    let mut inputs = placement.inputs(&site(files));
    placement.complete(&mut inputs);
    inputs
}

fn column(inputs: &Inputs, key: &str) -> Vec<f64> {
    let values: &Values = inputs.metadata(key).unwrap_or_else(|| panic!("no {key}"));
    (0..4).map(|rank| values.of_rank(rank)).collect()
}

#[test]
fn tables_describe_nodes_and_ranks() {
    let nodes =
        "# where nodes are\nNode, Key, Value\na,rack,R7\nb,rack,\"R9\"\na,x,2\nb,x,5\nz,x,99\nb,y,1\n";
    let ranks = "rank,key,value\n3,x,7\n1,Weight,0.5\n77,x,1\n";
    let inputs = inputs(&[nodes, ranks]);
    assert_eq!(column(&inputs, "rack"), [0.0, 0.0, 1.0, 1.0]);
    // A value of a rank goes before one of its node.
    assert_eq!(column(&inputs, "x"), [2.0, 2.0, 5.0, 7.0]);
    assert_eq!(
        (column(&inputs, "weight"), column(&inputs, "max_x")),
        (vec![0.0, 0.5, 0.0, 0.0], vec![7.0; 4])
    );
    assert_eq!(
        (column(&inputs, "racks"), column(&inputs, "rack_index")),
        (vec![2.0; 4], vec![0.0, 0.0, 1.0, 1.0])
    );
    assert_eq!(column(&inputs, "torus_x"), [2.0, 2.0, 5.0, 7.0]);
    assert_eq!(
        (column(&inputs, "torus_size_x"), column(&inputs, "torus_size_z")),
        (vec![8.0; 4], vec![1.0; 4])
    );
    let site = site(&[nodes]);
    assert_eq!(
        (site.word("RACK", 1.0), site.word("rack", 2.0), site.word("x", 2.0)),
        (Some("R9"), None, None)
    );
}

#[test]
fn nodes_are_found_by_their_short_names() {
    let inputs = inputs(&["node,key,value\nb.cluster,x,5\na.cluster,x,2\nb,y,1\nb.cluster,y,7\n"]);
    assert_eq!(column(&inputs, "x"), [2.0, 2.0, 5.0, 5.0]);
    assert_eq!(column(&inputs, "y"), [0.0, 0.0, 1.0, 1.0]);
    // The same whatever the order of a hash map is.
    for _ in 0..20 {
        let inputs = self::inputs(&["node,key,value\nb.y,x,5\nb.x,x,3\n"]);
        assert_eq!(column(&inputs, "x"), [0.0, 0.0, 3.0, 3.0]);
    }
}

#[test]
fn slurm_switches_are_a_tree() {
    let text = "# tree\nSwitchName=leaf0 Nodes=a\nswitchname=leaf1 nodes=b,c[0-3] LinkSpeed=9\nSwitchName=top \\\n  Switches=leaf[0-1]\n";
    let inputs = inputs(&[text]);
    assert_eq!(column(&inputs, "switch"), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(column(&inputs, "switch1"), [0.0; 4]);
    assert_eq!(column(&inputs, "rack_index"), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(site(&[text]).word("switch", 1.0), Some("leaf1"));
    assert_eq!(error("SwitchName=s Nodes=a[3-1]"), "1: expected a list such as tux[0-3], found `a[3-1]`");
    assert_eq!(error("SwitchName=s Nodes=a\nSwitchName=t what"), "2: expected NAME=VALUE, found `what`");
    // Switches above each other in a ring end somewhere.
    site(&["SwitchName=a Switches=b Nodes=n\nSwitchName=b Switches=a\n"]);
    assert_eq!(
        column(&self::inputs(&["BlockName=b1 Nodes=b\nBlockName=b0 Nodes=a"]), "block"),
        [1.0, 1.0, 0.0, 0.0]
    );
}

const HWLOC: &str = r#"<?xml version="1.0"?><topology version="2.0">
<object type="Machine" os_index="0"><info name="HostName" value="b"/>
 <object type="Package" os_index="0"><object type="NUMANode" os_index="0" cpuset="0x00000003"/>
  <object type="Core" os_index="0"><object type="PU" os_index="0"/><object type="PU" os_index="1"/></object></object>
 <object type="Package" os_index="1"><object type="NUMANode" os_index="1" cpuset="0x0000000c"/>
  <object type="Core" os_index="0"><object type="PU" os_index="2"/><object type="PU" os_index="3"/></object></object>
</object></topology>"#;

#[test]
fn hwloc_says_which_core_a_rank_is_bound_to() {
    let inputs = inputs(&[HWLOC]);
    assert_eq!(
        (column(&inputs, "cpu"), column(&inputs, "core")),
        (vec![0.0, 3.0, 0.0, 0.0], vec![0.0, 1.0, 0.0, 0.0])
    );
    assert_eq!(
        (column(&inputs, "package"), column(&inputs, "numa")),
        (vec![0.0, 1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0, 0.0])
    );
    assert_eq!(
        error("<topology></topology>"),
        "1: expected hwloc's <object type=\"PU\" os_index=...>, found none"
    );
    assert_eq!(error("<a>\n<object"), "2: expected `>`, found the end");
}

#[test]
fn errors_have_a_line() {
    assert!(error("a,b\n1,2\n").starts_with("1: expected the header `rank,key,value` or `node,key,value`"));
    assert!(error("").starts_with("1: expected the header"));
    assert_eq!(error("rank,key,value\n\nx,a,1\n"), "3: expected the number of a rank, found `x`");
    assert_eq!(error("node,key,value\na,b\n"), "2: expected three fields with commas between them");
    assert_eq!(error("node,key,value\na,b,\n"), "2: expected a value of `b`, found none");
    assert_eq!(error("node,key,value\na,b,1\na,b,c\n"), "3: `b` is a number above and the word `c` here");
    assert_eq!(error("node,key,value\na,b,c\na,b,1\n"), "3: `b` is a word above and the number 1 here");
}

#[test]
fn a_key_has_numbers_or_words_whatever_file_says_so() {
    let mut site = site(&["node,key,value\na,switch,3\n"]);
    let error = site.read(b"SwitchName=leaf Nodes=a\n").unwrap_err().to_string();
    assert_eq!(error, "1: `switch` is a number above and the word `leaf` here");
}

#[test]
fn a_run_of_a_machine_that_is_not_described_has_nodes_and_groups() {
    let inputs = inputs(&[]);
    assert_eq!(
        (column(&inputs, "host"), column(&inputs, "slot")),
        (vec![0.0, 0.0, 1.0, 1.0], vec![0.0, 1.0, 0.0, 1.0])
    );
    assert_eq!((column(&inputs, "slots"), column(&inputs, "groups")), (vec![2.0; 4], vec![1.0; 4]));
    assert!(inputs.metadata("rack_index").is_none() && inputs.metadata("torus_x").is_none());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0_usize..4) {
        let begin: [&[u8]; 4] = [b"", b"node,key,value\n", b"SwitchName=", b"<object type=\"PU\" os_index=\""];
        let mut site = SiteDescription::default();
        let _ = site.read(&[begin[at], &bytes].concat());
        let placement = RankPlacement::on_nodes_of(&site, 5);
        let mut inputs = placement.inputs(&site);
        placement.complete(&mut inputs);
        prop_assert_eq!(inputs.ranks(), 5);
    }
}
