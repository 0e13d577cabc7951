#include "tally/output/data/simpoint.hpp"

#include <fmt/format.h>

#include <iterator>

#include "tally/core/base/text.hpp"

namespace tally::output {

std::string simpoint_head(const result::Window& first) {
  return fmt::format("# {}: process {}, thread {}\n", printable(std::string(first.program)), first.pid, first.tid);
}

std::size_t add_simpoint_line(const result::Window& window, std::string& to) {
  const std::size_t begin = to.size();
  to += 'T';
  for (const result::BlockCount& count : window.vector)
    fmt::format_to(std::back_inserter(to), ":{}:{} ", count.block, count.instructions);
  const std::size_t bytes = to.size() - begin;
  to += '\n';
  return bytes;
}

}  // namespace tally::output
