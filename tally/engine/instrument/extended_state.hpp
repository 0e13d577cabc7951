/// The extended state of the processor that XSAVE and XRSTOR move (CPUID leaf 0DH).
#pragma once
#include "tally/engine/base.hpp"
#include "tally/engine/models/access_sequence.hpp"

namespace tally::engine::instrument {

struct ExtendedState {
  models::StateLayout layout;
  bool reports_use;  ///< xgetbv says what is in use
};

/// Asks the processor in the first call: cpuid may take a virtual machine 50 us.
const ExtendedState& extended_state();

/// An extended control register. 0: the enabled components; 1: those in use.
u64 extended_control(u32 which);

}  // namespace tally::engine::instrument
