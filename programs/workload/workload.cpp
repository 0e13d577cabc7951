#include "programs/workload/workload.hpp"

#include <algorithm>

#include "programs/workload/table.hpp"

namespace tally::workload {

std::span<const Workload> all() { return table(); }

const Workload* find(std::string_view name) {
  const auto found = std::ranges::find(all(), name, &Workload::name);
  return found == all().end() ? nullptr : &*found;
}

std::span<const Named> fields() {
  static constexpr Named list[] = {{"n", &Parameters::n},
                                   {"bytes", &Parameters::bytes},
                                   {"stride", &Parameters::stride},
                                   {"k", &Parameters::k},
                                   {"seed", &Parameters::seed}};
  return list;
}

bool takes(const Workload& workload, std::string_view field) {
  std::string_view rest = workload.parameters;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == field) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::string label(const Workload& workload, const Parameters& parameters, char separator) {
  std::string text(workload.name);
  for (const Named& one : fields()) {
    if (takes(workload, one.name)) text += separator + std::to_string(parameters.*one.field);
  }
  return text;
}

Parameters with_n(Parameters parameters, uint64_t n) {
  parameters.n = n;
  return parameters;
}

}  // namespace tally::workload
