//! Writes an archive: events of each location first, then what their numbers mean.

use crate::constants::{
    COMPRESSION_NONE, CollectiveOp, DEFINITION_CHUNK_BYTES, DOMAIN_MACHINE, DOMAIN_SHARED_MEMORY,
    EVENT_CHUNK_BYTES, FILE_MODE_WRITE, FLUSH, GroupKind, LOCATION_CPU_THREAD, LOCATION_GROUP_PROCESS,
    PARADIGM_CLASS_PROCESS, PARADIGM_MPI, RegionRole, SUBSTRATE_POSIX, SUCCESS, TYPE_SOURCE_CODE_LOCATION,
    TYPE_STRING, TYPE_UINT64, UNDEFINED,
};
use crate::error::Otf2Error;
use crate::handle::Handle;
use crate::library::Library;
use crate::symbols::FlushCallbacks;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What the anchor file and the folder beside it are called.
const ARCHIVE: &str = "traces";

/// Full buffers go to their files, and no record says so.
static FLUSHING: FlushCallbacks = FlushCallbacks { before: flush, after: None };

extern "C" fn flush(_: Handle, _: u8, _: u64, _: Handle, _: bool) -> u8 {
    FLUSH
}

/// An archive that is written.
pub struct Writer {
    library: Library,
    archive: Handle,
    path: PathBuf,
}

impl Writer {
    /// Begins one in a folder that is there and holds nothing.
    ///
    /// # Errors
    /// When the library refuses.
    #[expect(unsafe_code, reason = "functions of the library are called")]
    pub fn create(library: &Library, folder: &Path, creator: &str) -> Result<Self, Otf2Error> {
        let (path, name, creator) = (path_text(folder)?, text(ARCHIVE)?, text(creator)?);
        let symbols = &library.symbols;
        // SAFETY: both texts end with a zero and are copied.
        let archive = unsafe {
            (symbols.archive_open)(
                path.as_ptr(),
                name.as_ptr(),
                FILE_MODE_WRITE,
                EVENT_CHUNK_BYTES,
                DEFINITION_CHUNK_BYTES,
                SUBSTRATE_POSIX,
                COMPRESSION_NONE,
            )
        };
        if archive.is_null() {
            return Err(Otf2Error::Refused {
                doing: "begin an archive in",
                path: folder.to_owned(),
                why: "it says no more than that".into(),
            });
        }
        let own = Self { library: library.clone(), archive, path: folder.to_owned() };
        let doing = "begin an archive in";
        // SAFETY: the archive is open; the callbacks stay for ever, and the text is copied.
        unsafe {
            own.done(doing, (symbols.archive_set_flush)(archive, &raw const FLUSHING, std::ptr::null_mut()))?;
            own.done(doing, (symbols.archive_set_serial)(archive))?;
            own.done(doing, (symbols.archive_set_creator)(archive, creator.as_ptr()))?;
            own.done(doing, (symbols.archive_open_events)(archive))?;
        }
        Ok(own)
    }

    fn done(&self, doing: &'static str, code: i32) -> Result<(), Otf2Error> {
        if code == SUCCESS {
            return Ok(());
        }
        Err(Otf2Error::Refused { doing, path: self.path.clone(), why: self.library.symbols.words(code) })
    }

    /// What writes the events of one location. Its buffer is memory until it is closed.
    ///
    /// # Errors
    /// When the library refuses.
    #[expect(unsafe_code, reason = "functions of the library are called")]
    pub fn events(&self, location: u64) -> Result<Events<'_>, Otf2Error> {
        // SAFETY: the archive is open and its files of events are.
        let writer = unsafe { (self.library.symbols.archive_event_writer)(self.archive, location) };
        if writer.is_null() {
            let why = format!("location {location} is refused");
            return Err(Otf2Error::Refused { doing: "write events of", path: self.path.clone(), why });
        }
        let attributes = Attributes::new(&self.library)?;
        Ok(Events { archive: self, writer, attributes, count: 0 })
    }

    /// All events were written: the definitions of their numbers follow. Each location with events has to be named.
    ///
    /// # Errors
    /// When the library refuses.
    #[expect(unsafe_code, reason = "functions of the library are called")]
    pub fn definitions(
        &self,
        locations: impl IntoIterator<Item = u64>,
    ) -> Result<GlobalDefinitions<'_>, Otf2Error> {
        let symbols = &self.library.symbols;
        let doing = "write definitions to";
        // SAFETY: the archive is open; each writer is closed before the next is asked for.
        unsafe {
            self.done("write events to", (symbols.archive_close_events)(self.archive))?;
            self.done(doing, (symbols.archive_open_definitions)(self.archive))?;
            for location in locations {
                let writer = (symbols.archive_definition_writer)(self.archive, location);
                self.done(doing, (symbols.archive_close_definition_writer)(self.archive, writer))?;
            }
            self.done(doing, (symbols.archive_close_definitions)(self.archive))?;
            let writer = (symbols.archive_global_writer)(self.archive);
            Ok(GlobalDefinitions { archive: self, writer, strings: 0 })
        }
    }

    /// Everything is written.
    ///
    /// # Errors
    /// When the library refuses.
    #[expect(unsafe_code, reason = "functions of the library are called")]
    pub fn finish(mut self) -> Result<(), Otf2Error> {
        let archive = std::mem::replace(&mut self.archive, std::ptr::null_mut());
        // SAFETY: the archive is open, and nobody has it any more.
        let code = unsafe { (self.library.symbols.archive_close)(archive) };
        self.done("finish the archive in", code)
    }
}

impl Drop for Writer {
    #[expect(unsafe_code, reason = "functions of the library are called")]
    fn drop(&mut self) {
        if !self.archive.is_null() {
            // SAFETY: it was not closed; nobody asks how that went for what is given up.
            unsafe { (self.library.symbols.archive_close)(self.archive) };
        }
    }
}

fn text(text: &str) -> Result<CString, Otf2Error> {
    CString::new(text).map_err(|_| Otf2Error::ZeroByte { text: text.to_owned() })
}

pub(crate) fn path_text(path: &Path) -> Result<CString, Otf2Error> {
    let bytes = path.as_os_str().as_bytes();
    CString::new(bytes).map_err(|_| Otf2Error::ZeroByte { text: path.to_string_lossy().into_owned() })
}

/// Attributes of an event.
pub struct Attributes {
    library: Library,
    list: Handle,
    is_empty: bool,
}

impl Attributes {
    #[expect(unsafe_code, reason = "functions of the library are called")]
    fn new(library: &Library) -> Result<Self, Otf2Error> {
        // SAFETY: it takes nothing.
        let list = unsafe { (library.symbols.attributes_new)() };
        if list.is_null() {
            let why = "there is no memory for attributes".into();
            return Err(Otf2Error::Refused { doing: "write", path: PathBuf::new(), why });
        }
        Ok(Self { library: library.clone(), list, is_empty: true })
    }

    /// A number.
    #[expect(unsafe_code, reason = "functions of the library are called")]
    pub fn number(&mut self, attribute: u32, value: u64) {
        self.is_empty = false;
        // SAFETY: the list is there as long as this value. It refuses only what is in it already.
        unsafe { (self.library.symbols.attributes_add_number)(self.list, attribute, value) };
    }

    /// A string that is defined.
    #[expect(unsafe_code, reason = "functions of the library are called")]
    pub fn string(&mut self, attribute: u32, string: u32) {
        self.is_empty = false;
        // SAFETY: as above.
        unsafe { (self.library.symbols.attributes_add_string)(self.list, attribute, string) };
    }

    /// A place in a source file that is defined.
    #[expect(unsafe_code, reason = "functions of the library are called")]
    pub fn source(&mut self, attribute: u32, place: u32) {
        self.is_empty = false;
        // SAFETY: as above.
        unsafe { (self.library.symbols.attributes_add_source)(self.list, attribute, place) };
    }

    /// The list for one event, which empties it.
    fn take(&mut self) -> Handle {
        if std::mem::replace(&mut self.is_empty, true) { std::ptr::null_mut() } else { self.list }
    }
}

impl Drop for Attributes {
    #[expect(unsafe_code, reason = "functions of the library are called")]
    fn drop(&mut self) {
        // SAFETY: the list is there, and nobody has it any more.
        unsafe { (self.library.symbols.attributes_delete)(self.list) };
    }
}

/// Events of one location, in the order of time.
pub struct Events<'a> {
    archive: &'a Writer,
    writer: Handle,
    attributes: Attributes,
    count: u64,
}

#[expect(
    unsafe_code,
    clippy::missing_errors_doc,
    reason = "functions of the library are called; all of them may refuse"
)]
impl Events<'_> {
    /// Attributes of the next event.
    pub fn attributes(&mut self) -> &mut Attributes {
        &mut self.attributes
    }

    fn written(&mut self, code: i32) -> Result<(), Otf2Error> {
        self.count += 1;
        self.archive.done("write events to", code)
    }

    /// A region is entered.
    pub fn enter(&mut self, time: u64, region: u32) -> Result<(), Otf2Error> {
        let list = self.attributes.take();
        // SAFETY: the writer is open, and the list is its own or none; so for all below.
        let code = unsafe { (self.archive.library.symbols.enter)(self.writer, list, time, region) };
        self.written(code)
    }

    /// A region is left.
    pub fn leave(&mut self, time: u64, region: u32) -> Result<(), Otf2Error> {
        let list = self.attributes.take();
        // SAFETY: see above.
        let code = unsafe { (self.archive.library.symbols.leave)(self.writer, list, time, region) };
        self.written(code)
    }

    /// A message is sent to a rank of a communicator.
    pub fn send(&mut self, time: u64, to: u32, comm: u32, tag: u32, bytes: u64) -> Result<(), Otf2Error> {
        let list = self.attributes.take();
        // SAFETY: see above.
        let code =
            unsafe { (self.archive.library.symbols.send)(self.writer, list, time, to, comm, tag, bytes) };
        self.written(code)
    }

    /// A message was received from a rank of a communicator.
    pub fn receive(
        &mut self,
        time: u64,
        from: u32,
        comm: u32,
        tag: u32,
        bytes: u64,
    ) -> Result<(), Otf2Error> {
        let list = self.attributes.take();
        // SAFETY: see above.
        let code = unsafe {
            (self.archive.library.symbols.receive)(self.writer, list, time, from, comm, tag, bytes)
        };
        self.written(code)
    }

    /// A collective begins.
    pub fn collective_begin(&mut self, time: u64) -> Result<(), Otf2Error> {
        let list = self.attributes.take();
        // SAFETY: see above.
        let code = unsafe { (self.archive.library.symbols.collective_begin)(self.writer, list, time) };
        self.written(code)
    }

    /// A collective ends: of a communicator, with a root in it or none, and what was sent and received.
    pub fn collective_end(
        &mut self,
        time: u64,
        op: CollectiveOp,
        (comm, root): (u32, u32),
        (sent, received): (u64, u64),
    ) -> Result<(), Otf2Error> {
        let list = self.attributes.take();
        let end = self.archive.library.symbols.collective_end;
        // SAFETY: see above.
        let code = unsafe { end(self.writer, list, time, op as u8, comm, root, sent, received) };
        self.written(code)
    }

    /// That was all of this location; says how many events there were.
    pub fn finish(mut self) -> Result<u64, Otf2Error> {
        self.close()?;
        Ok(self.count)
    }

    fn close(&mut self) -> Result<(), Otf2Error> {
        let writer = std::mem::replace(&mut self.writer, std::ptr::null_mut());
        // SAFETY: the writer is open, and nobody has it any more.
        let code = unsafe {
            (self.archive.library.symbols.archive_close_event_writer)(self.archive.archive, writer)
        };
        self.archive.done("write events to", code)
    }
}

impl Drop for Events<'_> {
    fn drop(&mut self) {
        if !self.writer.is_null() {
            // What is given up is not asked for.
            let _ = self.close();
        }
    }
}

/// Says what the numbers in events mean. Strings are numbered as they come, and all else as its caller likes.
pub struct GlobalDefinitions<'a> {
    archive: &'a Writer,
    writer: Handle,
    strings: u32,
}

#[expect(
    unsafe_code,
    clippy::missing_errors_doc,
    reason = "functions of the library are called; all of them may refuse"
)]
impl GlobalDefinitions<'_> {
    fn written(&self, code: i32) -> Result<(), Otf2Error> {
        self.archive.done("write definitions to", code)
    }

    /// Times are ticks at this rate, from `from` on and no more than `length`; that began at a time in nanoseconds
    /// since 1970, if known.
    pub fn clock(
        &self,
        ticks_per_s: u64,
        from: u64,
        length: u64,
        began_unix_ns: Option<u64>,
    ) -> Result<(), Otf2Error> {
        let define = self.archive.library.symbols.define_clock;
        // SAFETY: the writer is open as long as this value is there; so for all below.
        self.written(unsafe {
            define(self.writer, ticks_per_s, from, length, began_unix_ns.unwrap_or(u64::MAX))
        })
    }

    /// A string; zeros in it are left out. Gives its number.
    pub fn string(&mut self, string: &str) -> Result<u32, Otf2Error> {
        let plain = text(&string.replace('\0', ""))?;
        let number = self.strings;
        self.strings += 1;
        // SAFETY: see above; the text ends with a zero and is copied.
        self.written(unsafe {
            (self.archive.library.symbols.define_string)(self.writer, number, plain.as_ptr())
        })?;
        Ok(number)
    }

    /// MPI is a way in which processes talk.
    pub fn mpi(&self, name: u32) -> Result<(), Otf2Error> {
        let define = self.archive.library.symbols.define_paradigm;
        // SAFETY: see above.
        self.written(unsafe { define(self.writer, PARADIGM_MPI, name, PARADIGM_CLASS_PROCESS) })
    }

    /// A part of the system: the machine, or a node of it.
    pub fn tree_node(
        &self,
        number: u32,
        (name, class): (u32, u32),
        parent: Option<u32>,
    ) -> Result<(), Otf2Error> {
        let domain = if parent.is_some() { DOMAIN_SHARED_MEMORY } else { DOMAIN_MACHINE };
        let symbols = &self.archive.library.symbols;
        // SAFETY: see above.
        unsafe {
            let parent = parent.unwrap_or(UNDEFINED);
            self.written((symbols.define_tree_node)(self.writer, number, name, class, parent))?;
            self.written((symbols.define_tree_domain)(self.writer, number, domain))
        }
    }

    /// A process on a node.
    pub fn process(&self, number: u32, name: u32, node: u32) -> Result<(), Otf2Error> {
        let define = self.archive.library.symbols.define_location_group;
        // SAFETY: see above.
        self.written(unsafe { define(self.writer, number, name, LOCATION_GROUP_PROCESS, node, UNDEFINED) })
    }

    /// A thread of a process, with its number of events.
    pub fn thread(&self, location: u64, name: u32, events: u64, process: u32) -> Result<(), Otf2Error> {
        let define = self.archive.library.symbols.define_location;
        // SAFETY: see above.
        self.written(unsafe { define(self.writer, location, name, LOCATION_CPU_THREAD, events, process) })
    }

    /// A function of MPI.
    pub fn region(&self, number: u32, name: u32, role: RegionRole) -> Result<(), Otf2Error> {
        let define = self.archive.library.symbols.define_region;
        let (role, none) = (role as u8, UNDEFINED);
        // SAFETY: see above.
        self.written(unsafe {
            define(self.writer, number, name, name, none, role, PARADIGM_MPI, 0, none, 0, 0)
        })
    }

    /// A group.
    pub fn group(&self, number: u32, name: u32, kind: GroupKind, members: &[u64]) -> Result<(), Otf2Error> {
        let define = self.archive.library.symbols.define_group;
        let count = u32::try_from(members.len()).unwrap_or(u32::MAX);
        // SAFETY: see above; there are at least this number of members, and they are copied.
        self.written(unsafe {
            define(self.writer, number, name, kind as u8, PARADIGM_MPI, 0, count, members.as_ptr())
        })
    }

    /// A communicator of a group.
    pub fn comm(&self, number: u32, name: u32, group: u32, parent: Option<u32>) -> Result<(), Otf2Error> {
        let define = self.archive.library.symbols.define_comm;
        // SAFETY: see above.
        self.written(unsafe { define(self.writer, number, name, group, parent.unwrap_or(UNDEFINED), 0) })
    }

    fn attribute(&self, number: u32, (name, about): (u32, u32), kind: u8) -> Result<(), Otf2Error> {
        let define = self.archive.library.symbols.define_attribute;
        // SAFETY: see above.
        self.written(unsafe { define(self.writer, number, name, about, kind) })
    }

    /// An attribute whose values are numbers.
    pub fn number_attribute(&self, number: u32, words: (u32, u32)) -> Result<(), Otf2Error> {
        self.attribute(number, words, TYPE_UINT64)
    }

    /// An attribute whose values are strings.
    pub fn string_attribute(&self, number: u32, words: (u32, u32)) -> Result<(), Otf2Error> {
        self.attribute(number, words, TYPE_STRING)
    }

    /// An attribute whose values are places in source files.
    pub fn source_attribute(&self, number: u32, words: (u32, u32)) -> Result<(), Otf2Error> {
        self.attribute(number, words, TYPE_SOURCE_CODE_LOCATION)
    }

    /// A place in a source file.
    pub fn source(&self, number: u32, file: u32, line: u32) -> Result<(), Otf2Error> {
        // SAFETY: see above.
        self.written(unsafe { (self.archive.library.symbols.define_source)(self.writer, number, file, line) })
    }

    /// That was all.
    pub fn finish(self) -> Result<(), Otf2Error> {
        let close = self.archive.library.symbols.archive_close_global_writer;
        // SAFETY: see above; nobody has it any more.
        self.written(unsafe { close(self.archive.archive, self.writer) })
    }
}
