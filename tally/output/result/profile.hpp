// What `tally profile` measured: which function, which line, which instruction counted how much.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tally/output/result/code.hpp"
#include "tally/output/result/stat.hpp"

namespace tally::result {

/// A file that code came from.
struct ProfileObject {
  std::string name;                      ///< its path; what the kernel calls the memory, for code of no file
  std::string why_nameless = {};         ///< why its functions have no names; empty where they have
  std::string build_id = {};             ///< in hexadecimal; empty where it has none
  std::vector<std::string> unread = {};  ///< files with its debug information that were not read: "FILE: why"
  /// Its executable part: where the file says that it lies, and where it stands in the file. 0: not known.
  std::uint64_t address = 0, bytes = 0, offset = 0;
  /// A descriptor of the file as it was when its code ran, where another one or none is at its path; or null.
  std::shared_ptr<const int> kept = {};
  bool operator==(const ProfileObject&) const = default;
};

struct ProfileFunction {
  std::string name;  ///< demangled, with parameters; "[.plt]", "[.text]" for code of no function that has a name
  std::uint32_t object = 0;      ///< index in Profile::objects
  std::uint64_t address = 0;     ///< of its first instruction, as the object has it
  std::int64_t entered = 0;      ///< executions of that one: calls and jumps to it
  std::uint32_t source = 0;      ///< index in Profile::sources, of where it begins
  std::uint32_t line = 0;        ///< 0: not known
  std::string linker_name = {};  ///< where it is another than `name`
  bool operator==(const ProfileFunction&) const = default;
};

/// A function that the compiler laid into another one, at one of the places where it is called.
struct ProfileInline {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t function = 0;   ///< index in Profile::functions
  std::uint32_t parent = none;  ///< index in Profile::inlines of what it lies in; none: the instruction's function
  std::uint32_t source = 0, line = 0;  ///< where it is called; line 0: not known
  std::uint32_t discriminator = 0;     ///< as in ProfileRow
  bool operator==(const ProfileInline&) const = default;
};

/// One instruction, as one thread ran it.
struct ProfileRow {
  std::uint32_t owner = 0, function = 0;
  std::uint32_t inlined = ProfileInline::none;  ///< index in Profile::inlines: the innermost that it is of
  std::uint32_t source = 0, line = 0;           ///< line 0: not known
  std::uint64_t address = 0;                    ///< as the object has it
  std::int64_t executions = 0, taken = 0;
  std::uint32_t discriminator = 0;  ///< which of the line's blocks, as the compiler numbers them
  bool operator==(const ProfileRow&) const = default;
};

/// A call, by the calls that led there.
struct ProfileCall {
  std::uint32_t owner = 0;
  std::uint32_t parent = CodeCall::no_parent;   ///< index in Profile::calls, before its own
  std::uint32_t caller = 0, callee = 0;         ///< functions
  std::uint64_t site = 0, target = 0;           ///< as their objects have them
  std::uint32_t inlined = ProfileInline::none;  ///< of the call instruction: as in ProfileRow
  std::uint32_t source = 0, line = 0;           ///< of the call instruction
  std::uint32_t discriminator = 0;              ///< of it: as in ProfileRow
  bool recursive = false;                       ///< see CodeCall
  std::int64_t calls = 0;
  bool operator==(const ProfileCall&) const = default;
};

struct Profile {
  Stat stat;  ///< the command, how it ended, and its counts
  std::vector<CodeOwner> owners;
  std::vector<ProfileObject> objects;
  std::vector<std::string> sources;  ///< files of source, as the compiler was told; the first is no file
  std::vector<ProfileFunction> functions;
  std::vector<ProfileInline> inlines;  ///< where they were asked for; each behind its parent
  std::vector<ProfileRow> rows;        ///< by owner, function and address
  std::vector<std::int64_t> counts;    ///< of each row, one for each event of `stat`
  std::vector<ProfileCall> calls;
  bool calls_cut = false, calls_too_deep = false;  ///< see CodeCounts
  bool inlines_apart = false;                      ///< inlined functions count for themselves: tally profile --inlines
  std::vector<std::int64_t> inclusive, self;       ///< of each call, one for each event: see CodeCounts
  std::vector<std::int64_t> repeated, unplaced;    ///< of each event: see CodeCounts
  std::vector<EventSampling> sampling = {};        ///< of each event, where the rows are samples: see CodeCounts
  std::vector<std::int64_t> samples = {};          ///< of each row, as `counts`
  bool operator==(const Profile&) const = default;

  std::size_t event_count() const { return stat.events.size(); }
  std::int64_t count(std::size_t row, std::size_t event) const { return counts[row * event_count() + event]; }
  bool is_sampled() const { return !sampling.empty(); }
};

}  // namespace tally::result
