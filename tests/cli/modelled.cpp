#include "tests/cli/modelled.hpp"

namespace tally::test {

using nlohmann::json;

Modelled run_modelled(const Words& options, const Words& command, const std::string& input) {
  const TemporaryFile file("result.json");
  Words words{"stat", "-q", "--repeatable", "--format", "json", "-o", file.path()};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  Modelled result;
  result.code = tally(words, {.input = input}).code();
  const json parsed = json::parse(*file.content(), nullptr, false);
  if (!parsed.is_object()) return result;
  for (const json& event : parsed["events"]) {
    const auto name = event["name"].get<std::string>();
    result.events[name] = event;
    if (event["value"].is_number()) result.values[name] = event["value"].get<std::int64_t>();
  }
  for (const json& notice : parsed["notices"]) result.notices += notice.get<std::string>() + "\n";
  return result;
}

std::string workload(const std::string& name) { return std::string(TALLY_BUILD) + "/workload/" + name; }

}  // namespace tally::test
