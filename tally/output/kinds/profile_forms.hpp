// The writers of profile formats, each in its own file; formats.cpp lists them.
#pragma once

#include "tally/output/kinds/profile_format.hpp"

namespace tally::output {

std::string profile_table(const result::Profile& profile, const ProfileStyle& style);
std::string profile_callgrind(const result::Profile& profile, const ProfileStyle& style);
std::string profile_cachegrind(const result::Profile& profile, const ProfileStyle& style);
std::string profile_folded(const result::Profile& profile, const ProfileStyle& style);
std::string profile_speedscope(const result::Profile& profile, const ProfileStyle& style);
std::string profile_autofdo(const result::Profile& profile, const ProfileStyle& style);
std::string profile_bolt(const result::Profile& profile, const ProfileStyle& style);
std::string profile_bolt_preaggregated(const result::Profile& profile, const ProfileStyle& style);
std::string profile_lcov(const result::Profile& profile, const ProfileStyle& style);
std::string profile_cobertura(const result::Profile& profile, const ProfileStyle& style);
std::string profile_coverage_page(const result::Profile& profile, const ProfileStyle& style);
std::string profile_code(const result::Profile& profile, const ProfileStyle& style);
std::string profile_order(const result::Profile& profile, const ProfileStyle& style);
std::string profile_pprof(const result::Profile& profile, const ProfileStyle& style);
std::string profile_html(const result::Profile& profile, const ProfileStyle& style);
std::string profile_json(const result::Profile& profile, const ProfileStyle& style);

}  // namespace tally::output
