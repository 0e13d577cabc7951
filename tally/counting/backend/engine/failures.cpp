#include "tally/counting/backend/engine/failures.hpp"

#include <fmt/format.h>

#include <cstring>

#include "tally/core/base/text.hpp"
#include "tally/core/base/version.hpp"
#include "tally/counting/backend/engine/count/reasons.hpp"
#include "tally/linux/files/report_file.hpp"
#include "tally/linux/process/fault_signals.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::backend::engine {
namespace {

std::string text_in(const char* words, std::size_t most) {
  return printable(std::string(words, ::strnlen(words, most)));
}

/// Returns the process that the command started, if a fault ended it and its engine did not report that the fault was
/// the program's.
channel::Process* silent_end(Channel& shared, const Execution& execution, int& signal) {
  const linux::Exit exit = linux::exit_of(execution.wait_status);
  if (!execution.ended || !exit.signal || !linux::is_fault_signal(*exit.signal)) return nullptr;
  signal = *exit.signal;
  channel::Process* last = nullptr;
  const std::uint32_t end = shared.records.header().next_process;
  for (std::uint32_t i = 1; i <= end && i < channel::process_limit; i++) {
    channel::Process& process = shared.records.process(i);
    if (process.pid == execution.pid && process.state != channel::State::free) last = &process;
  }
  const bool is_silent = last != nullptr && last->state == channel::State::running &&
                         last->end == channel::End::unknown && last->handed_back_ns == 0;
  return is_silent ? last : nullptr;
}

std::string registers(const std::uint64_t (&values)[16]) {
  static constexpr const char* names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                            "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
  std::string text;
  for (int i = 0; i < 16; i++) text += fmt::format("{:>5} {:#018x}{}", names[i], values[i], i % 4 == 3 ? "\n" : "");
  return text;
}

std::string report_of(const channel::EngineFailure& f, const std::string& program, const std::string& why) {
  std::string text = fmt::format("tally {}: the engine failed\n\nprogram   {} (process {}, thread {})\nfailure   {}\n",
                                 version(), program, f.pid, f.tid, why);
  if (f.signal != 0)
    text += fmt::format("signal    {}, code {}, at address {:#x}, error {:#x}\n", f.signal, f.code, f.fault_address,
                        f.error);
  if (f.state != 2) return text;
  text += fmt::format("engine    mapped from {:#x} to {:#x}\n", f.image, f.image + f.image_bytes);
  if (f.address != 0)
    text += fmt::format("at        {:#x}, {:#x} in the engine\n\nits registers\n{}", f.address, f.address - f.image,
                        registers(f.registers));
  text += fmt::format("\nlast block of the program at {:#x}, its code at {:#x}\n{}", f.program_pc, f.resume,
                      registers(f.program));
  return text;
}

/// What a program that --strict ended was about to do.
std::string why_native(const channel::Process& process, std::uint32_t partial) {
  if (partial == channel::partial_exec_native)
    return fmt::format("it executes {}, which would run natively", text_in(process.executed, sizeof process.executed));
  const std::string text = reasons_of(partial);
  return text.substr(0, text.find(": it continued natively"));
}

}  // namespace

void report_failure(Channel& shared, Execution& execution) {
  channel::EngineFailure failure = shared.records.header().failure;
  if (failure.unwilling != 0) {
    const channel::Process& process = shared.records.process(failure.process);
    execution.failure = fmt::format("--strict ended {} (process {}): {}", text_in(process.name, sizeof process.name),
                                    failure.pid, why_native(process, failure.unwilling));
  } else if (shared.records.header().settings.strict != 0 && !execution.native.empty()) {
    execution.failure = "--strict: " + execution.native.front();
  }
  if (!execution.failure.empty()) {
    execution.wait_status = could_not_measure << 8;
    return;
  }
  std::string why;
  const channel::Process* in = nullptr;
  int signal = 0;
  if (failure.state != 0) {
    if (failure.process < channel::process_limit) in = &shared.records.process(failure.process);
    why = text_in(failure.what, sizeof failure.what) + fmt::format(" {:#x}", failure.value);
  } else if (channel::Process* const silent = silent_end(shared, execution, signal); silent != nullptr) {
    silent->partial |= channel::partial_engine_failed;
    in = silent;
    failure.pid = failure.tid = silent->pid;
    why = fmt::format("a fault in the engine (signal {}) without details", signal);
  }
  if (in == nullptr) return;
  const std::string program = text_in(in->name, sizeof in->name);
  const auto file = linux::write_report("tally-engine-failure", report_of(failure, program, why));
  execution.failure =
      fmt::format("the engine of tally failed in {} (process {}), and ended it: {}; {}", program, failure.pid, why,
                  file ? fmt::format("please send {} to the authors of tally", *file)
                       : "a report could not be written: " + file.error().message);
  execution.wait_status = could_not_measure << 8;
}

}  // namespace tally::backend::engine
