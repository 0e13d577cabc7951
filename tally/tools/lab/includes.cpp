#include "tally/tools/lab/includes.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/hardware/pmu/model.hpp"
#include "tally/tools/lab/include_files.hpp"

namespace tally::lab {

std::string constants_text() {
  std::string text;
  for (const pmu::RegisterInstance& place : pmu::places(pmu::intel_model)) {
    // LVT_PERFMON is defined below as an offset in the APIC's page, as in the manuals and the perfmon notes.
    if (place.reg->space != pmu::Space::msr || place.reg->other_number != 0) continue;
    const auto number = place.reg->number + static_cast<std::uint64_t>(place.index) * place.reg->stride;
    text += fmt::format("{} equ {:#x}\n", pmu::name(place), number);
    for (const std::string& alias : split(place.reg->aliases, ' ')) {
      if (!alias.empty() && alias.find('#') == std::string::npos) text += fmt::format("{} equ {:#x}\n", alias, number);
    }
  }
  return text + constants_file;
}

std::string include_text(int bits) { return std::string(bits == 64 ? include_64_file : include_32_file) + macros_file; }

const std::vector<std::string>& names_in_includes() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    const std::string text = constants_text() + include_32_file + macros_file;
    for (const std::string& line : split(text, '\n')) {
      const std::size_t end = line.find_first_of(" :\t");
      if (end == std::string::npos || end == 0 || line[0] == ';' || line[0] == '%' || line[0] == '.') continue;
      if (line[end] == ':' || line.find(" equ ") != std::string::npos) all.push_back(line.substr(0, end));
    }
    return all;
  }();
  return names;
}

}  // namespace tally::lab
