#include "tally/counting/backend/engine_only.hpp"

#include <fmt/format.h>

namespace tally::backend {
namespace {

struct Feature {
  const char* what;
  const char* with_a_pmu;
};

using Trap = CodeRegion::Trap;

Feature feature_of(Trap trap) {
  if (trap == Trap::int2e)
    return {"`int $0x2e` is a marker", "natively it ends the program by SIGSEGV, with a PMU too"};
  return {"`int3` is a marker", "natively it raises SIGTRAP, with a PMU too"};
}

Feature feature_of(const RegionOrder& order) {
  const Trap trap = order.regions.empty() ? Trap::none : order.regions.back().trap;
  if (trap != Trap::none) return feature_of(trap);
  if (order.regions.empty())
    return {"`rdpmc` reads what tally counts",
            "with a PMU it reads the processor's own counters, if the kernel allows it"};
  return {"functions and addresses of a program are counted",
          "with a PMU this requires uprobes of the kernel, which tally does not use yet"};
}

Error refused(const Feature& feature, std::string_view why, bool is_attached) {
  const char* const otherwise =
      has_engine() ? "`--backend engine` runs the program under the engine" : "the engine is available on x86-64";
  return {Code::cannot_measure, fmt::format("{} under the engine only: {}", feature.what, why),
          is_attached ? "let tally start the program" : otherwise, 0};
}

}  // namespace

bool has_engine() {
#if TALLY_HAS_ENGINE
  return true;
#else
  return false;
#endif
}

Error engine_only(const RegionOrder& order, std::string_view why) {
  const Feature feature = feature_of(order);
  const bool is_attached = order.count.target.attachment.any();
  if (is_attached) why = "running processes do not run under it";
  return refused(feature, why.empty() ? feature.with_a_pmu : why, is_attached);
}

Error engine_only(const WindowOrder& order) {
  const Feature at_address{"windows start and stop at an address (--start-at, --stop-at)",
                           "a native run requires breakpoints of the kernel (uprobes), which tally does not use yet"};
  const Feature feature = order.trap == Trap::none ? at_address : feature_of(order.trap);
  return refused(feature, feature.with_a_pmu, false);
}

}  // namespace tally::backend
