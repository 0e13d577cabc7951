#include "programs/results/reported_formats.hpp"

#include "programs/discovery/discoveries.hpp"
#include "programs/memory_output/memory_format.hpp"
#include "programs/verify_output/verify_format.hpp"
#include "tally/tools/report/stored_files.hpp"

namespace tally::results {

const std::vector<const output::Format*>& reported_formats() {
  static const std::vector<const output::Format*> all = [] {
    std::vector<const output::Format*> every = report::all_formats();
    every.push_back(&discover::sweep_format());
    for (const output::MemoryFormat& format : output::memory_formats()) every.push_back(&format);
    for (const output::VerifyFormat& format : output::verify_formats()) every.push_back(&format);
    return every;
  }();
  return all;
}

}  // namespace tally::results
