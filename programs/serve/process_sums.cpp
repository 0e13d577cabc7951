#include "programs/serve/process_sums.hpp"

#include <algorithm>

namespace tally::serve {

std::string kernel_name(const std::string& name) {
  constexpr std::size_t most = 15;  // TASK_COMM_LEN without the final zero
  return name.substr(0, most);
}

ProcessSums::ProcessSums(std::vector<std::string> names) {
  for (std::string& name : names) sums_.emplace_back(std::move(name), ProcessSum{});
}

void ProcessSums::add(const std::vector<watch::ProcessStatistics>& processes) {
  for (auto& [name, sum] : sums_) sum.processes = sum.threads = sum.resident_bytes = 0;
  std::map<Key, watch::ProcessStatistics> now;
  for (const watch::ProcessStatistics& process : processes) {
    const auto of_name =
        std::ranges::find_if(sums_, [&](const auto& entry) { return kernel_name(entry.first) == process.name; });
    if (of_name == sums_.end()) continue;
    ProcessSum& sum = of_name->second;
    sum.processes += 1;
    sum.threads += process.threads;
    sum.resident_bytes += process.resident_bytes;
    const Key key{process.process, process.started};
    const auto before = last_.find(key);
    const watch::ProcessStatistics start = before != last_.end() ? before->second
                                           : is_first_           ? process
                                                                 : watch::ProcessStatistics{};
    const auto grown = [](std::uint64_t from, std::uint64_t to) { return to > from ? to - from : 0; };
    sum.ticks += grown(start.ticks(), process.ticks());
    sum.faults += grown(start.minor_faults + start.major_faults, process.minor_faults + process.major_faults);
    sum.major_faults += grown(start.major_faults, process.major_faults);
    now.emplace(key, process);
  }
  last_ = std::move(now);
  is_first_ = false;
}

}  // namespace tally::serve
