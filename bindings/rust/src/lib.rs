//! Counts hardware events of regions of a program, and grades each count.
//!
//! ```no_run
//! {
//!     let _region = tally::region("parse"); // ends with the block
//!     // parse(input);
//! }
//! let counters = tally::Counters::open(&["instructions", "branches"])?;
//! let counts = counters.count(|| println!("counted"));
//! println!("{:?} {}", counts[0].value, counts[0].trust);
//! # Ok::<(), tally::Error>(())
//! ```
//!
//! `tally stat` shows the regions of a program. Without a PMU, its engine counts exactly.

use std::ffi::{CStr, CString};
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_int, c_longlong};

#[repr(C)]
#[derive(Clone, Copy)]
struct CCount {
    value: c_longlong,
    event: *const c_char,
    unit: *const c_char,
    trust: *const c_char,
    reason: *const c_char,
}

#[repr(C)]
struct CRegionCount {
    total: CCount,
    entries: c_longlong,
    least: c_longlong,
    most: c_longlong,
}

#[repr(C)]
struct CCounters {
    _private: [u8; 0],
}

extern "C" {
    fn tally_region_begin(name: *const c_char) -> c_int;
    fn tally_region_end(name: *const c_char) -> c_int;
    fn tally_error() -> *const c_char;
    fn tally_hint() -> *const c_char;
    fn tally_open(events: *const c_char) -> *mut CCounters;
    fn tally_close(counters: *mut CCounters);
    fn tally_read(counters: *mut CCounters, counts: *mut CCount, room: c_int) -> c_int;
    fn tally_count_region(region: *const c_char, event: *const c_char, count: *mut CRegionCount) -> c_int;
}

const MOST_EVENTS: usize = 16;
const NO_COUNT: CCount = CCount {
    value: 0,
    event: std::ptr::null(),
    unit: std::ptr::null(),
    trust: std::ptr::null(),
    reason: std::ptr::null(),
};

/// Copies a text of the library, which is valid until the thread's next call.
fn text(pointer: *const c_char) -> String {
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// Text for C. Stops at a zero byte, which C cannot represent.
fn c_text(name: &str) -> CString {
    CString::new(name.split('\0').next().unwrap_or("")).unwrap_or_default()
}

/// A failure, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub message: String,
    pub hint: String,
}

impl Error {
    fn last() -> Self {
        unsafe { Error { message: text(tally_error()), hint: text(tally_hint()) } }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}", self.message)?;
        if self.hint.is_empty() { Ok(()) } else { write!(to, "; {}", self.hint) }
    }
}

impl std::error::Error for Error {}

/// A count of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The full name: "instructions:u".
    pub event: String,
    /// Nothing if `trust` is "absent".
    pub value: Option<i64>,
    /// "exact", "counted", "modelled", "partial" or "absent".
    pub trust: String,
    /// "events", "ns" or "bytes".
    pub unit: String,
    /// Why it is absent or partial; else empty.
    pub reason: String,
}

impl Count {
    fn of(count: &CCount, value: i64) -> Self {
        let trust = text(count.trust);
        Count {
            event: text(count.event),
            value: if trust == "absent" { None } else { Some(value) },
            trust,
            unit: text(count.unit),
            reason: text(count.reason),
        }
    }
}

/// An open region of the calling thread. It ends when it is dropped.
#[must_use = "a region ends when it is dropped: bind it to a variable"]
pub struct Region {
    name: CString,
    // It ends in the thread in which it began.
    _thread: PhantomData<*const ()>,
}

/// Begins a region. If nothing can be counted, the program runs without counts, and `region_count()` says why.
pub fn region(name: &str) -> Region {
    let name = c_text(name);
    unsafe { tally_region_begin(name.as_ptr()) };
    Region { name, _thread: PhantomData }
}

impl Drop for Region {
    fn drop(&mut self) {
        unsafe { tally_region_end(self.name.as_ptr()) };
    }
}

/// A region's count of one event so far, over all threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionCount {
    pub total: Count,
    pub entries: i64,
    pub least: i64,
    pub most: i64,
}

/// Returns a region's count of an event. Fails if no region of this name was entered.
pub fn region_count(region: &str, event: &str) -> Result<RegionCount, Error> {
    let mut count = CRegionCount { total: NO_COUNT, entries: 0, least: 0, most: 0 };
    if unsafe { tally_count_region(c_text(region).as_ptr(), c_text(event).as_ptr(), &mut count) } != 0 {
        return Err(Error::last());
    }
    Ok(RegionCount {
        total: Count::of(&count.total, count.total.value),
        entries: count.entries,
        least: count.least,
        most: count.most,
    })
}

/// Counters of the program's threads.
pub struct Counters {
    handle: *mut CCounters,
}

// All threads may call all functions of the library; each reads its own counts.
unsafe impl Send for Counters {}
unsafe impl Sync for Counters {}

impl Counters {
    /// Opens counters for events. Without events: those of TALLY_EVENTS, of `tally stat`, or instructions and cycles.
    pub fn open(events: &[&str]) -> Result<Self, Error> {
        let handle = unsafe { tally_open(c_text(&events.join(",")).as_ptr()) };
        if handle.is_null() { Err(Error::last()) } else { Ok(Counters { handle }) }
    }

    /// Returns what the calling thread counts in a function.
    pub fn count(&self, function: impl FnOnce()) -> Vec<Count> {
        let mut before = [NO_COUNT; MOST_EVENTS];
        let mut after = [NO_COUNT; MOST_EVENTS];
        unsafe { tally_read(self.handle, before.as_mut_ptr(), MOST_EVENTS as c_int) };
        function();
        let events = unsafe { tally_read(self.handle, after.as_mut_ptr(), MOST_EVENTS as c_int) };
        let pairs = before.iter().zip(&after).take(events as usize);
        pairs.map(|(first, last)| Count::of(last, last.value - first.value)).collect()
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        unsafe { tally_close(self.handle) };
    }
}
