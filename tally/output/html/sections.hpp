// The part of a page for each kind of result, which page.cpp combines. Each kind has a title_of() and a section_of(),
// and assets_of() if its section has scripts of its own.
#pragma once

#include <string>
#include <vector>

#include "tally/output/html/chart.hpp"
#include "tally/output/kinds/page_format.hpp"

namespace tally::output {

/// "A processor · Linux 6.1 · a virtual machine · tally 0.1 · 2026-11-27T06:54:18Z": where and when it was measured.
std::string environment_line(const result::Environment& environment);

template <class T>
SectionAssets assets_of(const T&) {
  return {};
}
SectionAssets assets_of(const result::Windows& windows);
inline SectionAssets assets_of(const PageSection& section) { return section.assets; }

std::string title_of(const result::ProgramRegions& program);
std::string title_of(const result::Windows& windows);
inline std::string title_of(const PageSection& section) { return section.title; }
std::string title_of(const result::Stat& stat);

/// What a process counted in its own regions.
std::string section_of(const result::ProgramRegions& program);

inline std::string section_of(const PageSection& section) { return section.html; }

/// A file of windows, from `tally sample`.
std::string section_of(const result::Windows& windows);

/// A result of `tally stat`.
std::string section_of(const result::Stat& stat);

/// The roofline of a result.
std::string section_of(const result::Roofline& roofline);

}  // namespace tally::output
