#include "tally/counting/profile/made_code.hpp"

#include <iterator>
#include <sstream>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/finishing.hpp"

namespace tally::profile {

MadeCode::MadeCode(const linux::MapOf& of) {
  linux::PerfMap map = linux::read_perf_map(of);
  refused_ = std::move(map.refused);
  std::istringstream lines(map.text);
  for (std::string line; !linux::is_interrupted() && std::getline(lines, line);) {
    std::istringstream words(line);
    NamedCode code;
    if (!(words >> std::hex >> code.address >> code.bytes) || !std::getline(words >> std::ws, code.name)) continue;
    code.name = printable(code.name);
    named_[code.address] = std::move(code);
  }
}

const NamedCode* MadeCode::at(std::uint64_t address) const {
  const auto after = named_.upper_bound(address);
  if (after == named_.begin()) return nullptr;
  const NamedCode& code = std::prev(after)->second;
  return address - code.address < code.bytes ? &code : nullptr;
}

}  // namespace tally::profile
