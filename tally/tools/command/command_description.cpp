#include "tally/tools/command/command_description.hpp"

#include <nlohmann/json.hpp>

#include "tally/core/base/json_text.hpp"
#include "tally/tools/command/option_groups.hpp"

namespace tally::command {
namespace {

using Json = nlohmann::ordered_json;

Json option_json(const OptionDescription& option) {
  return {{"names", option.names},
          {"positional_name", option.positional_name},
          {"value_name", option.value_name},
          {"text", option.text},
          {"words", option.words},
          {"group", option.group != nullptr ? option.group->name : ""},
          {"has_short_name", option.has_short_name},
          {"is_repeatable", option.is_repeatable}};
}

OptionDescription read_option(const Json& json) {
  OptionDescription option;
  json.at("names").get_to(option.names);
  json.at("positional_name").get_to(option.positional_name);
  json.at("value_name").get_to(option.value_name);
  json.at("text").get_to(option.text);
  json.at("words").get_to(option.words);
  option.group = find_group(json.at("group").get<std::string>());
  json.at("has_short_name").get_to(option.has_short_name);
  json.at("is_repeatable").get_to(option.is_repeatable);
  return option;
}

}  // namespace

std::string description_json(const CommandDescription& description) {
  Json json = {{"sentence", description.sentence},
               {"usage", description.usage},
               {"footer", description.footer},
               {"runs_program", description.runs_program},
               {"options", Json::array()}};
  for (const OptionDescription& option : description.options) json["options"].push_back(option_json(option));
  return json_text(json) + "\n";
}

std::optional<CommandDescription> read_description(std::string_view text) {
  try {
    const Json json = parse_json<Json>(text);
    CommandDescription description;
    json.at("sentence").get_to(description.sentence);
    json.at("usage").get_to(description.usage);
    json.at("footer").get_to(description.footer);
    json.at("runs_program").get_to(description.runs_program);
    for (const Json& option : json.at("options")) description.options.push_back(read_option(option));
    return description;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace tally::command
