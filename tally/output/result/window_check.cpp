#include "tally/output/result/window_check.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"

namespace tally::result {

std::string WindowCheck::problem_of(const Window& window, const WindowsHead& head) {
  if (window.length < 0) return fmt::format("the length {} is negative", window.length);
  if (window.lost < 0) return fmt::format("the number of lost windows, {}, is negative", window.lost);
  if (window.time.count() < 0) return fmt::format("the time {} is negative", window.time.count());
  if (__builtin_add_overflow(length_, window.length, &length_)) return "the sum of the lengths exceeds 2^63 - 1";
  sums_.resize(window.counts.size());
  const auto name_of = [&](std::size_t place) {
    for (std::size_t i = 0; i < head.events.size(); ++i)
      if (head.places[i] == place) return printable(head.events[i].name.text());
    return std::string("an event");
  };
  for (std::size_t i = 0; i < window.counts.size(); ++i) {
    const std::int64_t count = window.counts[i];
    if (count < 0 && !window.partial) return fmt::format("the count of {}, {}, is negative", name_of(i), count);
    if (__builtin_add_overflow(sums_[i], count, &sums_[i]))
      return fmt::format("the sum of the counts of {} exceeds 2^63 - 1", name_of(i));
  }
  return {};
}

}  // namespace tally::result
