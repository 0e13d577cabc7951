/// The code log: which instructions the segments of a process contain, so that counters show how often each one ran.
///
/// Each process has a log, which only grows: one record when a mapping with code is first seen, and one for each trace,
/// with the address of every instruction on its path. A forked child inherits its parent's log as of the fork. The
/// counts of ended threads are kept in areas of counters that the log names. So nothing is lost if a process is killed.
/// Each segment number is used only once, until a log is full: then the process begins another one.
///
/// Freestanding: included by channel.hpp.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/event_fields.hpp"
#include "tally/engine/channel/hash.hpp"

namespace tally::channel {

enum class CodeRecordKind : uint32_t {
  none,        ///< not written yet, or its process was killed while writing it: the log ends here
  mapping,     ///< CodeMapping
  trace,       ///< CodeTrace
  counts,      ///< CodeCounts
  shared,      ///< CodeCounts without an area: a vfork child runs this code
  calls,       ///< CodeCounts: its area holds the CallNodes of a thread
  statistics,  ///< CodeCounts: its area is the ValueTable of a thread
  python,      ///< CodeCounts: its area holds the PythonTable of a thread
  form,        ///< CodeForm
  jump,        ///< CodeJump
};

/// Every record begins with this, at a multiple of 8 bytes. `kind` is written last.
struct CodeRecord {
  CodeRecordKind kind;
  uint32_t bytes;  ///< of the whole record
};

/// A mapped file as fstat(2) describes it. All zero: unknown, because the file could no longer be opened.
struct FileIdentity {
  uint64_t device, inode, bytes;
  int64_t modified_s;
  uint32_t modified_ns;
  uint32_t build_id_bytes;  ///< 0: the file has none, or could not be read
  uint8_t build_id[32];
};
static_assert(sizeof(FileIdentity) == 72);

enum CodeMappingFlag : uint32_t {
  mapping_copied = 1,       ///< anonymous memory with the same bytes as the file that was mapped there before
  mapping_overwritten = 2,  ///< anonymous memory with other bytes than that file, whose path it has
};

/// A mapping with code, as of the first translation of its code. Its path follows, to the end of the record, padded
/// with zeros; empty if no /proc was available.
struct CodeMapping {
  CodeRecord head;
  uint64_t start, end;
  uint64_t offset;  ///< of `start` in the file
  uint64_t inode;   ///< 0: not a file
  uint32_t device_major, device_minor;
  FileIdentity identity;  ///< of the file
  uint32_t flags;         ///< CodeMappingFlag
  uint32_t number;  ///< the same if a file is mapped at the same addresses again, and for all mappings without a file
};

/// An instruction and the mapping that contained it (CodeMapping::number, 0: unknown), in one word, to distinguish
/// files that are mapped at the same address one after the other. The number is left out if it is above
/// code_site_mappings, which takes a program that maps that many files with code, or if the address is at or above
/// 2^48.
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

/// One instruction on a trace's path, or the end of the path.
struct CodePlace {
  int32_t pc;      ///< relative to the trace's
  uint8_t field;   ///< a Field that it counts in addition to instructions, loads and stores; 0: none
  uint8_t loads;   ///< without those known only at run time
  uint8_t stores;  ///< the same
  uint8_t flags;   ///< bits of CodePlaceFlag
};

enum CodePlaceFlag : uint8_t {
  place_branches = 1,       ///< a conditional branch: the next segment is entered there
  place_falls_through = 2,  ///< of a branch: the path continues where it is not taken
  place_is_end = 4,         ///< no instruction: the path ends
};

/// A trace. Its CodePlaces follow in the order of the path. walk() computes the executions of each place from the
/// counters of the trace's segments.
struct CodeTrace {
  CodeRecord head;
  uint64_t pc;
  uint32_t number;  ///< of the first segment; the others follow it
  uint32_t places;
  uint16_t segments;
  uint16_t counts_exits;  ///< 1: the first segment counts the whole path, the others count exits from it
  uint32_t has_forms;     ///< 1: after the places, for each of them CodeForm::number in 16 bits
  uint64_t early;  ///< with counts_exits: bit i: the first segment does not count executions that exit by segment i
};

/// With Settings::mix: the instructions of a name that do the same. Logged before the first trace that names it.
struct CodeForm {
  CodeRecord head;
  uint32_t number;    ///< from 1 in each log; a log that continues another one continues its numbers
  uint32_t width;     ///< bits of the largest vector register; 0: none
  char name[24];      ///< mnemonic, as Zydis has it
  char category[24];  ///< Zydis's category
  MixRow row;         ///< of one execution, without what is known only at run time
};
static_assert(sizeof(CodeForm) % 8 == 0);

/// With Settings::counts_jumps: an indirect jump or call and a target. The counter `number` of each thread counts how
/// often the one led to the other. Several records may have the same addresses.
struct CodeJump {
  CodeRecord head;
  uint64_t site, target;
  uint32_t number;                        ///< a segment number that no trace has
  uint32_t site_mapping, target_mapping;  ///< CodeMapping::number of both addresses; 0: unknown
  uint32_t reserved;
};
static_assert(sizeof(CodeJump) % 8 == 0);

/// An area of counters, indexed by segment numbers of this log: what a thread had counted when it ended, or when its
/// code was discarded.
struct CodeCounts {
  CodeRecord head;
  uint32_t process, thread;  ///< indices of their records; thread 0: all threads without an area of their own
  uint32_t area;
  uint32_t part;  ///< PartCounts::label of the part that it counted in; 0: outside of all; or part_of_thread
};

/// In CodeCounts::part: counts of the part that the thread was in when it ended (Thread::part).
inline constexpr uint32_t part_of_thread = ~uint32_t{0};

inline constexpr uint32_t call_event_limit = 4;

/// What a tree lacks because it had no room; bits in its first node.
enum CallsCut : uint32_t {
  calls_too_many = 1,  ///< too many call stacks: recursive calls are at the outer call, or calls at their caller
  calls_too_deep = 2,  ///< too many calls that have not returned: the same
};

/// A call with the calls that led to it: a node of a thread's call tree. The first node is the beginning of the thread;
/// its `calls` is the number of nodes, and its `is_recursive` has bits of CallsCut. The nodes on the path to the first
/// one are the functions that were being executed; a recursive function may be there more than once.
struct CallNode {
  uint64_t target;        ///< the address that was called
  uint64_t site;          ///< the call instruction; 0: the beginning of a stack
  uint32_t parent;        ///< node of the call that the caller is in; less than the node's own number
  uint32_t is_recursive;  ///< 1: `target` is already being executed, and its outer node may have the counts
  uint64_t calls;
  int64_t self[call_event_limit];         ///< of each event, what was counted while this call was the innermost
  uint32_t target_mapping, site_mapping;  ///< CodeMapping::number of both addresses at that time; 0: unknown
};
static_assert(sizeof(CallNode) == 72);
inline constexpr uint32_t call_node_limit = 7u << 16;  // as many as an area holds

inline constexpr uint32_t located_value_limit = 41;

/// The model counts that are recorded for each instruction: indices of words in ModelValues, or placed_cycles and more.
struct LocatedValues {
  uint32_t count;
  uint8_t figure[located_value_limit];
};
/// The first of core_cause_count values: cycles of the core by cause.
inline constexpr uint8_t placed_cycles = 240;
/// Whether values of misses are selected, whose records then have their instructions. They are before those of the
/// core.
inline bool has_misses(const LocatedValues& values) { return values.count != 0 && values.figure[0] < placed_cycles; }

/// What the models counted at an instruction: one value for each of LocatedValues. A ValueTable has them in groups.
struct CodeValues {
  uint64_t site;  ///< code_site() of the instruction; 0: free
  uint64_t figure[located_value_limit];
};

/// If only the core's cycles are recorded, the area holds a list of these instead of the table. The first one contains
/// their number; an instruction may be in the list several times.
struct CodeCycles {
  uint64_t pc;  ///< in the first one: how many follow it
  uint64_t cycles, executions;
};
inline constexpr uint64_t code_cycles_limit = (32ull << 20) / sizeof(CodeCycles) - 1;

/// Counts of a thread that are not those of whole segments: what an interrupted segment had not executed, and what was
/// executed one instruction at a time. By thread and instruction, in a table with open addressing.
struct CodeCorrection {
  uint64_t site;             ///< code_site() of the instruction; 0: free
  uint32_t process, thread;  ///< as in CodeCounts
  uint32_t part, reserved;   ///< the same
  int64_t field[field_count];
};
inline constexpr uint32_t code_correction_limit = 1u << 16;

/// Head of a log. The table of corrections follows, then the records.
struct CodeLog {
  uint32_t process;          ///< index of its record
  uint32_t inherited;        ///< number of the log that it continues; 0: none
  uint64_t inherited_bytes;  ///< the records of that log below this offset belong to this one too
  uint64_t bytes;            ///< used, including the head
};
inline constexpr uint64_t code_corrections_at = 64;
inline constexpr uint64_t code_records_at = code_corrections_at + code_correction_limit * sizeof(CodeCorrection);

/// Address space for one log; only what is written uses memory.
inline constexpr uint64_t code_log_bytes = 160ull << 20;
inline constexpr uint32_t code_log_limit = 1u << 20;
/// Threads that have areas of their own for their counts; the counts of later ones are summed by process.
inline constexpr uint32_t code_threads_distinguished = 1024;

/// Calls `each(place, reached, taken, passed)` for every place of a trace, in order: how often it was reached and, for
/// a conditional branch, how often it was taken and not taken. `counter(i)`: executions of the trace's i-th segment.
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
    // The counters of a running thread are not read at the same moment.
    const uint64_t other = reached > next ? reached - next : 0;
    const bool next_is_passed = trace.counts_exits == 0 || !(p.flags & place_falls_through);
    each(p, reached, next_is_passed ? other : next, next_is_passed ? next : other);
    reached = trace.counts_exits != 0 ? other : next;
  }
}

}  // namespace tally::channel
