#include "tally/tools/windows/window_names.hpp"

#include <fmt/format.h>

#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/counting/profile/function_of.hpp"
#include "tally/counting/profile/mapped_names.hpp"

namespace tally::windows {

const profile::CodeNames* WindowNames::names_of(const result::CodeFile& file) {
  const std::int64_t modified_ns =
      file.identity ? file.identity->modified_s * 1'000'000'000 + file.identity->modified_ns : 0;
  const auto [found, is_new] =
      files_.try_emplace({file.path, file.inode, modified_ns, file.identity ? file.identity->build_id : std::string()});
  if (is_new && file.inode != 0)
    if (auto mapped = profile::names_of_mapped(file)) found->second = std::move(mapped->names);
  return found->second.get();
}

// A compiler writes the name when it has generated the code. An address without one may get it later, so the map is
// read again.
const profile::NamedCode* WindowNames::generated_at(const result::Window& window) {
  const auto known = generated_.find(window.pid);
  if (known != generated_.end())
    if (const auto* const code = known->second.at(window.address)) return code;
  constexpr auto least_pause = std::chrono::milliseconds(10);
  const Nanoseconds now = linux::time_since_1970();
  if (known != generated_.end() && now - read_ < least_pause) return nullptr;
  read_ = now;
  return generated_.insert_or_assign(window.pid, profile::MadeCode({window.pid, false, began_}))
      .first->second.at(window.address);
}

void WindowNames::name(result::Window& window) {
  if (window.file == nullptr) {
    if (const profile::NamedCode* const code = window.address != 0 ? generated_at(window) : nullptr) {
      function_ = code->name;
      window.function = function_;
    }
    return;
  }
  const result::CodeFile& file = *window.file;
  const std::string object = printable(file.path.substr(file.path.rfind('/') + 1));
  function_ = object.empty() ? "[anonymous memory]" : fmt::format("[{}]", object);
  window.function = function_;
  const profile::CodeNames* const names = names_of(file);
  if (names == nullptr && !file.is_file()) {
    if (const profile::NamedCode* const code = generated_at(window)) {
      function_ = code->name;
      window.function = function_;
    }
    return;
  }
  const auto address = names == nullptr ? std::nullopt : names->address_of(window.offset);
  if (!address) return;
  if (const profile::NamedCode* const known = profile::function_of(*names, *address)) {
    function_ = printable(known->name);
  } else {
    function_ = fmt::format("[{}+{:#x}]", object, *address);
  }
  window.function = function_;
  if (const auto line = names->line_of(*address)) {
    const std::string_view path = line->file;
    line_ = fmt::format("{}:{}", printable(std::string(path.substr(path.rfind('/') + 1))), line->line);
    window.line = line_;
  }
}

}  // namespace tally::windows
