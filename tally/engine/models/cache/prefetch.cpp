#include "tally/engine/models/cache/prefetch.hpp"

#include "tally/engine/models/cache/tag.hpp"

namespace tally::models {

std::uint64_t next_line(std::uint64_t address, unsigned line_bits) {
  const std::uint64_t next = ((address >> line_bits) + 1) << line_bits;
  return next >> prefetch_page_bits == address >> prefetch_page_bits ? next : no_line;
}

Streamer::Lines Streamer::request(std::uint64_t address, unsigned line_bits) {
  const std::uint64_t tag = (address >> prefetch_page_bits) + 1;
  const std::uint64_t line = address >> line_bits;
  unsigned place = 0;
  while (place < pages - 1 && pages_[place].tag != tag) ++place;
  Page page = pages_[place];
  if (page.tag != tag) page = {.tag = tag, .last = line, .direction = 0};
  for (; place > 0; --place) pages_[place] = pages_[place - 1];

  const std::int64_t direction = line > page.last ? 1 : line < page.last ? -1 : 0;
  const bool stream = direction != 0 && direction == page.direction;
  if (direction != 0) page.direction = direction;
  page.last = line;
  pages_[0] = page;
  if (!stream) return {};

  Lines lines;
  lines.step = direction * (std::int64_t{1} << line_bits);
  lines.first = (line << line_bits) + static_cast<std::uint64_t>(lines.step);
  for (std::uint64_t next = lines.first; lines.count < ahead && next >> prefetch_page_bits == tag - 1;
       next += static_cast<std::uint64_t>(lines.step))
    ++lines.count;
  return lines.count > 0 ? lines : Lines{};
}

}  // namespace tally::models
