//! The symbols of Fortran.

use super::symbols::{closure, entry, shape};
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
        use crate::language::{{Fortran, Fortran08, Language}};
        use crate::mpi::{{Handle, Status}};
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
        _ => bail!("no type is named {kind}"),
    })
}

/// Fortran has no arguments of the command line there.
fn parameters(call: &Call) -> impl Iterator<Item = &Parameter> {
    call.parameters.iter().filter(|parameter| !parameter.role.starts_with("argument_"))
}

fn value(call: &Call, name: &str) -> Option<String> {
    let parameter = parameters(call).find(|parameter| parameter.name == name)?;
    Some(match parameter.kind.as_str() {
        "int" if parameter.is_count() => format!("i64::from(*{name})"),
        "int" => format!("*{name}"),
        "handle" => format!("*{name} as Handle"),
        _ => name.to_owned(),
    })
}

fn symbols(out: &mut String, first: usize, call: &Call) -> Result<usize> {
    let lower = call.name.to_lowercase();
    let mut declared = Vec::new();
    let mut types = Vec::new();
    for parameter in parameters(call) {
        let kind = rust_type(&parameter.kind)?;
        declared.push(format!("{}: {kind}", parameter.name));
        types.push(kind);
    }
    declared.push("ierror: *mut c_int".to_owned());
    types.push("*mut c_int");
    let mut passed: Vec<&str> = parameters(call).map(|parameter| parameter.name.as_str()).collect();
    passed.push("ierror");
    let (declared, types, passed) = (declared.join(", "), types.join(", "), passed.join(", "));
    let (shape, mut arguments) = shape(call, value)?;
    arguments.push(format!("{} {{ function({passed}); *ierror }}", closure(call)));
    let generics = if shape == "collective" { "L, _, _" } else { "L" };
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
            let mut own = 0;
            let ierror = told(ierror, &mut own);
            // SAFETY: the arguments are valid addresses, as they always are in Fortran.
            unsafe {{ shapes::{shape}::<{generics}>({arguments}) }};
        }}",
        name = call.name,
        arguments = arguments.join(", "),
    )?;
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
