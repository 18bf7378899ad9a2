//! What each shape of a call in `collector/shim/src/shapes/` is passed.

use super::Call;
use anyhow::{Context, Result, bail};

/// The arguments that each shape in `collector/shim/src/shapes/` takes, by role and how many of the same role come
/// before; `status` last means that the shape may put its own status in place of the program's.
fn shape_roles(shape: &str) -> Result<&'static [(&'static str, usize)]> {
    const COUNT: (&str, usize) = ("polyxfer_num_elem_nni", 0);
    const TYPE: (&str, usize) = ("datatype", 0);
    const RANK: (&str, usize) = ("rank", 0);
    const TAG: (&str, usize) = ("tag", 0);
    const COMM: (&str, usize) = ("communicator", 0);
    const REQUEST: (&str, usize) = ("request", 0);
    const MESSAGE: (&str, usize) = ("message", 0);
    const STATUS: (&str, usize) = ("status", 0);
    const LENGTH: (&str, usize) = ("array_length_nni", 0);
    const INDEX: (&str, usize) = ("index", 0);
    const FLAG: (&str, usize) = ("logical", 0);
    const WINDOW: (&str, usize) = ("window", 0);
    const FILE: (&str, usize) = ("file", 0);
    const STRING: (&str, usize) = ("string", 0);
    Ok(match shape {
        "init" | "finalize" | "abort" | "type_free" => &[],
        "send" => &[COUNT, TYPE, RANK, TAG, COMM],
        "start_send" | "send_init" => &[COUNT, TYPE, RANK, TAG, COMM, REQUEST],
        "receive" => &[RANK, TAG, COMM, STATUS],
        "post" | "receive_init" => &[RANK, TAG, COMM, REQUEST],
        "matched_receive" => &[MESSAGE, STATUS],
        "matched_post" => &[MESSAGE, REQUEST],
        "sendrecv" => &[COUNT, TYPE, RANK, TAG, ("rank", 1), ("tag", 1), COMM, STATUS],
        "wait_one" => &[REQUEST, STATUS],
        "wait_all" => &[LENGTH, REQUEST, STATUS],
        "wait_any" => &[LENGTH, REQUEST, INDEX, STATUS],
        "wait_some" | "test_some" => &[LENGTH, REQUEST, ("array_length", 0), INDEX, STATUS],
        "test_one" => &[REQUEST, FLAG, STATUS],
        "test_all" => &[LENGTH, REQUEST, FLAG, STATUS],
        "test_any" => &[LENGTH, REQUEST, INDEX, FLAG, STATUS],
        "probe" => &[RANK, TAG, COMM, STATUS],
        "iprobe" => &[RANK, TAG, COMM, FLAG, STATUS],
        "mprobe" => &[RANK, TAG, COMM, MESSAGE, STATUS],
        "improbe" => &[RANK, TAG, COMM, FLAG, MESSAGE, STATUS],
        "comm_new" => &[COMM, ("communicator", 1)],
        "comm_free" => &[COMM],
        "comm_idup" => &[COMM, ("communicator", 1), REQUEST],
        "comm_name" => &[COMM, STRING],
        "isendrecv" => &[COUNT, TYPE, RANK, TAG, ("rank", 1), ("tag", 1), COMM, REQUEST],
        "partitioned_send_init" | "partitioned_receive_init" => {
            &[("partition", 0), ("xfer_num_elem_nni", 0), TYPE, RANK, TAG, COMM, REQUEST]
        }
        "window_new" => &[COMM, WINDOW],
        "window_free" => &[WINDOW],
        "window_name" => &[WINDOW, STRING],
        "file_open" => &[COMM, STRING, FILE],
        "file_close" => &[FILE],
        "poll" => &[FLAG],
        "session_init" => &[("session", 0)],
        "request_free" | "request_cancel" | "start_one" => &[REQUEST],
        "start_all" => &[LENGTH, REQUEST],
        _ => bail!("no shape is named {shape}"),
    })
}

/// How a language writes an argument of a call where a shape takes its value.
pub(super) type Value = fn(&Call, &str) -> Option<String>;

fn option(value: Option<String>) -> String {
    value.map_or("None".to_owned(), |value| format!("Some({value})"))
}

/// The shape that a call has and what it passes to it, but for the closure with the real call.
pub(super) fn shape(call: &Call, value: Value) -> Result<(&str, Vec<String>)> {
    let mut arguments = Vec::new();
    if call.family != "hidden" {
        arguments.push(format!("id::{}", call.name.trim_start_matches("MPI_").to_uppercase()));
    }
    for (prefix, shape) in [("collective_", "collective"), ("persistent_", "collective_init")] {
        if let Some(kind) = call.shape.strip_prefix(prefix) {
            collective(&mut arguments, call, kind, value)?;
            return Ok((shape, arguments));
        }
    }
    if let Some(found) = by_parameters(&mut arguments, call, value)? {
        return Ok((found, arguments));
    }
    for &(role, nth) in shape_roles(&call.shape)? {
        // MPI_Testall and its like name the length of the request array with one role, MPI_Waitany with another.
        let named = call.parameters.iter().filter(|parameter| parameter.role == role).nth(nth);
        let value = named.and_then(|parameter| value(call, &parameter.name));
        arguments.push(value.with_context(|| format!("its shape {} needs a {role}", call.shape))?);
    }
    Ok((&call.shape, arguments))
}

/// A collective says how its data goes, its blocks for both directions, its root, communicator and request.
fn collective(arguments: &mut Vec<String>, call: &Call, kind: &str, value: Value) -> Result<()> {
    let kind = match kind {
        "uniform" => "Uniform",
        "gather" => "Gather",
        "scatter" => "Scatter",
        "allgather" => "Allgather",
        "alltoall" => "Alltoall",
        "reduce_scatter" => "ReduceScatter",
        "neighbor_allgather" => "NeighborAllgather",
        "neighbor_alltoall" => "NeighborAlltoall",
        _ => bail!("no collective is of kind {kind}"),
    };
    let first = |names: &[&str]| names.iter().find_map(|name| value(call, name));
    let side = |own: &str| {
        let (count, datatype) = (format!("{own}count"), format!("{own}type"));
        let one_type = || first(&[&datatype, "datatype"]);
        if let Some(types) = first(&[&format!("{own}types")]) {
            let counts = first(&[&format!("{own}counts")])?;
            return Some(format!("shapes::EachTyped({counts}, {types})"));
        }
        if let Some(counts) = first(&[&format!("{own}counts")]) {
            return Some(format!("shapes::Each({counts}, {})", one_type()?));
        }
        Some(format!("shapes::Same({}, {})", first(&[&count])?, one_type()?))
    };
    let uniform = first(&["count"]).zip(first(&["datatype"]));
    let uniform = uniform.map(|(count, datatype)| format!("shapes::Same({count}, {datatype})"));
    let nothing = || "shapes::Nothing".to_owned();
    arguments.push(format!("Kind::{kind}"));
    arguments.push(format!(
        "&shapes::Data {{ buffer: {}, send: {}, receive: {} }}",
        first(&["sendbuf"]).unwrap_or_else(|| "core::ptr::null()".to_owned()),
        side("send").or(uniform).unwrap_or_else(nothing),
        side("recv").unwrap_or_else(nothing),
    ));
    arguments.push(option(first(&["root"])));
    arguments.push(first(&["comm"]).context("a collective needs a communicator")?);
    arguments.push(option(first(&["request"])));
    Ok(())
}

/// Shapes whose functions pass the arguments they have.
fn by_parameters(arguments: &mut Vec<String>, call: &Call, value: Value) -> Result<Option<&'static str>> {
    let all = |role| with_role(call, value, role);
    Ok(Some(match call.shape.as_str() {
        "plain" => {
            arguments.push(option(all("communicator").next()));
            "plain"
        }
        "pcontrol" => {
            arguments.extend(all("profile_level"));
            arguments.push(option(all("varargs").next()));
            "pcontrol"
        }
        "comm_of_members" => {
            let comms: Vec<String> = all("communicator").collect();
            let (made, others) = comms.split_last().context("it makes no communicator")?;
            arguments.extend([option(others.first().cloned()), made.clone()]);
            "comm_of_members"
        }
        "window_call" => window_call(arguments, call, value),
        "file_call" => file_call(arguments, call, value),
        _ => return Ok(None),
    }))
}

/// The values of all parameters with a role.
fn with_role(call: &Call, value: Value, role: &'static str) -> impl Iterator<Item = String> {
    let of_role = call.parameters.iter().filter(move |parameter| parameter.role == role);
    of_role.filter_map(move |parameter| value(call, &parameter.name))
}

fn window_call(arguments: &mut Vec<String>, call: &Call, value: Value) -> &'static str {
    let named = |name: &str| value(call, name);
    let all = |role| with_role(call, value, role);
    let count = named("result_count").or_else(|| named("origin_count"));
    let types = ["result_datatype", "origin_datatype", "datatype"];
    let datatype = types.iter().find_map(|name| named(name));
    let one = || "1".to_owned();
    let moved = datatype.map(|datatype| format!("({}, {datatype})", count.unwrap_or_else(one)));
    let rank = all("rank_nni").next();
    arguments.extend(all("window"));
    arguments.extend([option(rank), option(moved), option(all("request").next())]);
    "window_call"
}

fn file_call(arguments: &mut Vec<String>, call: &Call, value: Value) -> &'static str {
    let all = |role| with_role(call, value, role);
    arguments.extend(all("file"));
    if let Some(status) = transfer_status(call) {
        arguments.push(status.to_owned());
        return "file_transfer";
    }
    // The call that ends a split read knows what it brought.
    let has_amount = !(call.name.contains("read") && call.name.contains("_begin"));
    let moved = value(call, "count").zip(all("datatype").next()).filter(|_| has_amount);
    let moved = moved.map(|(count, datatype)| format!("({count}, {datatype})"));
    arguments.extend([option(moved), option(all("request").next())]);
    "file_call"
}

/// The status that says what a call on a file moved. The call that began a split write knew what it moves.
fn transfer_status(call: &Call) -> Option<&str> {
    let ends_write = call.name.contains("write") && call.name.contains("_end");
    let status = call.parameters.iter().find(|parameter| parameter.role == "status");
    status.filter(|_| !ends_write).map(|parameter| parameter.name.as_str())
}

/// The arguments of a shape's types.
pub(super) fn generics(language: &str, shape: &str) -> String {
    if shape.starts_with("collective") { format!("{language}, _, _") } else { language.to_owned() }
}

/// The closure with the real call; it takes a status where the shape may replace the program's. A frequent function has a
/// copy of its shape in which the real call stands; the others share one copy, for each copy costs time to compile.
pub(super) fn closure(call: &Call, body: &str) -> String {
    let status = match call.shape.as_str() {
        "poll" => None,
        "file_call" => transfer_status(call),
        _ => call.parameters.iter().find(|parameter| parameter.role == "status").map(|found| &*found.name),
    };
    let (taken, kind) = match status {
        Some(status) => (format!("{status}: *mut Status"), "*mut Status"),
        None => (String::new(), ""),
    };
    let closure = format!("move |{taken}| {{ {body} }}");
    if call.frequent { closure } else { format!("&mut ({closure}) as &mut dyn FnMut({kind}) -> c_int") }
}
