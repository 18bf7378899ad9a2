//! The symbols of Fortran.

use super::shapes::{closure, generics, shape};
use super::symbols::entry;
use super::{BANNER, Call, Parameter, Table};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;

/// The names under which a call is reached from Fortran, and the language that each is.
pub(super) fn names(call: &Call) -> [(String, &'static str); 2] {
    let lower = call.name.to_lowercase();
    [(format!("{lower}_"), "Fortran"), (format!("{lower}_f08_"), "Fortran08")]
}

/// Those that Fortran calls: its large counts come through functions of C.
pub(super) fn small(table: &Table) -> impl Iterator<Item = &Call> {
    table.call.iter().filter(|call| !call.is_large())
}

/// The symbols.
pub(super) fn text(table: &Table) -> Result<String> {
    let mut out = format!(
        "{BANNER}
        //! The symbols of Fortran: `mpi_x_` of `mpif.h` and `use mpi`, `mpi_x_f08_` of `use mpi_f08`. All arguments are
        //! addresses.

        #![allow(clippy::too_many_arguments, reason = \"their arguments are the standard's\")]

        use crate::caller::{{PassedOn, keep_caller}};
        use crate::handle::Handle;
        use crate::language::{{Fortran, Fortran08, Language}};
        use crate::mpi::Status;
        use crate::real::{{Index, real}};
        use crate::shapes;
        use core::ffi::{{c_int, c_void}};
        use mpiscope_capture::collective::Kind;
        use mpiscope_wire::id;

        /// Where a call says how it went: to the program, or to us when the program left it out.
        fn told(ierror: *mut c_int, own: &mut c_int) -> *mut c_int {{
            if ierror.is_null() {{ own }} else {{ ierror }}
        }}\n"
    );
    let mut at = table.call.len();
    for call in small(table) {
        at = symbols(&mut out, at, call).with_context(|| call.name.clone())?;
    }
    Ok(out)
}

fn rust_type(kind: &str) -> Result<&'static str> {
    Ok(match kind {
        "pointer" => "*mut c_void",
        "int" | "handle" => "*const c_int",
        "status" | "status*" => "*mut Status",
        "int*" => "*mut c_int",
        "handle*" => "*mut Handle",
        "count" => "*const i64",
        "count*" => "*mut i64",
        _ => bail!("no type is named {kind}"),
    })
}

/// Fortran has no arguments of the command line there, and always the same number of them.
fn parameters(call: &Call) -> impl Iterator<Item = &Parameter> {
    let is_of_c =
        |parameter: &Parameter| parameter.role.starts_with("argument_") || parameter.role == "varargs";
    call.parameters.iter().filter(move |parameter| !is_of_c(parameter))
}

/// The texts among the arguments, whose lengths the compilers pass by value behind all others.
fn lengths(call: &Call) -> impl Iterator<Item = String> {
    let texts = parameters(call).filter(|parameter| parameter.role.starts_with("string"));
    texts.map(|parameter| format!("{}_length", parameter.name))
}

/// One function does not say how it went, by the standard.
fn has_error(call: &Call) -> bool {
    call.name != "MPI_Pcontrol"
}

fn value(call: &Call, name: &str) -> Option<String> {
    let parameter = parameters(call).find(|parameter| parameter.name == name)?;
    Some(match parameter.kind.as_str() {
        "int" if parameter.is_count() => format!("i64::from(*{name})"),
        "int" | "count" => format!("*{name}"),
        _ if parameter.role == "string" => format!("shapes::Text::padded({name}, {name}_length)"),
        "handle" => format!("*{name} as Handle"),
        _ => name.to_owned(),
    })
}

/// The arguments of a subroutine: as they are declared, their types, and as they are passed on.
struct Arguments {
    declared: String,
    types: String,
    passed: String,
}

fn arguments(call: &Call) -> Result<Arguments> {
    let mut declared = Vec::new();
    let mut types = Vec::new();
    for parameter in parameters(call) {
        let kind = rust_type(&parameter.kind)?;
        declared.push(format!("{}: {kind}", parameter.name));
        types.push(kind);
    }
    let mut passed: Vec<String> = parameters(call).map(|parameter| parameter.name.clone()).collect();
    // Where the standard has no error MPICH's `mpi_f08` has one that may be absent: it goes on as it came, and is nothing
    // where the library does not look at it.
    let error_name = if has_error(call) { "ierror" } else { "perhaps_ierror" };
    declared.push(format!("{error_name}: *mut c_int"));
    types.push("*mut c_int");
    passed.push(error_name.to_owned());
    for length in lengths(call) {
        declared.push(format!("{length}: usize"));
        types.push("usize");
        passed.push(length);
    }
    Ok(Arguments { declared: declared.join(", "), types: types.join(", "), passed: passed.join(", ") })
}

fn symbols(out: &mut String, first: usize, call: &Call) -> Result<usize> {
    let lower = call.name.to_lowercase();
    let Arguments { declared, types, passed } = arguments(call)?;
    let (shape, mut arguments) = shape(call, value)?;
    let (prologue, error) = if has_error(call) {
        ("let mut own = 0; let ierror = told(ierror, &mut own);", "*ierror")
    } else {
        ("", "0")
    };
    arguments.push(closure(call, &format!("function({passed}); {error}")));
    let generics = generics("L", shape);
    writeln!(
        out,
        "
        /// `{name}`
        ///
        /// # Safety
        /// As for the symbols that call it.
        unsafe fn {lower}<L: Language>(behind: Index, {declared}) {{
            // SAFETY: the address is that of the subroutine of the symbol's name, whose prototype this is.
            let function: extern \"C-unwind\" fn({types}) = unsafe {{ core::mem::transmute(real(behind)) }};
            {prologue}
            // SAFETY: the arguments are valid addresses, as they always are in Fortran.
            unsafe {{ shapes::{shape}::<{generics}>({arguments}) }};
        }}",
        name = call.name,
        arguments = arguments.join(", "),
    )?;
    entries(out, first, call)
}

/// The symbols that go on to the subroutine that was written for a call, each for one language.
fn entries(out: &mut String, first: usize, call: &Call) -> Result<usize> {
    let lower = call.name.to_lowercase();
    let Arguments { declared, passed, .. } = arguments(call)?;
    let names = names(call);
    for (at, (symbol, language)) in names.iter().enumerate() {
        let then = format!("{lower}_{}", language.to_lowercase());
        entry(out, &call.name, symbol, &declared, "", &then, &passed)?;
        writeln!(
            out,
            "
            /// `{name}` as {language}, wherever it was called from.
            ///
            /// # Safety
            /// As for the symbol.
            unsafe extern \"C-unwind\" fn {then}({declared}) {{
                let _passed_on = PassedOn::unless({language}::is_recorded());
                // SAFETY: by the caller's word.
                unsafe {{ {lower}::<{language}>(Index({}), {passed}); }}
            }}",
            first + at,
            name = call.name,
        )?;
    }
    Ok(first + names.len())
}
