// The page of `tally discover`: a map of events and payloads, and the evidence for each row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "programs/discovery/discovered_event.hpp"
#include "programs/results/program_sections.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/element.hpp"
#include "tally/output/kit/rounded_numbers.hpp"

namespace tally::output {
namespace {

using result::DiscoveredEvent;
using result::EventClass;
using result::Slope;

std::string id_of(const DiscoveredEvent& event) { return "event-" + raw_code(event.code); }

std::string three_digits(double value) { return fmt::format("{:.3g}", value); }

// From pale to dark by the logarithm of 0.01 to 10 events per copy; also readable in greyscale.
std::string style_of(const Slope& slope) {
  constexpr double least = 0.01, most = 10;
  if (slope.value < least || slope.low <= 0) return "";
  const double share = std::log(std::min(slope.value, most) / least) / std::log(most / least);
  return fmt::format(" style=\"background:hsl(212 62% {:.0f}%);color:{}\"", 92 - 62 * share,
                     share > 0.5 ? "#ffffff" : "#14202e");
}

// Empty if not significantly above 0; with a question mark if the interval is wider than a fifth of the value.
std::string cell_text(const Slope& slope) {
  if (slope.value < 0.003 || slope.low <= 0) return "";
  const bool wide = slope.high - slope.low > 0.2 * slope.value;
  return three_digits(slope.value) + (wide ? "?" : "");
}

std::string row(const DiscoveredEvent& event) {
  std::string html = fmt::format("<tr><td><a href=\"#{}\">{}</a></td><td>{}</td>", id_of(event), raw_code(event.code),
                                 escaped(what_it_counts(event)));
  for (const Slope& slope : event.slopes) {
    html += fmt::format("<td class=\"number\"{} title=\"{}\">{}</td>", style_of(slope),
                        escaped(fmt::format("{} in {}: {} to {} per copy", raw_code(event.code), slope.payload,
                                            three_digits(slope.low), three_digits(slope.high))),
                        cell_text(slope));
  }
  return html + "</tr>\n";
}

std::string map(const result::Discovery& discovery) {
  std::string head = "<tr><th>event</th><th>counts</th>";
  for (const std::string& payload : discovery.payloads) {
    head += fmt::format("<th style=\"writing-mode:vertical-rl;padding:.2rem\">{}</th>", escaped(payload));
  }
  std::string rows;
  for (const DiscoveredEvent& event : discovery.events) {
    if (event.kind != EventClass::dead) rows += row(event);
  }
  return element("h3", "Events per copy of a payload") +
         "<p><label>Filter rows: <input type=\"search\" data-filters=\"event-map\"></label></p>\n"
         "<div class=\"scroll\"><table id=\"event-map\"><thead>" +
         head + "</tr></thead><tbody>\n" + rows + "</tbody></table></div>\n" +
         element(
             "p",
             "Darker cells count more. Empty: not significantly above 0. ?: the 99 % interval is wider than a fifth of "
             "the value. Click an event to see its evidence.",
             "soft");
}

std::string contrasts(const DiscoveredEvent& event) {
  HtmlTable table({"payload", "control", "differs in", "#by", "#measured", "#from", "#to", "#p", "verdict"});
  for (const auto& contrast : event.contrasts) {
    table.add({contrast.payload, contrast.control, contrast.coordinate, three_digits(contrast.expected),
               fmt::format("{:.4f}", contrast.difference), fmt::format("{:.4f}", contrast.low),
               fmt::format("{:.4f}", contrast.high), fmt::format("{:.2g}", contrast.p),
               std::string(name(contrast.verdict))});
  }
  return table.html();
}

std::string evidence(const DiscoveredEvent& event) {
  std::vector<std::string> lines;
  if (!event.reason.empty()) lines.push_back(event.reason);
  for (const auto& alias : event.aliases) {
    lines.push_back("or " + alias.coordinate +
                    (alias.splits.empty() ? "" : ": --payload " + alias.splits + " distinguishes them"));
  }
  if (!event.same_as.empty()) {
    std::vector<std::string> others;
    for (const std::uint64_t code : event.same_as) others.push_back(raw_code(code));
    lines.push_back("the same in every payload: " + join(others, ", "));
  }
  std::string html;
  for (const std::string& line : lines) html += element("p", line);
  return fmt::format("<div id=\"{}\">", id_of(event)) +
         folded(raw_code(event.code) + ": " + what_it_counts(event), html + contrasts(event)) + "</div>\n";
}

std::string content_of(const result::Discovery& discovery) {
  std::string html = map(discovery) + element("h3", "Evidence: each payload against its control");
  for (const DiscoveredEvent& event : discovery.events) {
    if (event.kind != EventClass::dead) html += evidence(event);
  }
  for (const std::string& notice : discovery.notices) html += element("p", notice, "soft");
  return html +
         element("p",
                 fmt::format("{} runs, {} discarded · {} independent quantities in the payloads, condition {} · {} · "
                             "seed {}",
                             thousands(discovery.runs), thousands(discovery.discarded), discovery.rank,
                             number_text(discovery.condition), discovery.backend, discovery.seed),
                 "soft");
}

}  // namespace

PageSection page_section(const result::Discovery& discovery) {
  return {fmt::format("What {} events count", discovery.events.size()), content_of(discovery)};
}

}  // namespace tally::output
