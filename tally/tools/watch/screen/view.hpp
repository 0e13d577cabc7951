// What stands on the terminal: a table and what the user has chosen, as lines of text. Pure.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "tally/output/result/watch.hpp"

namespace tally::screen {

/// Which page is shown.
enum class Page { machine, processes, groups, legend, why, columns, header };

/// A key, as terminals of all kinds name it.
struct Key {
  enum class Name { text, up, down, left, right, page_up, page_down, home, enter, escape, erase, resize };
  Name name = Name::text;
  char letter = 0;  ///< of text
  bool operator==(const Key&) const = default;
};

/// What a key asks of who reads the machine.
enum class Wish { nothing, redraw, quit, record, pause, forward, back };

/// What the user has chosen.
struct Chosen {
  Page page = Page::machine;
  std::size_t sort = 0;          ///< a column; 0, UTIL, leaves cores in their order
  std::string filter;            ///< of names of processes and groups
  std::set<std::size_t> hidden;  ///< columns
  std::size_t first_line = 0;    ///< of the page
  std::size_t first_column = 0;  ///< of those that have values
  std::size_t cursor = 0;        ///< on the page of columns
  bool paused = false;
  bool typing = false;  ///< the filter is being typed
  std::string note;     ///< one line of tally's own, until the next key
};

/// What is told beside the table.
struct Around {
  result::WatchHeader header;
  std::string clock;      ///< when it was read, "17:02:11"
  std::string recording;  ///< the file, while it goes on
  std::string replaying;  ///< the file and where in it: "3/60 minute.jsonl"
};

/// How a line is shown.
enum class Look { plain, title, heading, strong, faint };

struct Line {
  std::string text;
  Look look = Look::plain;
  bool operator==(const Line&) const = default;
};

/// Exactly `height` lines of at most `width` columns each; the lower part of a page that is longer comes by scrolling.
std::vector<Line> lines_of(const result::WatchTable& table, const Around& around, Chosen& chosen, std::size_t width,
                           std::size_t height);

/// What a key does to what was chosen.
Wish take(const Key& key, const result::WatchTable& table, Chosen& chosen);

/// The first `width` columns of a text, whole characters alone.
std::string clipped(const std::string& text, std::size_t width);

}  // namespace tally::screen
