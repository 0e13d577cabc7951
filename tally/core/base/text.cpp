#include "tally/core/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/parse_text.hpp"

namespace tally {
namespace {

// Formats with `significant` digits in total; never drops digits before the point.
std::string significant_digits(double number, int significant) {
  for (int decimals = significant - 1; decimals > 0; --decimals) {
    std::string text = fmt::format("{:.{}f}", number, decimals);
    // Counts digits of the rounded text, so that 99.96 becomes "100", not "100.0".
    const auto digits = std::count_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (digits <= significant) return text;
  }
  return fmt::format("{:.0f}", number);
}

}  // namespace

std::string thousands(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string duration_text(Nanoseconds time) {
  const std::int64_t ns = time.count();
  if (ns < 0) return "-" + duration_text(-time);
  if (ns < 1'000) return fmt::format("{} ns", ns);
  // Switches units where the rounded number would need five digits: 999.96 µs is 1.000 ms.
  if (ns < 999'950) return significant_digits(static_cast<double>(ns) / 1e3, 4) + " µs";
  if (ns < 999'950'000) return significant_digits(static_cast<double>(ns) / 1e6, 4) + " ms";
  return significant_digits(static_cast<double>(ns) / 1e9, 4) + " s";
}

std::string bytes_text(std::int64_t size_bytes) {
  if (size_bytes < 0) return "-" + bytes_text(-size_bytes);
  if (size_bytes < 1024) return fmt::format("{} B", size_bytes);
  double size = static_cast<double>(size_bytes);
  const char* unit = "B";
  for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (size < 1024) break;
    size /= 1024;
    unit = next;
  }
  return significant_digits(size, 4) + " " + unit;
}

std::string value_text(std::int64_t value, Unit unit) {
  switch (unit) {
    case Unit::nanoseconds: return duration_text(Nanoseconds{value});
    case Unit::bytes: return bytes_text(value);
    case Unit::nanojoules: return fmt::format("{:.4g} J", static_cast<double>(value) / 1e9);
    case Unit::events: break;
  }
  return thousands(value);
}

std::string percent_text(double percent) {
  if (percent == 0) return "0 %";
  // Smaller values would print as zeros.
  if (std::fabs(percent) < 0.001) return "<0.001 %";
  if (std::fabs(percent) < 0.9995) return fmt::format("{:.3f} %", percent);
  return significant_digits(percent, 3) + " %";
}

std::string number_text(double number) {
  const double size = std::abs(number);
  if (size >= 10'000 && size < 1e15) return thousands(std::llround(number));
  return fmt::format("{:.4g}", number);
}

std::string valid_utf8(std::string_view text) { return ForeignText(text).utf8(); }

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(blank) - first + 1));
}

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

bool same_word(std::string_view a, std::string_view b) { return a.size() == b.size() && lower(a) == lower(b); }

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines{""};
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (display_width(line) + 1 + display_width(word) <= width) {
      line += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string hanging(std::string_view first, std::string_view text, std::size_t width) {
  std::string lines;
  const std::size_t indent = display_width(first);
  for (const std::string& line : wrapped(text, width - indent))
    lines += (lines.empty() ? std::string(first) : std::string(indent, ' ')) + line + "\n";
  return lines;
}

std::string plural(std::int64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", thousands(number), number == 1 ? one : many);
}

std::string shell_words(const std::vector<std::string>& words) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";  // never special in a shell
  std::vector<std::string> quoted;
  for (const std::string& word : words) {
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      quoted.push_back(word);
      continue;
    }
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    quoted.push_back(text + "'");
  }
  return join(quoted, " ");
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string printable(std::string_view text) { return ForeignText(text).in_line(); }

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the usual matrix (optimal string alignment); swapped neighbours need `before`.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates, std::size_t limit) {
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& candidate : candidates) {
    const std::size_t allowed = std::max<std::size_t>(2, std::max(word.size(), candidate.size()) / 3);
    const bool contained = word.size() >= 3 && candidate.find(word) != std::string::npos;
    // The distance is at least the difference in length, so most candidates end here.
    const std::size_t longer = std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size());
    if (!contained && longer > allowed) continue;
    const std::size_t distance = edit_distance(word, candidate);
    // Every short word is within two edits of any other, so it must also differ in fewer edits than it has letters.
    const bool close = distance <= allowed && distance < std::min(word.size(), candidate.size());
    if (close || contained) found.emplace_back(contained ? std::min<std::size_t>(distance, 1) : distance, candidate);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> best;
  for (const auto& [distance, candidate] : found) {
    if (best.size() == limit || distance > 3 * std::max<std::size_t>(found.front().first, 1)) break;
    best.push_back(candidate);
  }
  return best;
}

std::string signal_name(int signal) {
  const char* short_name = sigabbrev_np(signal);
  return short_name ? fmt::format("SIG{}", short_name) : fmt::format("signal {}", signal);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  std::string word = lower(trimmed(text));
  if (word.ends_with("ib")) {
    word.resize(word.size() - 2);
  } else if (word.ends_with('b')) {
    word.pop_back();
  }
  constexpr std::string_view units = "kmg";
  unsigned shift = 0;
  if (const auto unit = word.empty() ? std::string::npos : units.find(word.back()); unit != std::string::npos) {
    shift = 10 * (static_cast<unsigned>(unit) + 1);
    word.pop_back();
  }
  const auto number = parse_integer(trimmed(word));
  if (!number || *number < 0 || *number > std::int64_t{1} << (62 - shift)) return std::nullopt;
  return static_cast<std::uint64_t>(*number) << shift;
}

std::optional<std::int64_t> parse_integer(std::string_view text) { return parse_digits<std::int64_t>(text); }

}  // namespace tally
