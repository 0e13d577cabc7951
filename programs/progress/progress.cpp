#include "programs/progress/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tally/linux/files/output_file.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/linux/machine/time_stamp.hpp"
#include "tally/output/kit/grid.hpp"

namespace tally::command {

Progress::Progress(std::string title)
    : title_(std::move(title)), terminal_(linux::Output::standard_error().is_terminal()) {}

std::string remaining_time_text(double from, double done, Nanoseconds elapsed) {
  const double seconds = static_cast<double>(elapsed.count()) / 1e9;
  constexpr double enough = 3;  // seconds until the rate is known
  if (seconds < enough || done <= from) return {};
  const double rest = seconds * (1 - done) / (done - from);
  if (rest < 90) return fmt::format(", {:.0f} s left", rest);
  if (rest < 5400) return fmt::format(", {:.0f} min left", rest / 60);
  return fmt::format(", {:.1f} h left", rest / 3600);
}

void Progress::begin_part() {
  is_timed_ = true;
  first_share_.reset();
  began_ = linux::raw_time();
}

void Progress::show(double done, const std::string& what) {
  constexpr Nanoseconds pause{100'000'000};
  // A resumed sweep starts with a share that took no time.
  if (!first_share_) first_share_ = done;
  if (!terminal_ || linux::raw_time() - last_ < pause) return;
  last_ = linux::raw_time();
  shown_ = true;
  constexpr int width = 24;
  const int full = std::clamp(static_cast<int>(std::lround(done * width)), 0, width);
  // A failure cannot be reported anywhere.
  const std::string rest = is_timed_ ? remaining_time_text(*first_share_, done, linux::raw_time() - began_) : "";
  std::string line =
      fmt::format("{} [{:<{}}] {:3.0f} %  {}{}", title_, std::string(static_cast<std::size_t>(full), '='), width,
                  std::clamp(done, 0.0, 1.0) * 100, what, rest);
  // In a line that the terminal breaks, the next one would not replace the first part.
  if (const std::size_t columns = linux::terminal_columns(linux::Stream::error); columns > 1)
    line = output::shortened(line, columns - 1);
  (void)linux::Output::standard_error().write("\r\033[K" + line);
}

void Progress::clear() {
  if (shown_) (void)linux::Output::standard_error().write("\r\033[K");
}

}  // namespace tally::command
