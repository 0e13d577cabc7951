#include "tally/event/table.hpp"

#include <iterator>

#include "tally/base/text.hpp"

namespace tally::event {
namespace {

constexpr auto hw = Kind::hardware;
constexpr auto uarch = Kind::microarchitectural;
constexpr auto sw = Kind::software;
constexpr auto n = Unit::events;
constexpr auto ns = Unit::nanoseconds;
constexpr auto none = std::nullopt;
constexpr Per share(Id of) { return {of, true}; }
constexpr Per each(Id of) { return {of, false}; }
constexpr bool yes = true;
constexpr bool no = false;

// One more event is one more line here and one more name in Id.
constexpr Definition table[] = {
    {Id::instructions, "instructions", hw, n, yes, none, "retired instructions; a REP string instruction is one"},
    {Id::branches, "branches", hw, n, yes, share(Id::instructions), "retired branches of every kind"},
    {Id::conditional_branches, "conditional-branches", hw, n, yes, share(Id::branches),
     "retired conditional jumps, taken or not, with loop and jrcxz"},
    {Id::conditional_taken, "conditional-taken", hw, n, yes, share(Id::conditional_branches),
     "conditional jumps that jumped"},
    {Id::conditional_not_taken, "conditional-not-taken", hw, n, yes, share(Id::conditional_branches),
     "conditional jumps that did not jump"},
    {Id::branches_taken, "branches-taken", hw, n, no, share(Id::branches),
     "branches of every kind that went elsewhere: all but conditional-not-taken"},
    {Id::near_branches_taken, "near-branches-taken", hw, n, no, share(Id::branches),
     "branches-taken without far-branches"},
    {Id::direct_jumps, "direct-jumps", hw, n, yes, share(Id::branches), "unconditional jumps to a fixed target"},
    {Id::indirect_jumps, "indirect-jumps", hw, n, yes, share(Id::branches),
     "jumps to a target in a register or in memory"},
    {Id::calls, "calls", hw, n, no, share(Id::branches), "near calls: direct-calls and indirect-calls"},
    {Id::direct_calls, "direct-calls", hw, n, yes, share(Id::branches), "near calls of a fixed target"},
    {Id::indirect_calls, "indirect-calls", hw, n, yes, share(Id::branches), "near calls through a register or memory"},
    {Id::returns, "returns", hw, n, yes, share(Id::branches), "near returns"},
    {Id::far_branches, "far-branches", hw, n, yes, share(Id::branches), "far transfers; a system call is one"},
    {Id::loads, "loads", hw, n, yes, each(Id::instructions), "accesses that read memory, one for each element"},
    {Id::stores, "stores", hw, n, yes, each(Id::instructions), "accesses that write memory, one for each element"},
    {Id::cycles, "cycles", uarch, n, no, none, "core clock cycles while not halted"},
    {Id::ref_cycles, "ref-cycles", uarch, n, no, none, "the same at a constant rate, whatever the core's frequency"},
    {Id::branch_misses, "branch-misses", uarch, n, no, share(Id::branches), "branches that were predicted wrongly"},
    {Id::conditional_branch_misses, "conditional-branch-misses", uarch, n, no, share(Id::conditional_branches),
     "conditional jumps whose direction was predicted wrongly"},
    {Id::indirect_branch_misses, "indirect-branch-misses", uarch, n, no, none,
     "indirect jumps and calls whose target was predicted wrongly"},
    {Id::return_misses, "return-misses", uarch, n, no, share(Id::returns), "returns that were predicted wrongly"},
    {Id::cache_references, "cache-references", uarch, n, no, none, "accesses that reached the last-level cache"},
    {Id::cache_misses, "cache-misses", uarch, n, no, share(Id::cache_references),
     "accesses that the last-level cache did not hold"},
    {Id::l1d_load_misses, "L1-dcache-load-misses", uarch, n, no, share(Id::loads),
     "loads that the first-level data cache did not hold"},
    {Id::l1d_store_misses, "L1-dcache-store-misses", uarch, n, no, share(Id::stores),
     "stores that the first-level data cache did not hold"},
    {Id::l1i_load_misses, "L1-icache-load-misses", uarch, n, no, none,
     "lines of code that the first-level instruction cache did not hold"},
    {Id::l2_references, "L2-references", uarch, n, no, none, "lines that the first-level caches asked the second for"},
    {Id::l2_misses, "L2-misses", uarch, n, no, share(Id::l2_references),
     "lines that the second level was asked for and did not hold"},
    {Id::llc_loads, "LLC-loads", uarch, n, no, none, "loads that reached the last-level cache"},
    {Id::llc_load_misses, "LLC-load-misses", uarch, n, no, share(Id::llc_loads),
     "loads that the last-level cache did not hold"},
    {Id::llc_stores, "LLC-stores", uarch, n, no, none, "stores that reached the last-level cache"},
    {Id::llc_store_misses, "LLC-store-misses", uarch, n, no, share(Id::llc_stores),
     "stores that the last-level cache did not hold"},
    {Id::dtlb_load_misses, "dTLB-load-misses", uarch, n, no, share(Id::loads),
     "loads whose page the data TLB did not hold"},
    {Id::dtlb_store_misses, "dTLB-store-misses", uarch, n, no, share(Id::stores),
     "stores whose page the data TLB did not hold"},
    {Id::itlb_load_misses, "iTLB-load-misses", uarch, n, no, none,
     "instruction fetches whose page the instruction TLB did not hold"},
    {Id::l1_load_hits, "L1-load-hits", uarch, n, no, share(Id::loads), "loads that the first-level data cache held"},
    {Id::l2_load_hits, "L2-load-hits", uarch, n, no, share(Id::loads),
     "lines for loads that the first level did not hold and the second did"},
    {Id::l2_load_misses, "L2-load-misses", uarch, n, no, share(Id::loads),
     "lines for loads that neither the first nor the second level held"},
    {Id::llc_load_hits, "LLC-load-hits", uarch, n, no, share(Id::llc_loads),
     "lines for loads that the last level held, and none before it"},
    {Id::l1i_loads, "L1-icache-loads", uarch, n, no, none, "fetches of instructions from the first-level cache"},
    {Id::retired_loads, "retired-loads", uarch, n, no, each(Id::instructions),
     "loads as the processor counts them: micro-operations of some, instructions of others"},
    {Id::retired_stores, "retired-stores", uarch, n, no, each(Id::instructions),
     "stores as the processor counts them: micro-operations of some, instructions of others"},
    {Id::page_faults, "page-faults", sw, n, yes, none, "page faults, minor and major"},
    {Id::user_page_faults, "page-faults:u", sw, n, no, share(Id::page_faults),
     "page faults by the program's own accesses, without those inside system calls"},
    {Id::minor_faults, "minor-faults", sw, n, no, share(Id::page_faults), "page faults served without input or output"},
    {Id::major_faults, "major-faults", sw, n, no, share(Id::page_faults),
     "page faults that had to wait for input or output"},
    {Id::context_switches, "context-switches", sw, n, no, none, "switches to another thread, voluntary or not"},
    {Id::voluntary_switches, "voluntary-switches", sw, n, no, share(Id::context_switches),
     "switches because the thread waited for something"},
    {Id::involuntary_switches, "involuntary-switches", sw, n, no, share(Id::context_switches),
     "switches because the kernel wanted the processor"},
    {Id::cpu_migrations, "cpu-migrations", sw, n, no, none, "moves of a thread to another processor"},
    {Id::cgroup_switches, "cgroup-switches", sw, n, no, share(Id::context_switches),
     "switches to a thread of another control group"},
    {Id::alignment_faults, "alignment-faults", sw, n, no, none,
     "accesses that the kernel had to put together, as they were not aligned; x86 does that itself"},
    {Id::emulation_faults, "emulation-faults", sw, n, no, none,
     "instructions that the kernel had to carry out, as the processor does not"},
    {Id::bpf_output, "bpf-output", sw, n, no, none, "nothing: it carries what BPF programs write"},
    {Id::dummy, "dummy", sw, n, no, none, "nothing: it carries the records of other events"},
    {Id::peak_memory, "peak-memory", sw, Unit::bytes, yes, none, "largest resident set of one of the processes"},
    {Id::task_clock, "task-clock", sw, ns, no, share(Id::duration_time),
     "time on a processor, of all threads together; 200 % of duration_time are two processors"},
    {Id::cpu_clock, "cpu-clock", sw, ns, no, share(Id::duration_time),
     "the same, by the processor's clock instead of the scheduler's account"},
    {Id::user_time, "user_time", sw, ns, yes, none, "processor time in user mode"},
    {Id::system_time, "system_time", sw, ns, yes, none, "processor time in the kernel"},
    {Id::duration_time, "duration_time", sw, ns, yes, none, "time from the program's start to its end"},
    {Id::tsc, "tsc", sw, n, no, each(Id::duration_time),
     "ticks of the time-stamp counter in duration_time, whoever ran; x86"},
    {Id::code, "code", uarch, n, no, none, "an event of a PMU, by that PMU's own name or code"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(table); ++i) {
    if (table[i].id != static_cast<Id>(i)) return false;
  }
  return std::size(table) == static_cast<std::size_t>(Id::code) + 1;
}
static_assert(in_order(), "the table must follow Id");

}  // namespace

std::span<const Definition> all() { return std::span(table).first(std::size(table) - 1); }

const Definition& definition(Id id) { return table[static_cast<std::size_t>(id)]; }

std::optional<Id> find(std::string_view name) {
  for (const Definition& line : all()) {
    if (same_word(line.name, name)) return line.id;
  }
  for (const Alias& alias : aliases()) {
    if (same_word(alias.name, name)) return alias.id;
  }
  return std::nullopt;
}

}  // namespace tally::event
