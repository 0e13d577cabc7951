#include <fmt/format.h>

#include <set>

#include "tally/core/base/text.hpp"
#include "tally/output/html/assets.hpp"
#include "tally/output/html/page_frame.hpp"
#include "tally/output/html/sections.hpp"
#include "tally/output/kinds/page_format.hpp"
#include "tally/output/kit/element.hpp"
#include "tally/output/kit/provenance_line.hpp"

namespace tally::output {
namespace {

std::string title_of_any(const NamedResult& one) {
  return std::visit([](const auto& result) { return title_of(result); }, one.result);
}

std::string section_of_any(const NamedResult& one) {
  return std::visit([](const auto& result) { return section_of(result); }, one.result);
}

// Each style and script once.
std::vector<SectionAssets> assets_of_all(const std::vector<NamedResult>& results) {
  std::set<std::string> styles;
  std::vector<SectionAssets> all;
  for (const NamedResult& named_result : results) {
    auto assets = std::visit([](const auto& result) { return assets_of(result); }, named_result.result);
    if (styles.insert(assets.style).second) all.push_back(std::move(assets));
  }
  return all;
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
  add(provenance_line(environment.provenance));
  return join(words, " · ");
}

std::string html_page(const std::vector<NamedResult>& results, const std::string& beginning) {
  const std::string title =
      results.size() == 1 ? title_of_any(results.front()) : fmt::format("{} results", results.size());
  std::string body = element("h1", title) + beginning;
  for (const NamedResult& named_result : results) {
    if (results.size() > 1) body += element("h2", title_of_any(named_result));
    body += element("p", named_result.name, "soft") + section_of_any(named_result);
  }
  return page_of(title, body, assets_of_all(results));
}

std::string page_of(const std::string& title, const std::string& body, const std::vector<SectionAssets>& assets) {
  std::string style(page_style()), script(page_script());
  for (const SectionAssets& own : assets) {
    style += own.style;
    if (!own.script.empty()) script = fmt::format("{}</script>\n<script>\n{}", own.script, script);
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"tally\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n{}"
      "<noscript><p>The charts need JavaScript, which is disabled in this browser; the tables have the "
      "numbers.</p></noscript>\n<script>{}</script>\n<script>\n{}</script>\n</body>\n</html>\n",
      escaped(title), style, body, chart_library(), script);
}

}  // namespace tally::output
