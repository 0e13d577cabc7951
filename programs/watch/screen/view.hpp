// Formats a table and the user's choices as lines of text for the terminal. Pure.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "programs/watch/output/watch_result.hpp"

namespace tally::screen {

/// The page that is shown.
enum class Page { machine, processes, groups, legend, why, columns, header };

/// A key, independent of the terminal type.
struct Key {
  enum class Name { text, up, down, left, right, page_up, page_down, home, enter, escape, erase, resize };
  Name name = Name::text;
  char letter = 0;  ///< for text
  bool operator==(const Key&) const = default;
};

/// The action that a key requests from the caller.
enum class Wish { nothing, redraw, quit, record, pause, forward, back };

/// The user's choices.
struct Chosen {
  Page page = Page::machine;
  std::size_t sort = 0;          ///< a column; 0, UTIL, leaves cores in their order
  std::string filter;            ///< for names of processes and groups
  std::set<std::size_t> hidden;  ///< columns
  std::size_t first_line = 0;    ///< of the page
  std::size_t first_column = 0;  ///< of the columns with values
  std::size_t cursor = 0;        ///< on the page of columns
  bool paused = false;
  bool typing = false;  ///< the filter is being typed
  std::string note;     ///< one line from tally, until the next key
};

/// What is shown around the table.
struct Around {
  result::WatchHeader header;
  std::string clock;      ///< time of the reading, "17:02:11"
  std::string recording;  ///< the file during a recording
  std::string replaying;  ///< the file and the position in it: "3/60 minute.jsonl"
};

/// The style of a line.
enum class LineStyle { plain, title, heading, strong, faint };

struct Line {
  std::string text;
  LineStyle style = LineStyle::plain;
  bool operator==(const Line&) const = default;
};

/// Returns exactly `height` lines of at most `width` columns each; the rest of a longer page is reached by scrolling.
std::vector<Line> lines_of(const result::WatchTable& table, const Around& around, Chosen& chosen, std::size_t width,
                           std::size_t height);

/// Applies a key to the choices. Returns the action that it requests.
Wish take(const Key& key, const result::WatchTable& table, Chosen& chosen);

/// Returns the first `width` columns of a text, in whole characters.
std::string clipped(const std::string& text, std::size_t width);

}  // namespace tally::screen
