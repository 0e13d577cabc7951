#include "tally/core/count/source.hpp"

#include <array>

namespace tally {
namespace {

constexpr std::string_view separator = ", ";

struct Named {
  Source kind;
  std::string_view name;
};
constexpr std::array source_names{Named{Source::none, ""},
                                  Named{Source::engine, "engine"},
                                  Named{Source::stepper, "single-stepper"},
                                  Named{Source::kernel, "perf_event"},
                                  Named{Source::wait4, "wait4"},
                                  Named{Source::clock, "clock"},
                                  Named{Source::tsc, "tsc"}};

Source kind_of(std::string_view name) {
  for (const Named& one : source_names)
    if (one.name == name) return one.kind;
  return Source::pmu;
}

}  // namespace

std::string CountSource::text() const {
  for (const Named& one : source_names)
    if (one.kind == kind) return std::string(one.name);
  return name;
}

CountSource parse_source(std::string_view text) {
  if (text.find(separator) == std::string_view::npos) {
    const Source kind = kind_of(text);
    return kind == Source::pmu ? CountSource::pmu(std::string(text)) : kind;
  }
  for (std::string_view rest = text;;) {
    const std::size_t next = rest.find(separator);
    if (kind_of(rest.substr(0, next)) != Source::pmu) return {Source::several, std::string(text)};
    if (next == std::string_view::npos) return CountSource::pmu(std::string(text));
    rest.remove_prefix(next + separator.size());
  }
}

CountSource combined(const CountSource& a, const CountSource& b) {
  if (!a.is_known() || a == b) return b;
  if (!b.is_known()) return a;
  const bool only_pmus = a == Source::pmu && b == Source::pmu;
  return {only_pmus ? Source::pmu : Source::several, a.text() + std::string(separator) + b.text()};
}

}  // namespace tally
