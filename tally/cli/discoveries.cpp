#include "tally/cli/discoveries.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tally/base/text.hpp"
#include "tally/discover/analysis/analyse.hpp"
#include "tally/discover/payloads.hpp"
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

bool is_discovery(std::string_view text) { return text.starts_with(R"({"schema":"tally-discover/1")"); }

Result<result::Discovery> discovery_of(std::string_view text, const std::string& file) {
  const auto record = discover::read_record(text);
  if (record) return discover::analyse(*record, library_facts());
  Error error = record.error();
  error.message = fmt::format("'{}': {}", printable(file), error.message);
  return fail(std::move(error));
}

std::vector<discover::Facts> library_facts() {
  std::vector<discover::Facts> all;
  for (const discover::Payload& one : discover::library()) all.push_back(one.facts);
  return all;
}

Result<std::optional<RunFile>> RunFile::open(const std::string& path, const discover::Record& record, bool resumed) {
  if (path.empty()) return std::optional<RunFile>();
  RunFile file;
  file.path_ = path;
  if (resumed) {
    std::error_code failed;
    const std::string text = read_text(path).value_or("");
    const std::size_t whole = text.rfind('\n') + 1;
    if (whole != text.size()) std::filesystem::resize_file(path, whole, failed);
    if (failed) return fail(Code::cannot_write, fmt::format("cannot write '{}'", printable(path)));
  }
  file.stream_.open(path, resumed ? std::ios::app : std::ios::trunc);
  if (!resumed) file.stream_ << discover::header_line(record) << std::flush;
  if (!file.stream_) return fail(Code::cannot_write, fmt::format("cannot write '{}'", printable(path)));
  return std::optional<RunFile>(std::move(file));
}

Result<void> RunFile::add(const discover::Run& run) { return add(discover::run_line(run)); }

Result<void> RunFile::add(const std::string& line) {
  stream_ << line << std::flush;
  if (stream_) return {};
  return fail(Code::cannot_write, fmt::format("cannot write '{}': what it holds is kept", printable(path_)),
              "make room, then --resume " + path_);
}

}  // namespace tally::cli
