//! The functions of the library, with the types that its headers of version 3 give them.

use crate::error::Otf2Error;
use crate::handle::Handle;
use libc::c_char;
use std::ffi::{CStr, CString};

type Text = *const c_char;
type Code = i32;

/// What is asked before a buffer is written, and after.
#[repr(C)]
pub(crate) struct FlushCallbacks {
    pub(crate) before: extern "C" fn(Handle, u8, u64, Handle, bool) -> u8,
    pub(crate) after: Option<extern "C" fn(Handle, u8, u64) -> u64>,
}

/// Takes what the library says of an error; the last is a list of arguments, which is handed over by its address.
pub(crate) type ErrorCallback = extern "C" fn(Handle, Text, u64, Text, Code, Text, Handle) -> Code;

macro_rules! symbols {
    ($($name:ident = $symbol:literal: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// The functions.
        pub(crate) struct Symbols {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> $result,)*
            library: Handle,
        }

        impl Symbols {
            /// Finds all of them in a library that was opened.
            #[expect(unsafe_code, reason = "addresses in a library become functions")]
            fn find(library: Handle, file: &str) -> Result<Self, Otf2Error> {
                let find = |symbol: &'static str| {
                    let lacks = || Otf2Error::OtherLibrary { name: file.to_owned(), symbol };
                    find_address(library, symbol).ok_or_else(lacks)
                };
                Ok(Self {
                    $(
                        // SAFETY: a function of this name has this type in all versions of the library that have the
                        // name it was opened by.
                        $name: unsafe {
                            std::mem::transmute::<Handle, unsafe extern "C" fn($($argument),*) -> $result>(find($symbol)?)
                        },
                    )*
                    library,
                })
            }
        }
    };
}

symbols! {
    error_description = "OTF2_Error_GetDescription": fn(Code) -> Text;
    register_error_callback = "OTF2_Error_RegisterCallback": fn(ErrorCallback, Handle) -> Handle;

    archive_open = "OTF2_Archive_Open": fn(Text, Text, u8, u64, u64, u8, u8) -> Handle;
    archive_close = "OTF2_Archive_Close": fn(Handle) -> Code;
    archive_set_flush = "OTF2_Archive_SetFlushCallbacks": fn(Handle, *const FlushCallbacks, Handle) -> Code;
    archive_set_serial = "OTF2_Archive_SetSerialCollectiveCallbacks": fn(Handle) -> Code;
    archive_set_creator = "OTF2_Archive_SetCreator": fn(Handle, Text) -> Code;
    archive_open_events = "OTF2_Archive_OpenEvtFiles": fn(Handle) -> Code;
    archive_close_events = "OTF2_Archive_CloseEvtFiles": fn(Handle) -> Code;
    archive_open_definitions = "OTF2_Archive_OpenDefFiles": fn(Handle) -> Code;
    archive_close_definitions = "OTF2_Archive_CloseDefFiles": fn(Handle) -> Code;
    archive_event_writer = "OTF2_Archive_GetEvtWriter": fn(Handle, u64) -> Handle;
    archive_close_event_writer = "OTF2_Archive_CloseEvtWriter": fn(Handle, Handle) -> Code;
    archive_definition_writer = "OTF2_Archive_GetDefWriter": fn(Handle, u64) -> Handle;
    archive_close_definition_writer = "OTF2_Archive_CloseDefWriter": fn(Handle, Handle) -> Code;
    archive_global_writer = "OTF2_Archive_GetGlobalDefWriter": fn(Handle) -> Handle;
    archive_close_global_writer = "OTF2_Archive_CloseGlobalDefWriter": fn(Handle, Handle) -> Code;

    define_clock = "OTF2_GlobalDefWriter_WriteClockProperties": fn(Handle, u64, u64, u64, u64) -> Code;
    define_string = "OTF2_GlobalDefWriter_WriteString": fn(Handle, u32, Text) -> Code;
    define_tree_node = "OTF2_GlobalDefWriter_WriteSystemTreeNode": fn(Handle, u32, u32, u32, u32) -> Code;
    define_tree_domain = "OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain": fn(Handle, u32, u8) -> Code;
    define_location_group = "OTF2_GlobalDefWriter_WriteLocationGroup": fn(Handle, u32, u32, u8, u32, u32) -> Code;
    define_location = "OTF2_GlobalDefWriter_WriteLocation": fn(Handle, u64, u32, u8, u64, u32) -> Code;
    define_region = "OTF2_GlobalDefWriter_WriteRegion":
        fn(Handle, u32, u32, u32, u32, u8, u8, u32, u32, u32, u32) -> Code;
    define_group = "OTF2_GlobalDefWriter_WriteGroup": fn(Handle, u32, u32, u8, u8, u32, u32, *const u64) -> Code;
    define_comm = "OTF2_GlobalDefWriter_WriteComm": fn(Handle, u32, u32, u32, u32, u32) -> Code;
    define_attribute = "OTF2_GlobalDefWriter_WriteAttribute": fn(Handle, u32, u32, u32, u8) -> Code;
    define_source = "OTF2_GlobalDefWriter_WriteSourceCodeLocation": fn(Handle, u32, u32, u32) -> Code;
    define_paradigm = "OTF2_GlobalDefWriter_WriteParadigm": fn(Handle, u8, u32, u8) -> Code;

    enter = "OTF2_EvtWriter_Enter": fn(Handle, Handle, u64, u32) -> Code;
    leave = "OTF2_EvtWriter_Leave": fn(Handle, Handle, u64, u32) -> Code;
    send = "OTF2_EvtWriter_MpiSend": fn(Handle, Handle, u64, u32, u32, u32, u64) -> Code;
    receive = "OTF2_EvtWriter_MpiRecv": fn(Handle, Handle, u64, u32, u32, u32, u64) -> Code;
    collective_begin = "OTF2_EvtWriter_MpiCollectiveBegin": fn(Handle, Handle, u64) -> Code;
    collective_end = "OTF2_EvtWriter_MpiCollectiveEnd": fn(Handle, Handle, u64, u8, u32, u32, u64, u64) -> Code;

    attributes_new = "OTF2_AttributeList_New": fn() -> Handle;
    attributes_delete = "OTF2_AttributeList_Delete": fn(Handle) -> Code;
    attributes_add_number = "OTF2_AttributeList_AddUint64": fn(Handle, u32, u64) -> Code;
    attributes_add_string = "OTF2_AttributeList_AddStringRef": fn(Handle, u32, u32) -> Code;
    attributes_add_source = "OTF2_AttributeList_AddSourceCodeLocationRef": fn(Handle, u32, u32) -> Code;
    attributes_number = "OTF2_AttributeList_GetUint64": fn(Handle, u32, *mut u64) -> Code;
    attributes_string = "OTF2_AttributeList_GetStringRef": fn(Handle, u32, *mut u32) -> Code;
    attributes_has = "OTF2_AttributeList_TestAttributeByID": fn(Handle, u32) -> bool;

    reader_open = "OTF2_Reader_Open": fn(Text) -> Handle;
    reader_close = "OTF2_Reader_Close": fn(Handle) -> Code;
    reader_set_serial = "OTF2_Reader_SetSerialCollectiveCallbacks": fn(Handle) -> Code;
    reader_global = "OTF2_Reader_GetGlobalDefReader": fn(Handle) -> Handle;
    reader_register_global = "OTF2_Reader_RegisterGlobalDefCallbacks": fn(Handle, Handle, Handle, Handle) -> Code;
    reader_read_global = "OTF2_Reader_ReadAllGlobalDefinitions": fn(Handle, Handle, *mut u64) -> Code;
    reader_close_global = "OTF2_Reader_CloseGlobalDefReader": fn(Handle, Handle) -> Code;
    reader_select = "OTF2_Reader_SelectLocation": fn(Handle, u64) -> Code;
    reader_open_definitions = "OTF2_Reader_OpenDefFiles": fn(Handle) -> Code;
    reader_close_definitions = "OTF2_Reader_CloseDefFiles": fn(Handle) -> Code;
    reader_definitions = "OTF2_Reader_GetDefReader": fn(Handle, u64) -> Handle;
    reader_read_definitions = "OTF2_Reader_ReadAllLocalDefinitions": fn(Handle, Handle, *mut u64) -> Code;
    reader_close_definition_reader = "OTF2_Reader_CloseDefReader": fn(Handle, Handle) -> Code;
    reader_open_events = "OTF2_Reader_OpenEvtFiles": fn(Handle) -> Code;
    reader_events = "OTF2_Reader_GetEvtReader": fn(Handle, u64) -> Handle;
    reader_register_events = "OTF2_Reader_RegisterEvtCallbacks": fn(Handle, Handle, Handle, Handle) -> Code;
    reader_read_events = "OTF2_Reader_ReadLocalEvents": fn(Handle, Handle, u64, *mut u64) -> Code;
    reader_close_event_reader = "OTF2_Reader_CloseEvtReader": fn(Handle, Handle) -> Code;

    global_callbacks_new = "OTF2_GlobalDefReaderCallbacks_New": fn() -> Handle;
    global_callbacks_delete = "OTF2_GlobalDefReaderCallbacks_Delete": fn(Handle) -> ();
    on_clock = "OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback": fn(Handle, OnClock) -> Code;
    on_string = "OTF2_GlobalDefReaderCallbacks_SetStringCallback": fn(Handle, OnString) -> Code;
    on_tree_node = "OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback": fn(Handle, OnTreeNode) -> Code;
    on_location_group = "OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback": fn(Handle, OnLocationGroup) -> Code;
    on_location = "OTF2_GlobalDefReaderCallbacks_SetLocationCallback": fn(Handle, OnLocation) -> Code;
    on_region = "OTF2_GlobalDefReaderCallbacks_SetRegionCallback": fn(Handle, OnRegion) -> Code;
    on_group = "OTF2_GlobalDefReaderCallbacks_SetGroupCallback": fn(Handle, OnGroup) -> Code;
    on_comm = "OTF2_GlobalDefReaderCallbacks_SetCommCallback": fn(Handle, OnComm) -> Code;
    on_inter_comm = "OTF2_GlobalDefReaderCallbacks_SetInterCommCallback": fn(Handle, OnInterComm) -> Code;
    on_attribute = "OTF2_GlobalDefReaderCallbacks_SetAttributeCallback": fn(Handle, OnAttribute) -> Code;
    on_calling_context = "OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback": fn(Handle, OnCallingContext) -> Code;

    event_callbacks_new = "OTF2_EvtReaderCallbacks_New": fn() -> Handle;
    event_callbacks_delete = "OTF2_EvtReaderCallbacks_Delete": fn(Handle) -> ();
    on_enter = "OTF2_EvtReaderCallbacks_SetEnterCallback": fn(Handle, OnRegionEvent) -> Code;
    on_leave = "OTF2_EvtReaderCallbacks_SetLeaveCallback": fn(Handle, OnRegionEvent) -> Code;
    on_send = "OTF2_EvtReaderCallbacks_SetMpiSendCallback": fn(Handle, OnMessage) -> Code;
    on_receive = "OTF2_EvtReaderCallbacks_SetMpiRecvCallback": fn(Handle, OnMessage) -> Code;
    on_isend = "OTF2_EvtReaderCallbacks_SetMpiIsendCallback": fn(Handle, OnRequestMessage) -> Code;
    on_ireceive = "OTF2_EvtReaderCallbacks_SetMpiIrecvCallback": fn(Handle, OnRequestMessage) -> Code;
    on_ireceive_request = "OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback": fn(Handle, OnRequest) -> Code;
    on_collective_end = "OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback": fn(Handle, OnCollective) -> Code;
    on_context_enter = "OTF2_EvtReaderCallbacks_SetCallingContextEnterCallback": fn(Handle, OnContextEnter) -> Code;
    on_context_leave = "OTF2_EvtReaderCallbacks_SetCallingContextLeaveCallback": fn(Handle, OnRegionEvent) -> Code;
    on_collective_request =
        "OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback": fn(Handle, OnRequest) -> Code;
    on_collective_complete =
        "OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback": fn(Handle, OnStartedCollective) -> Code;
}

pub(crate) type OnClock = extern "C" fn(Handle, u64, u64, u64, u64) -> Code;
pub(crate) type OnString = extern "C" fn(Handle, u32, Text) -> Code;
pub(crate) type OnTreeNode = extern "C" fn(Handle, u32, u32, u32, u32) -> Code;
pub(crate) type OnLocationGroup = extern "C" fn(Handle, u32, u32, u8, u32, u32) -> Code;
pub(crate) type OnLocation = extern "C" fn(Handle, u64, u32, u8, u64, u32) -> Code;
pub(crate) type OnRegion = extern "C" fn(Handle, u32, u32, u32, u32, u8, u8, u32, u32, u32, u32) -> Code;
pub(crate) type OnGroup = extern "C" fn(Handle, u32, u32, u8, u8, u32, u32, *const u64) -> Code;
pub(crate) type OnComm = extern "C" fn(Handle, u32, u32, u32, u32, u32) -> Code;
pub(crate) type OnInterComm = extern "C" fn(Handle, u32, u32, u32, u32, u32, u32) -> Code;
pub(crate) type OnAttribute = extern "C" fn(Handle, u32, u32, u32, u8) -> Code;
pub(crate) type OnCallingContext = extern "C" fn(Handle, u32, u32, u32, u32) -> Code;
pub(crate) type OnContextEnter = extern "C" fn(u64, u64, u64, Handle, Handle, u32, u32) -> Code;
pub(crate) type OnRegionEvent = extern "C" fn(u64, u64, u64, Handle, Handle, u32) -> Code;
pub(crate) type OnMessage = extern "C" fn(u64, u64, u64, Handle, Handle, u32, u32, u32, u64) -> Code;
pub(crate) type OnRequestMessage =
    extern "C" fn(u64, u64, u64, Handle, Handle, u32, u32, u32, u64, u64) -> Code;
pub(crate) type OnRequest = extern "C" fn(u64, u64, u64, Handle, Handle, u64) -> Code;
pub(crate) type OnStartedCollective =
    extern "C" fn(u64, u64, u64, Handle, Handle, u8, u32, u32, u64, u64, u64) -> Code;
pub(crate) type OnCollective = extern "C" fn(u64, u64, u64, Handle, Handle, u8, u32, u32, u64, u64) -> Code;

impl Symbols {
    /// Loads the first of these files that is there. It is never unloaded.
    #[expect(unsafe_code, reason = "a library is loaded")]
    pub(crate) fn load(files: &[&str]) -> Result<Self, Otf2Error> {
        for file in files {
            let Ok(name) = CString::new(*file) else { continue };
            // SAFETY: the name ends with a zero; what the library does when it is loaded is the machine's own business.
            let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            if !library.is_null() {
                return Self::find(library, file);
            }
        }
        Err(Otf2Error::NoLibrary)
    }

    /// The address of a function that some releases of the library lack.
    pub(crate) fn address(&self, symbol: &str) -> Option<usize> {
        find_address(self.library, symbol).map(|found| found.expose_provenance())
    }

    /// What the library says of a code.
    #[expect(unsafe_code, reason = "a function of the library is called")]
    pub(crate) fn words(&self, code: Code) -> String {
        // SAFETY: the function takes any number and gives a text that stays, or nothing.
        let words = unsafe { (self.error_description)(code) };
        if words.is_null() {
            return format!("error {code}");
        }
        // SAFETY: as above; it ends with a zero.
        unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned()
    }
}

/// Where the function of a name is; none where the library lacks it.
#[expect(unsafe_code, reason = "an address in a library is looked up")]
fn find_address(library: Handle, symbol: &str) -> Option<Handle> {
    let name = CString::new(symbol).ok()?;
    // SAFETY: the library is open and stays so, and the name ends with a zero.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}
