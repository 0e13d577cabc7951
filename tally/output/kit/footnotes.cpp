#include "tally/output/kit/footnotes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"

namespace tally::output {
namespace {

constexpr std::size_t widest_in_row = 48;  // columns; with it and the numbers, a table fits a terminal of 120

bool has_reason(const Count& count) {
  return count.trust != Trust::exact && count.trust != Trust::modelled && !count.reason.empty();
}

std::string without_reason(const Count& count) {
  std::string text(name(count.trust));
  if (count.trust == Trust::counted && count.source.is_known()) text += " by " + count.source.text();
  if (count.trust == Trust::modelled) return "model " + count.model;
  // Otherwise a modelled count with a missing part would look like a counted one.
  if (count.trust == Trust::partial && !count.model.empty()) text += " model " + count.model;
  if (count.trust != Trust::scaled && count.trust != Trust::estimated) return text;
  if (const auto percent = running_percent(count)) text += fmt::format(", ran {}", percent_text(*percent));
  if (count.error_percent) text += fmt::format(", ± {}", percent_text(*count.error_percent));
  return text;
}

}  // namespace

std::string trust_text(const Count& count) {
  return without_reason(count) + (count.reason.empty() ? "" : ": " + count.reason);
}

void Footnotes::announce(const Count& count) {
  if (has_reason(count)) ++rows_[count.reason];
}

std::string Footnotes::cell(const Count& count) {
  constexpr std::size_t widest_if_narrow = 24;  // a wider cell would be cut
  std::string text = without_reason(count);
  std::string reason = has_reason(count) ? printable(count.reason) : "";
  if (reason.empty() && is_narrow_ && count.trust == Trust::modelled && display_width(text) > widest_if_narrow) {
    reason = std::move(text);
    text = name(count.trust);
  }
  if (reason.empty()) return text;
  if (!is_narrow_ && rows_[count.reason] <= 1 && display_width(reason) <= widest_in_row)
    return fmt::format("{}: {}", text, reason);
  auto note = std::find(notes_.begin(), notes_.end(), reason);
  if (note == notes_.end()) note = notes_.insert(notes_.end(), reason);
  return fmt::format("{} [{}]", text, note - notes_.begin() + 1);
}

std::string Footnotes::text() {
  std::string lines;
  for (; written_ < notes_.size(); ++written_) lines += fmt::format(" [{}] {}\n", written_ + 1, notes_[written_]);
  return lines;
}

}  // namespace tally::output
