//! Reads an archive: what its numbers mean, then the events of one location after the other.
//!
//! The library calls back for each record. What it hands over is copied before it goes on; nothing here panics over what a
//! trace says.

use crate::anchor;
use crate::constants::{
    GroupKind, INTERRUPT, LOCATION_CPU_THREAD, LOCATION_GROUP_PROCESS, PARADIGM_MPI, PARADIGMS_OF_PROGRAMS,
    ROLES_OF_FUNCTIONS, SUCCESS, UNDEFINED,
};
use crate::definitions::{Definitions, Group, InterComm, Location, LocationGroup, Region, TreeNode};
use crate::error::Otf2Error;
use crate::event::{Event, WantedAttributes};
use crate::event_listener::{EventListener, Take, listener};
use crate::handle::Handle;
use crate::library::Library;
use crate::other_callbacks;
use crate::other_event::OtherEvents;
use crate::probe_callbacks;
use crate::writer::path_text;
use libc::c_char;
use std::collections::HashMap;
use std::ffi::CStr;
use std::path::{Path, PathBuf};

/// Events that are read between two looks at what the caller wants.
const EVENTS_AT_ONCE: u64 = 1 << 16;

/// An archive that is read.
pub struct Reader {
    library: Library,
    reader: Handle,
    path: PathBuf,
}

impl Reader {
    /// Opens the archive of an anchor file.
    ///
    /// # Errors
    /// When the library cannot read it.
    #[expect(unsafe_code, reason = "functions of the library are called")]
    pub fn open(library: &Library, anchor: &Path) -> Result<Self, Otf2Error> {
        let path = path_text(anchor)?;
        anchor::check(anchor)?;
        // SAFETY: the text ends with a zero and is copied.
        let reader = unsafe { (library.symbols.reader_open)(path.as_ptr()) };
        if reader.is_null() {
            let why = "it is no anchor file of an OTF2 archive".into();
            return Err(Otf2Error::Refused { doing: "read", path: anchor.to_owned(), why });
        }
        let own = Self { library: library.clone(), reader, path: anchor.to_owned() };
        // SAFETY: the reader is open.
        own.done("read", unsafe { (own.library.symbols.reader_set_serial)(reader) })?;
        Ok(own)
    }

    fn done(&self, doing: &'static str, code: i32) -> Result<(), Otf2Error> {
        if code == SUCCESS {
            return Ok(());
        }
        Err(Otf2Error::Refused { doing, path: self.path.clone(), why: self.library.symbols.words(code) })
    }

    /// What the numbers in events mean.
    ///
    /// # Errors
    /// When the library cannot read it.
    #[expect(unsafe_code, reason = "functions of the library are called")]
    pub fn definitions(&mut self) -> Result<Definitions, Otf2Error> {
        let symbols = &self.library.symbols;
        let mut definitions = Definitions::default();
        let data: Handle = (&raw mut definitions).cast();
        let doing = "read the definitions of";
        let mut count = 0;
        // SAFETY: the reader is open; callbacks get the definitions, which are there until they were all called, and
        // nobody else touches them meanwhile.
        let code = unsafe {
            let global = (symbols.reader_global)(self.reader);
            let callbacks = (symbols.global_callbacks_new)();
            (symbols.on_clock)(callbacks, clock);
            (symbols.on_string)(callbacks, string);
            (symbols.on_tree_node)(callbacks, tree_node);
            (symbols.on_location_group)(callbacks, location_group);
            (symbols.on_location)(callbacks, location);
            (symbols.on_region)(callbacks, region);
            (symbols.on_group)(callbacks, group);
            (symbols.on_comm)(callbacks, comm);
            (symbols.on_inter_comm)(callbacks, inter_comm);
            (symbols.on_attribute)(callbacks, attribute);
            (symbols.on_calling_context)(callbacks, calling_context);
            let mut code = (symbols.reader_register_global)(self.reader, global, callbacks, data);
            (symbols.global_callbacks_delete)(callbacks);
            if code == SUCCESS {
                code = (symbols.reader_read_global)(self.reader, global, &raw mut count);
            }
            (symbols.reader_close_global)(self.reader, global);
            code
        };
        self.done(doing, code)?;
        self.open_locations(&definitions)?;
        Ok(definitions)
    }

    /// Has the library open the files of all locations, and read how their own numbers are to be understood.
    #[expect(unsafe_code, reason = "functions of the library are called")]
    fn open_locations(&self, definitions: &Definitions) -> Result<(), Otf2Error> {
        let symbols = &self.library.symbols;
        // SAFETY: the reader is open; each reader of definitions is closed before the next is asked for.
        unsafe {
            for found in &definitions.locations {
                self.done("read", (symbols.reader_select)(self.reader, found.location))?;
            }
            // Archives need not have definitions of their own for each location.
            if (symbols.reader_open_definitions)(self.reader) == SUCCESS {
                for found in &definitions.locations {
                    let local = (symbols.reader_definitions)(self.reader, found.location);
                    if !local.is_null() {
                        let mut count = 0;
                        let code = (symbols.reader_read_definitions)(self.reader, local, &raw mut count);
                        (symbols.reader_close_definition_reader)(self.reader, local);
                        self.done("read the definitions of", code)?;
                    }
                }
                (symbols.reader_close_definitions)(self.reader);
            }
            self.done("read the events of", (symbols.reader_open_events)(self.reader))
        }
    }

    /// Callbacks for events, which the caller deletes. Their data is an [`EventListener`].
    #[expect(unsafe_code, reason = "functions of the library are called")]
    fn new_event_callbacks(&self) -> Handle {
        let symbols = &*self.library.symbols;
        // SAFETY: the callbacks are new, and each setter gets one of its type.
        let callbacks = unsafe {
            let callbacks = (symbols.event_callbacks_new)();
            (symbols.on_enter)(callbacks, enter);
            (symbols.on_leave)(callbacks, leave);
            (symbols.on_send)(callbacks, send);
            (symbols.on_receive)(callbacks, receive);
            (symbols.on_isend)(callbacks, isend);
            (symbols.on_ireceive)(callbacks, ireceive);
            (symbols.on_ireceive_request)(callbacks, ireceive_request);
            (symbols.on_collective_end)(callbacks, collective_end);
            (symbols.on_context_enter)(callbacks, context_enter);
            (symbols.on_context_leave)(callbacks, context_leave);
            (symbols.on_collective_request)(callbacks, collective_started);
            (symbols.on_collective_complete)(callbacks, collective_completed);
            callbacks
        };
        other_callbacks::register(&self.library.setters.others, callbacks);
        probe_callbacks::register(&self.library.setters.matched, callbacks);
        callbacks
    }

    /// The events of one location, in the order of time, until no more are wanted. What is not handed over is counted. A
    /// call path that is entered or left is its region, by `contexts`.
    ///
    /// # Errors
    /// When the library cannot read them.
    #[expect(unsafe_code, reason = "functions of the library are called")]
    pub fn events(
        &mut self,
        location: u64,
        (asked, contexts): (WantedAttributes, &HashMap<u32, u32>),
        take: &mut Take<'_>,
    ) -> Result<OtherEvents, Otf2Error> {
        let symbols = &*self.library.symbols;
        let others = OtherEvents::default();
        let mut listener = EventListener { symbols, asked, contexts, take, others, is_enough: false };
        let data: Handle = (&raw mut listener).cast();
        // SAFETY: the reader is open and its files of events are; callbacks get what is here until all were called, and
        // nobody else touches it meanwhile.
        let code = unsafe {
            let events = (symbols.reader_events)(self.reader, location);
            if events.is_null() {
                return self.done("read the events of", INTERRUPT).map(|()| others);
            }
            let callbacks = self.new_event_callbacks();
            let mut code = (symbols.reader_register_events)(self.reader, events, callbacks, data);
            (symbols.event_callbacks_delete)(callbacks);
            while code == SUCCESS {
                let mut count = 0;
                code = (symbols.reader_read_events)(self.reader, events, EVENTS_AT_ONCE, &raw mut count);
                if count < EVENTS_AT_ONCE {
                    break;
                }
            }
            (symbols.reader_close_event_reader)(self.reader, events);
            code
        };
        let others = listener.others;
        if listener.is_enough { Ok(others) } else { self.done("read the events of", code).map(|()| others) }
    }
}

impl Drop for Reader {
    #[expect(unsafe_code, reason = "functions of the library are called")]
    fn drop(&mut self) {
        // SAFETY: the reader is open, and nobody has it any more.
        unsafe { (self.library.symbols.reader_close)(self.reader) };
    }
}

/// The definitions that a callback of the library gets back.
#[expect(unsafe_code, reason = "an address comes back from the library")]
fn definitions<'a>(data: Handle) -> &'a mut Definitions {
    // SAFETY: it is the address that was handed over with the callbacks, of a value that is there until they were all
    // called, and no two of them run at once.
    unsafe { &mut *data.cast() }
}

extern "C" fn clock(data: Handle, ticks_per_s: u64, from: u64, _: u64, began_unix_ns: u64) -> i32 {
    let own = definitions(data);
    (own.ticks_per_s, own.from) = (ticks_per_s, from);
    own.began_unix_ns = (began_unix_ns != u64::MAX).then_some(began_unix_ns);
    SUCCESS
}

#[expect(unsafe_code, reason = "a text comes from the library")]
extern "C" fn string(data: Handle, number: u32, string: *const c_char) -> i32 {
    if !string.is_null() {
        // SAFETY: the library hands over a text that ends with a zero and stays during the call.
        let string = unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned();
        definitions(data).strings.insert(number, string);
    }
    SUCCESS
}

extern "C" fn tree_node(data: Handle, number: u32, name: u32, class: u32, parent: u32) -> i32 {
    definitions(data).tree_nodes.insert(number, TreeNode { name, class, parent });
    SUCCESS
}

extern "C" fn location_group(data: Handle, number: u32, name: u32, kind: u8, tree_node: u32, _: u32) -> i32 {
    let is_process = kind == LOCATION_GROUP_PROCESS;
    definitions(data).location_groups.insert(number, LocationGroup { name, is_process, tree_node });
    SUCCESS
}

extern "C" fn location(data: Handle, location: u64, name: u32, kind: u8, events: u64, group: u32) -> i32 {
    let is_thread = kind == LOCATION_CPU_THREAD;
    definitions(data).locations.push(Location { location, name, is_thread, events, group });
    SUCCESS
}

extern "C" fn region(
    data: Handle,
    number: u32,
    name: u32,
    _: u32,
    _: u32,
    role: u8,
    paradigm: u8,
    _: u32,
    file: u32,
    _: u32,
    _: u32,
) -> i32 {
    let is_mpi = paradigm == PARADIGM_MPI;
    let is_function = PARADIGMS_OF_PROGRAMS.contains(&paradigm) && ROLES_OF_FUNCTIONS.contains(&role);
    definitions(data).regions.insert(number, Region { name, is_mpi, is_function, file });
    SUCCESS
}

#[expect(unsafe_code, reason = "members come from the library")]
extern "C" fn group(
    data: Handle,
    number: u32,
    _: u32,
    kind: u8,
    paradigm: u8,
    _: u32,
    count: u32,
    members: *const u64,
) -> i32 {
    let kind = GroupKind::from_number(kind);
    let members = if count == 0 || members.is_null() {
        Vec::new()
    } else {
        // SAFETY: the library hands over this number of members, which stay during the call.
        unsafe { std::slice::from_raw_parts(members, count as usize) }.to_vec()
    };
    definitions(data).add_group(number, Group { paradigm, kind, members });
    SUCCESS
}

extern "C" fn comm(data: Handle, number: u32, _: u32, group: u32, _: u32, _: u32) -> i32 {
    definitions(data).comms.insert(number, group);
    SUCCESS
}

extern "C" fn inter_comm(data: Handle, number: u32, _: u32, first: u32, second: u32, _: u32, _: u32) -> i32 {
    definitions(data).inter_comms.insert(number, InterComm { first, second });
    SUCCESS
}

extern "C" fn calling_context(data: Handle, number: u32, region: u32, _: u32, _: u32) -> i32 {
    definitions(data).calling_contexts.insert(number, region);
    SUCCESS
}

extern "C" fn attribute(data: Handle, number: u32, name: u32, _: u32, _: u8) -> i32 {
    definitions(data).attributes.insert(number, name);
    SUCCESS
}

extern "C" fn enter(_: u64, time: u64, _: u64, data: Handle, attributes: Handle, region: u32) -> i32 {
    let own = listener(data);
    let number = own.number(attributes, own.asked.enter_number);
    let string = own.string(attributes, own.asked.enter_string);
    own.event(time, Event::Enter { region, number, string })
}

extern "C" fn leave(_: u64, time: u64, _: u64, data: Handle, _: Handle, region: u32) -> i32 {
    listener(data).event(time, Event::Leave { region })
}

extern "C" fn context_enter(
    _: u64,
    time: u64,
    _: u64,
    data: Handle,
    attributes: Handle,
    context: u32,
    _: u32,
) -> i32 {
    let own = listener(data);
    let number = own.number(attributes, own.asked.enter_number);
    let string = own.string(attributes, own.asked.enter_string);
    // A call path that is not defined enters a region that is not defined: what is left still fits.
    let region = own.contexts.get(&context).copied().unwrap_or(UNDEFINED);
    own.event(time, Event::Enter { region, number, string })
}

extern "C" fn context_leave(_: u64, time: u64, _: u64, data: Handle, _: Handle, context: u32) -> i32 {
    let own = listener(data);
    let region = own.contexts.get(&context).copied().unwrap_or(UNDEFINED);
    own.event(time, Event::Leave { region })
}

extern "C" fn collective_started(_: u64, time: u64, _: u64, data: Handle, _: Handle, request: u64) -> i32 {
    listener(data).event(time, Event::CollectiveStarted { request })
}

extern "C" fn send(
    _: u64,
    time: u64,
    _: u64,
    data: Handle,
    _: Handle,
    peer: u32,
    comm: u32,
    tag: u32,
    bytes: u64,
) -> i32 {
    listener(data).event(time, Event::Send { peer, comm, tag, bytes })
}

extern "C" fn receive(
    _: u64,
    time: u64,
    _: u64,
    data: Handle,
    attributes: Handle,
    peer: u32,
    comm: u32,
    tag: u32,
    bytes: u64,
) -> i32 {
    let own = listener(data);
    let number = own.number(attributes, own.asked.receive_number);
    own.event(time, Event::Receive { peer, comm, tag, bytes, request: None, number })
}

extern "C" fn ireceive_request(_: u64, time: u64, _: u64, data: Handle, _: Handle, request: u64) -> i32 {
    listener(data).event(time, Event::Posted { request })
}

extern "C" fn isend(
    _: u64,
    time: u64,
    _: u64,
    data: Handle,
    _: Handle,
    peer: u32,
    comm: u32,
    tag: u32,
    bytes: u64,
    _: u64,
) -> i32 {
    listener(data).event(time, Event::Send { peer, comm, tag, bytes })
}

extern "C" fn ireceive(
    _: u64,
    time: u64,
    _: u64,
    data: Handle,
    attributes: Handle,
    peer: u32,
    comm: u32,
    tag: u32,
    bytes: u64,
    request: u64,
) -> i32 {
    let own = listener(data);
    let number = own.number(attributes, own.asked.receive_number);
    own.event(time, Event::Receive { peer, comm, tag, bytes, request: Some(request), number })
}

extern "C" fn collective_end(
    _: u64,
    time: u64,
    _: u64,
    data: Handle,
    _: Handle,
    op: u8,
    comm: u32,
    root: u32,
    sent: u64,
    received: u64,
) -> i32 {
    listener(data).event(time, Event::CollectiveEnd { op, comm, root, sent, received, request: None })
}

extern "C" fn collective_completed(
    _: u64,
    time: u64,
    _: u64,
    data: Handle,
    _: Handle,
    op: u8,
    comm: u32,
    root: u32,
    sent: u64,
    received: u64,
    request: u64,
) -> i32 {
    let request = Some(request);
    listener(data).event(time, Event::CollectiveEnd { op, comm, root, sent, received, request })
}
