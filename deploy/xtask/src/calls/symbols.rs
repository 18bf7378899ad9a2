//! The symbols of C, and the names of the real functions behind all symbols.

use super::{BANNER, Call, Table, fortran};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;

/// The names of the real functions: those of C, then those of Fortran.
pub(super) fn names(table: &Table) -> Result<String> {
    let mut out = format!(
        "{BANNER}
        //! What stands behind the symbols.

        /// The names of the real functions, in the order of [`Index`](crate::real::Index).
        pub(crate) const REAL_NAMES: &[&core::ffi::CStr] = &[\n"
    );
    for call in &table.call {
        writeln!(out, "c\"P{}\",", call.name)?;
    }
    for (name, _) in fortran::small(table).flat_map(fortran::names) {
        writeln!(out, "c\"{name}\",")?;
    }
    writeln!(out, "];")?;
    Ok(out)
}

/// The symbols of C.
pub(super) fn text(table: &Table) -> Result<String> {
    let mut out = format!(
        "{BANNER}
        //! The symbols of C.

        #![allow(clippy::too_many_arguments, reason = \"their arguments are the standard's\")]

        use crate::caller::keep_caller;
        use crate::language::C;
        use crate::mpi::{{Handle, Status}};
        use crate::real::{{Index, real}};
        use crate::shapes;
        use core::ffi::{{c_int, c_void}};
        use mpiscope_capture::collective::Kind;
        use mpiscope_wire::id;\n"
    );
    for (at, call) in table.call.iter().enumerate() {
        symbol(&mut out, at, call).with_context(|| call.name.clone())?;
    }
    Ok(out)
}

fn rust_type(kind: &str) -> Result<&'static str> {
    Ok(match kind {
        "pointer" => "*mut c_void",
        "int" => "c_int",
        "handle" => "Handle",
        "status" | "status*" => "*mut Status",
        "int*" => "*mut c_int",
        "count" => "i64",
        "count*" => "*mut i64",
        "handle*" => "*mut Handle",
        _ => bail!("no type is named {kind}"),
    })
}

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
    Ok(match shape {
        "init" | "finalize" | "abort" | "type_free" => &[],
        "send" => &[COUNT, TYPE, RANK, TAG, COMM],
        "start_send" | "send_init" => &[COUNT, TYPE, RANK, TAG, COMM, REQUEST],
        "receive" => &[RANK, TAG, COMM, STATUS],
        "post" | "receive_init" => &[RANK, TAG, COMM, REQUEST],
        "matched_receive" => &[MESSAGE, STATUS],
        "matched_post" => &[MESSAGE, REQUEST],
        "sendrecv" => &[COUNT, TYPE, RANK, TAG, ("rank", 1), COMM, STATUS],
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
        "request_free" | "request_cancel" | "start_one" => &[REQUEST],
        "start_all" => &[LENGTH, REQUEST],
        _ => bail!("no shape is named {shape}"),
    })
}

/// How a language writes an argument of a call where a shape takes its value.
pub(super) type Value = fn(&Call, &str) -> Option<String>;

/// The shape that a call has and what it passes to it, but for the closure with the real call.
pub(super) fn shape(call: &Call, value: Value) -> Result<(&str, Vec<String>)> {
    let mut arguments = Vec::new();
    if call.family != "hidden" {
        arguments.push(format!("id::{}", call.name.trim_start_matches("MPI_").to_uppercase()));
    }
    if let Some(kind) = call.shape.strip_prefix("collective_") {
        collective(&mut arguments, call, kind, value)?;
        return Ok(("collective", arguments));
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
    let option = |value: Option<String>| value.map_or("None".to_owned(), |value| format!("Some({value})"));
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

fn by_name(call: &Call, name: &str) -> Option<String> {
    let parameter = call.parameters.iter().find(|parameter| parameter.name == name)?;
    Some(if parameter.is_count() { format!("i64::from({name})") } else { name.to_owned() })
}

fn symbol(out: &mut String, at: usize, call: &Call) -> Result<()> {
    let mut declared = Vec::new();
    let mut types = Vec::new();
    for parameter in &call.parameters {
        let kind = rust_type(&parameter.kind)?;
        declared.push(format!("{}: {kind}", parameter.name));
        types.push(kind);
    }
    let passed: Vec<&str> = call.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let (shape, mut arguments) = shape(call, by_name)?;
    arguments.push(format!("{} {{ function({}) }}", closure(call), passed.join(", ")));
    let generics = if shape == "collective" { "C, _, _" } else { "C" };
    let declared = declared.join(", ");
    let called = call.name.to_lowercase();
    entry(out, &call.name, &call.name, &declared, " -> c_int", &called, &passed.join(", "))?;
    writeln!(
        out,
        "
        /// `{name}`, wherever it was called from.
        ///
        /// # Safety
        /// As for the symbol.
        unsafe extern \"C-unwind\" fn {called}({declared}) -> c_int {{
            // SAFETY: the address is that of the function of this name, whose prototype this is.
            let function: extern \"C-unwind\" fn({types}) -> c_int = unsafe {{ core::mem::transmute(real(Index({at}))) }};
            // SAFETY: pointers among the arguments are valid as the standard demands of the caller.
            unsafe {{ shapes::{shape}::<{generics}>({arguments}) }}
        }}",
        name = call.name,
        types = types.join(", "),
        arguments = arguments.join(", "),
    )?;
    Ok(())
}

/// A symbol, which keeps where it was called from and goes on in another function.
pub(super) fn entry(
    out: &mut String,
    name: &str,
    symbol: &str,
    declared: &str,
    result: &str,
    then: &str,
    passed: &str,
) -> Result<()> {
    writeln!(
        out,
        "
        /// `{name}`
        ///
        /// # Safety
        /// The caller keeps the rules of the MPI standard; the arguments go to the library as they came.
        #[unsafe(no_mangle)]
        #[cfg_attr(target_arch = \"x86_64\", unsafe(naked))]
        pub(crate) unsafe extern \"C-unwind\" fn {symbol}({declared}){result} {{
            keep_caller!({then}({passed}))
        }}"
    )?;
    Ok(())
}

/// How the closure with the real call begins: it takes a status where the shape may replace the program's.
pub(super) fn closure(call: &Call) -> String {
    let status = call.parameters.iter().find(|parameter| parameter.role == "status");
    status.map_or("move ||".to_owned(), |status| format!("move |{}: *mut Status|", status.name))
}
