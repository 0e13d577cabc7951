#include "tally/cli/stored.hpp"

#include <fmt/format.h>

#include <map>
#include <span>
#include <utility>

#include "tally/base/text.hpp"
#include "tally/linux/files/file_state.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/output.hpp"
#include "tally/result/hpctool.hpp"
#include "tally/result/stored.hpp"
#include "tally/result/stored_windows.hpp"

namespace tally::cli {
namespace {

// Who gives the rows of --format csv means the JSON beside them: rows do not hold everything.
Error rows_are_not_read(Error error, std::string_view text, const std::string& file) {
  if (!text.starts_with("run,interval_ns,")) return error;
  return {error.code, fmt::format("'{}' has the rows of a result, not all of it", printable(file)),
          fmt::format("the JSON that was written beside it has: tally export {}.meta.json", printable(file)), 0};
}

}  // namespace

Result<void> check_not_read(const std::string& output, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (output.empty() || !linux::same_file(output, file)) continue;
    return fail(Code::bad_usage,
                fmt::format("'{}' is read and would be written: its results would be lost", printable(file)),
                "-o names another file");
  }
  return {};
}

Result<std::string> read_stored(const std::string& file) {
  static std::map<std::string, std::string> pipes;
  if (const auto known = pipes.find(file); known != pipes.end()) return known->second;
  const std::string path = file == "-" ? "/dev/stdin" : file;
  auto text = linux::read_file(path);
  if (text && !linux::file_state(path)) pipes.emplace(file, *text);
  return text;
}

bool is_of_windows(std::string_view text, const std::string& file) {
  const result::WindowsForm form = result::windows_form(text);
  if (form != result::WindowsForm::hpctool) return form != result::WindowsForm::none;
  const auto beside = linux::read_regular_file(file + ".meta.json");
  return beside ? beside->starts_with(R"({"schema":"tally-windows/)") : result::are_hpctool_windows(text);
}

Result<result::Windows> stored_windows(std::string_view text, const std::string& file) {
  if (result::windows_form(text) != result::WindowsForm::binary) {
    const auto beside = linux::read_regular_file(file + ".meta.json");
    return result::read_windows_text(text, file, beside ? *beside : "");
  }
  return result::read_windows_binary(
      [text](std::span<char> to) mutable -> Result<std::size_t> {
        const std::size_t size = text.copy(to.data(), to.size());
        text.remove_prefix(size);
        return size;
      },
      file);
}

Result<std::vector<result::Stat>> stored_stats(std::string_view text, const std::string& file) {
  if (result::is_hpctool(text)) {
    auto beside = linux::read_regular_file(file + ".meta.json");
    // As --append leaves it.
    if (!beside) beside = linux::read_regular_file(file + ".meta.jsonl");
    return result::read_hpctool(text, file, beside ? *beside : "");
  }
  auto stats = result::read_stats(text, file);
  if (!stats) return fail(rows_are_not_read(stats.error(), text, file));
  return stats;
}

}  // namespace tally::cli
