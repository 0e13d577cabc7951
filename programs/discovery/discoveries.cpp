#include "programs/discovery/discoveries.hpp"

#include <fmt/format.h>

#include <utility>

#include "programs/discovery/analysis/analyse.hpp"
#include "programs/discovery/discovery_log.hpp"
#include "programs/discovery/payloads.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/input.hpp"

namespace tally::discover {

namespace {

Result<Record> record_in(std::string_view text, const std::string& file) {
  auto record = read_record(text);
  if (record) return record;
  Error error = record.error();
  error.message = fmt::format("'{}': {}", printable(file), error.message);
  return fail(std::move(error));
}

Result<std::vector<result::AnyResult>> read_sweep(const output::StoredFile& file) {
  const auto record = record_in(file.text, file.name);
  if (!record) return fail(record.error());
  return std::vector<result::AnyResult>{analyse(*record, library_facts())};
}

bool is_sweep(const output::StoredFile& file) { return file.text.starts_with(R"({"schema":"tally-discover/)"); }

}  // namespace

Result<Record> read_record_file(const std::string& path) {
  const auto text = linux::read_file(path);
  if (!text) return fail(text.error());
  return record_in(*text, path);
}

const output::Format& sweep_format() {
  static constexpr output::Format row{
      output::Kind::discovery, "jsonl", ".jsonl", "every count of a sweep, one line per run", read_sweep, is_sweep};
  return row;
}

std::vector<Facts> library_facts() {
  std::vector<Facts> all;
  for (const Payload& one : library()) all.push_back(one.facts);
  return all;
}

}  // namespace tally::discover
