// Formats numbers and words for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/units.hpp"

namespace tally {

/// 1234567 → "1,234,567"; negative numbers keep their sign.
std::string thousands(std::int64_t number);

/// A time with four significant digits in a suitable unit: "7.190 s", "12.31 ms", "850.0 µs", "12 ns".
std::string duration_text(Nanoseconds time);

/// A size with four significant digits: "12.40 MiB", "512 B".
std::string bytes_text(std::int64_t size_bytes);

/// A number in its unit, formatted with thousands(), duration_text() or bytes_text().
std::string value_text(std::int64_t value, Unit unit);

/// A share in percent with three significant digits: 17.07 → "17.1 %", 0.5311 → "0.531 %", 100 → "100 %".
std::string percent_text(double percent);

/// A plain number with four significant digits: "2.077", "0.53", "12,345", "1.5e-05".
std::string number_text(double number);

/// `text` with U+FFFD instead of every invalid byte, for programs that require UTF-8.
std::string valid_utf8(std::string_view text);

/// The parts, joined with `separator`.
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Splits `text` at each separator. Empty fields are kept; an empty text is one empty field.
std::vector<std::string> split(std::string_view text, char separator);

/// `text` without white space at both ends.
std::string trimmed(std::string_view text);

/// Whether the words are equal, ignoring case (ASCII).
bool same_word(std::string_view a, std::string_view b);

/// `text` in lower case (ASCII).
std::string lower(std::string_view text);

/// Wraps `text` into lines of at most `width` columns; a longer word gets its own line.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// Formats `first`, then `text` in lines of at most `width` columns. Later lines are indented to the start of `text`.
/// Ends with a line break.
std::string hanging(std::string_view first, std::string_view text, std::size_t width);

/// "1 process", "3 processes": uses `one` for 1 and `many` for every other number.
std::string plural(std::int64_t number, std::string_view one, std::string_view many);

/// A command line that a shell parses back into `words`; quotes words that contain special characters.
std::string shell_words(const std::vector<std::string>& words);

/// The number of columns that a terminal uses for this UTF-8 text: its code points, since tally's own texts have no
/// wide or combining characters.
std::size_t display_width(std::string_view text);

/// `text` in one line, with control characters escaped and invalid UTF-8 replaced: ForeignText::in_line().
std::string printable(std::string_view text);

/// Finds the candidates most similar to `word`, best first, at most `limit`. Similar means within an edit distance of a
/// third of the longer word (at least 2), or containing it; with one mistake not those with four or more. Ties keep the
/// candidates' order.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates,
                                 std::size_t limit = 3);

/// The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// "SIGINT" for 2; "signal 77" for a number without a name.
std::string signal_name(int signal);

/// Parses a size such as "64", "48K", "2M", "1 GiB" in bytes (K, M, G are powers of two; B or iB is optional). Returns
/// nullopt for any other text.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// Parses the whole text as a decimal integer. Returns nothing if it contains anything else or does not fit.
std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace tally
