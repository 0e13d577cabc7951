// Formats of results: their names, the file names that select them, and their readers and writers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/any.hpp"

namespace tally::output {

/// The kind of result in a format.
enum class Kind : std::uint8_t {
  profile,
  windows,
  discovery,
  memory,
  lab,
  verify,
  regions,
  stat,
  assembly,    ///< `tally stat --asm`
  comparison,  ///< two results, compared by `tally compare`
  watch
};

/// The command that produces results of this kind: "tally stat"; "TALLY_OUTPUT" for regions.
std::string_view source_name(Kind kind);

/// A file with a result, read into memory.
struct StoredFile {
  std::string name;         ///< for messages
  std::string text;         ///< all of it
  std::string description;  ///< the text of NAME.meta.json, else of NAME.meta.jsonl; empty if both are missing
};

/// A format of one kind of result. The formats of each kind derive from it and add their writers.
struct Format {
  Kind kind;
  std::string_view name;  ///< its name for `--format`
  /// File names that select it, separated by spaces: suffixes like ".pb.gz .pprof", or a prefix like "callgrind.out*".
  /// Empty if only `--format` selects it.
  std::string_view endings;
  std::string_view summary;  ///< one line for the help
  /// Reads the results of a file. Errors: bad_usage with the file's name and the problem. Null if tally does not read
  /// this format.
  Result<std::vector<result::AnyResult>> (*read)(const StoredFile& file) = nullptr;
  /// Whether the beginning of a file looks like this format. Null if no file of this format has to be recognised. A
  /// format that is recognised but not read does not contain complete results.
  bool (*recognise)(const StoredFile& file) = nullptr;
  bool is_binary = false;      ///< not text: must not be written to a terminal
  bool is_for_people = false;  ///< a table in a terminal
  bool is_page = false;        ///< HTML
};

/// The format for a terminal, which each kind calls "table".
constexpr Format table_of(Kind kind) {
  return {.kind = kind, .name = "table", .endings = "", .summary = "for people", .is_for_people = true};
}

/// The format of a page, which each kind calls "html".
constexpr Format page_of(Kind kind, std::string_view endings, std::string_view summary) {
  return {.kind = kind, .name = "html", .endings = endings, .summary = summary, .is_page = true};
}

/// The number of characters of the file name in `path` that select the format; 0 if it does not.
std::size_t matched_name_length(const Format& format, std::string_view path);

/// Pointers to the common part of the formats.
template <class F>
std::vector<const Format*> common(std::span<const F> formats) {
  std::vector<const Format*> all;
  for (const F& format : formats) all.push_back(&format);
  return all;
}

/// The format that the file name of `output` selects; the longest ending wins. Null if it selects none.
template <class F>
const F* format_of_name(std::span<const F> formats, std::string_view output) {
  const F* best = nullptr;
  std::size_t longest = 0;
  for (const F& format : formats) {
    const std::size_t length = matched_name_length(format, output);
    if (length > longest) best = &format;
    longest = std::max(longest, length);
  }
  return best;
}

/// The endings of all of them, separately: {".json", ".csv"}.
std::vector<std::string> endings_of(const std::vector<const Format*>& formats);

/// {"table", "csv", "json"}, for the completion.
std::vector<std::string> names_of(const std::vector<const Format*>& formats);

/// "table, csv, json".
std::string format_names(const std::vector<const Format*>& formats);

/// Help text of `--format`: the names, the default, and the file name endings that select formats. `usual_in_file`: the
/// default with `-o`, if it is different.
std::string format_help(const std::vector<const Format*>& formats, std::string_view usual,
                        std::string_view usual_in_file = {});

/// A paragraph for the end of a help text: "Formats:", and a line for each format with its endings and summary.
std::string format_lines(const std::vector<const Format*>& formats);

/// The same for readable files, "Files that it reads:": a line for each kind, in the order of `kinds`, with the names
/// of its formats that have a reader.
std::string reader_lines(const std::vector<const Format*>& formats, std::span<const Kind> kinds);

/// Reads the results of a file that `format` recognised. Errors: bad_usage; those of its reader; without a reader, that
/// the format does not contain complete results.
Result<std::vector<result::AnyResult>> read_results(const Format& format, const StoredFile& file);

/// The first of `formats`, kind by kind in the order of `kinds`, that recognises a file; null if none does.
const Format* recognised_format(const std::vector<const Format*>& formats, std::span<const Kind> kinds,
                                const StoredFile& file);

}  // namespace tally::output
