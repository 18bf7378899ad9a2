//! Where a layout puts all ranks, and which layouts there are.

use crate::column::F64Column;
use crate::question::{
    LayoutKeeper, LayoutQuestion, LayoutSourceChoice, MetricsQuestion, SaveLayoutQuestion,
};
use crate::rank_figures::{CountedRows, RankFigures, Sources};
use crate::rank_values::RankMetrics;
use mpiscope_layout::{
    BUNDLED, CARTESIAN_COORDINATES, CARTESIAN_SIZES, EVENTS, Inputs, Layout, LayoutFile, LayoutWarning,
    MOST_FILE_BYTES, Points, Values, bundled_layout, layout_texts, with_layouts, without_layout,
};
use mpiscope_model::{Comm, Coordinate};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Points of one answer: 32 MiB.
const MOST_POINTS: usize = 1 << 20;
/// Points of a thumbnail.
const THUMBNAIL_POINTS: usize = 400;
/// Operations over all ranks that a page may ask for: a second or a few.
const MOST_OPERATIONS: usize = 1 << 28;
/// Errors and warnings of one answer.
const MOST_NOTES: usize = 100;

/// A file with layouts that can be read again and again.
pub trait LayoutSource: Send + Sync + fmt::Debug {
    /// What people call it.
    fn name(&self) -> String;

    /// Its bytes, as they are now.
    ///
    /// # Errors
    /// One sentence when it cannot be read.
    fn read(&self) -> Result<Vec<u8>, String>;
}

/// A file of layouts for each keeper.
pub trait LayoutStore: Send + Sync + fmt::Debug {
    /// Its bytes; none where nothing was kept yet.
    ///
    /// # Errors
    /// One sentence when it cannot be read.
    fn read(&self, keeper: LayoutKeeper) -> Result<Vec<u8>, String>;

    /// Takes its place, whole or not at all.
    ///
    /// # Errors
    /// One sentence when it cannot be written.
    fn write(&self, keeper: LayoutKeeper, bytes: &[u8]) -> Result<(), String>;
}

/// Something about a place in a layout's text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LayoutNote {
    /// The line, from 1.
    pub line: u32,
    /// The character of the line, from 1.
    pub column: u32,
    /// What is wrong, or what should be known.
    pub text: String,
}

/// Where a layout puts all ranks. Without points where its text has no layout that can be drawn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RankLayout {
    /// The layout's name as written; empty where there is none.
    pub name: String,
    /// All names in its text or file.
    pub names: Vec<String>,
    /// Points of each rank.
    pub points_per_rank: u32,
    /// By point, those of rank 0 first; may be no finite numbers.
    pub x: F64Column,
    /// By point.
    pub y: F64Column,
    /// By point.
    pub z: F64Column,
    /// By point: the value that its color shows.
    pub color: F64Column,
    /// Which events it asks for.
    pub events: Vec<bool>,
    /// Whether it was read before its text became wrong.
    pub is_old: bool,
    /// What keeps layouts of the text from being drawn.
    pub errors: Vec<LayoutNote>,
    /// What should be known.
    pub warnings: Vec<LayoutNote>,
}

/// A layout that can be chosen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LayoutItem {
    /// Its name.
    pub name: String,
    /// What it shows, in a sentence; empty where nobody says.
    pub sentence: String,
    /// Whether it is in the file that the program was given.
    pub is_file: bool,
    /// Where it is kept: `recording` or `user`; empty for those of the file and those that come with mpiscope.
    pub keeper: String,
    /// Its text; empty for those of the file.
    pub source: String,
    /// Whether this run has all that it asks for.
    pub is_complete: bool,
    /// Some of its points.
    pub x: F64Column,
    /// By point.
    pub y: F64Column,
    /// By point.
    pub z: F64Column,
}

/// The layouts that there are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Layouts {
    /// Those that can be drawn; those of the file first.
    pub items: Vec<LayoutItem>,
    /// The file that the program was given; empty where it was given none.
    pub file: String,
    /// Its text as it is now.
    pub text: String,
    /// Grows when it changes.
    pub version: u32,
    /// What is wrong with it.
    pub errors: Vec<LayoutNote>,
    /// Whether layouts can be kept.
    pub has_store: bool,
}

/// The layouts of a file, as far as they could ever be read.
#[derive(Debug, Default)]
pub(crate) struct LayoutFiles {
    source: Option<Box<dyn LayoutSource>>,
    store: Option<Box<dyn LayoutStore>>,
    /// Who writes to the store reads it first.
    writing: Mutex<()>,
    seen: Mutex<LayoutFileState>,
    /// The newest list, and what it was made for: pages ask again and again.
    list: Mutex<Option<(ListedFor, Layouts)>>,
}

/// What thumbnails depend on.
#[derive(Debug, PartialEq, Eq)]
struct ListedFor {
    version: u32,
    ranks: usize,
    heard: usize,
    coordinates: usize,
    places: u64,
    kept: Vec<Vec<u8>>,
}

#[derive(Debug, Clone, Default)]
struct LayoutFileState {
    bytes: Vec<u8>,
    version: u32,
    /// The newest that can be drawn by name; whether each is older than the text.
    layouts: Vec<(Layout, bool)>,
    errors: Vec<LayoutNote>,
    warnings: Vec<LayoutNote>,
}

impl LayoutFiles {
    pub(crate) fn read_from(&mut self, source: Box<dyn LayoutSource>) {
        self.source = Some(source);
    }

    pub(crate) fn keep_in(&mut self, store: Box<dyn LayoutStore>) {
        self.store = Some(store);
    }

    /// Keeps the layouts of a text in place of those with the same names; without a text, forgets the one with a name.
    pub(crate) fn save(&self, question: &SaveLayoutQuestion) -> Result<(), String> {
        let store = self.store.as_ref().ok_or("layouts cannot be kept here")?;
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = store.read(question.keeper)?;
        let before = String::from_utf8_lossy(&before);
        let after = if question.text.is_empty() {
            without_layout(&before, &question.name)
        } else {
            let file = LayoutFile::parse(question.text.as_bytes());
            if let Some(error) = file.errors.first() {
                return Err(format!("a layout with an error is not kept: {error}"));
            }
            with_layouts(&before, &question.text)
        };
        if after.len() > MOST_FILE_BYTES {
            return Err(format!("more than {MOST_FILE_BYTES} bytes of layouts; remove some first"));
        }
        store.write(question.keeper, after.as_bytes())
    }

    /// The texts that are kept; those that cannot be read are left out.
    fn kept(&self) -> Vec<Vec<u8>> {
        let Some(store) = &self.store else { return Vec::new() };
        LayoutKeeper::ALL.iter().map(|(keeper, _)| store.read(*keeper).unwrap_or_default()).collect()
    }

    /// Reads the file again; what cannot be read any more stays as it was.
    fn look(&self) -> LayoutFileState {
        let Some(source) = &self.source else { return LayoutFileState::default() };
        // Others need not wait until it is read.
        let read = source.read();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(bytes)
                if bytes == seen.bytes && seen.version > 0 && !seen.errors.iter().any(|of| of.line == 0) => {}
            Ok(bytes) => {
                let file = LayoutFile::parse(&bytes);
                let is_sound = file.errors.is_empty();
                let mut layouts: Vec<(Layout, bool)> =
                    file.layouts.into_iter().map(|layout| (layout, false)).collect();
                if !is_sound {
                    let is_new =
                        |name: &str| !layouts.iter().any(|(of, _)| of.name().eq_ignore_ascii_case(name));
                    let old: Vec<_> =
                        seen.layouts.iter().filter(|(of, _)| is_new(of.name())).cloned().collect();
                    layouts.extend(old.into_iter().map(|(layout, _)| (layout, true)));
                }
                let (version, errors) = (seen.version + 1, errors(&file.errors));
                *seen =
                    LayoutFileState { bytes, version, layouts, errors, warnings: warnings(&file.warnings) };
            }
            Err(why) => {
                // Line 0 is no place in the text.
                let note = LayoutNote { line: 0, column: 0, text: why };
                if seen.errors.first() != Some(&note) {
                    seen.version += 1;
                    seen.layouts.iter_mut().for_each(|(_, is_old)| *is_old = true);
                    seen.errors = vec![note];
                }
            }
        }
        seen.clone()
    }
}

fn note(position: mpiscope_layout::Position, text: String) -> LayoutNote {
    LayoutNote { line: position.line, column: position.column, text }
}

fn errors(all: &[mpiscope_layout::LayoutError]) -> Vec<LayoutNote> {
    all.iter().take(MOST_NOTES).map(|of| note(of.position, of.error.to_string())).collect()
}

fn warnings(all: &[LayoutWarning]) -> Vec<LayoutNote> {
    all.iter().take(MOST_NOTES).map(|of| note(of.position, of.kind.to_string())).collect()
}

/// Where the ranks of a run are: nodes, CPUs, regions, what the site says of them, and the program's own grid.
pub(crate) fn inputs(known: &CountedRows, figures: &RankFigures) -> Inputs {
    let hosts = known.hosts().into_iter().map(|host| if host.is_nan() { 0.0 } else { host });
    let (placement, site) = figures.places.placement_on(hosts.collect());
    let mut inputs = placement.inputs(&site);
    set_grid(&mut inputs, &figures.grid(), known.ranks);
    placement.complete(&mut inputs);
    inputs
}

/// The grid of the communicator with the most ranks; of several the first.
fn set_grid(inputs: &mut Inputs, grid: &[Coordinate], ranks: usize) {
    let mut sizes: BTreeMap<Comm, usize> = BTreeMap::new();
    grid.iter().filter(|of| of.dimension == 0).for_each(|of| *sizes.entry(of.comm).or_default() += 1);
    let most = sizes.values().copied().max().unwrap_or_default();
    let Some((&comm, _)) = sizes.iter().find(|(_, size)| **size == most) else { return };
    let mut columns: BTreeMap<u16, (Vec<f64>, u32)> = BTreeMap::new();
    for of in grid.iter().filter(|of| of.comm == comm && of.rank.index() < ranks) {
        let (column, size) = columns.entry(of.dimension).or_insert_with(|| (vec![0.0; ranks], 0));
        column[of.rank.index()] = f64::from(of.coordinate);
        *size = (*size).max(of.size);
    }
    // What a grid with fewer dimensions has not is 0, and one place wide.
    for (key, size) in CARTESIAN_COORDINATES.iter().zip(CARTESIAN_SIZES) {
        inputs.set_metadata(key, Values::Same(0.0));
        inputs.set_metadata(size, Values::Same(1.0));
    }
    for (dimension, (column, size)) in columns {
        let at = usize::from(dimension);
        if let (Some(key), Some(size_key)) = (CARTESIAN_COORDINATES.get(at), CARTESIAN_SIZES.get(at)) {
            inputs.set_metadata(key, Values::PerRank(column.clone()));
            inputs.set_metadata(size_key, Values::Same(f64::from(size)));
        }
        inputs.set_metadata(&format!("cart_{dimension}"), Values::PerRank(column));
        inputs.set_metadata(&format!("cart_size_{dimension}"), Values::Same(f64::from(size)));
    }
}

/// The layout's points with the chosen values as its events.
pub(crate) fn rank_layout(
    question: &LayoutQuestion,
    figures: &RankFigures,
    files: &LayoutFiles,
    sources: &Sources<'_>,
    is_wanted: &dyn Fn() -> bool,
) -> Result<RankLayout, String> {
    let known = figures.counted_rows()?;
    let seen = chosen_layouts(question, files)?;
    let mut answer = RankLayout {
        names: seen.layouts.iter().map(|(layout, _)| layout.name().to_owned()).collect(),
        errors: seen.errors,
        warnings: seen.warnings,
        ..RankLayout::default()
    };
    let wanted = |of: &&(Layout, bool)| {
        question.name.is_empty() || of.0.name().to_lowercase() == question.name.to_lowercase()
    };
    // Of a text that is being written the name may just have changed.
    let Some((layout, is_old)) = seen.layouts.iter().find(wanted).or_else(|| seen.layouts.first()) else {
        return Ok(answer);
    };
    refuse_expensive(layout, known.ranks)?;
    let mut inputs = inputs(&known, figures);
    if layout.events().contains(&true) {
        set_events(&mut inputs, layout, question, &mut answer.warnings, |events| {
            figures.metrics(events, sources, is_wanted)
        })?;
    }
    let points = layout.evaluate(&inputs).map_err(|error| error.to_string())?;
    answer.name = layout.name().to_owned();
    answer.is_old = *is_old;
    answer.events = layout.events().to_vec();
    answer.points_per_rank = points.points_per_rank as u32;
    answer.warnings.extend(warnings(layout.warnings()));
    answer.warnings.extend(warnings(&points.warnings));
    answer.warnings.truncate(MOST_NOTES);
    [answer.x.0, answer.y.0, answer.z.0, answer.color.0] = [points.x, points.y, points.z, points.color];
    Ok(answer)
}

/// The layouts of the source that is asked for.
fn chosen_layouts(question: &LayoutQuestion, files: &LayoutFiles) -> Result<LayoutFileState, String> {
    match &question.source {
        LayoutSourceChoice::Bundled => {
            let name = question.name.as_str();
            let bundled =
                bundled_layout(name).ok_or_else(|| format!("there is no bundled layout {name:?}"))?;
            Ok(parsed(bundled.text))
        }
        LayoutSourceChoice::Text(text) => Ok(parsed(text)),
        LayoutSourceChoice::File if files.source.is_none() => {
            Err("no layout file was given: start with --layout FILE".to_owned())
        }
        LayoutSourceChoice::File => Ok(files.look()),
    }
}

fn refuse_expensive(layout: &Layout, ranks: usize) -> Result<(), String> {
    let each = layout.points_per_rank();
    if ranks.saturating_mul(each) > MOST_POINTS {
        return Err(format!(
            "{ranks} ranks with {each} points each are more than the {MOST_POINTS} points that are drawn"
        ));
    }
    if !is_affordable(layout, ranks) {
        let operations = layout.operation_count();
        return Err(format!(
            "{operations} operations for each of {ranks} ranks take too long; write a shorter layout"
        ));
    }
    Ok(())
}

/// Whether a page may ask for this layout: other questions wait for the answer.
fn is_affordable(layout: &Layout, ranks: usize) -> bool {
    layout.operation_count().saturating_mul(ranks) <= MOST_OPERATIONS
}

fn parsed(text: &str) -> LayoutFileState {
    let file = LayoutFile::parse(text.as_bytes());
    LayoutFileState {
        layouts: file.layouts.into_iter().map(|layout| (layout, false)).collect(),
        errors: errors(&file.errors),
        warnings: warnings(&file.warnings),
        ..LayoutFileState::default()
    }
}

/// Gives a layout the figures that it asks for.
fn set_events(
    inputs: &mut Inputs,
    layout: &Layout,
    question: &LayoutQuestion,
    warnings: &mut Vec<LayoutNote>,
    figures: impl Fn(&MetricsQuestion) -> Result<RankMetrics, String>,
) -> Result<(), String> {
    let chosen = question.events.metrics.iter().zip(layout.events()).enumerate();
    for (number, (&metric, _)) in chosen.filter(|(_, (_, is_asked))| *is_asked) {
        let asked = MetricsQuestion { metrics: vec![metric], ..question.events.clone() };
        for column in figures(&asked)?.metrics {
            if !column.missing.is_empty() {
                let text = format!("event{number}: {}", column.missing);
                warnings.push(LayoutNote { line: 1, column: 1, text });
                continue;
            }
            // A rank is drawn even if a value of it is not known.
            let known = column.values.0.into_iter().map(|value| if value.is_finite() { value } else { 0.0 });
            inputs.set_event(number, Values::PerRank(known.collect()));
        }
    }
    Ok(())
}

/// All that can be chosen, with thumbnails.
pub(crate) fn layouts(figures: &RankFigures, files: &LayoutFiles) -> Result<Layouts, String> {
    let known = figures.counted_rows()?;
    let seen = files.look();
    let listed_for = ListedFor {
        version: seen.version,
        ranks: known.ranks,
        heard: known.heard(),
        coordinates: figures.grid().len(),
        places: figures.places.version(),
        kept: files.kept(),
    };
    let list = || files.list.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((of, layouts)) = &*list()
        && *of == listed_for
    {
        return Ok(layouts.clone());
    }
    let inputs = thumbnail_inputs(&known, figures);
    let mut items: Vec<LayoutItem> =
        seen.layouts.iter().map(|(layout, _)| item(layout, &inputs, "", true)).collect();
    for ((_, keeper), bytes) in LayoutKeeper::ALL.iter().zip(&listed_for.kept) {
        items.extend(kept_items(keeper, bytes, &inputs));
    }
    items.extend(BUNDLED.iter().flat_map(|bundled| {
        let file = LayoutFile::parse(bundled.text.as_bytes());
        let layout = file.layouts.into_iter().next()?;
        Some(item(&layout, &inputs, bundled.text, false))
    }));
    let layouts = Layouts {
        items,
        has_store: files.store.is_some(),
        file: files.source.as_ref().map(|source| source.name()).unwrap_or_default(),
        text: String::from_utf8_lossy(&seen.bytes).into_owned(),
        version: seen.version,
        errors: seen.errors,
    };
    *list() = Some((listed_for, layouts.clone()));
    Ok(layouts)
}

/// What a layout is given where nobody has chosen values for it.
fn thumbnail_inputs(known: &CountedRows, figures: &RankFigures) -> Inputs {
    let mut inputs = inputs(known, figures);
    for number in 0..EVENTS {
        // Any values that differ show what a layout does with them.
        let spread = |rank: usize| (rank * (2 * number + 7) % 101) as f64;
        inputs.set_event(number, Values::PerRank((0..known.ranks).map(spread).collect()));
    }
    inputs
}

/// The layouts that one of the keepers has in this file.
fn kept_items<'a>(
    keeper: &'a str,
    bytes: &[u8],
    inputs: &'a Inputs,
) -> impl Iterator<Item = LayoutItem> + use<'a> {
    let texts = layout_texts(&String::from_utf8_lossy(bytes));
    texts.into_iter().filter_map(move |(_, text)| {
        let file = LayoutFile::parse(text.as_bytes());
        let item = item(file.layouts.first()?, inputs, &text, false);
        Some(LayoutItem { keeper: keeper.to_owned(), ..item })
    })
}

/// The points of the bundled layouts for which a run has all that they ask for, one for each rank.
pub(crate) fn bundled_points(inputs: &Inputs) -> impl Iterator<Item = (&'static str, Points)> + use<'_> {
    BUNDLED.iter().filter_map(move |bundled| {
        let layout = LayoutFile::parse(bundled.text.as_bytes()).layouts.into_iter().next()?;
        let points = layout.evaluate(inputs).ok()?;
        (points.warnings.is_empty() && points.points_per_rank == 1).then_some((bundled.name, points))
    })
}

fn item(layout: &Layout, inputs: &Inputs, source: &str, is_file: bool) -> LayoutItem {
    // The first line of a bundled layout says what it shows.
    let sentence = source.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap_or_default();
    let mut item = LayoutItem {
        name: layout.name().to_owned(),
        sentence: sentence.to_owned(),
        is_file,
        source: source.to_owned(),
        ..LayoutItem::default()
    };
    let ranks = inputs.ranks();
    if ranks.saturating_mul(layout.points_per_rank()) > MOST_POINTS || !is_affordable(layout, ranks) {
        return item;
    }
    let Ok(points) = layout.evaluate(inputs) else { return item };
    item.is_complete = points.warnings.is_empty();
    let step = points.len().div_ceil(THUMBNAIL_POINTS).max(1);
    let some = |column: &[f64]| column.iter().copied().step_by(step).collect();
    [item.x, item.y, item.z] = [&points.x, &points.y, &points.z].map(|column| some(column));
    item
}
