//! `mpiscope pause` and `mpiscope resume`: recording, switched off and on while the job runs.

use crate::command_line::SwitchOptions;
use anyhow::{Result, bail};
use mpiscope_engine::{Live, Records};
use mpiscope_process::output::print;
use mpiscope_recorder::switch;
use std::process::ExitCode;

pub(crate) fn switch(options: &SwitchOptions, is_on: bool) -> Result<ExitCode> {
    let dir = &options.dir;
    if !matches!(Live::read(dir), Records::Somebody(_)) {
        bail!("nobody records into {}", dir.display());
    }
    switch::set(dir, is_on)?;
    let state = if is_on { "on" } else { "off" };
    print(&format!("recording into {} is switched {state}\n", dir.display()))?;
    Ok(ExitCode::SUCCESS)
}
