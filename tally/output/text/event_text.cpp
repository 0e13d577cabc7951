#include "tally/output/text/event_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/json_document.hpp"
#include "tally/output/kit/wrap.hpp"

namespace tally::output {
namespace {

constexpr std::size_t label_width = 12;

std::string line(std::string_view label, const std::string& text) {
  return text.empty() ? "" : hanging(fmt::format(" {:<{}}", label, label_width), printable(text));
}

const char* mode_words(const event::Event& event) {
  if (event.id == event::Id::user_page_faults) return "user mode";
  if (!event::has_modes(event::definition(event.id).kind)) return "the program as a whole";
  switch (event.mode) {
    case event::Mode::kernel: return "the kernel, on the program's behalf";
    case event::Mode::both: return "user mode and the kernel";
    case event::Mode::user: break;
  }
  return "user mode";
}

std::string trust_words(const EventTrust& outlook) {
  std::string text(name(outlook.trust));
  if (outlook.trust == Trust::counted) return fmt::format("{} by {}", text, outlook.source.text());
  if (outlook.source.is_known())
    text += fmt::format("{} by {}", outlook.trust == Trust::modelled ? "" : ", counted",
                        outlook.source == Source::engine ? "tally's engine" : outlook.source.text());
  if (!outlook.reason.empty()) text += ": " + outlook.reason;
  return text;
}

const char* type_name(std::uint32_t type) {
  switch (type) {
    case event::perf_type_hardware: return " (PERF_TYPE_HARDWARE)";
    case event::perf_type_software: return " (PERF_TYPE_SOFTWARE)";
    case event::perf_type_cache: return " (PERF_TYPE_HW_CACHE)";
    case event::perf_type_raw: return " (PERF_TYPE_RAW)";
    default: return "";
  }
}

std::string perf_words(const event::Explanation& one) {
  if (!one.perf) return "";
  std::string text = one.perf->type ? fmt::format("type {}{}", *one.perf->type, type_name(*one.perf->type))
                                    : std::string("type: that of the PMU, which this machine lacks");
  text += fmt::format(", config 0x{:x}", one.perf->config);
  if (one.perf->config1) text += fmt::format(", config1 0x{:x}", one.perf->config1);
  if (one.perf->config2) text += fmt::format(", config2 0x{:x}", one.perf->config2);
  if (one.event.id == event::Id::user_page_faults) text += ", exclude_kernel and exclude_hv set";
  if (event::has_modes(event::definition(one.event.id).kind)) {
    if (one.event.mode == event::Mode::user) text += ", exclude_kernel and exclude_hv set";
    if (one.event.mode == event::Mode::kernel) text += ", exclude_user and exclude_hv set";
  }
  if (!one.perf_text.empty()) text += fmt::format("; perf's {}", one.perf_text);
  return text;
}

std::string selector_block(const event::Selector& selector) {
  Grid grid({{""}, {"bits"}, {"field"}, {"value", Align::right}, prose_column("")});
  for (const event::FieldValue& field : selector.fields) {
    const std::string bits =
        field.msb == field.lsb ? fmt::format("{}", field.lsb) : fmt::format("{}:{}", field.msb, field.lsb);
    grid.add({" ", bits, field.name,
              field.msb == field.lsb ? fmt::format("{}", field.value) : fmt::format("0x{:02X}", field.value),
              field.text});
  }
  return fmt::format("\n{}{}", line("register", fmt::format("{} = 0x{:X}", selector.name, selector.value)),
                     grid.text(80));
}

std::string processors_block(const event::Explanation& one) {
  std::string text;
  constexpr std::size_t widest = 40;
  std::size_t width = 0;
  for (const event::Named& named : one.processors) width = std::max(width, std::min(named.name.size(), widest));
  for (const event::Named& named : one.processors) {
    text += hanging(fmt::format("   {:<{}}  ", named.name, width), join(named.pmus, ", "));
  }
  const char* title =
      one.event.encoding ? "The same code by its names, and on which processors:" : "As a code of processors:";
  return text.empty() ? "" : fmt::format("\n {}\n{}", title, text);
}

std::string list_block(const char* title, const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += hanging("   - ", printable(item));
  return text.empty() ? "" : fmt::format("\n {}\n{}", title, text);
}

std::vector<std::string> pitfall_lines(const event::Explanation& one) {
  std::vector<std::string> lines;
  for (const event::Pitfall& pitfall : one.pitfalls) {
    lines.push_back(pitfall.source.empty() ? std::string(pitfall.text)
                                           : fmt::format("{} ({})", pitfall.text, pitfall.source));
  }
  return lines;
}

// "counted as branches: …", without the text before it.
std::string counted_as_text(const event::Event& event) {
  const std::string text = event::counted_as(event);
  const std::size_t at = text.find("counted as ");
  return at == std::string::npos ? "" : text.substr(at);
}

Json object(const event::Explanation& one, const EventTrust& outlook) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json json{
      {"asked", one.event.asked},
      {"event", event::name(one.event)},
      {"maker_name", or_null(one.maker_name)},
      {"counted_as", one.event.id == event::Id::code ? Json(nullptr) : Json(event::definition(one.event.id).name)},
      {"what", or_null(one.what)},
      {"trust", name(outlook.trust)},
      {"reason", or_null(outlook.reason)},
      {"source", or_null(outlook.source.text())},
      {"repeats", event::name(one.repeats)},
      {"other_names", one.other_names},
      {"perf", nullptr},
      {"counters", or_null(one.counters)},
      {"register", nullptr},
      {"processors", Json::array()},
      {"pitfalls", Json::array()},
      {"notes", one.event.notes}};
  if (one.perf) {
    json["perf"] = {{"type", one.perf->type ? Json(*one.perf->type) : Json(nullptr)},
                    {"config", one.perf->config},
                    {"config1", one.perf->config1},
                    {"config2", one.perf->config2},
                    {"text", or_null(one.perf_text)}};
  }
  if (one.selector) {
    Json fields = Json::array();
    for (const event::FieldValue& field : one.selector->fields) {
      fields.push_back({{"field", field.name},
                        {"msb", field.msb},
                        {"lsb", field.lsb},
                        {"value", field.value},
                        {"text", field.text}});
    }
    json["register"] = {{"name", one.selector->name}, {"value", one.selector->value}, {"fields", std::move(fields)}};
  }
  for (const event::Named& named : one.processors) {
    json["processors"].push_back({{"name", named.name}, {"pmus", named.pmus}});
  }
  for (const event::Pitfall& pitfall : one.pitfalls) {
    json["pitfalls"].push_back({{"text", pitfall.text}, {"source", or_null(std::string(pitfall.source))}});
  }
  return json;
}

}  // namespace

std::string event_text(const Explained& explained) {
  const auto& [one, outlook] = explained;
  std::string text = fmt::format("{}\n\n", printable(event::name(one.event)));
  text += line("is", one.maker_name);
  text += line("one count", one.what.empty() ? "of unknown meaning" : one.what);
  text += line("of", mode_words(one.event));
  text += line("here", trust_words(outlook));
  text += line("", outlook.trust == Trust::absent ? "" : counted_as_text(one.event));
  text += line("repeats", fmt::format("{}: {}", event::name(one.repeats), event::explanation(one.repeats)));
  text += line("also called", join(one.other_names, ", "));
  text += line("perf", perf_words(one));
  text += line("counters", one.counters);
  if (one.selector) text += selector_block(*one.selector);
  text += processors_block(one);
  text += list_block("Known problems:", pitfall_lines(one));
  return text + list_block("Notes on the request:", one.event.notes);
}

std::string event_json(const std::vector<Explained>& explained, const result::Provenance& provenance) {
  Json json = document("tally-event/1", provenance);
  json["events"] = Json::array();
  for (const auto& [explanation, outlook] : explained) json["events"].push_back(object(explanation, outlook));
  return json_text(json, 2) + "\n";
}

}  // namespace tally::output
