#include "tally/engine/models/branch/branches.hpp"

namespace tally::models {

void BranchCounts::add(const BranchCounts& other) {
  conditional += other.conditional;
  conditional_misses += other.conditional_misses;
  indirect += other.indirect;
  indirect_misses += other.indirect_misses;
  returns += other.returns;
  return_misses += other.return_misses;
}

void Branches::reset() {
  tage_.reset();
  returns_ = ReturnStack{};
  counts_ = BranchCounts{};
}

void Branches::conditional(std::uint64_t pc, bool taken) {
  ++counts_.conditional;
  counts_.conditional_misses += !tage_.predict(pc, taken);
}

void Branches::indirect_jump(std::uint64_t pc, std::uint64_t target) {
  ++counts_.indirect;
  counts_.indirect_misses += !tage_.predict_target(pc, target);
}

void Branches::indirect_call(std::uint64_t pc, std::uint64_t target, std::uint64_t next) {
  indirect_jump(pc, target);
  returns_.call(next);
}

void Branches::ret(std::uint64_t target) {
  ++counts_.returns;
  counts_.return_misses += !returns_.predict(target);
}

}  // namespace tally::models
