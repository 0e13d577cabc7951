#include "tally/hardware/event/perf_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/parsers.hpp"

namespace tally::event {
namespace {

// perf_event_open(2), "config": PERF_COUNT_HW_…, PERF_COUNT_SW_…, and the three parts of a cache event.
constexpr std::uint64_t cache(std::uint64_t which, std::uint64_t operation, std::uint64_t result) {
  return which | operation << 8 | result << 16;
}
constexpr std::uint64_t l1d = 0, l1i = 1, ll = 2, dtlb = 3, itlb = 4;
constexpr std::uint64_t read = 0, write = 1;
constexpr std::uint64_t access = 0, miss = 1;

struct Number {
  Id id;
  std::uint32_t type;
  std::uint64_t config;
};

constexpr Number numbers[] = {
    {Id::cycles, perf_type_hardware, 0},
    {Id::instructions, perf_type_hardware, 1},
    {Id::cache_references, perf_type_hardware, 2},
    {Id::cache_misses, perf_type_hardware, 3},
    {Id::branches, perf_type_hardware, 4},
    {Id::branch_misses, perf_type_hardware, 5},
    {Id::ref_cycles, perf_type_hardware, 9},
    {Id::l1d_load_misses, perf_type_cache, cache(l1d, read, miss)},
    {Id::l1d_store_misses, perf_type_cache, cache(l1d, write, miss)},
    {Id::l1i_loads, perf_type_cache, cache(l1i, read, access)},
    {Id::l1i_load_misses, perf_type_cache, cache(l1i, read, miss)},
    {Id::llc_loads, perf_type_cache, cache(ll, read, access)},
    {Id::llc_load_misses, perf_type_cache, cache(ll, read, miss)},
    {Id::llc_stores, perf_type_cache, cache(ll, write, access)},
    {Id::llc_store_misses, perf_type_cache, cache(ll, write, miss)},
    {Id::dtlb_load_misses, perf_type_cache, cache(dtlb, read, miss)},
    {Id::dtlb_store_misses, perf_type_cache, cache(dtlb, write, miss)},
    {Id::itlb_load_misses, perf_type_cache, cache(itlb, read, miss)},
};

KernelEvent hardware(const char* name, std::uint64_t config) {
  return {name, {Family::none, "", perf_type_hardware, config, 0, 0}};
}

std::vector<KernelEvent> make_others() {
  std::vector<KernelEvent> made{hardware("bus-cycles", 6), hardware("stalled-cycles-frontend", 7),
                                hardware("stalled-cycles-backend", 8)};
  constexpr const char* caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
  constexpr const char* operations[] = {"load", "store", "prefetch"};
  for (std::uint64_t which = 0; which < std::size(caches); ++which) {
    for (std::uint64_t operation = 0; operation < std::size(operations); ++operation) {
      const std::string verb = operations[operation];
      for (const auto& [name, result] :
           {std::pair{fmt::format("{}-{}{}", caches[which], verb, verb == "prefetch" ? "es" : "s"), access},
            std::pair{fmt::format("{}-{}-misses", caches[which], verb), miss}}) {
        if (find(name)) continue;
        made.push_back({name, {Family::none, "", perf_type_cache, cache(which, operation, result), 0, 0}});
      }
    }
  }
  return made;
}

}  // namespace

std::optional<Encoding> kernel_number(Id id) {
  if (const auto number = definition(id).kernel_number)
    return Encoding{Family::none, "", perf_type_software, *number, 0, 0};
  const auto line =
      std::find_if(std::begin(numbers), std::end(numbers), [&](const Number& one) { return one.id == id; });
  if (line == std::end(numbers)) return std::nullopt;
  return Encoding{Family::none, "", line->type, line->config, 0, 0};
}

const std::vector<KernelEvent>& other_kernel_events() {
  static const std::vector<KernelEvent> all = make_others();
  return all;
}

Parsed parse_kernel_generic(std::string_view text) {
  const auto [base, letters] = take_apart(text);
  for (const KernelEvent& event : other_kernel_events()) {
    if (!same_word(event.name, base)) continue;
    Mode mode = Mode::user;
    if (letters) {
      const auto asked = parse_modifiers(*letters, text);
      if (!asked) return fail(asked.error());
      mode = *asked;
    }
    return coded(text, event.name, event.encoding, mode);
  }
  return std::nullopt;
}

}  // namespace tally::event
