//! The `mpiscope` program.

#[macro_use(say)]
extern crate mpiscope_process;

mod calibrate;
mod check;
mod command_line;
mod compare;
mod doctor;
mod export;
mod import;
mod interrupt;
mod layout;
mod output_folder;
mod progress;
mod regions;
mod remap;
mod remote_agent;
mod repair;
mod replay;
mod report;
mod run;
mod site;
mod switch;
mod synth;
mod whatif;

use anyhow::Result;
use command_line::Command;
use mpiscope_process::output;
use mpiscope_verdict as verdict;
use std::process::ExitCode;

fn main() -> ExitCode {
    output::report_panics();
    let result = match command_line::parse() {
        Ok(arguments) => carry_out(arguments.command),
        Err(error) => command_line::refuse(&error),
    };
    let status = result.unwrap_or_else(|error| {
        say!("{}", output::error_line(&error));
        ExitCode::from(2)
    });
    output::finish();
    status
}

fn carry_out(command: Command) -> Result<ExitCode> {
    if command.is_part_of_a_job() {
        output::never_block();
    }
    match command {
        Command::Run(options) => run::run(&options),
        Command::Replay(options) => replay::replay(&options),
        Command::Pause(options) => switch::switch(&options, false),
        Command::Resume(options) => switch::switch(&options, true),
        Command::Report(options) => report::report(&options),
        Command::Check(options) => check::check(&options),
        Command::Repair(options) => repair::repair(&options),
        Command::Compare(options) => compare::compare(&options),
        Command::Remap(options) => remap::remap(&options),
        Command::Regions(options) => regions::regions(&options),
        Command::Calibrate(options) => calibrate::calibrate(&options),
        Command::Synth(options) => synth::synth(&options),
        Command::Import(options) => import::import(&options),
        Command::Export(options) => export::export(&options),
        Command::Layout { command } => layout::layout(&command),
        Command::Whatif(options) => whatif::whatif(&options),
        Command::Doctor => doctor::doctor(),
        Command::Completions { shell } => command_line::print_completions(shell),
        Command::Man { dir } => command_line::write_manual(&dir),
        Command::Agent(options) => remote_agent::agent(&options),
        Command::Record => mpiscope_recorder::record(),
        Command::Join => mpiscope_recorder::join(mpiscope_recorder::Task::Analyse),
        Command::Read => mpiscope_recorder::join(mpiscope_recorder::Task::Record),
        Command::Diagnose { dir, print, workers, seconds } => {
            verdict::diagnose_apart(&dir, print, workers, seconds)
        }
        Command::Advise => verdict::advise_apart(),
    }
}
