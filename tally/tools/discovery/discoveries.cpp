#include "tally/tools/discovery/discoveries.hpp"

#include <fmt/format.h>

#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/tools/discovery/analysis/analyse.hpp"
#include "tally/tools/discovery/discovery_log.hpp"
#include "tally/tools/discovery/payloads.hpp"

namespace tally::discover {

namespace {

Result<Record> record_in(std::string_view text, const std::string& file) {
  auto record = read_record(text);
  if (record) return record;
  Error error = record.error();
  error.message = fmt::format("'{}': {}", printable(file), error.message);
  return fail(std::move(error));
}

}  // namespace

Result<Record> read_record_file(const std::string& path) {
  const auto text = linux::read_file(path);
  if (!text) return fail(text.error());
  return record_in(*text, path);
}

bool is_discovery(std::string_view text) { return text.starts_with(R"({"schema":"tally-discover/)"); }

Result<result::Discovery> discovery_of(std::string_view text, const std::string& file) {
  const auto record = record_in(text, file);
  if (!record) return fail(record.error());
  return analyse(*record, library_facts());
}

std::vector<Facts> library_facts() {
  std::vector<Facts> all;
  for (const Payload& one : library()) all.push_back(one.facts);
  return all;
}

}  // namespace tally::discover
