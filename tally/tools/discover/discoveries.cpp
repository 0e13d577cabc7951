#include "tally/tools/discover/discoveries.hpp"

#include <fmt/format.h>

#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/tools/discover/analysis/analyse.hpp"
#include "tally/tools/discover/discovery_log.hpp"
#include "tally/tools/discover/payloads.hpp"

namespace tally::discover {

Result<Record> read_record_file(const std::string& path) {
  const auto text = linux::read_file(path);
  if (!text) return fail(text.error());
  auto record = read_record(*text);
  if (record) return record;
  Error error = record.error();
  error.message = fmt::format("'{}': {}", printable(path), error.message);
  return fail(std::move(error));
}

bool is_discovery(std::string_view text) { return text.starts_with(R"({"schema":"tally-discover/)"); }

Result<result::Discovery> discovery_of(std::string_view text, const std::string& file) {
  const auto record = read_record(text);
  if (record) return analyse(*record, library_facts());
  Error error = record.error();
  error.message = fmt::format("'{}': {}", printable(file), error.message);
  return fail(std::move(error));
}

std::vector<Facts> library_facts() {
  std::vector<Facts> all;
  for (const Payload& one : library()) all.push_back(one.facts);
  return all;
}

Result<std::optional<RunFile>> RunFile::open(const std::string& path, const Record& record, bool resumed) {
  if (path.empty()) return std::optional<RunFile>();
  if (!resumed) {
    auto output = linux::Output::open_file(path);
    if (!output) return fail(output.error());
    RunFile file(path, *std::move(output));
    if (auto begun = file.add(header_line(record)); !begun) return fail(begun.error());
    return std::optional<RunFile>(std::move(file));
  }
  auto output = linux::Output::open_to_append(path);
  if (!output) return fail(output.error());
  const auto text = output->existing();
  if (!text) return fail(text.error());
  if (auto cut = output->cut(text->rfind('\n') + 1); !cut) return fail(cut.error());
  return std::optional<RunFile>(RunFile(path, *std::move(output)));
}

Result<void> RunFile::add(const Run& run) { return add(run_line(run)); }

Result<void> RunFile::add(const std::string& line) {
  auto added = output_.add(line);
  if (added) added = output_.publish();
  if (added) return added;
  Error error = added.error();
  error.message += "; the counts written so far are kept";
  error.hint = "free some disk space, then --resume " + path_;
  return fail(std::move(error));
}

}  // namespace tally::discover
