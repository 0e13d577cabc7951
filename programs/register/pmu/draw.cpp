#include "programs/register/pmu/draw.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/core/base/text.hpp"

namespace tally::pmu {
namespace {

constexpr int bits_in_row = 32;
constexpr std::size_t longest_vertical = 10;  // length of a vertical name; longer names are cut

// A box of adjacent bits: a field, all repetitions of a one-bit field, or bits in no field.
struct Box {
  int lsb = 0;
  int msb = 0;
  std::string name;  // empty: in no field
};

struct Pen {
  std::string_view bar, line, top_left, top, top_right, bottom_left, bottom, bottom_right;
};

constexpr Pen pens[] = {
    {"│", "─", "┌", "┬", "┐", "└", "┴", "┘"},
    {"|", "-", "+", "+", "+", "+", "+", "+"},
};

std::vector<Box> boxes(const Value& value) {
  std::vector<Box> found;
  for (const Slot& slot : slots(*value.place.reg, value.version)) {
    const Field& field = *slot.field;
    // A run is one box if its name fits: 32 names would be unreadable.
    if (is_run(field) && run_name(field).size() < static_cast<std::size_t>(field.count) * 2) {
      if (slot.index != 0) continue;
      found.push_back({field.lsb, field.lsb + field.count - 1, run_name(field)});
      continue;
    }
    found.push_back({slot.lsb(), slot.msb(), slot.name()});
    if (field.upper_width != 0) {
      found.push_back({field.upper_lsb, field.upper_lsb + field.upper_width - 1, slot.name()});
    }
  }
  std::sort(found.begin(), found.end(), [](const Box& a, const Box& b) { return a.lsb < b.lsb; });
  return found;
}

// The boxes of bits top to bottom, highest first, including gaps; cuts boxes at the row's border.
std::vector<Box> row_boxes(const std::vector<Box>& all, int bottom, int top) {
  std::vector<Box> row;
  int next = bottom;
  for (const Box& box : all) {
    const int lsb = std::max(box.lsb, next);
    const int msb = std::min(box.msb, top);
    if (lsb > msb) continue;
    if (lsb > next) row.push_back({next, lsb - 1, ""});
    row.push_back({lsb, msb, box.name});
    next = msb + 1;
  }
  if (next <= top) row.push_back({next, top, ""});
  std::reverse(row.begin(), row.end());
  return row;
}

std::string border(const std::vector<Box>& row, const Pen& pen, std::string_view left, std::string_view between,
                   std::string_view right, bool names) {
  std::string text(left);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto inside = static_cast<std::size_t>((row[i].msb - row[i].lsb + 1) * 2 - 1);
    const std::string& name = row[i].name;
    const bool lies = names && !name.empty() && name.size() <= inside && inside > 1;
    const std::size_t before = lies ? (inside - name.size()) / 2 : inside;
    for (std::size_t j = 0; j < before; ++j) text += pen.line;
    if (lies) {
      text += name;
      for (std::size_t j = before + name.size(); j < inside; ++j) text += pen.line;
    }
    text += i + 1 == row.size() ? right : between;
  }
  return text + "\n";
}

// Draws names that are wider than their box vertically, under its middle.
std::string vertical_names(const std::vector<Box>& row) {
  std::string text;
  for (std::size_t letter = 0; letter < longest_vertical; ++letter) {
    std::string line;
    for (const Box& box : row) {
      const auto inside = static_cast<std::size_t>((box.msb - box.lsb + 1) * 2 - 1);
      const bool is_vertical = box.name.size() > inside || (inside == 1 && !box.name.empty());
      std::string cell(inside + 1, ' ');
      if (is_vertical && letter < box.name.size()) cell[inside / 2] = box.name[letter];
      line += cell;
    }
    const std::size_t end = line.find_last_not_of(' ');
    if (end != std::string::npos) text += "  " + line.substr(0, end + 1) + "\n";
  }
  return text;
}

std::string number_lines(int bottom, int top) {
  std::string tens = " ", ones = " ";
  for (int bit = top; bit >= bottom; --bit) {
    tens += bit < 10 ? "  " : std::string(" ") + static_cast<char>('0' + bit / 10);
    ones += std::string(" ") + static_cast<char>('0' + bit % 10);
  }
  const std::size_t end = tens.find_last_not_of(' ');
  return (end == std::string::npos ? "" : tens.substr(0, end + 1) + "\n") + ones + "\n";
}

std::string bit_line(const Value& value, const std::vector<Box>& row, const Pen& pen, bool layout) {
  std::string text;
  for (const Box& box : row) {
    text += pen.bar;
    for (int bit = box.msb; bit >= box.lsb; --bit) {
      const bool set = (value.bits >> bit & 1) != 0;
      text += layout ? (box.name.empty() ? '.' : ' ') : set ? '1' : box.name.empty() ? '.' : '0';
      if (bit != box.lsb) text += ' ';
    }
  }
  return text + std::string(pen.bar) + "\n";
}

}  // namespace

std::string draw(const Value& value, Lines lines, bool layout) {
  const Pen& pen = pens[lines == Lines::unicode ? 0 : 1];
  const std::vector<Box> all = boxes(value);
  std::string text;
  for (int top = value.place.reg->width - 1; top > 0; top -= bits_in_row) {
    const int bottom = top - bits_in_row + 1;
    const std::vector<Box> row = row_boxes(all, bottom, top);
    const bool fields = std::any_of(row.begin(), row.end(), [](const Box& box) { return !box.name.empty(); });
    const bool zero = (value.bits >> bottom & low_ones(bits_in_row)) == 0;
    if (zero && (!fields || (!layout && bottom > 0))) continue;
    text += number_lines(bottom, top);
    text += " " + border(row, pen, pen.top_left, pen.top, pen.top_right, false);
    text += " " + bit_line(value, row, pen, layout);
    text += " " + border(row, pen, pen.bottom_left, pen.bottom, pen.bottom_right, true);
    text += vertical_names(row);
  }
  return text;
}

}  // namespace tally::pmu
