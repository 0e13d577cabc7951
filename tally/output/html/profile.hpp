// What the pages of one profile and of a difference of two have in common.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tally/output/formats/json_values.hpp"
#include "tally/output/result/profile.hpp"

namespace tally::report {

inline constexpr std::size_t most_lines_on_page = 200;  // of one function

struct ProfilePage {
  std::string title;
  std::vector<std::pair<std::string, std::string>> lines;  ///< below the title: the text, and its kind
  bool has_stacks = false;
  std::string about_stacks;
  Json data;  ///< for profile.js
};

/// The whole page.
std::string profile_page(const ProfilePage& page);

/// A box of the flame graph: a function by the functions that led there, of all threads.
struct PageCall {
  std::int64_t parent = -1;  ///< place in the list, before its own; -1: none
  std::size_t function = 0;  ///< number on the page
  std::int64_t calls = 0, self = 0;
};

/// All boxes. `places`: of each function of the profile, its number on the page.
std::vector<PageCall> page_calls(const result::Profile& profile, const std::vector<std::size_t>& places,
                                 std::size_t event = 0);

}  // namespace tally::report
