// The terminal, through ncurses.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "programs/watch/screen/view.hpp"
#include "tally/core/base/result.hpp"

namespace tally::screen {

/// Whether tally was built with ncurses.
bool has_terminal();

/// Shows what draw() receives on the terminal of standard input and output, and reads single keys. One object at a time
/// per process. Ctrl-Z and the destructor restore the terminal.
class Terminal {
 public:
  /// Errors: cannot_measure if standard input or output is not a terminal, if TERM is unknown or names a terminal that
  /// cannot move its cursor ("dumb"), or if tally was built without ncurses.
  static Result<Terminal> open();

  Terminal(Terminal&& other) noexcept : open_(std::exchange(other.open_, false)) {}
  Terminal& operator=(Terminal&&) = delete;
  ~Terminal();

  /// Returns the numbers of columns and lines.
  std::pair<std::size_t, std::size_t> size() const;

  /// Replaces the displayed lines. `again`: redraws everything, in case others have written to the terminal.
  void draw(const std::vector<Line>& lines, bool again);

  /// Returns the next key; nothing if none was pressed. Never blocks.
  std::optional<Key> key();

 private:
  Terminal() = default;
  bool open_ = true;
};

}  // namespace tally::screen
