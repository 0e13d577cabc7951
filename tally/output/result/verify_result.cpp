#include "tally/output/result/verify_result.hpp"

#include <algorithm>

namespace tally::result {
namespace {

constexpr std::string_view verdicts[] = {"pass", "fail", "inconclusive"};
constexpr std::string_view grades[] = {"exact", "correctable", "speculative", "micro-op", "unusable", "absent"};

template <class T, std::size_t size>
std::optional<T> of(const std::string_view (&names)[size], std::string_view name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<T>(found - std::begin(names));
}

}  // namespace

std::string_view name(Verdict verdict) { return verdicts[static_cast<std::size_t>(verdict)]; }
std::string_view name(EventGrade grade) { return grades[static_cast<std::size_t>(grade)]; }
std::optional<EventGrade> event_grade_of(std::string_view name) { return of<EventGrade>(grades, name); }
std::optional<Verdict> verdict_of(std::string_view name) { return of<Verdict>(verdicts, name); }

Verdict verdict(const Verify& verify) {
  const auto is = [&verify](Verdict wanted) {
    const auto has = [wanted](const auto& one) { return one.verdict == wanted; };
    return std::any_of(verify.checks.begin(), verify.checks.end(), has) ||
           std::any_of(verify.compared.begin(), verify.compared.end(), has);
  };
  if (is(Verdict::fail)) return Verdict::fail;
  return is(Verdict::pass) ? Verdict::pass : Verdict::inconclusive;
}

}  // namespace tally::result
