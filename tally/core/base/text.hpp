// Numbers and words as people read them.
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

/// A time with four significant digits in the unit that suits it: "7.190 s", "12.31 ms", "850.0 µs", "12 ns".
std::string duration_text(Nanoseconds time);

/// A size with four significant digits: "12.40 MiB", "512 B".
std::string bytes_text(std::int64_t size_bytes);

/// A number in its unit, as the table prints it: thousands(), duration_text() or bytes_text().
std::string value_text(std::int64_t value, Unit unit);

/// A share in percent with three significant digits: 17.07 → "17.1 %", 0.5311 → "0.531 %", 100 → "100 %".
std::string percent_text(double percent);

/// A plain number with four significant digits: "2.077", "0.53", "12,345", "1.5e-05".
std::string number_text(double number);

/// `text` with U+FFFD in place of every byte that is not UTF-8: what programs that insist on UTF-8 can read.
std::string valid_utf8(std::string_view text);

/// The parts with `separator` between them.
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// The pieces between separators, in order; empty pieces are kept, an empty text is one empty piece.
std::vector<std::string> split(std::string_view text, char separator);

/// `text` without white space at both ends.
std::string trimmed(std::string_view text);

/// True where both are the same but for upper and lower case (ASCII).
bool same_word(std::string_view a, std::string_view b);

/// `text` in lower case (ASCII).
std::string lower(std::string_view text);

/// The words of `text` in lines of at most `width` columns; a longer word has a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// `first`, then `text` in lines of at most `width` columns; further lines begin below the first one's text. Ends with
/// a line break.
std::string hanging(std::string_view first, std::string_view text, std::size_t width);

/// "1 process", "3 processes": `many` is used for every number but 1.
std::string plural(std::int64_t number, std::string_view one, std::string_view many);

/// The words of a command line as a shell would take them back: those with other than plain characters are quoted.
std::string shell_words(const std::vector<std::string>& words);

/// How many characters a terminal shows for this UTF-8 text (code points; none of tally's own texts is wide or
/// combining).
std::size_t display_width(std::string_view text);

/// `text` in one line, with control characters escaped and nothing that is not UTF-8: ForeignText::in_line().
std::string printable(std::string_view text);

/// The candidates that resemble `word` most, best first, at most `limit`: within an edit distance of a third of the
/// longer word (at least 2), or containing it. Ties keep the order of the candidates. Empty where nothing resembles it.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates,
                                 std::size_t limit = 3);

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// "SIGINT" for 2; "signal 77" for a number without a name.
std::string signal_name(int signal);

/// A size such as "64", "48K", "2M", "1 GiB" (K, M, G are powers of two, with or without B or iB) in bytes; nothing
/// where it is none.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// The whole text as a decimal integer; nothing where anything else is in it or it does not fit.
std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace tally
