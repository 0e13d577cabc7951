// The messages of the JSON library in words for the user of a file.
#pragma once

#include <string>
#include <string_view>

namespace tally {

/// What is wrong with a JSON text, made of the what() of the library's exception: the line and column, or the key, and
/// what is expected there, without the library's own names. A message of another kind is returned as it is. Not
/// escaped: it may quote the text. Pure.
std::string json_problem(std::string_view exception);

/// The same of a text that is one line of a file, which the caller names: with the column alone.
std::string json_problem_in_line(std::string_view exception);

}  // namespace tally
