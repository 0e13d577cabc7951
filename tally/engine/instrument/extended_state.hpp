/// The extended processor state that XSAVE and XRSTOR move (CPUID leaf 0DH).
#pragma once
#include "tally/engine/base.hpp"
#include "tally/engine/models/access_sequence.hpp"

namespace tally::engine::instrument {

struct ExtendedState {
  models::StateLayout layout;
  bool reports_use;  ///< xgetbv reports what is in use
};

/// Queries the processor in the first call: cpuid may take 50 us in a virtual machine.
const ExtendedState& extended_state();

/// Reads an extended control register: 0 for the enabled components, 1 for those in use.
u64 extended_control(u32 which);
/// Returns the components that XSAVE and XRSTOR move at most: those of the processor that the program sees.
u64 movable_components();

}  // namespace tally::engine::instrument
