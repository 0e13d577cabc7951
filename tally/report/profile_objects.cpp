#include "tally/report/profile_objects.hpp"

#include <fmt/format.h>

namespace tally::report {

std::vector<std::string> nameless_lines(const result::Profile& profile) {
  std::vector<std::string> lines;
  for (const result::ProfileObject& object : profile.objects)
    if (!object.why_nameless.empty())
      lines.push_back(fmt::format("{} has no names of functions: {}", object.name, object.why_nameless));
  return lines;
}

std::vector<std::string> unread_lines(const result::Profile& profile) {
  constexpr std::size_t most = 3;
  std::vector<std::string> lines;
  for (const result::ProfileObject& object : profile.objects) {
    for (std::size_t i = 0; i < object.unread.size() && i < most; ++i)
      lines.push_back(
          fmt::format("{}: debug information was not read, so inlined functions and lines may be missing: {}",
                      object.name, object.unread[i]));
    if (object.unread.size() > most)
      lines.push_back(fmt::format("{}: neither was that of {} more files", object.name, object.unread.size() - most));
  }
  return lines;
}

}  // namespace tally::report
