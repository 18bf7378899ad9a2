//! Help, errors of the command line, shell completions and manual pages.

use super::arguments::{Arguments, ColorWhen};
use anyhow::{Context as _, Result};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _, ValueEnum as _};
use clap_complete::Shell;
use mpiscope_process::output;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// The commands by what they are for; the others are not for people.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Record and watch", &["run", "replay", "pause", "resume"]),
    ("Understand", &["report", "whatif", "compare", "regions", "remap", "calibrate"]),
    ("Recordings and other formats", &["check", "repair", "import", "export", "synth"]),
    ("Views", &["layout"]),
    ("This machine", &["doctor", "agent", "completions", "man"]),
];
/// Where the sentences of the list of commands begin.
const INDENT: usize = 14;

/// The command line, with its commands listed by purpose.
fn command() -> clap::Command {
    let mut command = Arguments::command();
    command.build();
    let mut list = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(list, "{title}:");
        for command in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(list, "  {:width$}{about}", command.get_name(), width = INDENT - 2);
        }
        list.push('\n');
    }
    Arguments::command().help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{list}Options:\n{{options}}\n\n\
         `mpiscope COMMAND --help` explains a command and shows examples."
    ))
}

/// Reads the command line.
///
/// # Errors
/// When it asks for help, or is wrong.
pub(crate) fn parse() -> Result<Arguments, clap::Error> {
    let parsed = command().try_get_matches().and_then(|matches| Arguments::from_arg_matches(&matches));
    // Of help and errors, clap does not say what it read.
    match parsed.as_ref().map_or_else(|_| color_when(std::env::args_os().skip(1)), |parsed| parsed.color) {
        ColorWhen::Auto => {}
        ColorWhen::Always => output::color(true),
        ColorWhen::Never => output::color(false),
    }
    parsed
}

/// What `--color` says, wherever it is before the words of a program.
fn color_when(words: impl Iterator<Item = OsString>) -> ColorWhen {
    let mut words = words.take_while(|word| word != "--");
    while let Some(word) = words.next() {
        let word = word.to_string_lossy();
        let value = match word.strip_prefix("--color=") {
            Some(value) => value.to_owned(),
            None if word == "--color" => words.next().unwrap_or_default().to_string_lossy().into_owned(),
            None => continue,
        };
        return ColorWhen::from_str(&value, false).unwrap_or_default();
    }
    ColorWhen::default()
}

/// Prints help and version as they are, and an error as one line.
///
/// # Errors
/// When standard output cannot be written to.
pub(crate) fn refuse(error: &clap::Error) -> Result<ExitCode> {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let help = error.render();
        output::print_help(&help.to_string(), &help.ansi().to_string(), !error.use_stderr())?;
    } else {
        say!("{}", error_line(error));
    }
    Ok(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)))
}

/// What is wrong, and what to do: the name that was probably meant, or where help is.
fn error_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    match suggestion(error) {
        Some(name) => format!("{line}; did you mean {name}?"),
        None => format!("{line} (mpiscope --help says more)"),
    }
}

/// The name that is nearest to an unknown one.
fn suggestion(error: &clap::Error) -> Option<String> {
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    kinds.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(name) => Some(name.clone()),
        // The nearest comes last.
        ContextValue::Strings(names) => names.last().cloned(),
        _ => None,
    })
}

/// Prints the completions for a shell.
///
/// # Errors
/// When standard output cannot be written to.
pub(crate) fn print_completions(shell: Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "mpiscope", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a manual page for each command.
///
/// # Errors
/// When the folder cannot be written to.
pub(crate) fn write_manual(dir: &Path) -> Result<ExitCode> {
    std::fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(command(), dir))
        .with_context(|| format!("{}: cannot write manual pages", dir.display()))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let command = Arguments::command();
        let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut all: Vec<&str> = visible.map(clap::Command::get_name).collect();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all);
    }

    #[test]
    fn the_help_of_synth_names_all_that_there_is() {
        let help = Arguments::command().find_subcommand_mut("synth").unwrap().render_help().to_string();
        for name in mpiscope_synth::PATTERNS.into_iter().chain(mpiscope_synth::DISTURBANCES) {
            assert!(help.contains(name), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_leads_to_the_nearest() {
        let line = |words: &[&str]| {
            let words = ["mpiscope"].iter().chain(words);
            error_line(&command().try_get_matches_from(words).unwrap_err())
        };
        assert_eq!(line(&["reprot"]), "unrecognized subcommand 'reprot'; did you mean report?");
        assert_eq!(
            line(&["whatif", "a", "--evenwork"]),
            "unexpected argument '--evenwork' found; did you mean --even-work?"
        );
        assert!(line(&["export", "a", "-o", "b", "--format", "otf"]).ends_with("; did you mean otf2?"));
        assert!(line(&["xyz"]).ends_with("(mpiscope --help says more)"));
    }

    #[test]
    fn colors_are_as_the_command_line_says() {
        let when = |words: &str| color_when(words.split(' ').map(OsString::from));
        assert_eq!(when("report a"), ColorWhen::Auto);
        assert_eq!(when("--color never report a"), ColorWhen::Never);
        assert_eq!(when("report a --color=always"), ColorWhen::Always);
        assert_eq!(when("run -- sim --color never"), ColorWhen::Auto);
        let parsed = |words: &[&str]| {
            let matches = command().try_get_matches_from(["mpiscope"].iter().chain(words));
            matches.and_then(|matches| Arguments::from_arg_matches(&matches)).map(|arguments| arguments.color)
        };
        assert_eq!(parsed(&["report", "a", "--color", "always"]).unwrap(), ColorWhen::Always);
        assert!(
            error_line(&parsed(&["report", "a", "--color", "alway"]).unwrap_err())
                .ends_with("did you mean always?")
        );
    }

    #[test]
    fn outputs_have_both_names_and_old_names_still_work() {
        let parses = |words: &str| {
            let words = ["mpiscope"].into_iter().chain(words.split(' '));
            command().try_get_matches_from(words).map(drop).map_err(|error| error_line(&error))
        };
        for name in ["-o", "--out", "--output"] {
            for rest in [
                "run NAME x -- true",
                "calibrate NAME x -- true",
                "repair a NAME x",
                "import a NAME x",
                "export a --format csv NAME x",
                "remap a --format slurm NAME x",
                "synth --pattern ring --ranks 2 --seconds 1 --rate 1 NAME x",
            ] {
                assert_eq!(parses(&rest.replace("NAME", name)), Ok(()), "{name} {rest}");
            }
        }
        for words in
            ["run --site a -- true", "run --config a -- true", "export a --format csv -o x --site a.c:1"]
        {
            assert_eq!(parses(words), Ok(()), "{words}");
        }
    }

    #[test]
    fn there_is_a_manual_page_for_each_command() {
        let folder = tempfile::tempdir().unwrap();
        write_manual(folder.path()).unwrap();
        for page in ["mpiscope.1", "mpiscope-run.1", "mpiscope-layout-eval.1"] {
            let text = std::fs::read_to_string(folder.path().join(page)).unwrap();
            assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
        }
        assert!(!folder.path().join("mpiscope-record.1").exists());
    }

    #[test]
    fn help_is_as_pinned() {
        let mut command = command();
        command.build();
        let mut help = format!("{}\n----\n", command.render_help());
        fn add(help: &mut String, command: &mut clap::Command) {
            for command in command.get_subcommands_mut().filter(|command| !command.is_hide_set()) {
                if command.get_name() != "help" {
                    *help += &format!("{}\n----\n", command.render_help());
                    add(help, command);
                }
            }
        }
        add(&mut help, &mut command);
        let pinned = include_str!("../../help.txt");
        assert!(help == pinned, "the help changed; if on purpose, put this into help.txt:\n{help}");
    }
}
