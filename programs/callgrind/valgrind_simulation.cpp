#include "programs/callgrind/valgrind_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tally::callgrind {
namespace {

// The caches of a machine whose kernel does not list them, as under some hypervisors. gungraun and CodSpeed use them.
constexpr CacheGeometry usual_first{32768, 8, 64}, usual_last{8388608, 16, 64};

std::string level(const char* name, const std::optional<CacheGeometry>& asked, const models::CacheShape& own,
                  const CacheGeometry& usual) {
  const CacheGeometry here = own.sets == 0 ? usual : CacheGeometry{own.size_bytes(), own.ways, 1ull << own.line_bits};
  const CacheGeometry cache = asked.value_or(here);
  return fmt::format("{} size={} ways={} line={}\n", name, cache.bytes, cache.ways, cache.line);
}

}  // namespace

bool collects_all(const ValgrindOptions& options) {
  return options.instruments_at_start.value_or(true) && options.collects_at_start.value_or(true) &&
         options.toggles.empty();
}

bool is_simulated(const ValgrindOptions& options) {
  if (!options.simulates_caches() && !options.models_branches) return false;
  // cachegrind's counts have no parts.
  return options.tool == ValgrindOptions::Tool::callgrind || collects_all(options);
}

bool follows_calls(const ValgrindOptions& options) {
  // Without calls, cachegrind's counts could not be limited to some of them.
  return !is_simulated(options) && (options.tool == ValgrindOptions::Tool::callgrind || !collects_all(options));
}

bool divides_parts(const ValgrindOptions& options) { return options.tool == ValgrindOptions::Tool::callgrind; }

std::vector<std::string> events_of(const ValgrindOptions& options) {
  const bool caches = options.simulates_caches(), simulated = is_simulated(options);
  std::vector<std::string> events{"instructions"};
  const auto add = [&](std::initializer_list<const char*> names) {
    events.insert(events.end(), names.begin(), names.end());
  };
  if (caches) add({"loads", "stores"});
  if (options.models_branches) add({"conditional-branches"});
  if (options.models_branches && (simulated || !caches)) add({"indirect-jumps", "indirect-calls"});
  if (caches && simulated)
    add({"L1-icache-load-misses", "L1-dcache-load-misses", "L1-dcache-store-misses", "cache-misses", "LLC-load-misses",
         "LLC-store-misses"});
  if (options.models_branches && simulated) add({"conditional-branch-misses", "indirect-branch-misses"});
  return events;
}

std::vector<DerivedEvent> columns_of(const ValgrindOptions& options) {
  const DerivedEvent ir{"Ir", {{"instructions", 1}}}, dr{"Dr", {{"loads", 1}}}, dw{"Dw", {{"stores", 1}}};
  const DerivedEvent i1mr{"I1mr", {{"L1-icache-load-misses", 1}}}, d1mr{"D1mr", {{"L1-dcache-load-misses", 1}}};
  const DerivedEvent d1mw{"D1mw", {{"L1-dcache-store-misses", 1}}};
  // Misses of the last level are fetches, loads and stores.
  const DerivedEvent ilmr{"ILmr", {{"cache-misses", 1}, {"LLC-load-misses", -1}, {"LLC-store-misses", -1}}};
  const DerivedEvent dlmr{"DLmr", {{"LLC-load-misses", 1}}}, dlmw{"DLmw", {{"LLC-store-misses", 1}}};
  std::vector<DerivedEvent> columns{ir};
  if (options.simulates_caches())
    columns = options.tool == ValgrindOptions::Tool::cachegrind
                  ? std::vector<DerivedEvent>{ir, i1mr, ilmr, dr, d1mr, dlmr, dw, d1mw, dlmw}
                  : std::vector<DerivedEvent>{ir, dr, dw, i1mr, d1mr, d1mw, ilmr, dlmr, dlmw};
  if (options.models_branches)
    for (const DerivedEvent& one :
         {DerivedEvent{"Bc", {{"conditional-branches", 1}}}, DerivedEvent{"Bcm", {{"conditional-branch-misses", 1}}},
          DerivedEvent{"Bi", {{"indirect-jumps", 1}, {"indirect-calls", 1}}},
          DerivedEvent{"Bim", {{"indirect-branch-misses", 1}}}})
      columns.push_back(one);
  const std::vector<std::string> counted = events_of(options);
  std::erase_if(columns, [&](const DerivedEvent& column) {
    return std::find(counted.begin(), counted.end(), column.terms.front().first) == counted.end();
  });
  return columns;
}

std::vector<std::string> simulation_notes(const ValgrindOptions& options) {
  const bool is_callgrind = options.tool == ValgrindOptions::Tool::callgrind;
  std::vector<std::string> notes;
  if (is_simulated(options) && is_callgrind)
    notes.emplace_back(
        "the file has no calls: tally does not follow calls while it simulates; omit --cache-sim and --branch-sim to "
        "have them");
  if (!is_simulated(options) && (options.simulates_caches() || options.models_branches))
    notes.emplace_back("the file has no misses: with this tool, tally simulates only whole runs");
  if (!follows_calls(options) && !(options.skipped_functions.empty() && options.skipped_objects.empty()))
    notes.emplace_back("--fn-skip and --obj-skip are ignored: without calls, the callers of functions are unknown");
  return notes;
}

Result<std::optional<backend::Simulation>> simulation_of(const ValgrindOptions& options) {
  if (!is_simulated(options)) return std::optional<backend::Simulation>();
  const auto machine = machines::host("/");  // as the kernel reports it, for valgrind does the same
  const models::HierarchyShape own = machine ? machine->caches : models::HierarchyShape{};
  auto caches = machines::parse("model valgrind\n" + level("l1i", options.i1, own.l1i, usual_first) +
                                    level("l1d", options.d1, own.l1d, usual_first) +
                                    level("llc", options.ll, own.llc, usual_last),
                                "--I1, --D1, --LL");
  if (!caches) return fail(caches.error());
  return backend::Simulation{.machine = std::move(*caches)};
}

std::string cache_text(const models::CacheShape& shape) {
  if (shape.sets == 0) return "";
  return fmt::format("{} B, {} B, {}-way associative", shape.size_bytes(), 1u << shape.line_bits, shape.ways);
}

}  // namespace tally::callgrind
