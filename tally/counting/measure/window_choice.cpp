#include "tally/counting/measure/window_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"

namespace tally::measure {
namespace {

// The kernel keeps only the first 15 bytes of a program's name (TASK_COMM_LEN in linux/sched.h); so do perf's records.
constexpr std::size_t comm_length = 15;

bool is(std::string_view program, std::string_view name) {
  return program == name || (program.size() == comm_length && name.substr(0, comm_length) == program);
}

}  // namespace

bool WindowFilter::takes(const result::Window& window) {
  const auto matches = [&](const std::string& name) { return is(window.program, name); };
  const bool selected = choice_.only.empty() || std::any_of(choice_.only.begin(), choice_.only.end(), matches);
  if (!selected || std::any_of(choice_.without.begin(), choice_.without.end(), matches)) {
    const auto found = left_out_.find(window.program);
    ++(found != left_out_.end() ? found->second : left_out_[std::string(window.program)]);
    return false;
  }
  ++taken_;
  longest_ = std::max(longest_, window.number);
  if (window.number <= choice_.skip) return false;
  if (choice_.windows && window.number - choice_.skip > *choice_.windows) return false;
  ++written_;
  return true;
}

std::vector<std::string> WindowFilter::notices() const {
  if (left_out_.empty() && taken_ > 0 && written_ == 0 && longest_ <= choice_.skip)
    return {fmt::format("--skip {} skips every window: no thread has more than {}", choice_.skip,
                        plural(static_cast<std::int64_t>(longest_), "window", "windows"))};
  if (left_out_.empty()) return {};
  std::vector<std::string> names;
  std::uint64_t windows = 0;
  for (const auto& [program, number] : left_out_) {
    names.push_back(printable(program));
    windows += number;
  }
  constexpr std::size_t most = 8;
  if (names.size() > most) {
    const std::size_t others = names.size() - most;
    names.resize(most);
    names.push_back(fmt::format("{} others", others));
  }
  const std::string of = plural(static_cast<std::int64_t>(windows), "window", "windows") + " of " + join(names, ", ");
  if (taken_ == 0) return {"no windows of the requested programs; omitted: " + of};
  return {"left out: " + of};
}

}  // namespace tally::measure
