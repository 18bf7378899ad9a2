use super::{CsvTable, MessageArrow, NameColumn, ParquetTable, Perfetto, Slice};
use crate::row::Row;
use mpiscope_model::{Call, Comm, Message, Rank, Site};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;
use std::io;

fn calls() -> [Call; 3] {
    let whole = Call {
        rank: Rank(3),
        thread: 1,
        function: 10,
        start_ns: 1_000,
        end_ns: u64::MAX,
        peer: Some(Rank(0)),
        tag: Some(-7),
        bytes: 1 << 40,
        comm: Some(Comm(1)),
        site: Some(Site(0)),
        count: 2,
        instance: Some(9),
    };
    [whole, Call { site: Some(Site(5)), ..Call::blank() }, Call { function: 2, ..Call::blank() }]
}

fn names() -> Vec<NameColumn<Call>> {
    let site = NameColumn {
        name: "site_name",
        number: |call: &Call| call.site.map(Site::index),
        names: vec!["a.c:1 \"f, g\"()".into()],
    };
    let function = NameColumn {
        name: "function_name",
        number: |call: &Call| Some(call.function.into()),
        names: (0..11).map(|at| if at == 10 { "MPI_Send".into() } else { String::new() }).collect(),
    };
    vec![function, site]
}

#[test]
fn a_line_has_the_columns_of_a_segment_and_then_the_names() {
    let mut table = CsvTable::begin(Vec::new(), names()).unwrap();
    table.rows(&calls()).unwrap();
    let text = String::from_utf8(table.finish().unwrap()).unwrap();
    let lines: Vec<&str> = text.split('\n').collect();
    let own: Vec<&str> = Call::COLUMNS.iter().map(|column| column.name).collect();
    assert_eq!(lines[0], format!("{},function_name,site_name", own.join(",")));
    assert_eq!(
        own,
        "rank thread function start_ns end_ns peer tag bytes comm site count instance"
            .split(' ')
            .collect::<Vec<_>>()
    );
    let whole =
        "3,1,10,1000,18446744073709551615,0,-7,1099511627776,1,0,2,9,MPI_Send,\"a.c:1 \"\"f, g\"\"()\"";
    assert_eq!(lines[1..], [whole, "0,0,0,0,0,,,0,,5,1,,,", "0,0,2,0,0,,,0,,,1,,,", ""]);
    let message = Message { inter: true, late_receiver_ns: None, tag: i32::MIN, ..Message::blank() };
    let mut table = CsvTable::begin(Vec::new(), Vec::new()).unwrap();
    table.rows(&[message]).unwrap();
    let text = String::from_utf8(table.finish().unwrap()).unwrap();
    assert_eq!(text.lines().nth(1), Some("0,0,-2147483648,0,0,0,0,0,0,,true,false"));
}

#[test]
fn one_parquet_file_holds_all_rows_in_groups() {
    let path = tempfile::NamedTempFile::new().unwrap();
    let mut table = ParquetTable::begin(path.reopen().unwrap(), names()).unwrap();
    let rows = calls();
    let times = super::parquet::GROUP_ROWS / rows.len() + 2;
    for _ in 0..times {
        table.rows(&rows).unwrap();
    }
    table.finish().unwrap();
    let reader = SerializedFileReader::new(path.reopen().unwrap()).unwrap();
    assert_eq!(reader.num_row_groups(), 2);
    let count = times * rows.len();
    assert_eq!(reader.metadata().file_metadata().num_rows(), count as i64);
    for (at, row) in reader.get_row_iter(None).unwrap().enumerate() {
        let row = row.unwrap();
        let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
        let expected = &rows[at % rows.len()];
        assert_eq!(*fields[4], Field::Long(expected.end_ns.cast_signed()));
        assert_eq!(*fields[6], expected.tag.map_or(Field::Null, Field::Int));
        let known = |name: &str| Field::Str(name.into());
        let function = if expected.function == 10 { known("MPI_Send") } else { Field::Null };
        let site = if expected.site == Some(Site(0)) { known("a.c:1 \"f, g\"()") } else { Field::Null };
        assert_eq!((fields[12], fields[13]), (&function, &site), "row {at}");
    }
}

#[test]
fn a_trace_has_processes_threads_slices_and_arrows() {
    let ranks = [(Rank(0), "a \"host\"".to_owned(), vec![0, 1]), (Rank(2), "b".to_owned(), vec![0])];
    let mut trace = Perfetto::begin(Vec::new(), &ranks).unwrap();
    let call = Call { thread: 1, start_ns: 1_234_567, bytes: 8, peer: Some(Rank(2)), ..Call::blank() };
    let slice = Slice { call: &call, end_ns: 2_000_000, function: "MPI_Send", comm: "x\\", site: "" };
    trace.slice(&slice).unwrap();
    let from = MessageArrow { id: 7, thread: (Rank(0), 1), at_ns: 1_234_567 };
    trace.arrow(&from, &MessageArrow { id: 7, thread: (Rank(2), 0), at_ns: 9 }).unwrap();
    let bytes = trace.finish().unwrap();
    // Times have three decimals, which a parser would not show.
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains("\"ts\":1234.567,\"dur\":765.433,"), "{text}");
    let trace: Value = serde_json::from_slice(&bytes).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |phase: &str| -> Vec<&Value> { events.iter().filter(|event| event["ph"] == phase).collect() };
    let named = |what: &str| -> Vec<(&Value, &Value)> {
        let named = of("M").into_iter().filter(|event| event["name"] == what);
        named.map(|event| (&event["tid"], &event["args"]["name"])).collect()
    };
    let processes = [(1_000_000, "rank 0 on a \"host\""), (1_000_002, "rank 2 on b")];
    let expected = processes.map(|(number, name)| (Value::from(number), Value::from(name)));
    assert_eq!(named("process_name"), expected.iter().map(|(a, b)| (a, b)).collect::<Vec<_>>());
    let threads = [(1_000_000, "thread 0"), (1_000_003, "thread 1"), (1_000_002, "thread 0")];
    let expected = threads.map(|(number, name)| (Value::from(number), Value::from(name)));
    assert_eq!(named("thread_name"), expected.iter().map(|(a, b)| (a, b)).collect::<Vec<_>>());
    let args = serde_json::json!({ "bytes": 8, "peer": 2, "comm": "x\\" });
    assert_eq!((&of("X")[0]["args"], &of("X")[0]["tid"]), (&args, &Value::from(1_000_003)));
    let (start, end) = (of("s")[0], of("f")[0]);
    assert_eq!((&start["id"], &end["id"], &end["bp"]), (&Value::from(7), &Value::from(7), &Value::from("e")));
    assert_eq!((&start["tid"], &end["pid"]), (&Value::from(1_000_003), &Value::from(1_000_002)));
}

#[test]
fn nothing_to_export_is_a_sound_file_as_well() {
    let table = CsvTable::<Call, _>::begin(Vec::new(), Vec::new()).unwrap();
    assert_eq!(String::from_utf8(table.finish().unwrap()).unwrap().lines().count(), 1);
    let trace = Perfetto::begin(Vec::new(), &[]).unwrap().finish().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&trace).unwrap()["traceEvents"], serde_json::json!([]));
    let path = tempfile::NamedTempFile::new().unwrap();
    ParquetTable::<Call, _>::begin(path.reopen().unwrap(), Vec::new()).unwrap().finish().unwrap();
    assert_eq!(SerializedFileReader::new(path.reopen().unwrap()).unwrap().num_row_groups(), 0);
}

#[test]
fn a_full_disk_is_reported() {
    /// Takes nothing.
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let refused = CsvTable::<Call, _>::begin(Full, Vec::new()).map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
    assert!(ParquetTable::<Call, _>::begin(Full, Vec::new()).and_then(ParquetTable::finish).is_err());
    assert!(Perfetto::begin(Full, &[]).and_then(Perfetto::finish).is_err());
}
