// The page of a run of `tally lab`: the timeline of its counters, and its events next to the listing. lab.js draws the
// timeline and the bits; the tables need no script.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "programs/results/lab_assets.hpp"
#include "programs/results/program_sections.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/element.hpp"

namespace tally::output {
namespace {

using result::LabEntry;
using result::LabRun;

constexpr std::size_t most_entries = 2000;
constexpr std::size_t most_lines = 4000;

// Notes are shown only once.
std::string remarks_html(const std::vector<result::LabRemark>& remarks, std::set<std::string>& shown) {
  std::string html;
  for (const result::LabRemark& remark : remarks) {
    const bool is_new = shown.insert(remark.text).second;
    if (is_new || remark.severity != "note")
      html += element("p", remark.severity + ": " + remark.text, remark.severity);
  }
  return html;
}

// Describes an event in terms that apply to every processor.
std::string description_of(const LabEntry& entry) {
  if (entry.kind == "write") return fmt::format("{} = {}", entry.what, entry.value);
  if (entry.kind == "read" || entry.kind == "rdpmc") {
    return entry.value.empty() ? entry.what + " is read" : fmt::format("{} is {}", entry.what, entry.value);
  }
  if (entry.kind == "overflow") return entry.what + " overflows";
  if (entry.kind == "pmi") return "interrupt: " + entry.what;
  if (entry.kind == "enter") return "handler entered: " + entry.what;
  if (entry.kind == "leave") return "handler left";
  if (entry.kind == "output") return "printed: " + trimmed(entry.what);
  if (entry.kind == "frozen") return "the counters freeze";
  return entry.what.empty() ? entry.kind : entry.what;
}

bool is_shown(const LabEntry& entry) { return entry.kind != "step"; }

std::string rows_of(const LabRun& run) {
  std::string rows;
  std::set<std::string> shown;
  std::size_t count = 0;
  for (const LabEntry& entry : run.entries) {
    if (!is_shown(entry) || ++count > most_entries) continue;
    const std::string fault = entry.fault.empty() ? "" : element("p", "refused: " + entry.fault, "wrong");
    rows += fmt::format(
        "<tr class=\"{}\" tabindex=\"0\" data-at=\"{}\" data-address=\"{}\" data-kind=\"{}\" data-name=\"{}\" "
        "data-value=\"{}\"><td class=\"number\">{}</td><td>{}</td><td>{}{}{}{}</td></tr>\n",
        escaped(entry.kind), entry.instruction, escaped(entry.address), escaped(entry.kind), escaped(entry.what),
        escaped(entry.value), thousands(static_cast<std::int64_t>(entry.instruction)), escaped(entry.place),
        escaped(description_of(entry)), element("span", entry.meaning, "soft meaning"), fault,
        remarks_html(entry.remarks, shown));
  }
  if (count > most_entries) {
    rows += fmt::format("<tr><td></td><td></td><td>… {} more are in the file</td></tr>",
                        thousands(static_cast<std::int64_t>(count - most_entries)));
  }
  return rows;
}

// The user's own lines, and the lines of helpers that have events. A line with several instructions is listed once, at
// its first address.
std::string listing_of(const LabRun& run) {
  std::set<std::string> happened;
  for (const LabEntry& entry : run.entries) {
    if (is_shown(entry)) happened.insert(entry.address);
  }
  std::string html;
  std::size_t count = 0;
  for (std::size_t i = 0; i < run.listing.size() && count < most_lines; ++count) {
    const result::LabLine& line = run.listing[i];
    bool is_marked = false;
    const bool is_own = !line.is_included;
    do {
      if (happened.contains(run.listing[i].address)) is_marked = true;
      ++i;
    } while (is_own && i < run.listing.size() && !run.listing[i].is_included && run.listing[i].number == line.number);
    if (!is_own && !is_marked) continue;
    html += fmt::format("<li data-address=\"{}\"{}><b>{}</b><code>{}</code></li>\n", escaped(line.address),
                        is_marked ? " class=\"marked\"" : "", is_own ? std::to_string(line.number) : "",
                        escaped(line.text));
  }
  return html;
}

// Escapes '<', so that no text can end the script element.
std::string script_data(const std::string& json) {
  std::string out;
  for (const char c : json) out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

std::string content_of(const LabRun& run) {
  std::string html = element(
      "p",
      fmt::format("{}, emulated · {} instructions", run.model, thousands(static_cast<std::int64_t>(run.instructions))),
      "soft");
  html += element("p", run.end, run.is_error ? "verdict bad" : "verdict");
  std::set<std::string> shown;
  html += element("p", run.hint) + remarks_html(run.remarks, shown);
  html += "<div class=\"lab\">\n<script type=\"application/json\">" + script_data(run.drawn) + "</script>\n";
  html += element("h3", "Counters, interrupts and handlers") +
          "<p class=\"bar\"><button type=\"button\" class=\"whole\">Whole run</button> <span class=\"soft\">Drag "
          "to zoom; point at something to see its details below.</span></p>\n<div "
          "class=\"lanes\"></div>\n<div class=\"bits\" aria-live=\"polite\"></div>\n";
  html +=
      "<div class=\"split\">\n<div><h3>Events</h3><div class=\"happened\"><table><thead><tr><th "
      "class=\"number\">instruction</th><th>at</th><th>what</th></tr></thead><tbody>\n" +
      rows_of(run) + "</tbody></table></div></div>\n";
  const std::string listing = listing_of(run);
  if (!listing.empty()) html += "<div><h3>Program</h3><ol class=\"listing\">\n" + listing + "</ol></div>\n";
  html += "</div>\n</div>\n" + element("h3", "Counters at the end");
  HtmlTable table({"counter", "#value", "#hexadecimal"});
  for (const auto& [name, value] : run.counters) {
    if (value != 0) table.add({name, thousands(static_cast<std::int64_t>(value)), fmt::format("{:X}H", value)});
  }
  return html + (table.empty() ? element("p", "All are 0.", "soft") : table.html()) +
         element("p", "Instructions and branches are exact; cycles, caches and predictions come from a declared model.",
                 "soft");
}

}  // namespace

PageSection page_section(const LabRun& run) {
  return {run.file + " on " + run.model, content_of(run), {std::string(lab_style()), std::string(lab_script())}};
}

}  // namespace tally::output
