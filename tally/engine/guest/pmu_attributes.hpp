/// The attributes with which a program opens an event: their errors, which are the kernel's, and the event that they
/// name.
#pragma once
#include <linux/perf_event.h>

#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Copies the attributes, and checks them as the kernel does. `group`: the leader's descriptor if it is the kernel's,
/// or -1. Returns an error, or 0. Cost: two system calls.
s64 copy_attributes(u64 from, s32 pid, s32 cpu, s32 group, u64 flags, perf_event_attr& attr);

/// Asks the kernel what it makes of a call with these attributes for a software event, which it checks in the same way.
/// `group`: -1 for an event of the engine. Returns its error; 0: none; not_of_pmu: it does not check them for this
/// program.
s64 ask_kernel(u8* attributes, s32 pid, s32 cpu, s32 group, u64 flags);
/// The checks that the kernel then would have made. Returns an error, or 0.
s64 check_attributes(const perf_event_attr& attr);

inline constexpr u32 no_row = ~0u;
/// Returns the index of the event in PresentedPmu, or no_row.
u32 row_of(const perf_event_attr& attr);
/// Whether models count this event, if they are asked for.
bool can_be_modelled(const perf_event_attr& attr);
/// Whether the number is no event of the PresentedPmu because no processor has it.
bool is_invalid(const perf_event_attr& attr);

}  // namespace tally::engine::guest
