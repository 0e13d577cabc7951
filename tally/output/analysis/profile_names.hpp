// What functions of a profile are called: short names where these tell them apart.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tally/output/result/profile.hpp"

namespace tally::report {

/// A function's name as people say it: without parameters, unless they are wanted.
std::string function_name(const std::string& name, bool whole);

/// The same of several functions: the longer form where the short one is that of others, too (overloads).
std::vector<std::string> function_names(const std::vector<std::string>& names, bool whole);
std::vector<std::string> function_names(const result::Profile& profile, bool whole);

/// Names for a column of a table: those of more than 100 characters cut in the middle, so that they differ still.
std::vector<std::string> cut_names(std::vector<std::string> names);

/// Columns of names are as wide as those of at most so many characters; longer names push the cells behind them.
inline constexpr std::size_t usual_name_width = 60;

/// `text` with at most `most` characters (code points), the last `end` of which are those at its end; "…" is one of
/// them and replaces the rest.
std::string shortened(const std::string& text, std::size_t most, std::size_t end);

/// Whether a function is meant by this name: in full, without parameters, or as "ns::sum" for "int ns::sum<int>(int)".
bool is_called(const std::string& function, std::string_view name);

}  // namespace tally::report
