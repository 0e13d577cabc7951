#include "tally/counting/backend/engine/profile/part_areas.hpp"

#include "tally/core/base/text.hpp"

namespace tally::backend::engine {

void PartsOfProcesses::add_process(std::uint32_t process) {
  if (process == 0 || process >= channel::process_limit || last_.contains(process)) return;
  const std::int64_t pid = shared_.records.process(process).pid;
  std::map<std::uint32_t, const channel::PartCounts*> ended;  // by number
  if (const auto found = records_.find(process); found != records_.end()) {
    for (const channel::PartCounts& part : found->second) {
      if (part.end == channel::PartEnd::process) continue;
      by_label_[{process, part.label}] = result::CodeOwner::no_part;
      if (part.end != channel::PartEnd::discarded) ended.try_emplace(part.number, &part);
    }
  }
  std::uint32_t number = 0;
  for (const auto& [each, part] : ended) {
    number = each;
    by_label_[{process, part->label}] = static_cast<std::uint32_t>(all_.size());
    const bool has_name = part->end == channel::PartEnd::named_dump && part->name[0] != 0;
    all_.push_back({pid, number, has_name ? "Client Request: " + printable(part->name) : "Client Request"});
  }
  last_[process] = static_cast<std::uint32_t>(all_.size());
  all_.push_back({pid, number + 1, "Program termination", true});
}

std::uint32_t PartsOfProcesses::find(std::uint32_t process, std::uint32_t label) const {
  const auto last = last_.find(process);
  if (label == 0 || last == last_.end()) return result::CodeOwner::no_part;
  const auto found = by_label_.find({process, label});
  return found == by_label_.end() ? last->second : found->second;
}

}  // namespace tally::backend::engine
