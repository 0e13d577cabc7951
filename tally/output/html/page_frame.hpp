// The frame of every page.
#pragma once

#include <string>
#include <vector>

#include "tally/output/html/sections.hpp"

namespace tally::output {

/// A self-contained page of this HTML, with tally's style and scripts and those of its sections. `title`: plain text.
std::string page_of(const std::string& title, const std::string& body, const std::vector<SectionAssets>& assets);

}  // namespace tally::output
