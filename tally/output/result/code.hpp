// How often each instruction of a program ran, and what it counted: what a profile is made of.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/output/result/stat.hpp"

namespace tally::result {

/// A file as it was when code was mapped from it (stat(2)). Without an inode only the build id is known.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t modified_s = 0;
  std::uint32_t modified_ns = 0;
  std::string build_id = {};  ///< in hexadecimal; empty where it has none, or it was not read
  bool operator==(const FileIdentity&) const = default;
};

/// What code was mapped from: a file as it was then, or what the kernel calls the memory: "[vdso]", "//anon", empty.
struct CodeFile {
  std::string path;
  std::uint64_t inode = 0;
  std::uint32_t device_major = 0, device_minor = 0;
  bool by_offset = false;    ///< of what is no file: addresses are as in a file nevertheless, from its beginning on
  bool overwritten = false;  ///< of what is no file: memory in the place of the file `path`, with other bytes
  std::optional<FileIdentity> identity = {};  ///< of a file; nothing where it could not be opened any more
  std::shared_ptr<const int> kept = {};       ///< a descriptor of the file or a copy of it, as it was then; or null
  std::uint64_t generation = 0;               ///< of the inode, which another file may have later; 0: not known
  std::int64_t mapped_ns = 0;  ///< when it was mapped first, in time since 1970; 0: not known, or identity says more
  /// Addresses are offsets in a file then.
  bool is_file() const { return inode != 0 || identity.has_value(); }
  bool operator==(const CodeFile&) const = default;
};

/// The path of the kernel's own code.
inline constexpr std::string_view kernel_code = "[kernel]";

/// Of which process and thread a row is.
struct CodeOwner {
  std::int64_t pid = 0;
  std::string command;      ///< the program's name
  std::int64_t tid = 0;     ///< 0: of all its threads that are not told apart
  std::string thread;       ///< its name
  bool other_pids = false;  ///< `pid` is of another PID namespace than ours
  bool operator==(const CodeOwner&) const = default;
};

/// One instruction, as one thread ran it.
struct CodeRow {
  std::uint32_t owner = 0, file = 0;  ///< indices in CodeCounts
  std::uint64_t address = 0;          ///< offset in the file; where it is no file, in the process's memory
  std::int64_t executions = 0;
  std::int64_t taken = 0;  ///< of a conditional branch
  bool operator==(const CodeRow&) const = default;
};

/// A call, by the calls that led there.
struct CodeCall {
  static constexpr std::uint32_t no_parent = ~std::uint32_t{0};
  static constexpr std::uint32_t no_file = ~std::uint32_t{0};  ///< as site_file: nobody knows who called
  std::uint32_t owner = 0;
  std::uint32_t parent = no_parent;  ///< index in CodeCounts::calls, before its own; of no call: the thread's beginning
  std::uint32_t site_file = 0, target_file = 0;
  std::uint64_t site = 0, target = 0;  ///< the call instruction, and where it led: as CodeRow::address
  bool recursive = false;              ///< one like it is being executed already: what it counts is in that one's, too
  std::int64_t calls = 0;
  bool operator==(const CodeCall&) const = default;
};

/// How an event was sampled, and what came of it.
struct EventSampling {
  std::uint64_t every = 0;      ///< events from one sample to the next; 0: as many as make `frequency`
  std::uint64_t frequency = 0;  ///< samples in a second on a processor that the kernel aims at
  int precise = 0;              ///< precise_ip of perf_event_open(2): 0 has skid, 2 asks for none
  bool by_hardware = false;     ///< a PMU's event: its interrupts come late
  bool user_only = false;       ///< nothing of the kernel
  std::int64_t samples = 0;     ///< that were taken
  std::int64_t lost = 0;        ///< for which the rings had no room
  std::int64_t throttled = 0;   ///< times that the kernel stopped sampling for a while
  std::int64_t counted = 0;     ///< events, by the counters that sampled
  double effective = 0;         ///< samples of equal weight that tell as much as these
  bool operator==(const EventSampling&) const = default;

  /// Every single event is a sample: nothing is estimated.
  bool of_all() const { return every == 1; }
};

struct CodeCounts {
  std::vector<EventCount> events;  ///< that were asked for: the whole command's
  std::vector<CodeFile> files;
  std::vector<CodeOwner> owners;
  std::vector<CodeRow> rows;            ///< by owner, file and address, each once
  std::vector<std::int64_t> counts;     ///< of each row, one for each event: counts[row * events.size() + event]
  std::vector<CodeCall> calls;          ///< where they were asked for
  std::vector<std::int64_t> inclusive;  ///< of each call, one for each event: its own and those of calls below it
  std::vector<std::int64_t> self;       ///< the same: what was counted while it was the innermost call
  bool calls_cut = false;  ///< there were more different stacks than are told apart: some calls are their callers' own
  bool calls_too_deep = false;  ///< more calls had not returned than are followed: the same
  /// Of each event, what is in its total and in no row: accesses of string instructions, which are counted together,
  /// and what was counted natively or of a process that could not be read.
  std::vector<std::int64_t> repeated, unplaced;
  /// Where the rows are samples: of each event, how. Then `executions` and calls are not known, counts are what the
  /// samples stand for, `self` and `inclusive` too.
  std::vector<EventSampling> sampling = {};
  std::vector<std::int64_t> samples = {};            ///< of each row, one for each event, as `counts`
  Nanoseconds began{0};                              ///< since 1970: when measuring began
  std::map<std::int64_t, Nanoseconds> started = {};  ///< the same of processes that ran before it, by number
  bool operator==(const CodeCounts&) const = default;
};

}  // namespace tally::result
