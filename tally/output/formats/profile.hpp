// A profile in, text out: what `tally profile` prints and writes.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/output/formats/format.hpp"
#include "tally/output/result/profile.hpp"

namespace tally::report {

/// What the rows of a table are.
enum class ProfileBy { function, line, object, process, thread };

/// A file of source. `is_newer`: than what was made of it.
struct SourceFile {
  std::string text;
  bool is_newer = false;
};
/// Reads a file of source that `object` was made of; nothing where it is not there.
using SourceReader = std::function<std::optional<SourceFile>(const std::string& path, const std::string& object)>;

/// The text of each instruction of a file between two addresses, by its own.
using InstructionReader = std::function<Result<std::map<std::uint64_t, std::string>>(
    const result::ProfileObject& object, std::uint64_t begin, std::uint64_t end)>;

struct ProfileStyle {
  ProfileBy by = ProfileBy::function;
  std::size_t most = 40;      ///< rows of a table; 0: all
  bool by_inclusive = false;  ///< rows of functions: what counted most with its callees first
  bool whole_names = false;   ///< functions with their parameters
  bool instructions = false;  ///< forms that may tell them apart do
  std::size_t terminal = 0;   ///< table: columns of the terminal that shows it; 0: none does, and nothing is cut
  SourceReader source = {};   ///< pages show the source with the counts if it is set
  InstructionReader disassembly = {};  ///< pages show the instructions of a few functions if it is set
};

/// What a form makes of inlined functions.
enum class InlinedCodeIs {
  functions,  ///< where they are asked for: functions like others (profile_inlines.hpp)
  lines,      ///< nothing but their lines
  frames,     ///< always, its own way
};

/// A format of profiles.
struct ProfileFormat : Format {
  std::string (*write)(const result::Profile& profile, const ProfileStyle& style);
  bool has_lines;          ///< it tells them whatever the style
  bool has_calls = false;  ///< it is made of them
  InlinedCodeIs inlined = InlinedCodeIs::functions;
  bool needs_executions = false;  ///< it tells how often code ran, which samples do not
  bool of_stored = false;         ///< it can be made of a stored profile, which has no addresses of instructions
};

/// All forms, the default first.
std::span<const ProfileFormat> profile_formats();

/// The source of what has this name, each line with its counts: of a file of source the lines that ran and those around
/// them, of a function its own lines. Errors: bad_usage where nothing has this name, or no line is known of it.
Result<std::string> annotated(const result::Profile& profile, std::string_view name, const SourceReader& read);

/// The instructions of the functions with this name, each with its counts; those that did not run, too, up to the last
/// one that did. Errors: bad_usage where nothing has this name; those of the reader.
Result<std::string> annotated_instructions(const result::Profile& profile, std::string_view name,
                                           const InstructionReader& read);

}  // namespace tally::report
