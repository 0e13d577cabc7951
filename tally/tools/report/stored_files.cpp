#include "tally/tools/report/stored_files.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/file_state.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/output/data/chrome_trace.hpp"
#include "tally/output/kit/gzip.hpp"
#include "tally/output/registry/formats.hpp"
#include "tally/output/registry/readers.hpp"

namespace tally::report {
std::optional<Error> unreadable_file_error(const output::StoredFile& file) {
  if (!file.text.starts_with(output::chrome_trace_begin)) return std::nullopt;
  return Error{
      Code::bad_usage, fmt::format("'{}' is a trace for a viewer, and tally does not read it", printable(file.name)),
      "open it in https://ui.perfetto.dev or chrome://tracing; tally reads windows as csv, csv.gz and jsonl", 0};
}

Result<void> check_not_read(const std::string& output, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (output.empty() || !linux::same_file(output, file)) continue;
    return fail(Code::bad_usage,
                fmt::format("'{}' is both input and output: its results would be lost", printable(file)),
                "use another file for -o");
  }
  return {};
}

namespace {

// Unpacks a file of gzip. If that is damaged, its last line is cut, so that readers report an incomplete file.
Result<void> unpack(output::StoredFile& stored) {
  if (!output::is_gzip(stored.text)) return {};
  constexpr std::size_t most_bytes = std::size_t{4} << 30;  // a small file of somebody else could fill the memory
  std::string text;
  if (!output::gunzip(stored.text, most_bytes, text)) {
    if (text.size() == most_bytes)
      return fail(Code::bad_usage, fmt::format("'{}' holds more than 4 GiB", printable(stored.name)),
                  "split it: gzip -dc FILE | split");
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  }
  stored.text = std::move(text);
  return {};
}

// The error for a file that only tally 0.9 reads.
Result<void> check_version(const output::StoredFile& stored) {
  if (!stored.text.starts_with("TALLYWIN")) return {};
  return fail(Code::bad_usage,
              fmt::format("'{}' is a binary file of windows, which this version does not read", printable(stored.name)),
              "convert it with tally 0.9: tally export FILE -o FILE.csv; tally sample now writes FILE.csv.gz");
}

}  // namespace

Result<output::StoredFile> read_stored(const std::string& file) {
  static std::map<std::string, std::string> pipes;
  output::StoredFile stored{file, "", ""};
  if (const auto known = pipes.find(file); known != pipes.end()) {
    stored.text = known->second;
    return stored;
  }
  const std::string path = file == "-" ? "/dev/stdin" : file;
  auto text = linux::read_file(path);
  if (!text) return fail(text.error());
  stored.text = *std::move(text);
  if (auto known = check_version(stored); !known) return fail(known.error());
  if (auto unpacked = unpack(stored); !unpacked) return fail(unpacked.error());
  if (!linux::file_state(path)) pipes.emplace(file, stored.text);
  for (const char* ending : {".meta.json", ".meta.jsonl"}) {
    auto description = linux::read_regular_file(file + ending);
    if (!description) continue;
    stored.description = *std::move(description);
    break;
  }
  return stored;
}

Result<std::vector<result::AnyResult>> stored_results(const output::StoredFile& file,
                                                      std::span<const output::Kind> kinds) {
  return stored_results(file, output::recognised_format(output::formats(), kinds, file));
}

Result<std::vector<result::AnyResult>> stored_results(const output::StoredFile& file, const output::Format* format) {
  return format != nullptr ? output::read_results(*format, file) : output::read_stat_json(file);
}

Result<result::Stat> read_counts(const std::string& name) {
  constexpr output::Kind kinds[] = {output::Kind::profile, output::Kind::stat};
  const auto file = read_stored(name);
  if (!file) return fail(file.error());
  auto results = stored_results(*file, kinds);
  if (!results) return fail(results.error());
  if (results->size() != 1)
    return fail(Code::bad_usage,
                fmt::format("'{}' holds {} results: a history takes files with one", printable(name), results->size()));
  if (auto* const profile = std::get_if<result::Profile>(&results->front())) return std::move(profile->stat);
  return std::get<result::Stat>(std::move(results->front()));
}

}  // namespace tally::report
