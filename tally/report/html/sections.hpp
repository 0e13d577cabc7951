// What a page says of each kind of result; page.cpp puts them together.
#pragma once

#include <string>
#include <vector>

#include "tally/report/html/chart.hpp"
#include "tally/report/html/html.hpp"

namespace tally::report {

/// "A processor · Linux 6.1 · a virtual machine · tally 0.1": where it was measured.
std::string environment_line(const result::Environment& environment);

/// Everything about one result of `tally memory`, from its verdict to its points.
std::string memory_section(const result::Memory& memory);

/// Latency against size of several results in one chart; empty where fewer than two have a curve.
std::string memory_comparison(const std::vector<Shown>& results);

/// What one process counted of its own regions.
std::string regions_section(const result::ProgramRegions& program);

/// Everything about one result of `tally verify`.
std::string verify_section(const result::Verify& verify);

/// A map of events and payloads, and the evidence of each.
std::string discover_section(const result::Discovery& discovery);

/// Everything about a run of `tally lab`.
std::string lab_section(const result::LabRun& run);

/// Everything about a file of windows, of `tally sample`.
std::string windows_section(const result::Windows& windows);

/// Everything about one result of `tally stat`.
std::string stat_section(const result::Stat& stat);

}  // namespace tally::report
