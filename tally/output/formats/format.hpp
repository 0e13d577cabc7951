// Formats of results: what each one is called, which file names ask for it, and who writes and reads it.
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

namespace tally::report {

/// What a format holds.
enum class Kind : std::uint8_t {
  profile,
  windows,
  discovery,
  memory,
  lab,
  verify,
  regions,
  stat,
  assembly,            ///< `tally stat --asm`
  profile_difference,  ///< of two profiles
  comparison,          ///< of two results, by `tally compare`
  watch
};

/// The command that makes results of this kind: "tally stat"; "TALLY_OUTPUT" for the regions of a program.
std::string_view source_name(Kind kind);

/// A file with a result, read into memory.
struct StoredFile {
  std::string name;         ///< for messages
  std::string text;         ///< all of it
  std::string description;  ///< the text of NAME.meta.json, else of NAME.meta.jsonl; empty where both are missing
};

/// A format of one kind of result. The formats of each kind derive from it and add how they write.
struct Format {
  Kind kind;
  std::string_view name;  ///< what `--format` calls it
  /// File names that ask for it, separated by spaces: ".pb.gz .pprof"; "callgrind.out*" is how a name begins. Empty
  /// where only `--format` does.
  std::string_view endings;
  std::string_view summary;  ///< one line for the help
  /// The results of a file. Errors: bad_usage with the file's name and what is wrong. Null where tally does not read
  /// this format.
  Result<std::vector<result::AnyResult>> (*read)(const StoredFile& file) = nullptr;
  /// Whether a file looks like this format, by how it begins. Null where no file of this format needs to be told from
  /// others; a format that is recognised and not read does not hold all of a result.
  bool (*recognise)(const StoredFile& file) = nullptr;
  bool is_binary = false;  ///< no text: a terminal must not get it
};

/// How many characters of the file name of `path` ask for the format; 0: the name does not.
std::size_t characters_that_ask_for(const Format& format, std::string_view path);

/// Whether the file name of `output` may be used for each of `formats`, where no option names one. It may where it asks
/// for one of them, and where it says nothing: no ending, that of a text (.txt, .log, .out), a number or a random one.
/// Errors: bad_usage with the endings that these formats have; `has_option`: whether `--format` is one of the command's
/// options.
Result<void> check_ending(std::string_view output, const std::vector<const Format*>& formats, bool has_option = true);

/// Errors: bad_usage, always: none of `formats` has this name.
Error unknown_format(std::string_view name, const std::vector<const Format*>& formats);

/// The formats as their common part.
template <class F>
std::vector<const Format*> common(std::span<const F> formats) {
  std::vector<const Format*> all;
  for (const F& format : formats) all.push_back(&format);
  return all;
}

/// The format that the file name of `output` asks for: the longest ending wins. Null where it asks for none.
template <class F>
const F* format_of_name(std::span<const F> formats, std::string_view output) {
  const F* best = nullptr;
  std::size_t longest = 0;
  for (const F& format : formats) {
    const std::size_t length = characters_that_ask_for(format, output);
    if (length > longest) best = &format;
    longest = std::max(longest, length);
  }
  return best;
}

/// The format called `name`; where that is empty, the one that the file name of `output` asks for, else the one called
/// `usual`. Errors: bad_usage for an unknown name; those of check_ending().
template <class F>
Result<const F*> choose_format(std::span<const F> formats, std::string_view name, std::string_view output,
                               std::string_view usual) {
  if (name.empty()) {
    if (const F* const asked = format_of_name(formats, output)) return asked;
    if (auto fits = check_ending(output, common(formats)); !fits) return tl::unexpected(std::move(fits.error()));
    name = usual;
  }
  for (const F& format : formats)
    if (format.name == name) return &format;
  return tl::unexpected(unknown_format(name, common(formats)));
}

/// {"table", "csv", "json"}, for the completion.
std::vector<std::string> names_of(const std::vector<const Format*>& formats);

/// "table, csv, json".
std::string format_names(const std::vector<const Format*>& formats);

/// Help of `--format`: the names, which one is used without it, and the endings of file names that choose one.
/// `usual_in_file`: the one that is used with `-o` where that is another.
std::string format_help(const std::vector<const Format*>& formats, std::string_view usual,
                        std::string_view usual_in_file = {});

/// A paragraph of a help's footer: the heading "Formats:", and a line for each format with its endings and summary.
std::string format_lines(const std::vector<const Format*>& formats);

/// The same of what can be read, with the heading "Files that it reads:": a line for each kind, in the order of
/// `kinds`, with the names of the formats that have a reader.
std::string reader_lines(const std::vector<const Format*>& formats, std::span<const Kind> kinds);

/// The results of a file that `format` recognises. Errors: bad_usage; those of its reader; where it has none, that the
/// format does not hold everything.
Result<std::vector<result::AnyResult>> read_results(const Format& format, const StoredFile& file);

/// The first of `formats`, kind by kind in the order of `kinds`, that recognises a file; null where none does.
const Format* recognised_format(const std::vector<const Format*>& formats, std::span<const Kind> kinds,
                                const StoredFile& file);

}  // namespace tally::report
