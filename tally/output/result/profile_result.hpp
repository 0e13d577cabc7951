// The result of `tally profile`: counts of functions, source lines and instructions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tally/output/result/code_values.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::result {

/// A function as the linker placed it.
struct LinkedFunction {
  std::uint64_t address = 0, bytes = 0;
  std::string name;  ///< as BOLT names it: symbol::BoltFunction
  bool operator==(const LinkedFunction&) const = default;
};

/// A branch that was executed: from one instruction to another. Both outcomes of a conditional branch have one.
struct ProfileBranch {
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};
  enum class Kind : std::uint8_t {
    taken,
    not_taken,
    returns,
    falls  ///< no branch: the instruction before a target of branches
  };
  std::uint32_t object = 0;  ///< index in Profile::objects
  std::uint64_t from = 0;    ///< address of the branch; unknown: it is in another object, or its targets are not known
  std::uint64_t to = 0;      ///< address of the target; unknown: the same
  /// A conditional branch has a record for each outcome, if need be with count 0. mispredicted: if branch-misses are an
  /// event.
  std::int64_t count = 0, mispredicted = 0;
  Kind kind = Kind::taken;
  bool operator==(const ProfileBranch&) const = default;
};

/// A source line for which there is code, executed or not.
struct LineWithCode {
  std::uint32_t object = 0, source = 0, line = 0;  ///< object, source: indices in the profile
  auto operator<=>(const LineWithCode&) const = default;
};

/// A file that contains code.
struct ProfileObject {
  std::string name;                      ///< its path; the kernel's name of the memory, for code that is not in a file
  std::string why_nameless = {};         ///< why its functions have no names; empty if they have
  std::string build_id = {};             ///< in hexadecimal; empty if it has none
  std::vector<std::string> unread = {};  ///< files with its debug information that were not read: "FILE: why"
  /// Its executable segment: address, size and file offset from its program headers. 0: unknown.
  std::uint64_t address = 0, bytes = 0, offset = 0;
  /// A descriptor of the file as it was when its code was executed, if the path has another file or none; or null.
  std::shared_ptr<const int> kept = {};
  std::vector<LinkedFunction> linked = {};  ///< by address; with branches only
  std::optional<FileIdentity> identity = {};
  bool operator==(const ProfileObject&) const = default;
};

struct ProfileFunction {
  std::string name;              ///< demangled, with parameters; "[.plt]", "[.text]" for code outside named functions
  std::uint32_t object = 0;      ///< index in Profile::objects
  std::uint64_t address = 0;     ///< of its first instruction, in the object's address space
  std::int64_t entered = 0;      ///< executions of its first instruction: calls and jumps to it
  std::uint32_t source = 0;      ///< index in Profile::sources: where it begins
  std::uint32_t line = 0;        ///< 0: unknown
  std::string linker_name = {};  ///< if it differs from `name`
  /// Of a copy or part that the compiler made: the address of its function (or of that's first copy); 0: none, unknown.
  std::uint64_t clone_of = 0;
  /// Of a stored profile: digests of the text of its lines and of its executed code; 0: unknown.
  std::uint64_t source_digest = 0, code_digest = 0;
  std::uint64_t first = ~std::uint64_t{0};  ///< as CodeRow::first: of its first instruction to be executed
  /// Of several runs whose counts of it differ: the lowest and highest of each event; else empty.
  std::vector<std::int64_t> least = {}, most = {};
  bool operator==(const ProfileFunction&) const = default;
};

/// A function that the compiler inlined at one of its call sites.
struct ProfileInline {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t function = 0;   ///< index in Profile::functions
  std::uint32_t parent = none;  ///< index in Profile::inlines of the enclosing inlined function; none: directly in the
                                ///< instruction's function
  std::uint32_t source = 0, line = 0;  ///< the call site; line 0: unknown
  std::uint32_t discriminator = 0;     ///< as in ProfileRow
  bool operator==(const ProfileInline&) const = default;
};

/// One instruction, as executed by one thread.
struct ProfileRow {
  std::uint32_t owner = 0, function = 0;
  std::uint32_t inlined = ProfileInline::none;  ///< index in Profile::inlines of the innermost inlined function
  std::uint32_t source = 0, line = 0;           ///< line 0: unknown
  std::uint64_t address = 0;                    ///< in the object's address space
  std::int64_t executions = 0, taken = 0;
  std::uint32_t discriminator = 0;  ///< distinguishes blocks of one line, as numbered by the compiler
  std::uint32_t form = 0;           ///< see CodeRow
  bool operator==(const ProfileRow&) const = default;
};

/// A call, identified by the calls that led to it.
struct ProfileCall {
  std::uint32_t owner = 0;
  std::uint32_t parent = CodeCall::no_parent;   ///< index in Profile::calls, less than its own
  std::uint32_t caller = 0, callee = 0;         ///< functions
  std::uint64_t site = 0, target = 0;           ///< in the address spaces of their objects
  std::uint32_t inlined = ProfileInline::none;  ///< of the call instruction: as in ProfileRow
  std::uint32_t source = 0, line = 0;           ///< of the call instruction
  std::uint32_t discriminator = 0;              ///< of the call instruction: as in ProfileRow
  bool recursive = false;                       ///< see CodeCall
  std::int64_t calls = 0;
  bool operator==(const ProfileCall&) const = default;
};

struct Profile {
  Stat stat;  ///< the command, how it ended, and its counts
  std::vector<CodeOwner> owners;
  std::vector<CodePart> parts = {};  ///< see CodeCounts
  std::vector<ProfileObject> objects;
  std::vector<std::string> sources;  ///< source files as named in the debug information; the first is no file
  std::vector<ProfileFunction> functions;
  std::vector<ProfileInline> inlines;  ///< if requested; each after its parent
  std::vector<ProfileRow> rows;        ///< by owner, function and address
  std::vector<std::int64_t> counts;    ///< of each row, one for each event of `stat`
  std::vector<CodeForm> forms = {};    ///< of the rows, if the mix of instructions is requested
  std::vector<ProfileCall> calls;
  std::vector<LineWithCode> lines_with_code = {};  ///< if requested, sorted; `functions` then has all with a line
  std::vector<ProfileBranch> branches = {};        ///< if requested: by object, source and target
  std::vector<CodeJump> jumps = {};                ///< of their objects (CodeJump::file), by address; with branches
  bool calls_cut = false, calls_too_deep = false;  ///< see CodeCounts
  bool inlines_apart = false;                 ///< inlined functions have counts of their own: tally profile --inlines
  std::vector<std::int64_t> inclusive, self;  ///< of each call, one for each event: see CodeCounts
  std::vector<std::int64_t> repeated, unplaced;  ///< of each event: see CodeCounts
  std::vector<EventSampling> sampling = {};      ///< of each event, if rows are samples: see CodeCounts
  std::vector<std::int64_t> samples = {};        ///< of each row, as `counts`
  std::vector<PythonFunction> python = {};       ///< see CodeCounts
  bool python_cut = false;
  double python_samples = 0;
  std::size_t runs = 1;  ///< of which this is the one with the median of the first event
  bool operator==(const Profile&) const = default;

  std::size_t event_count() const { return stat.events.size(); }
  std::int64_t count(std::size_t row, std::size_t event) const { return counts[row * event_count() + event]; }
  bool is_sampled() const { return !sampling.empty(); }
};

}  // namespace tally::result
