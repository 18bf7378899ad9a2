//! Takes the events of a location from the callbacks of the library, which get its address.

use crate::constants::{INTERRUPT, SUCCESS};
use crate::event::{Event, WantedAttributes};
use crate::handle::Handle;
use crate::other_event::{OtherEvent, OtherEvents};
use crate::symbols::Symbols;
use std::collections::HashMap;

/// Takes events with their times; `false` when it wants no more.
pub(crate) type Take<'a> = dyn FnMut(u64, Event) -> bool + 'a;

/// Takes events.
pub(crate) struct EventListener<'a, 'b> {
    pub(crate) symbols: &'a Symbols,
    pub(crate) asked: WantedAttributes,
    /// The region of each call path.
    pub(crate) contexts: &'a HashMap<u32, u32>,
    pub(crate) take: &'a mut Take<'b>,
    pub(crate) others: OtherEvents,
    pub(crate) is_enough: bool,
}

impl EventListener<'_, '_> {
    pub(crate) fn event(&mut self, time: u64, event: Event) -> i32 {
        self.is_enough = self.is_enough || !(self.take)(time, event);
        if self.is_enough { INTERRUPT } else { SUCCESS }
    }

    /// Something that is only counted.
    pub(crate) fn other(&mut self, kind: OtherEvent) -> i32 {
        self.others.count(kind);
        SUCCESS
    }

    pub(crate) fn number(&self, attributes: Handle, attribute: Option<u32>) -> Option<u64> {
        self.attribute(attributes, attribute, self.symbols.attributes_number)
    }

    pub(crate) fn string(&self, attributes: Handle, attribute: Option<u32>) -> Option<u32> {
        self.attribute(attributes, attribute, self.symbols.attributes_string)
    }

    /// The value of an attribute of an event, if it has it; `read` takes values of its type.
    #[expect(unsafe_code, reason = "functions of the library are called")]
    fn attribute<T: Default>(
        &self,
        attributes: Handle,
        attribute: Option<u32>,
        read: unsafe extern "C" fn(Handle, u32, *mut T) -> i32,
    ) -> Option<T> {
        let attribute = attribute.filter(|_| !attributes.is_null())?;
        let mut value = T::default();
        // SAFETY: the list is there during the callback.
        let found = unsafe {
            (self.symbols.attributes_has)(attributes, attribute)
                && read(attributes, attribute, &raw mut value) == SUCCESS
        };
        found.then_some(value)
    }
}

/// The listener whose address a callback of the library gets.
#[expect(unsafe_code, reason = "an address comes back from the library")]
pub(crate) fn listener<'a>(data: Handle) -> &'a mut EventListener<'a, 'a> {
    // SAFETY: it is the address that was handed over with the callbacks, of a value that is there until they were all
    // called, and no two of them run at once. The names of lifetimes say no more than that.
    unsafe { &mut *data.cast() }
}
