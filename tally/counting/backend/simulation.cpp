#include "tally/counting/backend/simulation.hpp"

#include <fmt/format.h>

#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/engine/machines/measured_memory.hpp"

namespace tally::backend {
namespace {

const char* word(Precision precision) { return precision == Precision::fast ? "fast" : "full"; }

// The error of a model's cycles on a processor that it models.
struct MeasuredError {
  std::string_view model;  // a shipped one
  Precision precision;
  int programs, percent;  // the mean of |modelled / native - 1|
  double least, most;     // of modelled / native
  std::string_view processor, date;
};

constexpr MeasuredError measured_errors[] = {
#include "tally/counting/backend/measured_errors.inc"
};

// Null if it was not measured. Files may describe any machine, and prefetchers were off.
const MeasuredError* measured_error(const Simulation& simulation) {
  for (const MeasuredError& error : measured_errors)
    if (error.model == simulation.machine.shipped && error.precision == simulation.precision && !simulation.prefetch)
      return &error;
  return nullptr;
}

constexpr const char* predictor = "TAGE";

}  // namespace

std::string Simulation::name() const { return fmt::format("{}, {}", machine.name, word(precision)); }

Result<machines::MachineModel> machine_of(const std::string& model) {
  return model.find('/') == std::string::npos ? machines::named(model, "/") : machines::from_file(model);
}

NeededModels needed_by(event::Id id) {
  using event::Part;
  switch (event::definition(id).part) {
    case Part::none: return {};
    case Part::predictor: return {.branches = true};
    case Part::l1i: return {.l1i = true};
    case Part::l1d: return {.l1d = true};
    case Part::l2:
    case Part::last_level: return {.l1i = true, .l1d = true, .lower = true};
    case Part::data_tlb:
    case Part::instruction_tlb: return {.tlbs = true};
    case Part::core: return {.branches = true, .l1i = true, .l1d = true, .lower = true, .core = true};
  }
  return {};
}

std::string model_of(event::Id id, const Simulation& simulation) {
  const NeededModels needed = needed_by(id);
  if (needed.core) {
    const machines::MachineModel& machine = simulation.machine;
    const MeasuredError* const error = measured_error(simulation);
    return fmt::format(
        "{}{}, {}; {}", machine.name, machine.core == machine.name ? "" : fmt::format(" ({} core)", machine.core),
        word(simulation.precision),
        error != nullptr ? fmt::format("mean error {} % ({} programs{})", error->percent, error->programs,
                                       machines::uses_measured(machine) ? ", other latencies" : "")
                         : "error not measured");
  }
  if (needed.branches) return fmt::format("{}, {}", predictor, word(simulation.precision));
  return fmt::format("{} {}, {}", simulation.machine.name, needed.tlbs ? "TLBs" : "caches", word(simulation.precision));
}

bool is_cause_of_cycles(event::Id id) {
  return needed_by(id).core && id != event::Id::cycles && id != event::Id::ref_cycles;
}

std::string describe_error(const Simulation& simulation) {
  const MeasuredError* const error = measured_error(simulation);
  if (error == nullptr) return "the error of this model was not measured";
  return fmt::format("{:.2f} to {:.2f} of the native ones in {} programs on {} ({}){}", error->least, error->most,
                     error->programs, error->processor, error->date,
                     machines::uses_measured(simulation.machine) ? ", with other latencies" : "");
}

bool is_of_last_level(event::Id id) { return event::definition(id).part == event::Part::last_level; }

std::string why_not_modelled(event::Id id, const Simulation& simulation) {
  using event::Part;
  const machines::MachineModel& machine = simulation.machine;
  const auto unless = [&](bool there, const char* what) {
    return there ? std::string() : fmt::format("the machine model {} has no {}", machine.name, what);
  };
  switch (event::definition(id).part) {
    case Part::l1i: return unless(machine.caches.l1i.sets != 0, "instruction cache");
    case Part::l2: return unless(machine.caches.l2.sets != 0, "second level");
    case Part::last_level: return unless(machine.caches.llc.sets != 0, "last level");
    case Part::data_tlb: return unless(machine.tlbs.dtlb.sets != 0, "data TLB");
    case Part::instruction_tlb: return unless(machine.tlbs.itlb.sets != 0, "instruction TLB");
    case Part::core: {
      const std::string cores = join(machines::core_names(), ", ");
      return unless(!machine.core.empty(),
                    fmt::format("core, whose latencies determine cycles (cores are {})", cores).c_str());
    }
    case Part::none:
    case Part::predictor:
    case Part::l1d: break;
  }
  return "";
}

std::string describe(const Simulation& simulation, const NeededModels& needed) {
  const models::HierarchyShape& caches = simulation.machine.caches;
  std::vector<std::string> parts;
  const auto level = [&](bool wanted, const char* name, const models::CacheShape& shape) {
    if (wanted && shape.sets != 0) parts.push_back(fmt::format("{} {}", name, machines::geometry_text(shape)));
  };
  if (needed.core) parts.push_back(simulation.machine.core + " core");
  if (needed.branches) parts.emplace_back(predictor);
  level(needed.l1i, "L1I", caches.l1i);
  level(needed.l1d, "L1D", caches.l1d);
  level(needed.lower, "L2", caches.l2);
  level(needed.lower, "LLC", caches.llc);
  const models::TlbShape& tlbs = simulation.machine.tlbs;
  std::vector<std::string> entries;
  for (const models::CacheShape* const shape : {&tlbs.itlb, &tlbs.dtlb, &tlbs.stlb})
    if ((needed.tlbs || needed.core) && shape->sets != 0)
      entries.push_back(thousands(std::int64_t{shape->sets} * shape->ways));
  if (!entries.empty()) parts.push_back("TLBs " + join(entries, " + "));
  if (needed.lower)
    parts.emplace_back(simulation.prefetch                       ? "with its prefetchers"
                       : needed.core && caches.prefetch.streamer ? "prefetching only in cycles"
                                                                 : "no prefetch");
  const machines::MachineModel& machine = simulation.machine;
  std::vector<std::string> words;
  if (!machine.title.empty()) words.push_back(machine.title);
  if (!machine.shipped.empty() && machine.shipped != machine.name) words.push_back("like " + machine.shipped);
  const std::string title = words.empty() ? "" : fmt::format(" ({})", join(words, ", "));
  return fmt::format("model {}{}, {}: {}", machine.name, title, word(simulation.precision), join(parts, "; "));
}

}  // namespace tally::backend
