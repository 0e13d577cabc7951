#include "tally/engine/models/cache/prefetch.hpp"

#include "tally/engine/models/cache/tag.hpp"

namespace tally::models {

std::uint64_t next_line(std::uint64_t address, unsigned line_bits) {
  const std::uint64_t next = ((address >> line_bits) + 1) << line_bits;
  return next >> prefetch_page_bits == address >> prefetch_page_bits ? next : no_line;
}

Streamer::Move Streamer::follow(std::uint64_t address, unsigned line_bits) {
  const std::uint64_t tag = (address >> prefetch_page_bits) + 1;
  const std::uint64_t line = address >> line_bits;
  unsigned place = 0;
  while (place < pages - 1 && pages_[place].tag != tag) ++place;
  Page page = pages_[place];
  if (page.tag != tag) page = {.tag = tag, .last = line, .step = 0};
  for (; place > 0; --place) pages_[place] = pages_[place - 1];

  const Move move{static_cast<std::int64_t>(line - page.last), page.step};
  if (move.lines != 0) page.step = move.lines;
  page.last = line;
  pages_[0] = page;
  return move;
}

bool Streamer::continues(std::uint64_t address, unsigned line_bits) {
  const Move move = follow(address, line_bits);
  const std::int64_t distance = move.lines < 0 ? -move.lines : move.lines;
  return move.goes_on() && (distance <= std::int64_t{ahead} || move.lines == move.before);
}

Streamer::Lines Streamer::request(std::uint64_t address, unsigned line_bits) {
  const Move move = follow(address, line_bits);
  if (!move.goes_on()) return {};
  const std::uint64_t tag = (address >> prefetch_page_bits) + 1;
  const std::uint64_t line = address >> line_bits;
  Lines lines;
  lines.step = (move.lines > 0 ? 1 : -1) * (std::int64_t{1} << line_bits);
  lines.first = (line << line_bits) + static_cast<std::uint64_t>(lines.step);
  for (std::uint64_t next = lines.first; lines.count < ahead && next >> prefetch_page_bits == tag - 1;
       next += static_cast<std::uint64_t>(lines.step))
    ++lines.count;
  return lines.count > 0 ? lines : Lines{};
}

}  // namespace tally::models
