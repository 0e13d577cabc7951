// Profiles as text: the formats of `tally profile`.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/kinds/format.hpp"
#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// The subject of the rows of a table.
enum class ProfileBy { function, line, object, process, thread };

/// A source file. `is_newer`: it changed after the program was built from it.
struct SourceFile {
  std::string text;
  bool is_newer = false;
};
/// Reads a source file of `object`; nothing if it is missing.
using SourceReader = std::function<std::optional<SourceFile>(const std::string& path, const std::string& object)>;

/// Returns the text of each instruction of a file between two addresses, by address.
using InstructionReader = std::function<Result<std::map<std::uint64_t, std::string>>(
    const result::ProfileObject& object, std::uint64_t begin, std::uint64_t end)>;

/// Selects the source files of coverage, by patterns of fnmatch(3) for their path or its end.
struct CoverageSelection {
  std::vector<std::string> include, exclude;  ///< include: empty: all
};

struct ProfileStyle {
  ProfileBy by = ProfileBy::function;
  std::size_t most = 40;      ///< rows of a table; 0: all
  bool by_inclusive = false;  ///< rows of functions: sorted by inclusive counts
  bool by_first = false;      ///< lists for linkers: sorted by first execution
  bool whole_names = false;   ///< function names with parameters
  bool instructions = false;  ///< separate instructions, in formats that support it
  std::size_t terminal = 0;   ///< table: columns of the terminal; 0: no terminal, so nothing is cut
  SourceReader source = {};   ///< pages show the source with the counts if it is set
  std::uint32_t object = 0;   ///< formats for the optimizer of one file: that file, an index in the profile
  CoverageSelection coverage = {};
  InstructionReader disassembly = {};  ///< pages show the instructions of a few functions if it is set
};

/// How a format represents inlined functions.
enum class InlineRepresentation {
  functions,  ///< if requested: as functions (profile_inlines.hpp)
  lines,      ///< only as their lines
  frames,     ///< always, in its own way
};

/// What a format of profiles contains and needs.
struct ProfileTraits {
  bool has_lines = false;  ///< it contains lines, regardless of the style
  bool has_calls = false;  ///< it consists of calls
  InlineRepresentation inlined = InlineRepresentation::functions;
  bool needs_executions = false;  ///< it contains execution counts, which samples do not have
  bool works_for_stored = false;  ///< it can be made from a stored profile, which has no addresses of instructions
  bool of_one_file = false;       ///< it is for the linker or optimizer of one file, and may have its branches
  bool is_coverage = false;       ///< it also has the lines and functions that were not executed
};

/// A format of profiles. Rows name the traits that they have.
struct ProfileFormat : Format, ProfileTraits {
  std::string (*write)(const result::Profile& profile, const ProfileStyle& style);
};

/// All formats, the default first.
std::span<const ProfileFormat> profile_formats();

/// Says on how many pages the executed code of `style.object` is, now and if its functions were placed in the order of
/// the list for linkers.
std::string pages_of_order(const result::Profile& profile, const ProfileStyle& style);

/// Returns the index of the file with this path or name. Errors: bad_usage if no code of it was executed.
Result<std::uint32_t> find_object(const result::Profile& profile, const std::string& name);

/// Annotated source of a file or function: for a file, the executed lines and their surroundings; for a function, its
/// own lines. `terminal`: columns of the terminal that shows it; 0: no terminal. Errors: bad_usage if nothing has this
/// name, or no line of it is known.
Result<std::string> annotated(const result::Profile& profile, std::string_view name, const SourceReader& read,
                              std::size_t terminal);

/// The instructions of the functions with this name, each with its counts, up to the last executed one. Errors:
/// bad_usage if nothing has this name; those of the reader.
Result<std::string> annotated_instructions(const result::Profile& profile, std::string_view name,
                                           const InstructionReader& read, std::size_t terminal);

}  // namespace tally::output
