// How often each instruction of a program was executed, and what it counted: the raw data of a profile.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/output/result/stat_result.hpp"

namespace tally::result {

/// A file at the time when code was mapped from it (stat(2)). Without an inode only the build ID is known.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t modified_s = 0;
  std::uint32_t modified_ns = 0;
  std::string build_id = {};  ///< in hexadecimal; empty if the file has none, or it was not read
  bool operator==(const FileIdentity&) const = default;
};

/// The source of mapped code: a file, or the kernel's name for the memory: "[vdso]", "//anon", empty.
struct CodeFile {
  std::string path;
  std::uint64_t inode = 0;
  std::uint32_t device_major = 0, device_minor = 0;
  bool by_offset = false;    ///< not a file, but addresses are offsets from its beginning, as in a file
  bool overwritten = false;  ///< not a file: memory that replaced the file `path` and has other bytes
  std::optional<FileIdentity> identity = {};  ///< of a file; missing if the file could not be opened
  std::shared_ptr<const int> kept = {};  ///< a descriptor of the file or a copy of it, as it was at that time; or null
  std::uint64_t generation = 0;          ///< of the inode number, which another file may reuse later; 0: unknown
  bool has_addresses = false;            ///< its rows have addresses in its address space instead of offsets
  std::int64_t mapped_ns = 0;  ///< when it was first mapped, in time since 1970; 0: unknown, or identity is enough
  /// True if addresses are offsets in a file.
  bool is_file() const { return inode != 0 || identity.has_value(); }
  bool operator==(const CodeFile&) const = default;
};

/// The path of the kernel's own code.
inline constexpr std::string_view kernel_code = "[kernel]";

/// A part of the profile of a process, which a mark in the program ended.
struct CodePart {
  std::int64_t pid = 0;
  std::uint32_t number = 0;  ///< from 1 in each process
  std::string trigger;       ///< what ended it, as callgrind says it: "Client Request: NAME", "Program termination"
  bool is_last = false;      ///< it ended with its process
  bool operator==(const CodePart&) const = default;
};

/// The process and thread that a row belongs to.
struct CodeOwner {
  static constexpr std::uint32_t no_part = ~std::uint32_t{0};
  std::int64_t pid = 0;
  std::string command;           ///< the program's name
  std::int64_t tid = 0;          ///< 0: all threads of the process together
  std::string thread;            ///< its name
  bool other_pids = false;       ///< `pid` is from another PID namespace than tally's
  std::uint32_t part = no_part;  ///< index in CodeCounts::parts; no_part: counted in none
  bool operator==(const CodeOwner&) const = default;
};

/// CodeRow::form of code that was replaced at its address: no number in CodeCounts::forms.
inline constexpr std::uint32_t several_forms = ~std::uint32_t{0};

/// One instruction, as executed by one thread.
struct CodeRow {
  std::uint32_t owner = 0, file = 0;  ///< indices in CodeCounts
  std::uint64_t address = 0;          ///< offset in the file; if it is not a file, address in the process
  std::int64_t executions = 0;
  std::int64_t taken = 0;                   ///< for a conditional branch
  std::uint32_t form = 0;                   ///< number in CodeCounts::forms, from 1 on; 0: unknown; several_forms
  std::uint64_t first = ~std::uint64_t{0};  ///< rises in the order of first executions; largest: not known
  bool operator==(const CodeRow&) const = default;
};

/// Instructions of one name that do the same. Several forms may have all of this in common.
struct CodeForm {
  std::string name, category;         ///< as Zydis has them
  int width = 0;                      ///< bits of the largest vector register; 0: none
  bool is_vector = false;             ///< uses a packed vector register: the event vector-instructions
  bool is_fp = false;                 ///< floating-point arithmetic: the event fp-instructions
  int loads = 0, stores = 0;          ///< accesses of one execution, without those of repeated string instructions
  int load_bits = 0, store_bits = 0;  ///< of one access; 0: depends on a mask or the processor
  bool operator==(const CodeForm&) const = default;
};

/// A call, identified by the calls that led to it.
struct CodeCall {
  static constexpr std::uint32_t no_parent = ~std::uint32_t{0};
  static constexpr std::uint32_t no_file = ~std::uint32_t{0};  ///< in site_file: the caller is unknown
  std::uint32_t owner = 0;
  std::uint32_t parent =
      no_parent;  ///< index in CodeCounts::calls, less than its own; no_parent: called first in the thread
  std::uint32_t site_file = 0, target_file = 0;
  std::uint64_t site = 0, target = 0;  ///< addresses of the call instruction and its target, as CodeRow::address
  bool recursive = false;  ///< the same call is active further up: its counts are included in that call's counts
  std::int64_t calls = 0;
  bool operator==(const CodeCall&) const = default;
};

/// How often an indirect jump or call led to an address in the same file, over all threads.
struct CodeJump {
  std::uint32_t file = 0;
  std::uint64_t site = 0, target = 0;  ///< offsets in the file
  std::int64_t executions = 0;
  bool operator==(const CodeJump&) const = default;
};

/// How an event was sampled, and the result.
struct EventSampling {
  std::uint64_t every = 0;      ///< events from one sample to the next; 0: adjusted to reach `frequency`
  std::uint64_t frequency = 0;  ///< samples per second and CPU that the kernel aims at
  int precise = 0;              ///< precise_ip of perf_event_open(2): 0 has skid, 2 asks for none
  bool by_hardware = false;     ///< a PMU event: its interrupts arrive late
  bool user_only = false;       ///< without the kernel
  std::int64_t samples = 0;     ///< taken
  std::int64_t lost = 0;        ///< lost because the ring buffers were full
  std::int64_t throttled = 0;   ///< how often the kernel stopped sampling for a while
  std::int64_t counted = 0;     ///< events counted by the sampling counters
  double effective = 0;         ///< effective sample size: number of equally weighted samples with the same information
  bool operator==(const EventSampling&) const = default;

  /// True if every event is a sample, so that nothing is estimated.
  bool of_all() const { return every == 1; }
};

/// A function of a Python program, over all threads.
struct PythonFunction {
  std::string name;  ///< its qualified name
  std::string file;  ///< as the interpreter names it
  std::uint32_t line = 0;
  std::optional<std::int64_t> calls = {};  ///< with resumptions of generators and coroutines; none if sampled
  std::vector<std::int64_t> self;          ///< of each event: counted while it was the innermost Python function
  std::vector<std::int64_t> inclusive;     ///< the same, with the functions that it called
  bool operator==(const PythonFunction&) const = default;
};

struct CodeCounts {
  std::vector<EventCount> events;  ///< requested events, for the whole command
  std::vector<CodeFile> files;
  std::vector<CodeOwner> owners;
  std::vector<CodePart> parts = {};     ///< if requested: by process, then by number; the last one of each is_last
  std::vector<CodeRow> rows;            ///< by owner, file and address, each once
  std::vector<std::int64_t> counts;     ///< of each row, one per event: counts[row * events.size() + event]
  std::vector<CodeForm> forms = {};     ///< of the rows, if the mix of instructions is requested
  std::int64_t executed = 0;            ///< then: instructions of the command, also those without a row
  std::vector<CodeCall> calls;          ///< if requested
  std::vector<CodeJump> jumps = {};     ///< if requested: by file, site and target
  std::vector<std::int64_t> inclusive;  ///< of each call, one per event: its own and those of the calls below it
  std::vector<std::int64_t> self;       ///< the same: counted while it was the innermost call
  /// Events of models: the counts of calls are of instructions, until divide_among_calls() replaces them.
  std::vector<std::size_t> by_instructions = {};
  bool calls_cut =
      false;  ///< too many different stacks: the counts of some calls are included in their callers' counts
  bool calls_too_deep = false;  ///< too many calls were active: the same
  /// For each event, counts that are in its total but in no row: accesses of string instructions, which are counted
  /// together; and counts of native execution or of processes that could not be read.
  std::vector<std::int64_t> repeated, unplaced;
  /// If rows are samples: how each event was sampled. `executions` and calls are then unknown; counts, `self` and
  /// `inclusive` are estimates from the samples.
  std::vector<EventSampling> sampling = {};
  std::vector<std::int64_t> samples = {};  ///< of each row, one per event, as `counts`
  Nanoseconds began{0};                    ///< when measuring began, since 1970
  std::map<std::int64_t, Nanoseconds> started =
      {};                                   ///< by process ID: start times of processes that were already running
  std::vector<PythonFunction> python = {};  ///< if requested
  bool python_cut = false;                  ///< some functions had no room
  double python_samples = 0;                ///< effective number of samples of Python functions; 0: exact counts
  bool operator==(const CodeCounts&) const = default;
};

}  // namespace tally::result
