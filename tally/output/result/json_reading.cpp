#include "tally/output/result/json_reading.hpp"

#include "tally/core/base/json_problem.hpp"
#include "tally/core/base/text.hpp"

// Compiled here with JSON_DIAGNOSTICS.
namespace tally {
template std::string json_text<result::Json>(const result::Json&, int);
template result::Json parse_json<result::Json>(std::string_view);
template result::Json parse_json_or_discard<result::Json>(std::string_view);
}  // namespace tally

namespace tally::result {

std::vector<Json> objects(std::string_view text) {
  std::vector<Json> lines;
  if (Json::accept(text)) {
    lines.push_back(parse_json<Json>(text));
    return lines;
  }
  for (const std::string& line : split(text, '\n')) {
    if (trimmed(line).empty()) continue;
    // Neither form: report errors of the whole text, because one object is the usual form.
    lines.push_back(parse_json<Json>(Json::accept(line) ? std::string_view(line) : text));
  }
  return lines;
}

Provenance read_provenance(const Json& result) {
  Provenance provenance;
  const auto found = result.find("provenance");
  if (found == result.end() || found->is_null()) return provenance;
  provenance.date = text(*found, "date");
  provenance.host = text(*found, "host");
  provenance.label = text(*found, "label");
  for (const Json& word : found->value("command_line", Json::array()))
    provenance.command_line.push_back(word.get<std::string>());
  provenance.commit = text(*found, "commit");
  provenance.tally_version = text(*found, "tally");
  return provenance;
}

Environment read_environment(const Json& result) {
  Environment environment;
  const Json& json = result.at("environment");
  environment.provenance = read_provenance(result);
  environment.cpu = text(json, "cpu");
  environment.architecture = text(json, "architecture");
  environment.kernel = text(json, "kernel");
  environment.microcode = text(json, "microcode");
  environment.hypervisor = optional<bool>(json, "hypervisor");
  environment.perf_event_paranoid = optional<std::int64_t>(json, "perf_event_paranoid");
  environment.governor = text(json, "governor");
  if (const auto pmus = json.find("pmus"); pmus != json.end()) {
    for (const Json& one : *pmus) environment.pmus.push_back(one.get<std::string>());
  }
  environment.tally_version = text(json, json.contains("tally") ? "tally" : "tally_version");
  return environment;
}

namespace {

CodeFunction code_function(const Json& json) {
  if (json.is_null()) return {};
  const Json& function = json.at("function");
  return {text(json, "file"), function.is_null() ? "" : function.get<std::string>(),
          number<std::uint64_t>(json.at("offset"))};
}

}  // namespace

std::vector<ReadSource> read_sources(const Json& json) {
  std::vector<ReadSource> sources;
  for (const Json& one : json)
    sources.push_back({text(one, "source"), count(one.at("count")), text(one, "program"),
                       code_function(one.at("first")), code_function(one.at("caller")), text(one, "answer")});
  return sources;
}

namespace {

template <class Measured>
void read_models_of(const Json& json, Measured& measured) {
  measured.cpu_model = json.value("cpu_model", "");
  measured.machine_model = json.value("machine_model", "");
  measured.clock = json.value("clock", "");
  measured.program_environment = json.value("program_environment", "");
}

}  // namespace

void read_models(const Json& json, WindowsHead& head) { read_models_of(json, head); }

void read_models(const Json& json, Stat& stat) {
  read_models_of(json, stat);
  for (const Json& one : json.value("unasked", Json::array()))
    stat.unasked.push_back({text(one, "feature"), text(one, "instruction"), text(one, "file"),
                            one.at("address").get<std::uint64_t>(), text(one, "function"),
                            one.at("count").get<std::int64_t>()});
  stat.roofline = read_roofline(json);
  const auto mix = json.find("mix");
  if (mix == json.end()) return;
  const auto list = [&](const char* key) {
    std::vector<InstructionMix::Share> shares;
    for (const Json& share : mix->value(key, Json::array()))
      shares.push_back({text(share, "name"), share.at("count").get<std::int64_t>()});
    return shares;
  };
  const auto number = [&](const char* key) { return mix->value(key, std::int64_t{0}); };
  stat.mix =
      InstructionMix{number("instructions"), list("categories"), list("widths"),      list("names"), number("unknown"),
                     number("vector"),       number("fp"),       number("fp_vector"), list("loads"), list("stores")};
}

Ceilings read_ceilings(const Json& json) {
  const auto value = json.find("ceilings");
  if (value == json.end()) return {};
  const auto list = [&](const char* key) {
    std::vector<Ceiling> all;
    for (const Json& row : value->at(key))
      all.push_back({text(row, "of"), number<int>(row.at("bits")), number<int>(row.at("processors")),
                     number<double>(row.at("per_second")), number<double>(row.at("spread_percent"))});
    return all;
  };
  return {text(*value, "date"), list("bandwidths"), list("peaks"),
          optional<double>(*value, "rejected_percent").value_or(0)};
}

std::optional<Roofline> read_roofline(const Json& json) {
  const auto value = json.find("roofline");
  if (value == json.end()) return std::nullopt;
  Roofline roofline{.ceilings = read_ceilings(*value),
                    .busy_processors = number<double>(value->at("busy_processors")),
                    .model = text(*value, "model")};
  for (const Json& row : value->at("points")) {
    RooflinePoint point{.kind = text(row, "kind"),
                        .name = text(row, "name"),
                        .trust = trust(row.at("trust")),
                        .operations = count(row.at("operations")),
                        .single = count(row.at("single")),
                        .scalar = count(row.at("scalar")),
                        .bytes = count(row.at("bytes")),
                        .seconds = optional<double>(row, "seconds"),
                        .seconds_low = optional<double>(row, "seconds_low"),
                        .seconds_high = optional<double>(row, "seconds_high"),
                        .reason = text(row, "reason"),
                        .kernel_share = optional<double>(row, "kernel_share"),
                        .busy_processors = optional<double>(row, "busy_processors"),
                        .half = optional_count(row, "half").value_or(0),
                        .bf16 = optional_count(row, "bf16").value_or(0),
                        .x87 = optional_count(row, "x87").value_or(0)};
    for (const Json& level : row.at("levels")) point.levels.push_back({text(level, "level"), count(level.at("bytes"))});
    roofline.points.push_back(std::move(point));
  }
  roofline.notes = value->at("notes").get<std::vector<std::string>>();
  return roofline;
}

std::string parse_error_text(std::string_view text, std::string_view exception) {
  // If the file begins like JSON, the location of the error is useful.
  if (!trimmed(text.substr(0, 100)).starts_with('{')) return "it is not JSON";
  return json_problem(exception);
}

}  // namespace tally::result
