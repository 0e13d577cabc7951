/// Counts what the program reads that may differ from run to run: channel::Source.
///
/// Generated code counts instructions, and calls of the vdso's clock functions. The first one of each thread enters the
/// engine, which records the location if it is the first one of the run.
#pragma once
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {

/// Returns the source that an instruction reads; source_count if it reads none. A clock function of the vdso reads the
/// clock with its first instruction; the vdso's own reads of the time-stamp counter belong to that. The dynamic linker
/// does not use the real time-stamp counter that it reads.
channel::Source source_of(const Instruction& in);
/// Whether the engine is entered before the instruction: it reads a source, or stores the x87 instruction pointer. It
/// is the first one of its trace: nothing of the trace is counted yet.
bool enters_first(const Instruction& in);

/// Whether the engine executes the instruction, or the vdso's function that it begins: with Settings::repeatable those
/// that read random numbers and the number of the processor, with Settings::counts_clock those that read the clock.
bool is_emulated(const Instruction& in);
/// Whether it is rdpid or begins the vdso's getcpu.
bool reads_processor_number(const Instruction& in);

/// Emits code that counts the read of such an instruction. It preserves all registers and flags.
void emit_source_count(Builder& b, const Instruction& in);

/// Counts a read by the instruction at `pc`, with the thread's registers in `gpr`. Takes the lock of exec_regions.cpp.
void count_source(Thread* t, channel::Source source, u64 pc);

/// Called for each read, after count_source(), with a hash of what was read; null if nobody needs the single reads.
/// 0 if the value is not known, but differs from run to run. Set once.
extern void (*on_read)(Thread* t, channel::Source source, u64 pc, u64 value);
/// Writes the addresses on the thread's stack that follow a call, innermost first, to `to`. Returns how many it found.
u32 return_addresses(const Thread* t, u64* to, u32 most);

extern "C" {
/// Entered from generated code: rcx = the address of the instruction, r11 = the cache address of its copy; both
/// registers are saved.
void enter_source();
/// Called by enter_source(). Defined in the guest layer.
void source_is_read(Thread* t);
}

}  // namespace tally::engine::translate
