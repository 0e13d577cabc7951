// The terminal itself, by ncurses.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/tools/watch/screen/view.hpp"

namespace tally::screen {

/// Whether tally was built with ncurses.
bool has_terminal();

/// While it lives, the terminal of standard input and output shows what draw() was given, and gives single keys. One at
/// a time in a process. Ctrl-Z, and whatever ends this object, give the terminal back as it was.
class Terminal {
 public:
  /// Errors: cannot_measure where standard input or output is no terminal, where TERM names one that is not known, or
  /// one that cannot place its cursor ("dumb"), and where tally was built without ncurses.
  static Result<Terminal> open();

  Terminal(Terminal&& other) noexcept : open_(std::exchange(other.open_, false)) {}
  Terminal& operator=(Terminal&&) = delete;
  ~Terminal();

  /// Columns and lines.
  std::pair<std::size_t, std::size_t> size() const;

  /// Shows these lines in place of what was there. `anew`: all of it, where others may have written to the terminal.
  void draw(const std::vector<Line>& lines, bool again);

  /// The next key that waits; nothing where none does. Never blocks.
  std::optional<Key> key();

 private:
  Terminal() = default;
  bool open_ = true;
};

}  // namespace tally::screen
