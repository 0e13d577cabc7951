// The charts of a page, for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tally::output {

/// The data of each chart of a page.
inline std::vector<nlohmann::json> charts(const std::string& page) {
  const std::string begin = "<script type=\"application/json\">";
  std::vector<nlohmann::json> all;
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    all.push_back(nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from)));
  }
  return all;
}

}  // namespace tally::output
