#include "programs/memory/analysis/advice.hpp"

#include <fmt/format.h>

#include "programs/memory/analysis/points.hpp"

namespace tally::memory {

std::string suggested_options(const Circumstances& run) {
  // Twice the mappings, some of them repeated, in whole minutes.
  return fmt::format("--mappings {} --time-budget {}", 2 * run.mappings, (3 * run.budget_seconds + 59) / 60 * 60);
}

std::string advice(std::string_view cause, const Circumstances& run) {
  if (cause == processor_shared) {
    return run.processor_named && run.processors > 1
               ? "omit --cpu, so that tally chooses the idlest processor, or wait until nothing else runs on this one"
               : "run it again when fewer programs are running; top lists them";
  }
  if (cause == core_shared) {
    return run.processors > 1
               ? "choose a processor of another core with --cpu, or wait until nothing else runs on this core's other "
                 "thread"
               : "run it again when nothing else runs on this core's other thread";
  }
  if (cause == cache_shared) {
    return fmt::format(
        "run it again when other users of the cache (perhaps other virtual machines) are less active, or with {}, "
        "which retries more often",
        suggested_options(run));
  }
  if (cause.empty()) return "run it again at a quieter time";
  return fmt::format("run it again at a quieter time, or with {}, which retries disturbed sizes more often",
                     suggested_options(run));
}

}  // namespace tally::memory
