// Package tally counts hardware events of regions of a program, and grades each count.
//
//	defer tally.Region("parse")() // the rest of the function
//
//	counters, err := tally.Open("instructions", "branches")
//	counts := counters.Count(func() { parse(input) })
//
// `tally stat` shows the regions of a program. Without a PMU, its engine counts exactly.
package tally

/*
#cgo LDFLAGS: -ltally
#include <stdlib.h>
#include <tally/tally.h>
*/
import "C"

import (
	"runtime"
	"strings"
	"unsafe"
)

const mostEvents = 16

// Error is a failure, and what to do about it.
type Error struct {
	Message, Hint string
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// Must be called in the thread of the failed call.
func lastError() *Error {
	return &Error{C.GoString(C.tally_error()), C.GoString(C.tally_hint())}
}

// Count is a count of an event. Without a number, Trust is "absent" and Reason says why.
type Count struct {
	Event  string // the full name: "instructions:u"
	Value  int64  // 0 if absent
	Trust  string // "exact", "counted", "modelled", "partial" or "absent"
	Unit   string // "events", "ns" or "bytes"
	Reason string
}

// IsAbsent reports whether there is no number.
func (c Count) IsAbsent() bool { return c.Trust == "absent" }

func countOf(count C.tally_count, value int64) Count {
	return Count{C.GoString(count.event), value, C.GoString(count.trust), C.GoString(count.unit), C.GoString(count.reason)}
}

// Region begins a region, and returns the function that ends it. The goroutine keeps its thread until then. If nothing
// can be counted, the program runs without counts, and CountRegion says why.
func Region(name string) (end func()) {
	text := C.CString(name)
	runtime.LockOSThread()
	C.tally_region_begin(text)
	return func() {
		C.tally_region_end(text)
		runtime.UnlockOSThread()
		C.free(unsafe.Pointer(text))
	}
}

// Write writes the counts of all regions so far: "table" to standard error, or to a file whose name ends with .json or
// .csv.
func Write(place string) error {
	text := C.CString(place)
	defer C.free(unsafe.Pointer(text))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if C.tally_dump(text) != 0 {
		return lastError()
	}
	return nil
}

// Exit ends the program as os.Exit does, and first writes its regions to TALLY_OUTPUT: a Go program that ends in another
// way does not run C's exit handlers, which do this. `tally stat` shows the regions of both.
func Exit(code int) { C.exit(C.int(code)) }

// RegionCount is a region's count of one event so far, over all threads.
type RegionCount struct {
	Total                Count
	Entries, Least, Most int64
}

// CountRegion returns a region's count of an event. It fails if no region of this name was entered.
func CountRegion(region, event string) (RegionCount, error) {
	name, asked := C.CString(region), C.CString(event)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(asked))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var count C.tally_region_count
	if C.tally_count_region(name, asked, &count) != 0 {
		return RegionCount{}, lastError()
	}
	total := countOf(count.total, int64(count.total.value))
	return RegionCount{total, int64(count.entries), int64(count.least), int64(count.most)}, nil
}

// Counters count events of the program's threads.
type Counters struct {
	handle *C.tally_counters
}

// Open opens counters for events. Without events: those of TALLY_EVENTS, of `tally stat`, or instructions and cycles.
func Open(events ...string) (*Counters, error) {
	text := C.CString(strings.Join(events, ","))
	defer C.free(unsafe.Pointer(text))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle := C.tally_open(text)
	if handle == nil {
		return nil, lastError()
	}
	return &Counters{handle}, nil
}

// Close closes the counters. No goroutine may be using them.
func (c *Counters) Close() { C.tally_close(c.handle) }

// Count returns what the goroutine's thread counts in a function, without other goroutines: it keeps its thread
// meanwhile. What Go executes to call C is included.
func (c *Counters) Count(function func()) []Count {
	var before, after [mostEvents]C.tally_count
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	C.tally_read(c.handle, &before[0], mostEvents)
	function()
	events := int(C.tally_read(c.handle, &after[0], mostEvents))
	counts := make([]Count, events)
	for i := range counts {
		counts[i] = countOf(after[i], int64(after[i].value-before[i].value))
	}
	return counts
}
