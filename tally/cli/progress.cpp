#include "tally/cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tally/linux/files/output.hpp"
#include "tally/linux/machine/time_stamp.hpp"

namespace tally::cli {

Progress::Progress(std::string title)
    : title_(std::move(title)), terminal_(linux::Output::standard_error().is_terminal()) {}

void Progress::show(double done, const std::string& what) {
  constexpr Nanoseconds pause{100'000'000};
  if (!terminal_ || linux::raw_time() - last_ < pause) return;
  last_ = linux::raw_time();
  shown_ = true;
  constexpr int width = 24;
  const int full = std::clamp(static_cast<int>(std::lround(done * width)), 0, width);
  // Nobody can be told where this fails.
  (void)linux::Output::standard_error().write(fmt::format("\r\033[K{} [{:<{}}] {:3.0f} %  {}", title_,
                                                          std::string(static_cast<std::size_t>(full), '='), width,
                                                          std::clamp(done, 0.0, 1.0) * 100, what));
}

void Progress::clear() {
  if (shown_) (void)linux::Output::standard_error().write("\r\033[K");
}

}  // namespace tally::cli
