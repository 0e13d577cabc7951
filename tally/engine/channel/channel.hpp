/// The channel: a sparse memory file that the engines and the command share, laid out by the plain structs below.
///
/// The command creates the file and reads it. Each engine (one per program image) claims records and areas in it with
/// atomic operations, and writes counts. Nothing in it is ever locked: a process may be killed at any instruction. The
/// counts of a killed process are those in the file, so they survive `kill -9`.
///
/// Freestanding: no C library, no other directory.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/code_log_layout.hpp"
#include "tally/engine/channel/cpu_model_answers.hpp"
#include "tally/engine/channel/event_fields.hpp"
#include "tally/engine/channel/failure.hpp"
#include "tally/engine/channel/hash.hpp"
#include "tally/engine/channel/marks_layout.hpp"
#include "tally/engine/channel/model_counts.hpp"
#include "tally/engine/channel/notes.hpp"
#include "tally/engine/channel/presented_files.hpp"
#include "tally/engine/channel/presented_pmu.hpp"
#include "tally/engine/channel/read_sources_layout.hpp"
#include "tally/engine/channel/run_parts.hpp"
#include "tally/engine/channel/window_rows_layout.hpp"

namespace tally::channel {

/// Raised with every change of this layout; engine and command refuse each other if it differs.
inline constexpr uint32_t layout_version = 37;
inline constexpr uint64_t magic = 0x6c65'6e6e'6168'6374;

/// Why the counts of a process are partial. Bits; the command has the text for each.
enum Partial : uint32_t {
  partial_none = 0,
  partial_gs_base = 1u << 0,          ///< the program uses the GS base, which the engine needs: continues natively
  partial_code_space = 1u << 1,       ///< no memory for translated code: continues natively
  partial_int80 = 1u << 2,            ///< 32-bit system calls from 64-bit code
  partial_undecoded = 1u << 3,        ///< an instruction ran that the decoder does not know: its accesses are unknown
  partial_foreign_segment = 1u << 4,  ///< a far transfer to another code segment: continues natively
  partial_not_parked =
      1u << 5,  ///< a thread could not be stopped: its last segment may be counted too early, or it continued natively
  partial_exec_native = 1u << 6,     ///< it executed a program that then ran natively
  partial_killed = 1u << 7,          ///< killed between two counts: each thread's last segment may be counted too early
  partial_shared_memory = 1u << 8,   ///< no memory for counters
  partial_vsyscall = 1u << 9,        ///< the vsyscall page was called: the kernel's emulation is not counted
  partial_confined = 1u << 11,       ///< it confines itself with seccomp: continues natively
  partial_shared_code = 1u << 12,    ///< too many shared mappings to know which of them show the same code
  partial_ptraced = 1u << 10,        ///< the program traces others or is traced itself
  partial_code_lines = 1u << 13,     ///< more code than the simulated instruction cache can distinguish
  partial_dispatched = 1u << 15,     ///< it handles its own system calls (syscall user dispatch): continues natively
  partial_unknown_call = 1u << 16,   ///< it made system calls that are newer than the engine
  partial_breakpoint = 1u << 17,     ///< it set a breakpoint at code, which does not run at its own address
  partial_kernel_writes = 1u << 18,  ///< a system call that the engine does not know may have used a protected page
  partial_descriptors = 1u << 14,    ///< it needs the highest descriptors that its limit allows: continues natively
  partial_own_addresses = 1u << 19,  ///< it requested addresses that the engine uses and cannot give up
  partial_protection_keys = 1u << 20,  ///< it denied itself memory of protection key 0: continues natively
  partial_unread_code = 1u << 21,      ///< code ran that could not be read: its accesses are unknown
  partial_mappings = 1u << 22,         ///< it needs the mappings that the engine uses: continues natively
  partial_engine_failed = 1u << 23,    ///< the engine failed in it and ended it: EngineFailure
  partial_code_forbidden = 1u << 24,   ///< no memory may be writable and executable: continues natively
  partial_far_branch = 1u << 26,  ///< a branch to an address that is not canonical: it is counted, but has not retired
  partial_locked_memory = 1u << 25,   ///< it locks all memory, also the engine's: continues natively
  partial_limited_memory = 1u << 27,  ///< a limit on its memory includes the engine's: continues natively
  partial_strict = 1u << 28,          ///< with Settings::strict: it ended where it would have continued natively
  partial_parts = 1u << 29,           ///< no memory to record what a part counted
};

enum class State : uint32_t { free, running, ended };

/// Whether a process leaves the engine because another one of the tree is about to trace it or to write its memory.
enum Leaving : uint32_t { leaving_none, leaving_asked, leaving_granted, leaving_refused };

/// How a process record ended; `end_code` is the exit code or the signal.
enum class End : uint32_t { unknown, exited, signalled, executed };

/// With Settings::counts_clock: times of a process by that clock, in ns, with those of the programs that it executed
/// before.
struct CountedTimes {
  uint64_t started;   ///< when it started: a time of the run
  uint64_t used;      ///< processor time
  uint64_t children;  ///< processor time of the children that it has waited for, and of theirs
};

/// One program image in one process: a fork makes a new one, and so does an execve.
struct Process {
  State state;
  int32_t pid;           ///< in its own pid namespace
  int32_t parent_pid;    ///< in the same namespace
  uint32_t vectors;      ///< area of its SegmentVectors; 0: returned; a vfork child has its parent's
  uint32_t segments;     ///< number of valid vectors
  uint32_t partial;      ///< bits of Partial
  uint32_t forked_from;  ///< index of the process that forked it, or 0
  char name[64];         ///< file name of the program, cut at 63 bytes
  End end;
  int32_t end_code;
  char executed[64];         ///< with partial_exec_native: file name of that program, cut at 63 bytes
  uint32_t leaving;          ///< a Leaving
  uint64_t counted_ns;       ///< CPU time of the process when counting in it ended; 0: not measured
  uint64_t handed_back_ns;   ///< the same if it then continued natively; 0: it did not
  uint32_t no_counter_read;  ///< 1: the instruction rdpmc has read a counter that does not exist
  uint32_t no_counter;       ///< the first such counter
  uint64_t single_stepped;   ///< instructions executed one at a time at their own address
  uint64_t own_end;          ///< end of the engine's own memory, which begins at own_addresses
  uint32_t near_caches[10];  ///< arenas outside of that memory, now or before: address >> 20; 0: none
  uint32_t thread;           ///< index of the Thread of its first thread
  uint32_t before;           ///< earlier processes with this record: their counts are in it
  CountedTimes counted;
  uint64_t leaves_stopped;      ///< 1: it sends itself SIGSTOP when it has left, which its tracer expects
  uint64_t countdowns_changed;  ///< 1: another process has changed what its threads count down (PmuCounting::left)
  uint64_t counts_for_others;   ///< 1: another process has asked for modelled counts of its threads (PmuKnown)
  uint64_t reserved[2];
};
static_assert(sizeof(Process) == 320);

/// Bytes of an arena of the code cache.
inline constexpr uint64_t cache_bytes = 128ull << 20;

/// One thread of one program image.
struct Thread {
  State state;
  uint32_t process;  ///< index of its Process
  int32_t tid;       ///< in its own pid namespace
  uint32_t area;     ///< area of its counters; 0: returned
  Totals base;       ///< corrections, and what was counted before the current `area`
  Totals final;      ///< the sum of all counts; valid once state is `ended`
  char name[16];
  uint32_t answer;      ///< an Answer
  uint32_t before;      ///< earlier threads of the process with this record: their counts are in `base`
  uint64_t check;       ///< check_of(); valid once state is `ended`
  uint32_t statistics;  ///< area of its ValueTable; 0: none
  uint32_t left;        ///< 1: it runs natively, because of Process::leaving
  uint32_t part;        ///< CodeCounts::part of the counters in `area`
  uint32_t in_call;     ///< 1: it is in a system call of the program
  uint8_t reserved[64 - (64 + 2 * sizeof(Totals)) % 64];  ///< whole cache lines, whatever the number of fields
};
static_assert(sizeof(Thread) % 64 == 0);

/// A checksum of what an ended thread counted, and in which process. What another writer puts there does not match it.
inline uint64_t check_of(const Thread& thread) {
  uint64_t check = thread.process + 1;
  for (const int64_t count : thread.final.field) check = checksum_with(check, static_cast<uint64_t>(count));
  return check;
}

/// A checksum of a file's identity and of the state of its content; never 0.
inline uint64_t check_of(const FileIdentity& file) {
  uint64_t check = file.inode + 1;
  const uint64_t words[] = {file.device, file.bytes, static_cast<uint64_t>(file.modified_s), file.modified_ns};
  for (const uint64_t word : words) check = checksum_with(check, word);
  return check | 1;
}

/// The state of a thread's request that the command take over the program about to be executed: a futex.
enum class Answer : uint32_t { none, asked, granted, refused };

/// The message that an engine sends on the announcement socket; the kernel adds the sender's credentials.
struct Announcement {
  uint32_t process;         ///< index of the announcing Process; 0: the command's own child
  uint32_t thread;          ///< index of the announcing Thread, which waits for its `answer`
  uint32_t gives_back;      ///< 1: the areas of both are free once the program is replaced
  int32_t pid, tid;         ///< in the sender's pid namespace
  uint32_t request;         ///< the request
  int32_t first_inherited;  ///< the sender's number of the first Inherited
};

/// What the engine asks the command to do.
enum EngineRequest : uint32_t {
  request_take_over,  ///< take over the program that is about to be executed
  request_marks,      ///< write the MarkPoints of the process, which has mapped code
  request_adopter,    ///< determine Header::adopter
  request_keep_file,  ///< keep the file, which has mapped code; its descriptor comes with the message (SCM_RIGHTS)
};

/// Descriptors of the command that every program under the engine has, with consecutive numbers. The numbers change if
/// the program wants them for itself. A program receives the first one in a register, which no less trusted program can
/// change; the channel does not contain them.
enum Inherited : uint32_t {
  inherited_channel,
  inherited_image,
  inherited_socket,
  inherited_kept,
  inherited_added,
  inherited_proc,  ///< the command's /proc: a program with another root may have none
};
inline constexpr uint32_t inherited_count = 6;

/// A value of Settings::logs_code. With Settings::mix, a CodeLog always has forms.
inline constexpr uint32_t code_log_with_forms = 2;

/// Settings that the command chooses before the first program starts.
struct Settings {
  uint32_t trace_limit;  ///< most instructions per trace; 0: the engine's default
  uint32_t cache_limit;  ///< most traces before all are discarded; 0: as many as fit
  uint32_t hot_from;  ///< executions after which a trace is optimized again for the next run; 0: the engine's default
  uint32_t loop_is_fast;       ///< 1: the instruction `loop` is one operation, as on AMD processors, not several
  uint32_t has_bmi2;           ///< 1: the processor has the instructions BMI2, such as `rorx`
  uint32_t protection_keys;    ///< 1: the processor and the kernel support them: CPUID reports OSPKE
  Models models;               ///< the simulated machine
  ModelCore core;              ///< the core whose timings determine cycles
  Marks marks;                 ///< addresses at which the engine reads counts
  Windows windows;             ///< when the engine writes rows of counts
  uint32_t mix;                ///< 1: each process has MixRows: the fields from first_mix_field on are counted
  uint32_t logs_code;          ///< 1: each process has a CodeLog; code_log_with_forms: also with CodeForms
  uint32_t follows_calls;      ///< 1: each thread has a tree of CallNodes, with the first events of Marks::weight
  uint32_t counts_jumps;       ///< with logs_code, 1: CodeJumps; not with follows_calls
  LocatedValues placed;        ///< model counts that each thread records by instruction
  uint32_t fails_on_request;   ///< 1: for tests, a program may make its engine fail (asking.hpp)
  uint32_t process_limit;      ///< for tests: most process records; 0: as many as exist
  uint32_t form_limit;         ///< for tests: most forms of a CodeLog; 0: as many as their numbers allow
  uint32_t log_limit;          ///< for tests: most bytes of records in a CodeLog; 0: as many as fit
  uint32_t mapping_limit;      ///< most mappings of a process (vm.max_map_count); 0: not known
  uint32_t never_overcommits;  ///< 1: the kernel counts memory as used once it is writable (vm.overcommit_memory is 2)
  uint32_t keeps_files;        ///< with logs_code, 1: the command keeps the files that code is mapped from
  uint32_t repeatable;         ///< 1: random numbers from a fixed seed, and an initial stack with fixed addresses
  uint32_t hides_vdso;         ///< 1: programs find no vdso; with `repeatable` they never do
  uint32_t counts_clock;       ///< 1: the time that programs read is computed from their instructions
  PresentedCpu cpu;            ///< the processor that programs see
  PresentedFiles files;        ///< with `repeatable`
  PartSettings parts;          ///< marks in the code of programs
  PresentedPmu pmu;            ///< the PMU that programs find
  uint32_t strict;             ///< 1: a program ends instead of continuing, or executing a program, natively
};

/// Above this number, a new process takes the record of one that has ended, and its first thread takes that one's.
inline constexpr uint32_t process_limit = 1u << 18;
inline constexpr uint32_t thread_limit = 1u << 18;
/// Above this number, a new thread takes the record of one that has ended, if its process has one.
inline constexpr uint32_t threads_distinguished = 1u << 15;
inline constexpr uint32_t segment_limit = 1u << 21;

/// Most files with code that are kept.
inline constexpr uint32_t kept_file_limit = 2048;

/// An instruction that a program executed although the processor that it sees lacks it: it did not ask.
struct UnaskedSite {
  uint32_t state;    ///< 0: free, 1: being written, 2: valid
  uint32_t feature;  ///< a Feature
  uint64_t count;    ///< executions
  uint64_t offset;   ///< in the file; without one, the address
  char instruction[24];
  char file[208];  ///< path, cut at the end; empty: code without a file
};
static_assert(sizeof(UnaskedSite) == 256);
inline constexpr uint32_t unasked_site_limit = 256;

/// Head of the file.
struct Header {
  uint64_t magic;
  uint32_t layout_version;
  uint32_t next_process;  ///< index 0 is never used
  uint32_t next_thread;
  uint32_t next_area;
  Settings settings;
  uint64_t free_counters;      ///< head of a list of zeroed counter areas: generation << 32 | area
  uint64_t free_vectors;       ///< the same for vector areas
  uint32_t first_answer;       ///< the Answer for the command's own child
  RingWakeup wakeup;           ///< used with Models::worker_count, or windows
  uint32_t next_code_log;      ///< number 0 is never used
  EngineFailure failure;       ///< of the first engine that failed
  uint32_t programs;           ///< programs in which an engine has started
  uint32_t forbidden;          ///< programs in which none could: no memory may be writable and executable
  uint32_t reused;             ///< process records that another process has taken; those are not in order of time
  uint32_t next_reused;        ///< where the search for the next one continues
  uint64_t environment_bytes;  ///< of the first program, at its start
  uint64_t counted_ns;         ///< with Settings::counts_clock: the latest time that a thread has read, or ended at
  uint32_t next_part;          ///< number of PartCounts that were claimed
  uint32_t pmu_events;         ///< number of open events in the PmuTable
  uint32_t pmu_lacks;          ///< PmuLack bits of what programs wanted
  int32_t command_pid;         ///< the command, which adopts orphans
  int32_t first_pid;           ///< the process that the command started
  int32_t adopter;             ///< the process that adopts orphans without the command; 0: not determined
  SourceRecord sources[source_count];
  UnaskedSite unasked[unasked_site_limit];  ///< in the order of their translation
  uint64_t kept_files[kept_file_limit];     ///< check_of() each file that the command was asked to keep; 0: free
};

/// Offsets in the file, in bytes. All of it is sparse: only what is written uses memory.
inline constexpr uint64_t header_offset = 0;
inline constexpr uint64_t header_bytes = 1u << 17;
static_assert(sizeof(Header) <= header_bytes);
inline constexpr uint64_t process_offset = header_bytes;
inline constexpr uint64_t thread_offset = process_offset + uint64_t{process_limit} * sizeof(Process);
inline constexpr uint32_t area_limit = 1u << 20;
inline constexpr uint64_t free_offset = thread_offset + uint64_t{thread_limit} * sizeof(Thread);
inline constexpr uint64_t records_bytes = free_offset + uint64_t{area_limit} * sizeof(uint32_t);
/// An area holds a thread's counters (8 bytes each) or a process's vectors (16 bytes each).
inline constexpr uint64_t area_bytes = uint64_t{segment_limit} * sizeof(SegmentVector);
static_assert(call_node_limit * sizeof(CallNode) <= area_bytes);
static_assert((code_cycles_limit + 1) * sizeof(CodeCycles) <= area_bytes);
inline constexpr uint64_t area_offset(uint32_t area) { return records_bytes + area * area_bytes; }
/// After the areas: the ModelCounts of each thread.
inline constexpr uint64_t model_counts_offset(uint32_t thread) {
  return area_offset(area_limit) + uint64_t{thread} * model_counts_bytes;
}
/// Then: the MarkCounts of each thread, the MarkPoints of each process.
inline constexpr uint64_t mark_counts_offset(uint32_t thread) {
  return model_counts_offset(thread_limit) + uint64_t{thread} * mark_counts_bytes;
}
inline constexpr uint64_t mark_points_offset(uint32_t process) {
  return mark_counts_offset(thread_limit) + uint64_t{process} * mark_points_bytes;
}
/// Then: each NoteRing.
inline constexpr uint64_t note_ring_offset(uint32_t ring) {
  return mark_points_offset(process_limit) + uint64_t{ring} * note_ring_bytes;
}
/// Then: each CodeLog.
inline constexpr uint64_t code_log_offset(uint32_t log) {
  return note_ring_offset(rings_of_thread * thread_limit) + uint64_t{log} * code_log_bytes;
}
/// Then: the PartCounts.
inline constexpr uint64_t part_counts_offset(uint32_t i) {
  return code_log_offset(code_log_limit) + uint64_t{i} * sizeof(PartCounts);
}
/// Then: the PmuTable, on pages of its own.
inline constexpr uint64_t pmu_table_offset = (part_counts_offset(part_counts_limit) + 4095) & ~uint64_t{4095};
static_assert(pmu_thread_limit == thread_limit);
/// Then: the rings of its events. Page 0 is not used.
inline constexpr uint64_t pmu_ring_offset(uint32_t page) {
  return ((pmu_table_offset + sizeof(PmuTable) + 4095) & ~uint64_t{4095}) + uint64_t{page} * 4096;
}
/// Then: with Settings::mix, the MixRows of the vectors in each area.
inline constexpr uint64_t mix_rows_bytes = uint64_t{segment_limit} * sizeof(MixRow);
inline constexpr uint64_t mix_rows_offset(uint32_t area) {
  return pmu_ring_offset(pmu_ring_page_limit) + area * mix_rows_bytes;
}
inline constexpr uint64_t file_bytes = mix_rows_offset(area_limit);

/// Segment numbers that are not code: each counts events known only at run time, with one vector, or reads of a Source.
enum Dynamic : uint32_t {
  dynamic_none = 0,
  dynamic_load,     ///< one load: `lods`, `scas`, an element of a gather
  dynamic_store,    ///< one store: `stos`, an element of a scatter
  dynamic_move,     ///< a load and a store: `movs`
  dynamic_compare,  ///< two loads: `cmps`
  first_source,     ///< one read of a Source: counts no event
  first_segment = first_source + source_count
};
// The counters that generated code increments share no low address bits with other slots: see placed().
static_assert(uint32_t{first_source} + source_clock < 16);

/// The part of the file that is mapped as a whole: the records.
struct Records {
  uint8_t* base = nullptr;

  Header& header() const { return *reinterpret_cast<Header*>(base); }
  Process& process(uint32_t i) const { return reinterpret_cast<Process*>(base + process_offset)[i]; }
  Thread& thread(uint32_t i) const { return reinterpret_cast<Thread*>(base + thread_offset)[i]; }
  uint32_t& next_free(uint32_t area) const { return reinterpret_cast<uint32_t*>(base + free_offset)[area]; }
};

/// Returns the sum of `n` counters, each times its vector, and its row unless that is null. Pure; about 1 ns per
/// counter.
inline Totals sum(const uint64_t* counters, const SegmentVector* vectors, const MixRow* rows, uint32_t n) {
  Totals totals;
  for (uint32_t i = 0; i < n; i++) {
    if (counters[i] == 0) continue;
    totals.add(vectors[i], static_cast<int64_t>(counters[i]));
    if (rows != nullptr) totals.add(rows[i], static_cast<int64_t>(counters[i]));
  }
  return totals;
}

/// Takes a zeroed area from the free list `list`, or a new one; returns 0 if none is left. Lock-free; a process killed
/// in it loses at most this one area.
inline uint32_t take_area(const Records& records, uint64_t& list) {
  uint64_t head = __atomic_load_n(&list, __ATOMIC_ACQUIRE);
  // An invalid number: the program has overwritten the list.
  for (uint32_t area = static_cast<uint32_t>(head); area != 0 && area < area_limit;
       area = static_cast<uint32_t>(head)) {
    const uint64_t next = ((head >> 32) + 1) << 32 | __atomic_load_n(&records.next_free(area), __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&list, &head, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return area;
  }
  const uint32_t area = __atomic_add_fetch(&records.header().next_area, 1, __ATOMIC_RELAXED);
  return area < area_limit ? area : 0;
}

/// Returns an area to the list; a counter area must be zeroed. Does nothing with 0.
inline void release_area(const Records& records, uint64_t& list, uint32_t area) {
  if (area == 0) return;
  uint64_t head = __atomic_load_n(&list, __ATOMIC_ACQUIRE), next;
  do {
    __atomic_store_n(&records.next_free(area), static_cast<uint32_t>(head), __ATOMIC_RELAXED);
    next = ((head >> 32) + 1) << 32 | area;
  } while (!__atomic_compare_exchange_n(&list, &head, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}

}  // namespace tally::channel
