#include "programs/lab/computer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/noted_signal.hpp"

namespace tally::lab {

End no_end_in_sight(std::uint64_t instructions, std::uint64_t address, std::span<const std::uint64_t> recent,
                    const Image& image, std::string_view ends_by) {
  const std::set<std::uint64_t> loop(recent.begin(), recent.end());
  std::vector<std::string> places;
  for (const std::uint64_t at : loop) {
    std::string where = image.place(at);
    if (std::find(places.begin(), places.end(), where) == places.end()) places.push_back(where);
  }
  constexpr std::size_t most = 6;
  if (places.size() > most) places.resize(most);
  End end;
  end.reason = End::Reason::limit;
  end.address = address;
  end.message = fmt::format("the program did not end within {} instructions; the last ones at {}",
                            thousands(static_cast<std::int64_t>(instructions)), join(places, ", "));
  end.hint = fmt::format("is it an endless loop? --max-instructions N allows more; {} ends a program", ends_by);
  return end;
}

End ended_itself(std::uint64_t address, std::uint64_t written) {
  const auto code = static_cast<int>(written & 0xFF);
  return {End::Reason::exited, address, code, fmt::format("the program exited with {}", code), {}};
}

End stopped_by_signal(std::uint64_t address) {
  return {End::Reason::stopped, address, 0, "the run was stopped by " + signal_name(linux::noted_signal()), {}};
}

}  // namespace tally::lab
