#include "tally/counting/backend/engine/count/reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/engine/sound.hpp"
#include "tally/engine/machines/machine_model.hpp"

namespace tally::backend::engine {
namespace {

struct Words {
  channel::Partial bit;
  const char* text;
};

constexpr Words words[] = {
    {channel::partial_gs_base, "it uses the GS base, which the engine needs: it continued natively"},
    {channel::partial_code_space, "not enough memory for translated code: it continued natively"},
    {channel::partial_descriptors,
     "it needs file descriptors that the engine uses (RLIMIT_NOFILE): it continued natively"},
    {channel::partial_mappings,
     "it needs the memory mappings that the engine uses (vm.max_map_count): it continued natively"},
    {channel::partial_far_branch,
     "it branched to an address that is not canonical: that branch is counted, although it did not retire"},
    {channel::partial_locked_memory,
     "it locks all its memory, and the limit is too small for the engine's (RLIMIT_MEMLOCK): it continued natively"},
    {channel::partial_limited_memory,
     "its limit includes the memory that the engine uses (RLIMIT_AS or RLIMIT_DATA): it continued natively"},
    {channel::partial_code_forbidden,
     "it may not map memory for translated code (PR_SET_MDWE; systemd: MemoryDenyWriteExecute): it continued natively"},
    {channel::partial_own_addresses,
     "it mapped, unmapped, changed or probed addresses that the engine uses: it continued natively, or the call failed "
     "if several threads ran"},
    {channel::partial_int80, "it made 32-bit system calls, which the engine does not track"},
    {channel::partial_undecoded, "it executed instructions unknown to the decoder: their loads and stores are missing"},
    {channel::partial_unread_code, "it executed code that could not be read: its loads and stores are missing"},
    {channel::partial_protection_keys,
     "it disabled access to memory with protection key 0, which the engine uses: it continued natively"},
    {channel::partial_foreign_segment, "it switched to another code segment: it continued natively"},
    {channel::partial_not_parked,
     "a thread could not be stopped: its last instructions may be missing or counted too early"},
    {channel::partial_exec_native, "it executed a program that ran natively"},
    {channel::partial_killed, "it was killed: the last block of each thread may be counted in full"},
    {channel::partial_engine_failed, "the engine failed in it and ended it: the rest is missing"},
    {channel::partial_shared_memory,
     "not enough memory for the engine (a limit on address space?): it continued natively"},
    {channel::partial_vsyscall, "it called the vsyscall page, where instructions are not counted"},
    {channel::partial_confined, "it restricted its system calls (seccomp): it continued natively"},
    {channel::partial_dispatched, "it intercepts its own system calls (syscall user dispatch): it continued natively"},
    {channel::partial_unknown_call,
     "it made system calls unknown to the engine: their changes to its code are not seen"},
    {channel::partial_breakpoint,
     "it set a breakpoint in its code (perf_event_open) that never triggers: translated code runs instead"},
    {channel::partial_shared_code,
     "it maps more shared memory than the engine tracks: changes of code there may be missed"},
    {channel::partial_kernel_writes,
     "a system call unknown to the engine failed: in a native run it may write next to the program's code"},
    {channel::partial_code_lines, "it has more code than the machine model tracks: some counts are missing"},
    {channel::partial_strict, "--strict ended it where it would have continued natively"},
    {channel::partial_parts, "not enough memory to record a part of the run: its counts are missing"},
    {channel::partial_ptraced, "it traces another process or is traced: traced processes run natively"},
};

constexpr const char* by_old_calls =
    "it started programs or handled signals by 32-bit system calls: it continued natively";

bool is_machine(const std::string& name) {
  const std::vector<std::string> names = machines::names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string reasons_of(std::uint32_t bits) {
  std::vector<std::string> texts;
  for (const Words& one : words) {
    if (bits & one.bit) texts.emplace_back(one.text);
  }
  return join(texts, "; ");
}

std::string reasons_of_process(const channel::Process& process) {
  const std::string executed =
      printable(std::string(process.executed, ::strnlen(process.executed, sizeof process.executed)));
  if (process.partial == channel::partial_int80 && process.handed_back_ns != 0) return by_old_calls;
  if (!(process.partial & channel::partial_exec_native) || executed.empty()) return reasons_of(process.partial);
  const std::string others = reasons_of(process.partial & ~std::uint32_t{channel::partial_exec_native});
  return fmt::format("it executed {}, which ran natively{}{}", executed, others.empty() ? "" : "; ", others);
}

std::vector<std::string> all_reasons() {
  std::vector<std::string> all{by_old_calls};
  for (const Words& one : words) all.emplace_back(one.text);
  const auto more = all_contradictions();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::uint32_t known_reasons() {
  std::uint32_t bits = 0;
  for (const Words& one : words) bits |= one.bit;
  return bits;
}

std::string describe_lacks(std::uint32_t lacks, const Conditions& conditions, bool has_model) {
  std::vector<std::string> texts;
  const bool opened = (lacks & channel::pmu_opened) != 0;
  if ((lacks & channel::pmu_lacks_cycles) != 0 && (!opened || (lacks & channel::pmu_samples_clock) != 0))
    texts.emplace_back(
        "a program asked for samples of cycles, which need --model (perf record falls back to samples of the engine); "
        "use --model host, or -e instructions:u");
  else if ((lacks & channel::pmu_lacks_model) != 0 && !has_model && conditions.presents_cpu())
    texts.push_back(
        fmt::format("a program asked for cycles, misses or other modelled events: they need --model {} next "
                    "to --cpu-model {}",
                    is_machine(conditions.cpu_model) ? conditions.cpu_model : "host", conditions.cpu_model));
  if ((lacks & channel::pmu_lacks_precise) != 0 && !opened)
    texts.emplace_back("a program asked for precise samples of a modelled event: use cycles:u instead of cycles:pp");
  if ((lacks & channel::pmu_lacks_countdown) != 0)
    texts.emplace_back("a program wanted samples of more than four kinds of exact events: record them in two runs");
  if ((lacks & channel::pmu_lacks_shared_ring) != 0)
    texts.emplace_back(
        "a program wanted samples of hardware and software events in one ring, which is not supported: "
        "record them in two runs");
  return join(texts, "; ");
}

}  // namespace tally::backend::engine
