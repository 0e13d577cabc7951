// Names of a profile's functions: short if that makes them distinct.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// A function's name, without parameters unless `whole`.
std::string function_name(const std::string& name, bool whole);

/// The same for several functions: a longer form if the short form is ambiguous (overloads).
std::vector<std::string> function_names(const std::vector<std::string>& names, bool whole);
std::vector<std::string> function_names(const result::Profile& profile, bool whole);

/// A function in all profiles of a program: its file of code and its name in full. Several processes may have it.
using FunctionId = std::pair<std::string, std::string>;
std::vector<FunctionId> function_ids(const result::Profile& profile);

/// Names for a table column: names of more than 100 characters are cut in the middle so that they still differ.
std::vector<std::string> cut_names(std::vector<std::string> names);

/// Maximum width of a column of names, in characters; longer names shift the cells after them.
inline constexpr std::size_t usual_name_width = 60;

/// Cuts `text` to at most `most` characters (code points). "…" replaces characters before the last `end`, and counts.
std::string shortened(const std::string& text, std::size_t most, std::size_t end);

/// Returns the most similar names, without parameters, best first. They are compared without their scopes unless `name`
/// has one: "parse" is similar to "prog::parse". Cost: an edit distance for each name.
std::vector<std::string> similar_functions(const std::vector<std::string>& names, std::string_view name);

/// Whether a pattern with * and ? matches the function's name, or its name for the linker.
bool matches_any(const std::vector<std::string>& patterns, const result::ProfileFunction& function);

/// Whether `name` denotes the function: in full, in a form that tables print (shortened by "…", without parameters), as
/// "ns::sum" for "int ns::sum<int>(int)", or as a copy of it that the compiler made (core/base/clone_name.hpp).
bool is_called(const std::string& function, std::string_view name);

}  // namespace tally::output
