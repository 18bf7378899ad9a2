//! `mpiscope layout`: checks layout files, and prints where a layout places ranks.

use crate::command_line::{LayoutCheckOptions, LayoutCommand, LayoutEvalOptions};
use anyhow::{Context as _, Result, bail};
use mpiscope_layout::{
    EVENTS, Inputs, Layout, LayoutFile, LayoutWarning, MOST_FILE_BYTES, Points, RankPlacement, Values,
};
use mpiscope_model::words::plural;
use mpiscope_page::topology_files;
use mpiscope_process::output::{print, write_line};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Operations of one check: some ten seconds.
const MOST_CHECKED: u64 = 1 << 32;

pub(crate) fn layout(command: &LayoutCommand) -> Result<ExitCode> {
    match command {
        LayoutCommand::Check(options) => check(options),
        LayoutCommand::Eval(options) => evaluate(options),
    }
}

fn check(options: &LayoutCheckOptions) -> Result<ExitCode> {
    let mut lines = String::new();
    let mut has_errors = false;
    let mut inputs = inputs(options.ranks, &options.topology)?;
    for number in 0..EVENTS {
        // They differ between ranks, so formulas that divide by their range work as they do for a run.
        inputs.set_event(number, Values::PerRank((0..options.ranks).map(f64::from).collect()));
    }
    let mut operations = 0_u64;
    for path in &options.files {
        let file = read(path)?;
        write_errors(path, &file);
        has_errors |= !file.errors.is_empty();
        write_warnings(path, &file.warnings);
        for layout in &file.layouts {
            operations += layout.operation_count() as u64 * u64::from(options.ranks);
            if operations > MOST_CHECKED {
                let ranks = options.ranks;
                bail!("{}: to place {ranks} ranks takes too long; use fewer --ranks", located(path, layout));
            }
            let points = layout.evaluate(&inputs).with_context(|| located(path, layout))?;
            write_warnings(path, layout.warnings());
            write_warnings(path, &points.warnings);
            lines.push_str(&summary(layout, &points));
        }
    }
    if has_errors {
        return Ok(ExitCode::from(2));
    }
    print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

/// A line about a sound layout.
fn summary(layout: &Layout, points: &Points) -> String {
    let per_rank = plural(layout.points_per_rank() as u64, "point");
    let warnings = plural((layout.warnings().len() + points.warnings.len()) as u64, "warning");
    format!("{}: {per_rank} per rank, {warnings}\n", layout.name())
}

/// Ranks on the nodes that the site names; without a site just ranks.
fn inputs(ranks: u32, topology: &[PathBuf]) -> Result<Inputs> {
    let site = topology_files::read(topology)?;
    if site.is_empty() {
        return Ok(Inputs::new(ranks as usize));
    }
    let placement = RankPlacement::on_nodes_of(&site, ranks as usize);
    let mut inputs = placement.inputs(&site);
    placement.complete(&mut inputs);
    Ok(inputs)
}

fn evaluate(options: &LayoutEvalOptions) -> Result<ExitCode> {
    let path = &options.file;
    let file = read(path)?;
    write_errors(path, &file);
    write_warnings(path, &file.warnings);
    let layout = match &options.name {
        Some(name) => match file.layout(name) {
            Some(layout) => layout,
            None => bail!("{} has no layout `{}`: {}", path.display(), name.escape_debug(), names(&file)),
        },
        // Which one is the first is not certain when some cannot be read.
        None if !file.errors.is_empty() => return Ok(ExitCode::from(2)),
        None => file.layouts.first().with_context(|| format!("{} has no layout", path.display()))?,
    };
    if options.name.is_none() && file.layouts.len() > 1 {
        say!(
            "{} has {} layouts; this is `{}` (--name chooses)",
            path.display(),
            file.layouts.len(),
            layout.name()
        );
    }
    let points =
        layout.evaluate(&inputs(options.ranks, &options.topology)?).with_context(|| located(path, layout))?;
    write_warnings(path, layout.warnings());
    write_warnings(path, &points.warnings);
    print_points(&points)?;
    Ok(ExitCode::SUCCESS)
}

fn print_points(points: &Points) -> Result<()> {
    const POINTS_AT_ONCE: usize = 4096;
    let mut text = "rank,x,y,z,color\n".to_owned();
    for point in 0..points.len() {
        // Adding 0 turns -0 into 0.
        let [x, y, z, color] =
            [&points.x, &points.y, &points.z, &points.color].map(|column| column[point] + 0.0);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{},{x:?},{y:?},{z:?},{color:?}", point / points.points_per_rank);
        if (point + 1) % POINTS_AT_ONCE == 0 {
            print(&text)?;
            text.clear();
        }
    }
    print(&text)
}

fn read(path: &Path) -> Result<LayoutFile> {
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
    // A byte more than allowed is enough to refuse the file.
    let limited = file.take(MOST_FILE_BYTES as u64 + 1).read_to_end(&mut bytes);
    limited.with_context(|| format!("read {}", path.display()))?;
    Ok(LayoutFile::parse(&bytes))
}

fn located(path: &Path, layout: &Layout) -> String {
    format!("{}:{}", path.display(), layout.position())
}

fn names(file: &LayoutFile) -> String {
    let names: Vec<String> = file.layouts.iter().map(|layout| format!("`{}`", layout.name())).collect();
    if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) }
}

/// Editors jump to lines that begin with file, line and column, so the program's name is not before them.
fn write_errors(path: &Path, file: &LayoutFile) {
    for error in &file.errors {
        write_line(&format!("{}:{error}", path.display()));
    }
}

fn write_warnings(path: &Path, warnings: &[LayoutWarning]) {
    for warning in warnings {
        write_line(&format!("{}:{}: warning: {}", path.display(), warning.position, warning.kind));
    }
}
