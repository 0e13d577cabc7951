#include <fmt/format.h>

#include <algorithm>

#include "tally/base/text.hpp"
#include "tally/report/html/assets.hpp"
#include "tally/report/html/element.hpp"
#include "tally/report/html/html.hpp"
#include "tally/report/html/sections.hpp"

namespace tally::report {
namespace {

std::string title_of(const Shown& one) {
  if (const auto* memory = std::get_if<result::Memory>(&one.result)) {
    const std::string& cpu = memory->environment.cpu;
    return cpu.empty() ? "Memory hierarchy" : "Memory hierarchy: " + cpu;
  }
  if (const auto* program = std::get_if<result::ProgramRegions>(&one.result)) {
    return fmt::format("Regions of {} (process {})", shell_words(program->command), program->pid);
  }
  if (const auto* verify = std::get_if<result::Verify>(&one.result)) {
    const std::string& cpu = verify->environment.cpu;
    return cpu.empty() ? "Counters verified" : "Counters verified: " + cpu;
  }
  if (const auto* discovery = std::get_if<result::Discovery>(&one.result)) {
    return fmt::format("What {} events count", discovery->events.size());
  }
  if (const auto* windows = std::get_if<result::Windows>(&one.result)) {
    return windows->head.command.empty() ? "Windows" : "Windows of " + shell_words(windows->head.command);
  }
  if (const auto* run = std::get_if<result::LabRun>(&one.result)) return run->file + " on " + run->model;
  const auto& stat = std::get<result::Stat>(one.result);
  return stat.command.empty() ? "Counts" + (stat.target.empty() ? "" : " of " + stat.target)
                              : shell_words(stat.command);
}

std::string section_of(const Shown& one) {
  if (const auto* memory = std::get_if<result::Memory>(&one.result)) return memory_section(*memory);
  if (const auto* program = std::get_if<result::ProgramRegions>(&one.result)) return regions_section(*program);
  if (const auto* verify = std::get_if<result::Verify>(&one.result)) return verify_section(*verify);
  if (const auto* discovery = std::get_if<result::Discovery>(&one.result)) return discover_section(*discovery);
  if (const auto* windows = std::get_if<result::Windows>(&one.result)) return windows_section(*windows);
  if (const auto* run = std::get_if<result::LabRun>(&one.result)) return lab_section(*run);
  return stat_section(std::get<result::Stat>(one.result));
}

}  // namespace

std::string environment_line(const result::Environment& environment) {
  std::vector<std::string> words;
  const auto add = [&](const std::string& word) {
    if (!word.empty()) words.push_back(word);
  };
  add(environment.cpu);
  add(environment.architecture);
  add(environment.kernel);
  if (environment.hypervisor) add(*environment.hypervisor ? "a virtual machine" : "no hypervisor");
  add(environment.governor.empty() ? "" : "governor " + environment.governor);
  add(environment.tally_version.empty() ? "" : "tally " + environment.tally_version);
  return join(words, " · ");
}

std::string html_page(const std::vector<Shown>& results) {
  const std::string title = results.size() == 1 ? title_of(results.front()) : fmt::format("{} results", results.size());
  std::string body = element("h1", title) + memory_comparison(results);
  for (const Shown& one : results) {
    if (results.size() > 1) body += element("h2", title_of(one));
    body += element("p", one.name, "soft") + section_of(one);
  }
  const bool has_windows = std::any_of(results.begin(), results.end(), [](const Shown& one) {
    return std::holds_alternative<result::Windows>(one.result);
  });
  std::string style(page_style()), script(page_script());
  if (has_windows) {
    style.append(timeline_style()).append(windows_style());
    script = fmt::format("{}</script>\n<script>\n{}\n{}\n{}</script>\n<script>\n{}", timeline_library(),
                         windows_data_script(), windows_parts_script(), windows_script(), script);
  }
  const bool has_runs = std::any_of(results.begin(), results.end(), [](const Shown& one) {
    return std::holds_alternative<result::LabRun>(one.result);
  });
  if (has_runs) {
    style.append(lab_style());
    script = fmt::format("{}</script>\n<script>\n{}", lab_script(), script);
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"tally\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n{}"
      "<noscript><p>The curves are drawn by a program in this page, which this browser does not run; the numbers are "
      "in "
      "the tables.</p></noscript>\n<script>{}</script>\n<script>\n{}</script>\n</body>\n</html>\n",
      escaped(title), style, body, chart_library(), script);
}

std::string memory_html(const result::Memory& memory) { return html_page({{"", memory}}); }

}  // namespace tally::report
