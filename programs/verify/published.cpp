#include "programs/verify/published.hpp"

#include <fmt/format.h>

#include "programs/verify/judge.hpp"

namespace tally::verify {
namespace {

using enum result::EventGrade;
constexpr auto none = std::nullopt;

constexpr std::string_view weaver =
    "Weaver, Terpstra, Moore, Non-determinism and overcount on modern hardware performance counter implementations "
    "(ISPASS 2013, extended 2021)";
constexpr std::string_view raw_runs = "the runs published with Weaver, Terpstra, Moore (2021), computed again";

// The source's "hp" is correctable here, "U" micro-op, "D" and "M" (some count double, or are missed) unusable.
constexpr Published table[] = {
    {"Core 2", " core ", correctable, unusable, correctable, unusable, exact, weaver},
    {"Nehalem", " nhm nhm_ex ", correctable, correctable, unusable, unusable, unusable, weaver},
    {"Westmere", " wsm wsm_dp ", correctable, correctable, exact, correctable, unusable, weaver},
    {"Sandy Bridge", " snb snb_ep ", correctable, correctable, exact, micro_op, micro_op, weaver},
    {"Ivy Bridge", " ivb ivb_ep ", correctable, correctable, exact, micro_op, micro_op, weaver},
    {"Haswell", " hsw hsw_ep ", correctable, correctable, exact, micro_op, micro_op, weaver},
    {"Broadwell", " bdw bdw_ep ", correctable, correctable, exact, micro_op, micro_op, raw_runs},
    {"Skylake", " skl skx ", correctable, correctable, exact, none, none, raw_runs},
    {"Atom", " atom ", correctable, correctable, none, none, none, weaver},
    {"AMD family 10h", " amd64_fam10h_barcelona amd64_fam10h_shanghai amd64_fam10h_istanbul ", unusable, correctable,
     none, none, none, weaver},
};

std::optional<result::EventGrade> grade_of(const Published& line, event::Id id) {
  switch (id) {
    case event::Id::instructions: return line.instructions;
    case event::Id::branches: return line.branches;
    case event::Id::conditional_branches: return line.conditional;
    case event::Id::loads:
    case event::Id::retired_loads: return line.loads;
    case event::Id::stores:
    case event::Id::retired_stores: return line.stores;
    default: return none;
  }
}

}  // namespace

std::span<const Published> published() { return table; }

const Published* published_of(std::string_view pmu) {
  for (const Published& line : table) {
    if (line.pmus.find(fmt::format(" {} ", pmu)) != std::string_view::npos) return &line;
  }
  return nullptr;
}

void compare(std::vector<result::GradedEvent>& events, const Published& published) {
  for (result::GradedEvent& graded_event : events) {
    const auto id = event::find(graded_event.event.base);
    const auto grade = id ? grade_of(published, *id) : none;
    // Events without a known answer, or that are missing, cannot be compared.
    if (!grade || graded_event.grade == absent || graded_event.grade == speculative) continue;
    if (graded_event.grade == *grade) {
      graded_event.published = fmt::format("as published of {}", published.name);
    } else {
      graded_event.published =
          fmt::format("{} than published of {} ({})", graded_event.grade < *grade ? "better" : "worse", published.name,
                      name(*grade));
    }
  }
}

}  // namespace tally::verify
