/// The vdso, and the clock for window records. The clock calls the vdso in the program's memory while that is mapped:
/// 28 ns, compared with 278 ns for a system call (a virtual machine on an AMD EPYC).
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine {

/// Called once at the start. `vdso` is AT_SYSINFO_EHDR, or 0 if there is no vdso.
void clock_init(u64 vdso);
/// Called once at the start. `base` is AT_BASE, the address of the dynamic linker, or 0 if there is none.
void linker_init(u64 base);
/// Whether the address is in the dynamic linker's code: its times are for LD_DEBUG=statistics.
bool is_in_linker(u64 pc);
/// Returns CLOCK_MONOTONIC.
u64 clock_ns();
/// Pauses the thread.
void pause_for(u64 us);
/// The vdso's data begin at `start`, or before: the kernel listed mappings, in ascending order. The first list counts.
void clock_data_listed(u64 start);
/// The program maps, unmaps or protects this range.
void clock_unmapped(u64 start, u64 end);
/// Whether the address is in the vdso.
bool is_in_vdso(u64 pc);
/// A function of the vdso whose result may differ from run to run, or from machine to machine.
enum class VdsoFunction : u32 {
  get_clock,
  get_time_of_day,
  get_seconds,
  get_resolution,
  get_processor,
  get_random,
  none
};
/// Returns the function that starts at this address.
VdsoFunction vdso_function_at(u64 pc);
inline bool is_clock_function(u64 pc) { return vdso_function_at(pc) <= VdsoFunction::get_seconds; }
/// Returns the address of an instruction `ret` in the vdso after `pc`; 0 if it has none.
u64 vdso_return_after(u64 pc);
/// The time-stamp counter must not be read any more: use system calls from now on.
void clock_without_time_stamp();

}  // namespace tally::engine
