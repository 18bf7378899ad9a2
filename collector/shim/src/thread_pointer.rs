//! A few words a thread, at a fixed distance from the thread's own base: a pointer, where the call at hand comes from, and
//! where on the stack it was made.
//!
//! The compiler reaches a library's thread-local variables by a call (`__tls_get_addr`), because the library might be
//! loaded late. Ours is there when the program starts, or takes a few bytes of the space reserved for such libraries.
//! One load therefore suffices, which saves a tenth of the cost of every MPI call. The compiler has no option for this
//! yet.
#![expect(unsafe_code, reason = "a variable of threads, addressed by hand")]

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".p2align 3",
    ".hidden mpiscope_thread_words",
    ".globl mpiscope_thread_words",
    ".type mpiscope_thread_words, @object",
    ".size mpiscope_thread_words, 32",
    "mpiscope_thread_words:",
    ".zero 32",
    ".popsection",
);

/// The word at this number of bytes from the first.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn word<const AT: usize>() -> usize {
    let word: usize;
    // SAFETY: reads the thread's own variable, which no other thread writes.
    unsafe {
        core::arch::asm!(
            "mov {word}, qword ptr [rip + mpiscope_thread_words@gottpoff]",
            "mov {word}, qword ptr fs:[{word} + {at}]",
            word = out(reg) word,
            at = const AT,
            options(nostack, preserves_flags, readonly),
        );
    }
    word
}

/// This thread's pointer; null at first.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn get<T>() -> *mut T {
    word::<0>() as *mut T
}

/// This thread's pointer, and where the call at hand comes from: what the symbol that was entered last returns to, or
/// the one that led to it. Whoever wants the latter takes it before anything else is called.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn get_with_caller<T>() -> (*mut T, u64) {
    let (pointer, caller, first): (*mut T, u64, u64);
    // SAFETY: reads the thread's own variables, which no other thread writes.
    unsafe {
        core::arch::asm!(
            "mov {pointer}, qword ptr [rip + mpiscope_thread_words@gottpoff]",
            "mov {caller}, qword ptr fs:[{pointer} + 8]",
            "mov {first}, qword ptr fs:[{pointer} + 16]",
            "mov {pointer}, qword ptr fs:[{pointer}]",
            pointer = out(reg) pointer,
            caller = out(reg) caller,
            first = out(reg) first,
            options(nostack, preserves_flags, readonly),
        );
    }
    (pointer, if first == 0 { caller } else { first })
}

/// Where on the stack the symbol that was entered last was called. Zero where that is not known.
#[cfg(target_arch = "x86_64")]
pub(crate) fn stack() -> usize {
    word::<24>()
}

/// From now on calls come from there, whatever symbols they go through; 0 ends that.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn set_first_caller(caller: u64) {
    // SAFETY: writes the thread's own variable.
    unsafe {
        core::arch::asm!(
            "mov {offset}, qword ptr [rip + mpiscope_thread_words@gottpoff]",
            "mov qword ptr fs:[{offset} + 16], {caller}",
            offset = out(reg) _,
            caller = in(reg) caller,
            options(nostack, preserves_flags),
        );
    }
}

/// Sets this thread's pointer.
#[cfg(target_arch = "x86_64")]
pub(crate) fn set<T>(pointer: *mut T) {
    // SAFETY: writes the thread's own variable.
    unsafe {
        core::arch::asm!(
            "mov {offset}, qword ptr [rip + mpiscope_thread_words@gottpoff]",
            "mov qword ptr fs:[{offset}], {pointer}",
            offset = out(reg) _,
            pointer = in(reg) pointer,
            options(nostack, preserves_flags),
        );
    }
}

/// The thread records no more: recording is off, this is a forked child, or the thread ends. What the pointer led to is not
/// freed here.
pub(crate) fn clear() {
    set(core::ptr::null_mut::<u8>());
}

#[cfg(not(target_arch = "x86_64"))]
thread_local! {
    static SLOT: std::cell::Cell<*mut u8> = const { std::cell::Cell::new(core::ptr::null_mut()) };
}

/// This thread's pointer; null at first.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn get<T>() -> *mut T {
    SLOT.get().cast()
}

/// This thread's pointer; where calls come from is not known here.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn get_with_caller<T>() -> (*mut T, u64) {
    (get(), 0)
}

/// Where on the stack calls are made is not known here.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn stack() -> usize {
    0
}

/// Where calls come from is not known here.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn set_first_caller(_: u64) {}

/// Sets this thread's pointer.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn set<T>(pointer: *mut T) {
    SLOT.set(pointer.cast());
}
