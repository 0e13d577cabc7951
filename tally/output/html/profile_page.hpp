// Common parts of the pages of one profile and of a difference of two.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tally/output/analysis/profile_difference.hpp"
#include "tally/output/kinds/profile_format.hpp"
#include "tally/output/kit/json_values.hpp"
#include "tally/output/result/profile_result.hpp"

namespace tally::output {

inline constexpr std::size_t most_lines_on_page = 200;  // of one function

struct ProfilePage {
  std::string title;
  std::string top = {};                                    ///< HTML below the title
  std::vector<std::pair<std::string, std::string>> lines;  ///< below the title: the text, and its CSS class
  std::string roofline = {};                               ///< HTML below these lines
  bool has_stacks = false;
  std::string about_stacks;
  std::string about_python = {};  ///< a line above the table of Python functions; empty: the page has none
  Json data;                      ///< for profile.js
};

/// The page of a difference, with `top` below its title.
std::string difference_page(const ProfileDifference& difference, const ProfileStyle& style, std::string top);

/// The whole page.
std::string profile_page(const ProfilePage& page);

/// The unit of an event, for profile.js, which shows nanoseconds as milliseconds.
inline const char* unit_on_page(Unit unit) { return unit == Unit::nanoseconds ? "ns" : ""; }

/// A box of the flame graph: a function with its callers, for all threads together.
struct PageCall {
  std::int64_t parent = -1;  ///< index in the list, less than its own; -1: none
  std::size_t function = 0;  ///< number on the page
  std::int64_t calls = 0;
  std::vector<std::int64_t> self;  ///< one for each requested event
};

/// All boxes. `numbers`: page number of each function of the profile. `events`: indices in the profile.
std::vector<PageCall> page_calls(const result::Profile& profile, const std::vector<std::size_t>& numbers,
                                 const std::vector<std::size_t>& events);

/// Inclusive counts: one list per function, by event.
std::vector<std::vector<std::int64_t>> inclusive_by_function(const result::Profile& profile,
                                                             const std::vector<std::size_t>& events);

/// Whether a file name has the extension of a source file. Pages are passed on, and a program or a stored profile may
/// name any file of the user who creates the page, so pages have no other files.
bool is_source_name(const std::string& path);

/// Reads source lines for a page, until the page has enough of them. The page escapes them as JSON.
class SourceText {
 public:
  explicit SourceText(const SourceReader& read) : read_(read) {}

  /// The text of a line; empty if the file or the line is missing, or the page is full.
  std::string line(const std::string& path, const std::string& object, std::uint32_t line);
  /// Files that changed after the program was built.
  const std::vector<std::string>& newer() const { return newer_; }

 private:
  const std::vector<std::string>& file(const std::string& path, const std::string& object);

  const SourceReader& read_;
  std::map<std::string, std::vector<std::string>> files_;
  std::vector<std::string> newer_;
  std::size_t bytes_ = 0;
};

}  // namespace tally::output
