#include "tally/output/text/code_listing.hpp"

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_names.hpp"

namespace tally::output {
namespace {

constexpr std::size_t gap = 2;           // between columns
constexpr std::size_t useful_code = 24;  // columns; other columns are left out before code has fewer
constexpr std::size_t least_code = 8;

}  // namespace

void CodeListing::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::size_t CodeListing::width_of(std::size_t column) const {
  std::size_t width = 0;
  for (const auto& row : rows_) width = std::max(width, display_width(row[column]));
  return width == 0 ? 0 : std::max(width, display_width(columns_[column].heading)) + gap;
}

std::string CodeListing::text(std::size_t terminal) const {
  std::vector<bool> is_shown(columns_.size(), true);
  std::vector<std::string> left_out;
  const auto width_without_code = [&] {
    std::size_t width = 1;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (is_shown[i] && i != code_) width += width_of(i);
    return width;
  };
  const std::size_t whole = width_without_code() + width_of(code_);
  for (std::size_t i = columns_.size(); terminal != 0 && i-- > 1;) {
    const std::size_t least = std::min(width_of(code_), useful_code);
    if (i == code_ || columns_[i].is_key || width_of(i) == 0 || width_without_code() + least <= terminal) continue;
    is_shown[i] = false;
    left_out.insert(left_out.begin(), columns_[i].heading);
  }
  const std::size_t others = width_without_code();
  const std::size_t room = terminal == 0 ? width_of(code_) : std::max(terminal, others + least_code) - others;
  std::vector<Column> shown;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (is_shown[i]) shown.push_back(columns_[i]);
  Grid grid(std::move(shown));
  for (const auto& row : rows_) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (is_shown[i]) cells.push_back(i == code_ ? shortened(row[i], room, 0) : row[i]);
    grid.add(std::move(cells));
  }
  return grid.text() + left_out_line(left_out, whole, terminal);
}

}  // namespace tally::output
