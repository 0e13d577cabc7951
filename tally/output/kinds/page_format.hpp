// Results as one page that needs no network.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "tally/output/result/regions_result.hpp"
#include "tally/output/result/stat_result.hpp"
#include "tally/output/result/windows_table.hpp"

namespace tally::output {

/// Style and script that only some sections need.
struct SectionAssets {
  std::string style;
  std::string script;  ///< separated by "</script>\n<script>\n"
};

/// The section of a result that another program draws.
struct PageSection {
  std::string title;  ///< plain text
  std::string html;
  SectionAssets assets = {};
};

/// A result and its name, which is its file's name.
struct NamedResult {
  std::string name;
  std::variant<result::Stat, result::ProgramRegions, result::Windows, PageSection> result;
};

/// Builds a self-contained page (docs/one-liners.md). `beginning`: HTML before the sections.
std::string html_page(const std::vector<NamedResult>& results, const std::string& beginning = "");

}  // namespace tally::output
