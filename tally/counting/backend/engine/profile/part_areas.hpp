// The parts of a profile: which part each area of counts in the channel belongs to.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tally/counting/backend/engine/regions/part_regions.hpp"
#include "tally/output/result/code_values.hpp"

namespace tally::backend::engine {

/// Finds parts by process record and label (channel::PartCounts::label). Without add_process(), there are none.
class PartsOfProcesses {
 public:
  explicit PartsOfProcesses(const Channel& shared) : shared_(shared), records_(read_parts(shared)) {}

  /// Adds the parts that the marks of a process ended, and the one that ended with it. Once for each process.
  void add_process(std::uint32_t process);
  /// Returns an index in all(), or CodeOwner::no_part.
  std::uint32_t find(std::uint32_t process, std::uint32_t label) const;
  const std::vector<result::CodePart>& all() const { return all_; }

 private:
  const Channel& shared_;
  PartRecords records_;
  std::vector<result::CodePart> all_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> by_label_;
  std::map<std::uint32_t, std::uint32_t> last_;  // by process: the part that ended with it
};

}  // namespace tally::backend::engine
