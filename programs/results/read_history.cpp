#include "programs/results/read_history.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/file_state.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/tools/history/database.hpp"

namespace tally::history {

bool is_history(const std::string& path) {
  if (!linux::file_state(path)) return false;
  auto file = linux::InputFile::open_regular(path);
  if (!file) return false;
  std::string begin(file_magic.size(), ' ');
  const auto size = file->read(begin);
  return size && *size == begin.size() && begin == file_magic;
}

Result<result::History> read_history(const std::string& path) {
  if (!is_history(path)) {
    // The words of the system, if it cannot be read.
    if (const auto text = linux::read_regular_file(path); !text) return fail(text.error());
    return fail(Code::bad_usage, fmt::format("'{}' is not a history of tally", printable(path)),
                "`tally stat --history FILE` creates one");
  }
  auto database = Database::open_to_read(path);
  if (!database) return fail(database.error());
  return database->read();
}

}  // namespace tally::history
