#include "tally/output/kinds/snippet_format.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/csv_rows.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/json_values.hpp"

namespace tally::output {
namespace {

// Prints whole numbers without decimals, so that exact counts look exact.
std::string each_text(const std::optional<double>& value) {
  if (!value) return "-";
  if (*value == std::floor(*value)) return thousands(static_cast<std::int64_t>(*value));
  return fmt::format("{:.4f}", *value);
}

// The code on one line, shortened.
std::string code_text(const std::string& code) {
  constexpr std::size_t most = 90;
  std::vector<std::string> statements;
  for (const std::string& line : split(code, '\n')) {
    if (!trimmed(line).empty()) statements.push_back(trimmed(line));
  }
  const std::string text = printable(join(statements, "; "));
  return text.size() > most ? text.substr(0, most) + "…" : text;
}

std::string ratio_trust_text(const Ratio& each) {
  std::string text(name(each.trust));
  if (each.trust == Trust::modelled && !each.model.empty()) text = "model " + each.model;
  if (!each.reason.empty()) text += ": " + each.reason;
  return text;
}

std::string plain(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

Json chain_json(const result::ChainCycles& one) {
  return {{"name", one.name},
          {"code", text_or_null(one.code)},
          {"cycles", value_or_null(one.cycles)},
          {"reason", text_or_null(one.why_not)}};
}

}  // namespace

std::string snippet_table(const result::Snippet& snippet, std::size_t terminal) {
  std::string text = "\n" + prose_line("counts of one copy of: " + code_text(snippet.code), terminal) + "\n";
  Grid grid({{"event"}, {"each", Align::right}, {"least", Align::right}, {"most", Align::right}, {"trust"}});
  for (const result::PerCopy& copy : snippet.events) {
    grid.add({copy.name.text(), each_text(copy.each.value), copy.low ? each_text(copy.low) : "",
              copy.high ? each_text(copy.high) : "", ratio_trust_text(copy.each)});
  }
  text += grid.text(terminal);
  if (!snippet.chains.empty()) {
    Grid chains({{"cycles"}, {"each", Align::right}, {"copies"}});
    for (const result::ChainCycles& chain_cycles : snippet.chains) {
      chains.add({chain_cycles.name, each_text(chain_cycles.cycles),
                  chain_cycles.cycles ? chain_cycles.code : chain_cycles.why_not});
    }
    text += "\n" + chains.text(terminal);
  }
  if (!snippet.notices.empty()) text += "\n";
  for (const std::string& notice : snippet.notices) text += hanging(" note: ", notice, prose_width(110, terminal));
  std::string last = fmt::format(
      "difference of loops with {} and {} copies, {} and {} rounds",
      thousands(static_cast<std::int64_t>(snippet.unroll)), thousands(static_cast<std::int64_t>(2 * snippet.unroll)),
      thousands(static_cast<std::int64_t>(snippet.rounds)), thousands(static_cast<std::int64_t>(2 * snippet.rounds)));
  if (snippet.repeats > 1) last += fmt::format(", median of {} repetitions", snippet.repeats);
  last += fmt::format(" · {} programs executed · {}", snippet.executions, snippet.backend);
  return text + "\n" + prose_line(last, terminal);
}

std::string snippet_json(const result::Snippet& snippet) {
  Json json = document("tally-asm/2", snippet.environment.provenance);
  json["code"] = snippet.code;
  json["init"] = text_or_null(snippet.init);
  json["unroll"] = snippet.unroll;
  json["rounds"] = snippet.rounds;
  json["copies"] = snippet.copies;
  json["repeats"] = snippet.repeats;
  json["executions"] = snippet.executions;
  json["backend"] = snippet.backend;
  json["environment"] = environment_json(snippet.environment);
  json["events"] = Json::array();
  for (const result::PerCopy& copy : snippet.events) {
    json["events"].push_back({{"event", copy.event},
                              {"name", copy.name.text()},
                              {"value", value_or_null(copy.each.value)},
                              {"difference", copy.each.value ? Json(copy.difference) : Json(nullptr)},
                              {"low", value_or_null(copy.low)},
                              {"high", value_or_null(copy.high)},
                              {"trust", name(copy.each.trust)},
                              {"reason", text_or_null(copy.each.reason)},
                              {"model", text_or_null(copy.each.model)}});
  }
  json["chains"] = Json::array();
  for (const result::ChainCycles& cycles : snippet.chains) json["chains"].push_back(chain_json(cycles));
  json["notices"] = snippet.notices;
  return json_text(json, 2) + "\n";
}

std::string snippet_csv(const result::Snippet& snippet) {
  std::string text = "event,value,trust,model,low,high,reason\r\n";
  Ratio cycles;
  for (const result::PerCopy& copy : snippet.events) {
    if (copy.name.base == "cycles") cycles = copy.each;
    text += csv_row({copy.name.text(), plain(copy.each.value), std::string(name(copy.each.trust)), copy.each.model,
                     plain(copy.low), plain(copy.high), copy.each.reason},
                    ",") +
            "\r\n";
  }
  for (const result::ChainCycles& chain_cycles : snippet.chains) {
    const Trust trust = chain_cycles.cycles ? cycles.trust : Trust::absent;
    text += csv_row({chain_cycles.name, plain(chain_cycles.cycles), std::string(name(trust)), cycles.model, "", "",
                     chain_cycles.why_not},
                    ",") +
            "\r\n";
  }
  return text;
}

}  // namespace tally::output
