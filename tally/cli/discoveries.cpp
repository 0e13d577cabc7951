#include "tally/cli/discoveries.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "tally/base/text.hpp"
#include "tally/discover/store.hpp"

namespace tally::cli {

std::optional<std::string> read_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

Result<discover::Record> read_record_file(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return fail(Code::bad_usage, fmt::format("cannot read '{}'", printable(path)));
  auto record = discover::read_record(*text);
  if (record) return record;
  Error error = record.error();
  error.message = fmt::format("'{}': {}", printable(path), error.message);
  return fail(std::move(error));
}

std::string discover_header(const discover::Record& record) { return discover::header_line(record); }
std::string run_text(const discover::Run& run) { return discover::run_line(run); }

}  // namespace tally::cli
