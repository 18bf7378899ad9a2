//! Recordings of several nodes, written for the purpose, and the files that come of them.

use crate::{checked, summary};
use mpiscope_engine::load::load_traffic;
use mpiscope_feed::RemapFormat;
use mpiscope_model::{Message, Rank};
use mpiscope_recording::{
    Job, JobNode, Manifest, Recording, RecordingOptions, RecordingWriter, Summary, Tables,
};
use std::path::Path;

fn message(src: u32, dst: u32, bytes: u64) -> Message {
    Message {
        src: Rank(src),
        dst: Rank(dst),
        bytes,
        send_ns: 10,
        recv_ns: 20,
        t_msg_ns: 10,
        inter: true,
        exact: true,
        ..Message::default()
    }
}

fn nodes(placed: &[(&str, &[u32])]) -> Vec<JobNode> {
    placed.iter().map(|&(name, ranks)| JobNode { name: name.into(), ranks: ranks.into() }).collect()
}

/// A recording of six ranks.
fn write(dir: &Path, nodes: Vec<JobNode>, messages: &[Message]) {
    let job = Job { ranks: 6, nodes, ..Job::default() };
    let manifest = Manifest { job, window_ns: 1_000_000, ..Manifest::default() };
    let mut writer = RecordingWriter::create(dir, manifest, RecordingOptions::default()).unwrap();
    writer.push_messages(messages).unwrap();
    writer.finish(&Tables::default(), &Summary::default()).unwrap();
}

fn pairs_apart() -> Vec<Message> {
    let pairs = (0..4).flat_map(|_| [message(0, 5, 100), message(1, 4, 100), message(3, 2, 100)]);
    pairs.chain([message(0, 1, 7)]).collect()
}

fn block() -> Vec<JobNode> {
    nodes(&[("fog", &[0, 1]), ("gnu-2", &[2, 3]), ("hen.lan", &[4, 5])])
}

/// The file that is advised for a recording.
fn text_of(dir: &Path, format: RemapFormat) -> String {
    let recording = Recording::open(dir).unwrap();
    let traffic = load_traffic(dir, &recording).unwrap();
    checked(&traffic).unwrap().text(format)
}

#[test]
fn each_launcher_gets_its_file() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), block(), &pairs_apart());
    // Ranks 2 and 3 talk with each other already; of the others one moves to each partner.
    let rankfile = text_of(dir.path(), RemapFormat::Rankfile);
    let lines: Vec<&str> = rankfile.lines().filter(|line| !line.starts_with('#')).collect();
    let hosts: Vec<&str> =
        lines.iter().map(|line| line.split_once('=').unwrap().1.split_once(' ').unwrap().0).collect();
    assert_eq!(hosts[0], hosts[5]);
    assert_eq!(hosts[1], hosts[4]);
    assert_eq!((hosts[2], hosts[3]), ("gnu-2", "gnu-2"));
    assert_eq!(lines[2..4], ["rank 2=gnu-2 slot=0", "rank 3=gnu-2 slot=1"]);
    assert!(lines[0].ends_with("slot=0") && lines[5].ends_with("slot=1"));
    let slurm = text_of(dir.path(), RemapFormat::Slurm);
    assert_eq!(slurm.lines().collect::<Vec<_>>(), hosts);
    let machinefile = text_of(dir.path(), RemapFormat::Machinefile);
    let lines: Vec<&str> = machinefile.lines().filter(|line| !line.starts_with('#')).collect();
    let expected = [(0, 1), (1, 1), (2, 2), (4, 1), (5, 1)];
    assert_eq!(lines, expected.map(|(rank, count)| format!("{}:{count}", hosts[rank])));
}

#[test]
fn the_summary_has_both_figures_and_the_next_step() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("recording"), block(), &pairs_apart());
    let recording = Recording::open(&dir.path().join("recording")).unwrap();
    let traffic = load_traffic(dir.path(), &recording).unwrap();
    let placement = checked(&traffic).unwrap();
    let advice = &placement.advice;
    assert_eq!((advice.inter_messages_before, advice.inter_messages_after), (8, 1));
    assert_eq!((advice.inter_bytes_before, advice.inter_bytes_after), (800, 7));
    let sentences = summary(&placement, &traffic);
    assert_eq!(
        sentences,
        [
            "8 messages with 800 B go between nodes as ranks are placed; with this placement 1 with 7 B",
            "2 of 6 ranks move to another node, and every node has as many as now",
        ]
    );
    assert_eq!(placement.command(RemapFormat::Machinefile, Path::new("m")), "mpiexec -f m -n 6 PROGRAM");
}

#[test]
fn where_nothing_can_be_gained_it_is_the_placement_as_it_is() {
    for (nodes, hosts) in [
        (nodes(&[("a", &[0, 5]), ("b", &[1, 4]), ("c", &[2, 3])]), "a b c c b a"),
        (nodes(&[("one", &[0, 1, 2, 3, 4, 5])]), "one one one one one one"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), nodes, &pairs_apart());
        assert_eq!(text_of(dir.path(), RemapFormat::Slurm).replace('\n', " ").trim_end(), hosts);
        let recording = Recording::open(dir.path()).unwrap();
        let traffic = load_traffic(dir.path(), &recording).unwrap();
        let sentences = summary(&checked(&traffic).unwrap(), &traffic);
        assert!(sentences[0].starts_with("nothing can be gained: "), "{sentences:?}");
    }
}

/// The reason why a recording gives no advice.
fn refused(dir: &Path) -> String {
    let recording = Recording::open(dir).unwrap();
    let traffic = load_traffic(dir, &recording).unwrap();
    let error = format!("{:#}", checked(&traffic).unwrap_err());
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

#[test]
fn what_is_not_known_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    write(&path("unplaced"), nodes(&[("a", &[0, 1]), ("b", &[2, 3])]), &pairs_apart());
    assert!(refused(&path("unplaced")).contains("of 4 of 6 ranks on which node"));
    write(&path("twice"), nodes(&[("a", &[0, 1, 2]), ("b", &[2, 3, 4])]), &pairs_apart());
    assert!(refused(&path("twice")).contains("on which node"));
    write(&path("name"), nodes(&[("a slot=0\nrank 1=b", &[0, 1, 2]), ("b", &[3, 4, 5])]), &pairs_apart());
    assert!(refused(&path("name")).contains("no name of a host"));
    write(&path("damaged"), block(), &pairs_apart());
    let segment = std::fs::read_dir(path("damaged").join("messages")).unwrap().next().unwrap().unwrap();
    std::fs::remove_file(segment.path()).unwrap();
    assert!(refused(&path("damaged")).contains("without all messages: messages/"));
}
