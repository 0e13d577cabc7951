#include "programs/watch/live/folder_files.hpp"

#include <fcntl.h>

#include <cerrno>

#include "tally/core/base/parse_text.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::watch {
namespace {

constexpr std::string_view white = " \t\n\r";

}  // namespace

FolderFiles::FolderFiles(const std::string& folder)
    : folder_(linux::retry([&] { return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); })), buffer_(4096) {}

std::string_view FolderFiles::text(const char* name) { return read_from(name, false); }

std::string_view FolderFiles::record(const char* name) { return read_from(name, true); }

std::optional<std::int64_t> FolderFiles::number(const char* name) {
  std::string_view text = record(name);
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const auto value = leading_number(text);
  if (!value || *value > INT64_MAX) return std::nullopt;
  return is_negative ? -static_cast<std::int64_t>(*value) : static_cast<std::int64_t>(*value);
}

std::string_view FolderFiles::read_from(const char* name, bool is_record) {
  os_errno_ = ENOENT;
  if (!folder_) return {};
  const linux::Descriptor file(linux::retry([&] { return openat(folder_.get(), name, O_RDONLY | O_CLOEXEC); }));
  if (!file) {
    os_errno_ = errno;
    return {};
  }
  std::size_t size = 0;
  for (;;) {
    const auto got = linux::retry([&] { return read(file.get(), buffer_.data() + size, buffer_.size() - size); });
    if (got < 0) {
      os_errno_ = errno;
      return {};
    }
    // Files of /proc return whole records: a short read is not the end.
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (is_record && size < buffer_.size()) break;
    if (size == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  }
  os_errno_ = 0;
  return {buffer_.data(), size};
}

std::string_view Words::next() {
  const std::size_t begin = rest_.find_first_not_of(white);
  if (begin == std::string_view::npos) return rest_ = {};
  std::size_t end = rest_.find_first_of(white, begin);
  if (end == std::string_view::npos) end = rest_.size();
  const std::string_view word = rest_.substr(begin, end - begin);
  rest_.remove_prefix(end);
  return word;
}

std::optional<std::uint64_t> Words::number() { return parse_digits<std::uint64_t>(next()); }

std::optional<std::uint64_t> leading_number(std::string_view text) { return Words(text).number(); }

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view line = text.substr(at, end - at);
    if (line.size() > word.size() && line.starts_with(word) && white.find(line[word.size()]) != std::string_view::npos)
      return leading_number(line.substr(word.size()));
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace tally::watch
