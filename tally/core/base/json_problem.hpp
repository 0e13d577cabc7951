// Rewrites the JSON library's error messages for the user of a file.
#pragma once

#include <string>
#include <string_view>

namespace tally {

/// Describes what is wrong with a JSON text, from the what() of the library's exception: the line and column or the
/// key, and what is expected there, without the library's own names. Returns a message of another kind unchanged. Not
/// escaped: the result may quote the text. Pure.
std::string json_problem(std::string_view exception);

/// The same for a text that is one line of a file: reports only the column. The caller reports the line.
std::string json_problem_in_line(std::string_view exception);

}  // namespace tally
