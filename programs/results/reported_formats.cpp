#include "programs/results/reported_formats.hpp"

#include "programs/discovery/discoveries.hpp"
#include "programs/memory_output/memory_format.hpp"
#include "programs/memory_output/stored_lens.hpp"
#include "programs/verify_output/verify_format.hpp"
#include "tally/output/registry/formats.hpp"

namespace tally::results {
namespace {

output::AnyResults read_lens_rows(const output::StoredFile& file) {
  auto memory = result::read_lens(file.text, file.name);
  if (!memory) return fail(memory.error());
  return std::vector<result::AnyResult>{*std::move(memory)};
}

constexpr output::Format lens_rows{output::Kind::memory,
                                   "the rows of LENS and VANS",
                                   "",
                                   "cold reads and writes of other tools",
                                   read_lens_rows,
                                   [](const output::StoredFile& file) { return result::is_lens(file.text); }};

}  // namespace

const std::vector<const output::Format*>& reported_formats() {
  static const std::vector<const output::Format*> all = [] {
    std::vector<const output::Format*> every = output::formats();
    every.push_back(&lens_rows);
    every.push_back(&discover::sweep_format());
    for (const output::MemoryFormat& format : output::memory_formats()) every.push_back(&format);
    for (const output::VerifyFormat& format : output::verify_formats()) every.push_back(&format);
    return every;
  }();
  return all;
}

}  // namespace tally::results
