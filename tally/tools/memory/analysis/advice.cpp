#include "tally/tools/memory/analysis/advice.hpp"

#include <fmt/format.h>

#include "tally/tools/memory/analysis/points.hpp"

namespace tally::memory {

std::string suggested_options(const Circumstances& run) {
  // Twice the mappings, some of them repeated, in whole minutes.
  return fmt::format("--mappings {} --time-budget {}", 2 * run.mappings, (3 * run.budget_seconds + 59) / 60 * 60);
}

std::string advice(std::string_view cause, const Circumstances& run) {
  if (cause == processor_shared) {
    return run.processor_named && run.processors > 1
               ? "leave --cpu out, so that the processor which is idle most is taken, or wait until nothing else runs "
                 "on this one"
               : "run it again when fewer programs want a processor; top shows which do";
  }
  if (cause == core_shared) {
    return run.processors > 1
               ? "name a processor of another core with --cpu, or wait until nothing else runs on this one's other "
                 "thread"
               : "run it again when nothing else runs on this core's other thread";
  }
  if (cause == cache_shared) {
    return fmt::format(
        "run it again when who shares the cache, other virtual machines perhaps, is calmer, or with {}, which gives it "
        "more chances",
        suggested_options(run));
  }
  if (cause.empty()) return "run it again at a quieter time";
  return fmt::format("run it again at a quieter time, or with {}, which gives disturbed sizes more chances",
                     suggested_options(run));
}

}  // namespace tally::memory
