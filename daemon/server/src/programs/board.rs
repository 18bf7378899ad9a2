//! What external programs share: who they are, their notes about the run, and what they wait for.

use mpiscope_feed::{Annotations, AnnotationsKind, ValueSeries};
use mpiscope_protocol::{
    Annotate, Annotation, Answers, BarrierWaits, ClientMessage, Removed, Reply, Series, SetSeries,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

/// Messages of others that wait for one client.
const WAITING_MAX: usize = 256;
/// Their bytes, about.
const WAITING_BYTES_MAX: usize = 1 << 20;
/// Barriers of one client at a time.
const BARRIERS_MAX: usize = 4;
/// What programs may say of one run.
pub(super) const ANNOTATIONS_MAX: usize = 10_000;
const SERIES_MAX: usize = 64;
const POINTS_MAX: usize = 100_000;
/// Of all series together.
const ALL_POINTS_MAX: usize = 1_000_000;
/// Of each series on a page.
const POINTS_SHOWN: usize = 2_000;
const TEXT_CHARS_MAX: usize = 500;
const NAME_CHARS_MAX: usize = 64;
const UNIT_CHARS_MAX: usize = 16;
const LINK_CHARS_MAX: usize = 2_000;

/// Where answers are kept.
pub trait AnswerStore: Send + Sync + std::fmt::Debug {
    /// What was kept before.
    fn load(&self) -> Answers;

    /// Keeps them.
    ///
    /// # Errors
    /// One sentence when that fails.
    fn save(&self, answers: &Answers) -> Result<(), String>;
}

/// All of it.
#[derive(Debug)]
pub(crate) struct Board {
    inner: Mutex<Inner>,
    changes: watch::Sender<u64>,
    patience_ms: AtomicU64,
    turns: Arc<Semaphore>,
}

impl Default for Board {
    fn default() -> Self {
        Self {
            inner: Mutex::default(),
            changes: watch::Sender::default(),
            patience_ms: AtomicU64::new(5_000),
            // One reads at a time: pages always find a reader, and the job keeps its processors.
            turns: Arc::new(Semaphore::new(1)),
        }
    }
}

#[derive(Debug, Default)]
struct Inner {
    clients: BTreeMap<u64, Client>,
    last_client: u64,
    annotations: BTreeMap<u64, (Annotation, u64)>,
    last_annotation: u64,
    series: BTreeMap<(String, String), Series>,
    barriers: BTreeMap<u64, Barrier>,
    last_barrier: u64,
}

#[derive(Debug)]
struct Client {
    out: mpsc::Sender<Post>,
    waiting_bytes: Arc<AtomicUsize>,
    lost: Arc<AtomicU64>,
}

/// A message of another client on its way to one that counts its bytes until it took it.
#[derive(Debug)]
pub(crate) struct Post {
    reply: Arc<Reply>,
    bytes: usize,
    waiting_bytes: Arc<AtomicUsize>,
}

impl Post {
    pub(crate) fn reply(&self) -> &Reply {
        &self.reply
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        self.waiting_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Notes from before a client came: the first it receives, one by one.
#[derive(Debug)]
pub(crate) struct Before {
    last_annotation: u64,
    /// The series, with how many points they had.
    series: Vec<((String, String), usize)>,
}

#[derive(Debug)]
struct Barrier {
    of: u64,
    waits_for: BTreeSet<u64>,
    passed: Option<oneshot::Sender<()>>,
}

/// One client; leaves when dropped.
#[derive(Debug)]
pub(crate) struct Member {
    board: Arc<Board>,
    pub(crate) number: u64,
    pub(crate) name: String,
    /// Messages of others that it could not take.
    lost: Arc<AtomicU64>,
}

/// A barrier of a client, until it is over. It does not keep the client among those who are connected.
#[derive(Debug)]
pub(crate) struct Waiting {
    board: Arc<Board>,
    barrier: u64,
    pub(crate) passed: oneshot::Receiver<()>,
}

impl Waiting {
    /// Ends the barrier; those that did not answer.
    pub(crate) fn end(&self) -> Vec<u64> {
        let barrier = self.board.lock().barriers.remove(&self.barrier);
        barrier.map(|barrier| barrier.waits_for.into_iter().collect()).unwrap_or_default()
    }
}

impl Board {
    /// Earlier notes, of a recording that is opened again.
    pub(crate) fn restore(&self, answers: Answers) {
        let mut inner = self.lock();
        for annotation in answers.annotations.into_iter().take(ANNOTATIONS_MAX) {
            inner.last_annotation = inner.last_annotation.max(annotation.annotation);
            inner.annotations.insert(annotation.annotation, (annotation, 0));
        }
        for series in answers.series.into_iter().take(SERIES_MAX) {
            inner.series.insert((series.author.clone(), series.name.clone()), series);
        }
        drop(inner);
        self.changed();
    }

    /// How long a client may be silent that does not say so itself.
    pub(crate) fn set_patience(&self, patience: Duration) {
        let patience_ms = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        self.patience_ms.store(patience_ms, Ordering::Relaxed);
    }

    pub(crate) fn patience(&self) -> Duration {
        Duration::from_millis(self.patience_ms.load(Ordering::Relaxed))
    }

    /// Whose turn it is to read rows.
    pub(crate) fn turns(&self) -> Arc<Semaphore> {
        Arc::clone(&self.turns)
    }

    /// A panic elsewhere while the lock was held leaves lists that are still sound.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of annotations and series that came or went.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// How often annotations and series changed.
    pub(crate) fn version(&self) -> u64 {
        *self.changes.borrow()
    }

    /// All notes and series about the run.
    pub(crate) fn answers(&self) -> Answers {
        let inner = self.lock();
        Answers {
            annotations: inner.annotations.values().map(|(annotation, _)| annotation.clone()).collect(),
            series: inner.series.values().cloned().collect(),
        }
    }

    /// The same for pages, which get no more points of a series than they can draw.
    pub(crate) fn shown(&self) -> Annotations {
        let Answers { annotations, series } = self.answers();
        let annotations = annotations.into_iter().map(|note| mpiscope_feed::Annotation {
            number: note.annotation,
            author: note.author,
            time_ns: note.time_ns,
            until_ns: note.until_ns,
            rank: note.rank,
            text: note.text,
            colour: note.colour,
            link: note.link,
        });
        let series = series.into_iter().map(|all| {
            let every = all.time_ns.len().div_ceil(POINTS_SHOWN).max(1);
            ValueSeries {
                points: all.time_ns.len() as u64,
                time_ns: all.time_ns.into_iter().step_by(every).collect(),
                value: all.value.into_iter().step_by(every).collect(),
                name: all.name,
                author: all.author,
                unit: all.unit,
            }
        });
        let kind = AnnotationsKind::Annotations;
        Annotations { kind, annotations: annotations.collect(), series: series.collect() }
    }

    /// How many programs are connected.
    pub(crate) fn clients(&self) -> u32 {
        self.lock().clients.len() as u32
    }

    /// A client joins. Earlier notes and later ones have nothing in common.
    pub(crate) fn join(self: &Arc<Self>, name: String) -> (Member, mpsc::Receiver<Post>, Before) {
        let (out, messages) = mpsc::channel(WAITING_MAX);
        let lost = Arc::new(AtomicU64::new(0));
        let mut inner = self.lock();
        inner.last_client += 1;
        let number = inner.last_client;
        let client = Client { out, waiting_bytes: Arc::default(), lost: Arc::clone(&lost) };
        inner.clients.insert(number, client);
        let series = inner.series.iter().map(|(key, series)| (key.clone(), series.time_ns.len()));
        let before = Before { last_annotation: inner.last_annotation, series: series.collect() };
        drop(inner);
        (Member { board: Arc::clone(self), number, name, lost }, messages, before)
    }

    /// The first annotation after a number, of those that were there before a client came.
    pub(crate) fn annotation_after(&self, number: u64, before: &Before) -> Option<Annotation> {
        let inner = self.lock();
        let first = number.saturating_add(1);
        if first > before.last_annotation {
            return None;
        }
        inner.annotations.range(first..=before.last_annotation).next().map(|(_, (note, _))| note.clone())
    }

    /// A series as it was before a client came, and there is no other before its place.
    pub(crate) fn series_before(&self, place: usize, before: &Before) -> Option<Series> {
        let (key, points) = before.series.get(place)?;
        let inner = self.lock();
        let series = inner.series.get(key)?;
        let first = |of: &[f64]| of.iter().take(*points).copied().collect();
        let (time_ns, value) = (first(&series.time_ns), first(&series.value));
        let Series { name, author, unit, .. } = series;
        Some(Series { name: name.clone(), author: author.clone(), unit: unit.clone(), time_ns, value })
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }
}

impl Inner {
    /// Gives a message to all clients but one. Whoever is too slow to take it learns how many it missed.
    fn tell_others(&self, but: u64, reply: Reply) {
        let (bytes, reply) = (about_bytes(&reply), Arc::new(reply));
        for (&number, client) in &self.clients {
            if number != but {
                client.take(&reply, bytes);
            }
        }
    }

    /// Nobody is waited for who has drawn or left.
    fn has_drawn(&mut self, barrier: u64, client: u64) {
        if let Some(waiting) = self.barriers.get_mut(&barrier) {
            waiting.waits_for.remove(&client);
            if waiting.waits_for.is_empty()
                && let Some(passed) = waiting.passed.take()
            {
                // Whoever waited may have left.
                let _ = passed.send(());
            }
        }
    }
}

/// # Errors
/// One sentence when the name, the unit or the points of a series make no sense.
fn refuse_senseless(asked: &SetSeries) -> Result<(), String> {
    let SetSeries { name, unit, time_ns, value } = asked;
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX || unit.chars().count() > UNIT_CHARS_MAX {
        return Err(format!(
            "the name of a series has 1 to {NAME_CHARS_MAX} characters, its unit at most {UNIT_CHARS_MAX}"
        ));
    }
    if time_ns.len() != value.len() {
        return Err(format!(
            "there are {} times and {} values; they come in pairs",
            time_ns.len(),
            value.len()
        ));
    }
    if time_ns.iter().chain(value).any(|number| !number.is_finite()) {
        return Err("times and values of a series are numbers".to_owned());
    }
    Ok(())
}

impl Client {
    fn take(&self, reply: &Arc<Reply>, bytes: usize) {
        self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let waiting_bytes = Arc::clone(&self.waiting_bytes);
        let post = Post { reply: Arc::clone(reply), bytes, waiting_bytes };
        let is_too_much = self.waiting_bytes.load(Ordering::Relaxed) > WAITING_BYTES_MAX + bytes;
        if is_too_much || self.out.try_send(post).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Member {
    /// Messages of others that it could not take since this was asked last.
    pub(crate) fn take_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }

    pub(crate) fn annotate(&self, asked: Annotate) -> Result<Annotation, String> {
        if !asked.time_ns.is_finite()
            || asked.until_ns.is_some_and(|until_ns| until_ns.is_nan() || until_ns < asked.time_ns)
        {
            return Err("the time of an annotation is a number, and until_ns is not before it".to_owned());
        }
        if asked.text.is_empty() || asked.text.chars().count() > TEXT_CHARS_MAX {
            return Err(format!("the text of an annotation has 1 to {TEXT_CHARS_MAX} characters"));
        }
        if asked.colour.as_deref().is_some_and(|colour| !is_colour(colour)) {
            return Err("a colour is written as #rrggbb".to_owned());
        }
        if asked.link.as_deref().is_some_and(|link| !is_link(link)) {
            return Err(format!("a link is an http or https address of at most {LINK_CHARS_MAX} characters"));
        }
        let mut inner = self.board.lock();
        if inner.annotations.len() >= ANNOTATIONS_MAX {
            return Err(format!("there are {ANNOTATIONS_MAX} annotations, which is the most; remove some"));
        }
        inner.last_annotation += 1;
        let Annotate { id, time_ns, until_ns, rank, text, colour, link } = asked;
        let (number, author) = (inner.last_annotation, self.name.clone());
        let annotation =
            Annotation { annotation: number, id: 0, author, time_ns, until_ns, rank, text, colour, link };
        inner.annotations.insert(number, (annotation.clone(), self.number));
        inner.tell_others(self.number, Reply::Annotation(annotation.clone()));
        drop(inner);
        self.board.changed();
        Ok(Annotation { id, ..annotation })
    }

    pub(crate) fn remove(&self, annotation: u64) -> Result<(), String> {
        let mut inner = self.board.lock();
        match inner.annotations.get(&annotation) {
            None => return Err(format!("there is no annotation {annotation}")),
            // A client that connected again is known by its name.
            Some((known, owner)) if *owner != self.number && known.author != self.name => {
                return Err(format!(
                    "annotation {annotation} is of {:?}; only its author can remove it",
                    known.author
                ));
            }
            Some(_) => {}
        }
        inner.annotations.remove(&annotation);
        inner.tell_others(self.number, Reply::Removed(Removed { annotation }));
        drop(inner);
        self.board.changed();
        Ok(())
    }

    pub(crate) fn series(&self, asked: SetSeries) -> Result<Series, String> {
        refuse_senseless(&asked)?;
        let SetSeries { name, unit, time_ns, value } = asked;
        let mut inner = self.board.lock();
        let (key, known) = ((self.name.clone(), name.clone()), inner.series.len());
        if !inner.series.contains_key(&key) && known >= SERIES_MAX {
            return Err(format!("there are {SERIES_MAX} series, which is the most"));
        }
        let points: usize = inner.series.values().map(|series| series.time_ns.len()).sum();
        let author = self.name.clone();
        let all = inner.series.entry(key).or_insert_with(|| Series {
            name: name.clone(),
            author: author.clone(),
            unit: unit.clone(),
            time_ns: Vec::new(),
            value: Vec::new(),
        });
        if points + time_ns.len() > ALL_POINTS_MAX {
            return Err(format!("all series together would have more than {ALL_POINTS_MAX} points"));
        }
        if all.time_ns.len() + time_ns.len() > POINTS_MAX {
            return Err(format!("series {name:?} would have more than {POINTS_MAX} points"));
        }
        all.time_ns.extend(&time_ns);
        all.value.extend(&value);
        let added = Series { name, author, unit: all.unit.clone(), time_ns, value };
        inner.tell_others(self.number, Reply::Series(added.clone()));
        drop(inner);
        self.board.changed();
        Ok(added)
    }

    pub(crate) fn tell(&self, to: Option<u64>, data: serde_json::Value) -> Result<(), String> {
        let reply =
            Reply::ClientMessage(ClientMessage { client: self.number, author: self.name.clone(), data });
        let inner = self.board.lock();
        match to {
            None => inner.tell_others(self.number, reply),
            Some(to) => {
                let client = inner.clients.get(&to).ok_or_else(|| format!("there is no client {to}"))?;
                let bytes = about_bytes(&reply);
                client.take(&Arc::new(reply), bytes);
            }
        }
        Ok(())
    }

    /// Asks all others to say when they have drawn.
    pub(crate) fn wait_for_others(&self) -> Result<Waiting, String> {
        let (sender, passed) = oneshot::channel();
        let mut inner = self.board.lock();
        if inner.barriers.values().filter(|barrier| barrier.of == self.number).count() >= BARRIERS_MAX {
            return Err(format!("{BARRIERS_MAX} barriers of this client are not over, which is the most"));
        }
        inner.last_barrier += 1;
        let barrier = inner.last_barrier;
        let waits_for: BTreeSet<u64> =
            inner.clients.keys().copied().filter(|&client| client != self.number).collect();
        let sender = if waits_for.is_empty() {
            // There is nobody to wait for.
            let _ = sender.send(());
            None
        } else {
            Some(sender)
        };
        inner.barriers.insert(barrier, Barrier { of: self.number, waits_for, passed: sender });
        let asks = Reply::Barrier(BarrierWaits { barrier, author: self.name.clone() });
        inner.tell_others(self.number, asks);
        Ok(Waiting { board: Arc::clone(&self.board), barrier, passed })
    }

    pub(crate) fn drawn(&self, barrier: u64) {
        self.board.lock().has_drawn(barrier, self.number);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut inner = self.board.lock();
        inner.clients.remove(&self.number);
        let barriers: Vec<u64> = inner.barriers.keys().copied().collect();
        barriers.into_iter().for_each(|barrier| inner.has_drawn(barrier, self.number));
    }
}

fn about_bytes(reply: &Reply) -> usize {
    match reply {
        Reply::Series(series) => 1_024 + 16 * series.time_ns.len(),
        Reply::ClientMessage(message) => 1_024 + message.data.to_string().len(),
        _ => 4_096,
    }
}

/// A name that people can read: no control characters, and not too long.
pub(super) fn name(asked: &str) -> Result<String, String> {
    let name: String = asked.trim().chars().filter(|letter| !letter.is_control()).collect();
    match name.chars().count() {
        1..=NAME_CHARS_MAX => Ok(name),
        _ => Err(format!("a client's name has 1 to {NAME_CHARS_MAX} characters")),
    }
}

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

fn is_link(text: &str) -> bool {
    let address = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    text.len() <= LINK_CHARS_MAX
        && address.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
}
