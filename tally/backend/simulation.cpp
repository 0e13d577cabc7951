#include "tally/backend/simulation.hpp"

#include <fmt/format.h>

#include <vector>

#include "tally/base/text.hpp"

namespace tally::backend {
namespace {

const char* word(Precision precision) { return precision == Precision::fast ? "fast" : "full"; }

const char* predictor(Precision precision) { return precision == Precision::fast ? "gshare" : "TAGE"; }

}  // namespace

std::string Simulation::name() const { return fmt::format("{}, {}", machine.name, word(precision)); }

Result<machine::Machine> machine_of(const std::string& model) {
  return model.find('/') == std::string::npos ? machine::named(model, "/") : machine::from_file(model);
}

Needed needed_by(event::Id id) {
  using event::Id;
  Needed needed;
  switch (id) {
    case Id::branch_misses:
    case Id::conditional_branch_misses:
    case Id::indirect_branch_misses:
    case Id::return_misses: needed.branches = true; break;
    case Id::l1d_load_misses:
    case Id::l1d_store_misses:
    case Id::l1_load_hits: needed.l1d = true; break;
    case Id::l1i_loads:
    case Id::l1i_load_misses: needed.l1i = true; break;
    case Id::l2_references:
    case Id::l2_misses:
    case Id::cache_references:
    case Id::cache_misses:
    case Id::llc_loads:
    case Id::llc_load_misses:
    case Id::llc_stores:
    case Id::llc_store_misses:
    case Id::l2_load_hits:
    case Id::l2_load_misses:
    case Id::llc_load_hits: needed.l1d = needed.l1i = needed.lower = true; break;
    case Id::dtlb_load_misses:
    case Id::dtlb_store_misses:
    case Id::itlb_load_misses: needed.tlbs = true; break;
    case Id::cycles:
    case Id::ref_cycles: needed = {.branches = true, .l1i = true, .l1d = true, .lower = true, .core = true}; break;
    default: break;
  }
  return needed;
}

std::string model_of(event::Id id, const Simulation& simulation) {
  const Needed needed = needed_by(id);
  if (needed.core) {
    return fmt::format("{} core and {} caches, {}", simulation.machine.core, simulation.machine.name,
                       word(simulation.precision));
  }
  if (needed.branches) return fmt::format("{}, {}", predictor(simulation.precision), word(simulation.precision));
  return fmt::format("{} {}, {}", simulation.machine.name, needed.tlbs ? "TLBs" : "caches", word(simulation.precision));
}

bool is_of_last_level(event::Id id) {
  using event::Id;
  return id == Id::cache_references || id == Id::cache_misses || id == Id::llc_loads || id == Id::llc_load_misses ||
         id == Id::llc_stores || id == Id::llc_load_hits || id == Id::llc_store_misses;
}

std::string why_not_modelled(event::Id id, const Simulation& simulation) {
  using event::Id;
  const sim::HierarchyShape& caches = simulation.machine.caches;
  const auto lacks = [&](const char* what) {
    return fmt::format("the machine model {} has no {}", simulation.machine.name, what);
  };
  if (is_of_last_level(id)) return caches.llc.sets == 0 ? lacks("last level") : "";
  switch (id) {
    case Id::l1i_loads:
    case Id::l1i_load_misses: return caches.l1i.sets == 0 ? lacks("instruction cache") : "";
    case Id::l2_references:
    case Id::l2_misses:
    case Id::l2_load_hits:
    case Id::l2_load_misses: return caches.l2.sets == 0 ? lacks("second level") : "";
    case Id::dtlb_load_misses:
    case Id::dtlb_store_misses: return simulation.machine.tlbs.dtlb.sets == 0 ? lacks("data TLB") : "";
    case Id::itlb_load_misses: return simulation.machine.tlbs.itlb.sets == 0 ? lacks("instruction TLB") : "";
    case Id::cycles:
    case Id::ref_cycles:
      return simulation.machine.core.empty() ? lacks("core, of whose latencies cycles are made") +
                                                   fmt::format(" (cores are {})", join(machine::core_names(), ", "))
                                             : "";
    default: return "";
  }
}

std::string describe(const Simulation& simulation, const Needed& needed) {
  const sim::HierarchyShape& caches = simulation.machine.caches;
  std::vector<std::string> parts;
  const auto level = [&](bool wanted, const char* name, const sim::CacheShape& shape) {
    if (wanted && shape.sets != 0) parts.push_back(fmt::format("{} {}", name, machine::geometry_text(shape)));
  };
  if (needed.core) parts.push_back(simulation.machine.core + " core");
  if (needed.branches) parts.emplace_back(predictor(simulation.precision));
  level(needed.l1i, "L1I", caches.l1i);
  level(needed.l1d, "L1D", caches.l1d);
  level(needed.lower, "L2", caches.l2);
  level(needed.lower, "LLC", caches.llc);
  const auto tlb = [&](const char* name, const sim::CacheShape& shape) {
    const std::int64_t entries = std::int64_t{shape.sets} * shape.ways;
    if (needed.tlbs_in(simulation.precision) && entries != 0)
      parts.push_back(fmt::format("{} {} entries {}-way", name, thousands(entries), shape.ways));
  };
  tlb("iTLB", simulation.machine.tlbs.itlb);
  tlb("dTLB", simulation.machine.tlbs.dtlb);
  tlb("second-level TLB", simulation.machine.tlbs.stlb);
  if (needed.lower) parts.emplace_back(simulation.prefetch ? "with its prefetchers" : "no prefetch");
  const std::string title = simulation.machine.title.empty() ? "" : fmt::format(" ({})", simulation.machine.title);
  return fmt::format("model {}{}, {}: {}", simulation.machine.name, title, word(simulation.precision),
                     join(parts, "; "));
}

}  // namespace tally::backend
