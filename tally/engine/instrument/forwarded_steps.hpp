/// What was seen of the loads and stores that a process executed, for the core model.
#pragma once
#include "tally/engine/instrument/core_code.hpp"
#include "tally/engine/instrument/core_steps.hpp"
#include "tally/engine/instrument/watched_accesses.hpp"

namespace tally::engine::instrument {

/// Sets Step::forwarding of loads and of the stores before them. Pairs by the stack or frame pointer are left out: the
/// core model follows these. Returns whether there are any.
inline bool set_forwarded_loads(const Steps& steps, Code& bytes) {
  const auto is_in_frame = [&bytes](const Step& step) {
    Instruction in;
    bool readable = false;
    if (!read_instruction(bytes, step.pc, in, readable)) return false;
    const models::SymbolicAddress at = core_code(in).at;
    return at.index == models::no_register &&
           (at.base == models::first_general + rsp || at.base == models::first_general + rbp);
  };
  bool forwards = false;
  for (const ForwardedLoad& each : forwarded_loads()) {
    const models::Forwarding seen = each.forwarding();
    if (seen.share == 0) continue;
    Step *const load = steps.find(each.pc), *const store = steps.find(each.store);
    if (load == nullptr || store == nullptr || (is_in_frame(*load) && is_in_frame(*store))) continue;
    // The same name wherever the program is in memory.
    const u32 name = 1 + channel::hash_below(store->pc % page_bytes, 255);
    store->forwarding.store = static_cast<u8>(name);
    load->forwarding = {load->forwarding.store, static_cast<u8>(name), seen.distance, seen.share};
    forwards = true;
  }
  return forwards;
}

}  // namespace tally::engine::instrument
