#include "tally/hardware/event/pitfalls.hpp"

#include <algorithm>
#include <iterator>

#include "tally/hardware/event/codes.hpp"

namespace tally::event {
namespace {

constexpr const char* weaver = "Weaver, Terpstra, Moore, ISPASS 2013, extended 2021, and its raw data";
constexpr const char* intel_note = "Intel's note in the same data";
constexpr const char* perf_manual = "perf_event_open(2)";
constexpr const char* sdm = "Intel SDM vol. 3B";

struct Line {
  Id id;
  Pitfall pitfall;
};

// To add a pitfall, add a line.
constexpr Line pitfall_table[] = {
    {Id::instructions,
     {"a PMU adds one for each page fault and each interrupt that hits user mode (two on the programmable counters of "
      "Sandy "
      "and Ivy Bridge): subtract them, do not allow a percentage",
      weaver}},
    {Id::instructions,
     {"a REP string instruction counts once, however often it repeats; a PMU may not count it if an interrupt hits it",
      intel_note}},
    {Id::instructions,
     {"AMD Zen counts loop bodies twice if its SpecLockMap re-executes them", "rr, src/PerfCounters_x86.h"}},
    {Id::instructions,
     {"a virtual PMU may run and count far too little: compare a loop of known length first", "rezolus issue 1036"}},
    {Id::branches,
     {"system calls are branches, too (far-branches); a PMU adds one for each page fault and interrupt in user mode: "
      "branches "
      "without far-branches are exact",
      weaver}},
    {Id::conditional_branches,
     {"the only event that was equal in every run on Intel since Westmere: use it to check whether a PMU works",
      weaver}},
    {Id::far_branches, {"a PMU counts each interrupt and page fault in user mode here, too", intel_note}},
    {Id::loads,
     {"there is no agreement: Skylake and later count instructions, Sandy Bridge to Broadwell micro-ops, AMD "
      "dispatches; tally's "
      "engine counts accesses",
      weaver}},
    {Id::loads,
     {"Skylake and later count software prefetches as loads, too: MEM_INST_RETIRED.ALL_LOADS is loads + prefetches "
      "there (Weaver, deterministic, retired_instr.sse1)",
      weaver}},
    {Id::stores,
     {"there is no agreement: Skylake and later count instructions, Sandy Bridge to Broadwell micro-ops, AMD "
      "dispatches; tally's "
      "engine counts accesses",
      weaver}},
    {Id::cycles, {"counts at the core's own frequency, which changes; not at all while the processor is halted", sdm}},
    {Id::ref_cycles, {"on Intel fixed counter 2; some tutorials confuse it with core cycles (fixed counter 1)", sdm}},
    {Id::cache_references, {"its definition differs between processors; it may include prefetches", perf_manual}},
    {Id::cache_misses,
     {"prefetching hides misses: with strides below a cache line most lines arrive before they are requested",
      "RDPMC article"}},
    {Id::l1d_load_misses,
     {"a load whose line is already being fetched is neither hit nor miss: hits, misses and fill-buffer hits make up "
      "the "
      "loads",
      "RDPMC article"}},
    {Id::page_faults,
     {"faults in user mode are not all faults of the program: the kernel's accesses on its behalf also fault",
      "Linux"}},
    {Id::context_switches,
     {"a perf event that excludes the kernel reads a false 0: perf stat -e cs:u prints it", "Linux 6.1, 6.18"}},
    {Id::tsc,
     {"runs on in sleep and whatever the core's frequency is: a clock, no measure of work (a program that slept a "
      "second "
      "had 3.5e9 ticks and 157 million cycles)",
      "RDPMC article"}},
    {Id::user_time,
     {"sampled by the timer tick on some kernels: short programs get none", "Linux, CONFIG_TICK_CPU_ACCOUNTING"}},
};

struct ClassLine {
  Id id;
  Class what;
};

constexpr ClassLine classes[] = {
    {Id::instructions, Class::correctable},
    {Id::branches, Class::correctable},
    {Id::branches_taken, Class::correctable},
    {Id::far_branches, Class::correctable},
    {Id::conditional_branches, Class::deterministic},
    {Id::conditional_taken, Class::deterministic},
    {Id::conditional_not_taken, Class::deterministic},
    {Id::loads, Class::micro_ops},
    {Id::stores, Class::micro_ops},
    {Id::cycles, Class::speculative},
    {Id::ref_cycles, Class::speculative},
    {Id::branch_misses, Class::speculative},
    {Id::cache_references, Class::speculative},
    {Id::cache_misses, Class::speculative},
    {Id::l1d_load_misses, Class::speculative},
    {Id::llc_loads, Class::speculative},
    {Id::llc_load_misses, Class::speculative},
    {Id::dtlb_load_misses, Class::speculative},
    {Id::itlb_load_misses, Class::speculative},
    {Id::l1_load_hits, Class::speculative},
    {Id::l2_load_hits, Class::speculative},
    {Id::l2_load_misses, Class::speculative},
    {Id::llc_load_hits, Class::speculative},
    {Id::l1i_loads, Class::speculative},
    {Id::retired_loads, Class::micro_ops},
    {Id::retired_stores, Class::micro_ops},
};

}  // namespace

std::string_view name(Class what) {
  switch (what) {
    case Class::deterministic: return "deterministic";
    case Class::correctable: return "correctable";
    case Class::speculative: return "speculative";
    case Class::micro_ops: return "micro-ops";
    case Class::software: return "software";
    case Class::unknown: break;
  }
  return "unknown";
}

std::string_view explanation(Class what) {
  switch (what) {
    case Class::deterministic: return "a PMU gives the same count on every run";
    case Class::correctable: return "a PMU gives the same count except for page faults and interrupts";
    case Class::speculative: return "depends on the processor's make and history: compare medians, never single counts";
    case Class::micro_ops: return "a PMU counts micro-operations or dispatches, not what the program says";
    case Class::software: return "the kernel's bookkeeping, or a clock";
    case Class::unknown: break;
  }
  return "nothing is published about how repeatable a PMU's counts are";
}

Class class_of(const Event& event) {
  if (event.id == Id::code) return Class::unknown;
  if (!has_modes(definition(event.id).kind)) return Class::software;
  const auto line = std::find_if(std::begin(classes), std::end(classes),
                                 [&](const ClassLine& class_line) { return class_line.id == event.id; });
  return line == std::end(classes) ? Class::unknown : line->what;
}

std::vector<Pitfall> pitfalls(const Event& event) {
  std::vector<Pitfall> found;
  for (const Line& line : pitfall_table) {
    if (line.id == event.id) found.push_back(line.pitfall);
  }
  if (!event.encoding) return found;
  const Encoding& encoding = *event.encoding;
  if (const auto code = is_conditional(encoding) ? std::nullopt : known_code(encoding); code && !code->remark.empty()) {
    found.push_back({code->remark, ""});
  }
  if (encoding.family == Family::apple) {
    found.push_back(
        {"found by experiment: Apple documents neither the event nor its counters", "drivers/perf/apple_m1_cpu_pmu.c"});
  }
  if (is_x86(encoding.family) && encoding.pmu.empty()) {
    found.push_back(
        {"the same code selects another event on other processors: a name with its processor (hsw::…) is safer",
         "libpfm4"});
  }
  return found;
}

}  // namespace tally::event
