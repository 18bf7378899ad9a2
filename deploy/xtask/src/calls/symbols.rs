//! The symbols of C, and the names of the real functions behind all symbols.

use super::shapes::{closure, generics, shape};
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
        use crate::handle::Handle;
        use crate::language::C;
        use crate::mpi::Status;
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

/// What the calibration calls.
const CALLED: [&str; 10] = [
    "MPI_Abort",
    "MPI_Allgather",
    "MPI_Allreduce",
    "MPI_Alltoall",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Finalize",
    "MPI_Recv",
    "MPI_Reduce",
    "MPI_Send",
];

/// Declarations of the symbols that the calibration calls.
pub(super) fn declarations(table: &Table) -> Result<String> {
    let mut out = format!(
        "{BANNER}
        //! MPI as a program sees it: the symbols that this library stands before. Its calls are recorded.

        use crate::handle::Handle;
        use crate::mpi::Status;
        use core::ffi::{{c_int, c_void}};

        unsafe extern \"C-unwind\" {{\n"
    );
    for name in CALLED {
        let call = table.call.iter().find(|call| call.name == name);
        let declared = declared(call.with_context(|| format!("{name} is not in the table"))?)?;
        writeln!(out, "pub(crate) fn {name}({declared}) -> c_int;")?;
    }
    writeln!(out, "}}")?;
    Ok(out)
}

/// The parameters of a function, with their types.
fn declared(call: &Call) -> Result<String> {
    let declare =
        |parameter: &super::Parameter| Ok(format!("{}: {}", parameter.name, rust_type(&parameter.kind)?));
    Ok(call.parameters.iter().map(declare).collect::<Result<Vec<_>>>()?.join(", "))
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

fn by_name(call: &Call, name: &str) -> Option<String> {
    let parameter = call.parameters.iter().find(|parameter| parameter.name == name)?;
    Some(match parameter.role.as_str() {
        _ if parameter.is_count() => format!("i64::from({name})"),
        "string" => format!("shapes::Text::ended({name})"),
        _ => name.to_owned(),
    })
}

fn symbol(out: &mut String, at: usize, call: &Call) -> Result<()> {
    let types = call.parameters.iter().map(|parameter| rust_type(&parameter.kind));
    let types = types.collect::<Result<Vec<_>>>()?;
    let passed: Vec<&str> = call.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let (shape, mut arguments) = shape(call, by_name)?;
    arguments.push(closure(call, &format!("function({})", passed.join(", "))));
    let generics = generics("C", shape);
    let declared = declared(call)?;
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
