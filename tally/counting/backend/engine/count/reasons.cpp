#include "tally/counting/backend/engine/count/reasons.hpp"

#include <fmt/format.h>

#include <cstring>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/engine/sound.hpp"

namespace tally::backend::engine {
namespace {

struct Words {
  channel::Partial bit;
  const char* text;
};

constexpr Words words[] = {
    {channel::partial_gs_base, "it uses the GS base, which the engine needs: it went on natively"},
    {channel::partial_code_space, "there was no memory for translated code: it went on natively"},
    {channel::partial_descriptors,
     "it needs the last descriptors that its limit allows, which the engine has: it went on natively"},
    {channel::partial_own_addresses,
     "it wanted addresses that are the engine's own: it went on natively, or was refused them where several threads "
     "ran"},
    {channel::partial_int80, "it made 32-bit system calls, whose effects the engine does not follow"},
    {channel::partial_undecoded,
     "it executed instructions that the decoder does not know: their loads and stores are missing"},
    {channel::partial_unread_code, "it executed code that could not be read: its loads and stores are missing"},
    {channel::partial_protection_keys,
     "it denied itself memory of protection key 0, which the engine's has: it went on natively"},
    {channel::partial_foreign_segment, "it changed to another code segment: it went on natively"},
    {channel::partial_not_parked,
     "a thread could not be stopped when that was needed: what it did last may be counted ahead, or not at all"},
    {channel::partial_exec_native, "it executed a program that ran natively"},
    {channel::partial_killed, "it was killed: the last block of each of its threads may be counted ahead"},
    {channel::partial_engine_failed, "the engine failed in it, and ended it: what came afterwards is missing"},
    {channel::partial_shared_memory,
     "there was no memory for the engine (a limit on address space?): it went on natively"},
    {channel::partial_vsyscall, "it called the vsyscall page, whose instructions are not counted"},
    {channel::partial_confined, "it confined itself (seccomp): it went on natively"},
    {channel::partial_dispatched, "it took its system calls over (syscall user dispatch): it went on natively"},
    {channel::partial_unknown_call,
     "it made system calls that the engine does not know: what they change for its code is not seen"},
    {channel::partial_breakpoint,
     "it set a breakpoint at its code (perf_event_open), which is never met: its copy is what runs"},
    {channel::partial_shared_code,
     "it runs code from shared memory: what it writes there through another mapping is not seen"},
    {channel::partial_kernel_writes,
     "a system call that the engine does not know failed: natively it may have written beside the program's code"},
    {channel::partial_code_lines,
     "it has more code than the simulated machine tells apart: some of what it did is missing"},
    {channel::partial_ptraced, "it traces or is traced by others: who is traced runs natively"},
};

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
  if (!(process.partial & channel::partial_exec_native) || executed.empty()) return reasons_of(process.partial);
  const std::string others = reasons_of(process.partial & ~std::uint32_t{channel::partial_exec_native});
  return fmt::format("it executed {}, which ran natively{}{}", executed, others.empty() ? "" : "; ", others);
}

std::vector<std::string> all_reasons() {
  std::vector<std::string> all;
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

}  // namespace tally::backend::engine
