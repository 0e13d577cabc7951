/// What code the segments of a process are: with it counters say how often each instruction of the program ran.
///
/// Each process has a log, which only grows: a record where a mapping with code is first seen, and one for each trace
/// that is made, with the address of every instruction on its way. A forked child inherits its parent's as it is then.
/// What ended threads counted is kept in areas of counters that the log names. So nothing is lost where a process is
/// killed, and segment numbers are given once only, until a log is full: then the process begins another one.
///
/// Freestanding: included by channel.hpp.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/fields.hpp"
#include "tally/engine/channel/hash.hpp"

namespace tally::channel {

enum class CodeRecordKind : uint32_t {
  none,        ///< not written yet, or its process was killed while it wrote it: the log ends here
  mapping,     ///< CodeMapping
  trace,       ///< CodeTrace
  counts,      ///< CodeCounts
  shared,      ///< CodeCounts, but for its area: a vfork child runs this code
  calls,       ///< CodeCounts: its area holds the CallNodes of a thread
  statistics,  ///< CodeCounts: its area holds the CodeValues of a thread
};

/// Every record begins so, at a multiple of 8 bytes. `kind` is written last.
struct CodeRecord {
  CodeRecordKind kind;
  uint32_t bytes;  ///< of the whole record
};

/// A mapped file as fstat(2) describes it. All zero: unknown, because the file could not be opened any more.
struct FileIdentity {
  uint64_t device, inode, bytes;
  int64_t modified_s;
  uint32_t modified_ns;
  uint32_t build_id_bytes;  ///< 0: the file has none, or could not be read
  uint8_t build_id[32];
};
static_assert(sizeof(FileIdentity) == 72);

enum CodeMappingFlag : uint32_t {
  mapping_copied = 1,       ///< anonymous memory that holds the same bytes as the file that was mapped there before
  mapping_overwritten = 2,  ///< anonymous memory with other bytes than that file: the path is that of the file
};

/// A mapping with code, as it was when code of it was first translated. Its path follows, to the end of the record,
/// padded with zeros; empty where there was no /proc that says it.
struct CodeMapping {
  CodeRecord head;
  uint64_t start, end;
  uint64_t offset;  ///< of `start` in the file
  uint64_t inode;   ///< 0: it is no file
  uint32_t device_major, device_minor;
  FileIdentity identity;  ///< of the file
  uint32_t flags;         ///< CodeMappingFlag
  uint32_t number;        ///< the same for a file that comes back to the same addresses, and for all that is no file
};

/// An instruction and the mapping that it was in (CodeMapping::number, 0: unknown), in one word: files that are mapped
/// at the same address one after the other stay apart. Numbers above code_site_mappings, which only a program that maps
/// as many files with code has, are left out, and so is the number of an address at or above 2^48.
inline constexpr uint32_t code_site_mappings = 0x7ffe;
inline constexpr uint64_t code_site_shift = 48, code_site_has_number = uint64_t{1} << 63;

inline uint64_t code_site(uint64_t pc, uint32_t mapping) {
  if (mapping == 0 || mapping > code_site_mappings || pc >> code_site_shift != 0) return pc;
  return code_site_has_number | uint64_t{mapping} << code_site_shift | pc;
}
inline uint32_t mapping_of_site(uint64_t site) {
  const uint32_t high = static_cast<uint32_t>(site >> code_site_shift);
  return high > 0x8000 && high <= 0x8000 + code_site_mappings ? high - 0x8000 : 0;
}
inline uint64_t pc_of_site(uint64_t site) {
  return mapping_of_site(site) == 0 ? site : site & ((uint64_t{1} << code_site_shift) - 1);
}

/// One instruction on a trace's way, or where the way ends.
struct CodePlace {
  int32_t pc;      ///< from the trace's
  uint8_t field;   ///< a Field: what it counts beside an instruction, loads and stores; 0 = nothing
  uint8_t loads;   ///< but those that only its execution tells
  uint8_t stores;  ///< the same
  uint8_t flags;   ///< of CodePlaceFlag
};

enum CodePlaceFlag : uint8_t {
  place_branches = 1,       ///< a conditional branch: the next segment is entered there
  place_falls_through = 2,  ///< of a branch: the way goes on where it is not taken
  place_is_end = 4,         ///< no instruction: the way ends
};

/// A trace. Its CodePlaces follow, by their order on its way. The executions of a place come of the counters of the
/// trace's segments as CodeWalk says.
struct CodeTrace {
  CodeRecord head;
  uint64_t pc;
  uint32_t number;  ///< of the first segment; the others follow it
  uint32_t places;
  uint16_t segments;
  uint16_t counts_exits;  ///< 1: the first segment counts the whole way, the others count who left it
  uint32_t reserved;
  uint64_t early;  ///< with counts_exits: bit i: who leaves by segment i has not been counted by the first one
};

/// An area of counters, by segment numbers of this log: what a thread had counted when it ended, or its code was thrown
/// away.
struct CodeCounts {
  CodeRecord head;
  uint32_t process, thread;  ///< indices of their records; thread 0: of all threads that have no area of their own
  uint32_t area;
  uint32_t reserved;
};

inline constexpr uint32_t call_event_limit = 4;

/// What was given up for want of room, in a tree's first node.
enum CallsCut : uint32_t {
  calls_too_many = 1,  ///< different stacks of calls: recursion is below outer calls, or calls are their callers' own
  calls_too_deep = 2,  ///< calls that have not returned: the same
};

/// A call, by the calls that led there: a node of a thread's tree. The first one is the thread's beginning, whose
/// `calls` say how many nodes there are, and `is_recursive` what was given up (CallsCut). The functions on the way from
/// a node to the first one are those that were being executed, some of a recursion more than once.
struct CallNode {
  uint64_t target;        ///< where it led
  uint64_t site;          ///< the call instruction; 0: what a stack began with
  uint32_t parent;        ///< node of the call that the caller is in; smaller than its own
  uint32_t is_recursive;  ///< 1: `target` is being executed already, and it may be that one that has the counts
  uint64_t calls;
  int64_t self[call_event_limit];         ///< of each event, what was counted while this call was the innermost one
  uint32_t target_mapping, site_mapping;  ///< CodeMapping::number of what the addresses led to then; 0: unknown
};
static_assert(sizeof(CallNode) == 72);
inline constexpr uint32_t call_node_limit = 7u << 16;  // what an area holds

inline constexpr uint32_t located_value_limit = 23;

/// Which figures of the models are counted at each instruction: words of ModelValues by their numbers, or
/// placed_cycles.
struct LocatedValues {
  uint32_t count;
  uint8_t figure[located_value_limit];
};
/// Cycles of the core: a block's are shared out evenly among its instructions.
inline constexpr uint8_t placed_cycles = 255;

/// What the models counted at an instruction: one for each of LocatedValues. In a table with open addressing.
struct CodeValues {
  uint64_t site;  ///< code_site() of the instruction; 0 = free
  uint64_t figure[located_value_limit];
};
inline constexpr uint32_t code_values_limit = 174'000;

/// The row of an instruction, by whoever alone writes the table; null where there are too many: what they count is in
/// no row then.
inline CodeValues* values_at(CodeValues* table, uint64_t site) {
  constexpr uint32_t most_tries = 256;
  uint32_t i = hash_below(site, code_values_limit);
  for (uint32_t tries = 0; tries < most_tries; tries++, i = i + 1 < code_values_limit ? i + 1 : 0) {
    if (table[i].site == 0) table[i].site = site;
    if (table[i].site == site) return &table[i];
  }
  return nullptr;
}

/// Where the core's cycles alone are placed, the area holds a list of these in place of the table. The first one says
/// how many there are; an instruction may stand there several times.
struct CodeCycles {
  uint64_t pc;  ///< of the first one: how many follow it
  uint64_t cycles, executions;
};
inline constexpr uint64_t code_cycles_limit = (32ull << 20) / sizeof(CodeCycles) - 1;

/// Counts of a thread that are not those of whole segments: what an interrupted one had not executed, what was
/// executed one instruction at a time. By thread and instruction, in a table with open addressing.
struct CodeCorrection {
  uint64_t site;             ///< code_site() of the instruction; 0 = free
  uint32_t process, thread;  ///< as of CodeCounts
  int64_t field[field_count];
};
inline constexpr uint32_t code_correction_limit = 1u << 16;

/// Head of a log. The table of corrections follows, then the records.
struct CodeLog {
  uint32_t process;          ///< index of its record
  uint32_t inherited;        ///< number of the log that it goes on from; 0 = none
  uint64_t inherited_bytes;  ///< the records of that one below there are this one's too
  uint64_t bytes;            ///< used, from the head on
};
inline constexpr uint64_t code_corrections_at = 64;
inline constexpr uint64_t code_records_at = code_corrections_at + code_correction_limit * sizeof(CodeCorrection);

/// Room for one; only what is written takes memory.
inline constexpr uint64_t code_log_bytes = 128ull << 20;
inline constexpr uint32_t code_log_limit = 1u << 20;
/// Threads that have areas of their own for what they counted; those of later ones are summed by process.
inline constexpr uint32_t code_threads_distinguished = 1024;

/// Calls `each(place, reached, taken, passed)` for every place of a trace, in order: how often it was reached, and of a
/// conditional branch, how often it went either way. `counter(i)`: executions of the trace's i-th segment.
template <class Counter, class Each>
void walk(const CodeTrace& trace, const CodePlace* places, Counter&& counter, Each&& each) {
  uint64_t reached = counter(0);
  if (trace.counts_exits != 0)
    for (uint32_t i = 1; i < trace.segments; i++)
      if (trace.early >> (i & 63) & 1) reached += counter(i);
  uint32_t segment = 0;
  for (uint32_t i = 0; i < trace.places; i++) {
    const CodePlace& p = places[i];
    if (!(p.flags & place_branches)) {
      each(p, reached, uint64_t{0}, uint64_t{0});
      continue;
    }
    segment++;
    const uint64_t next = segment < trace.segments ? counter(segment) : 0;
    // Counters of a thread that runs are not read at one moment.
    const uint64_t other = reached > next ? reached - next : 0;
    const bool next_is_passed = trace.counts_exits == 0 || !(p.flags & place_falls_through);
    each(p, reached, next_is_passed ? other : next, next_is_passed ? next : other);
    reached = trace.counts_exits != 0 ? other : next;
  }
}

}  // namespace tally::channel
