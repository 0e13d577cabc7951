#include "tally/engine/instrument/watched_accesses.hpp"

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/instrument/cold_models.hpp"
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::instrument {
namespace {

constexpr u32 load_limit = 4096, last_stores = 256;
/// Blocks after which accesses are watched: the first ones, and then each of so many.
constexpr u32 first_blocks = 4, pause_blocks = 64;
/// The first accesses only show what was stored before.
constexpr u32 not_compared = 96;

ForwardedLoad* loads;  // a hash table by `pc`; null if cycles are not requested
u32 load_count;
Lock loads_lock;

models::Access access_of(const WatchedAccess& access) { return static_cast<models::Access>(access.word & 0xff); }
bool stores(const WatchedAccess& access) { return models::purpose_of(access_of(access)) != models::Access::load; }

/// Returns the address of the instruction whose probe continues there, or in a stub that may load a register and jumps
/// back to the probe; 0 if its code was discarded.
u64 instruction_of(u64 address) {
  constexpr u8 in_gs = 0x65, load_bytes = 9, jump = 0xe9;
  const u8* code = reinterpret_cast<const u8*>(address);
  if (*code == in_gs) code += load_bytes;
  s32 distance = 0;
  copy(&distance, code + 1, sizeof distance);
  if (*code == jump) address = reinterpret_cast<u64>(code) + 5 + static_cast<u64>(static_cast<s64>(distance));
  CacheLocation found;
  if (!locate(address, found)) return 0;
  const InstructionMapping* place = found.place;
  if (place->offset < found.offset && found.index + 1 < found.trace->place_count) place++;
  return found.trace->pc + static_cast<u64>(static_cast<s64>(place->pc));
}

void find_instructions(WatchedAccesses& watched) {
  constexpr u32 slots = 64;
  u64 addresses[slots] = {}, instructions[slots] = {};
  for (WatchedAccess& access : watched.list) {
    const u32 slot = channel::hash_bits(access.at, 6);
    if (addresses[slot] != access.at) {
      addresses[slot] = access.at;
      instructions[slot] = instruction_of(access.at);
    }
    access.at = instructions[slot];
  }
}

/// Returns the entry of a load; null if it has none and `adds` is false, or if there is no room.
ForwardedLoad* entry_of(u64 pc, bool adds) {
  u32 i = channel::hash_bits(pc, 12);
  while (loads[i].pc != 0 && loads[i].pc != pc) i = (i + 1) % load_limit;
  if (loads[i].pc == pc) return &loads[i];
  if (!adds || load_count == load_limit / 2) return nullptr;
  load_count++;
  loads[i].pc = pc;
  return &loads[i];
}

/// Returns how often the instruction of store number `store` was executed from then to access number `load`; 0 if that
/// is too often.
u32 distance(const WatchedAccesses& watched, u32 store, u32 load) {
  u32 executions = 0;
  for (u32 i = store; i < load; i++) executions += watched.list[i].at == watched.list[store].at;
  return executions <= models::Forwarding::farthest ? executions : 0;
}

void compare_with_stores(const WatchedAccesses& watched) {
  u16 last[last_stores] = {};  // 1 + the number of the last store to an address, by its hash
  for (u32 i = 0; i < watched_at_a_time; i++) {
    const WatchedAccess& access = watched.list[i];
    u16& store = last[channel::hash_bits(access.address, 8)];
    if (i >= not_compared && access.at != 0 && access_of(access) != models::Access::store &&
        access_of(access) != models::Access::chase_store) {
      const bool is_same = store != 0 && i - store < not_compared &&
                           watched.list[store - 1].address == access.address &&
                           bytes_of(watched.list[store - 1].word) >= bytes_of(access.word);
      const u32 by = is_same ? distance(watched, store - 1u, i) : 0;
      ForwardedLoad* const load = entry_of(access.at, by != 0);
      if (load != nullptr) load->seen++;
      if (load != nullptr && by != 0) {
        load->forwarded++;
        load->distances += by;
        const u64 from = watched.list[store - 1].at;
        if (load->votes == 0) load->store = from;
        load->votes += load->store == from ? 1u : ~0u;
      }
    }
    if (stores(access)) store = static_cast<u16>(i + 1);
  }
}

template <class Each>
void each_line(Thread* t, Each&& each) {
  for (u64 line = 0; line <= model_plan.l1d_mask; line += model_plan.line_bytes) each(watched_line(t, line));
}

}  // namespace

void watch_init() {
  if (on(channel::model_core) && on(channel::model_l1d))
    loads = reinterpret_cast<ForwardedLoad*>(try_reserve(load_limit * sizeof *loads, read_write));
}

void watch_after_fork() { loads_lock = Lock{}; }

std::span<const ForwardedLoad> forwarded_loads() { return {loads, loads == nullptr ? 0 : load_limit}; }

TALLY_NO_SAVES __attribute__((noinline)) void watch_at_times(Thread* t) {
  ModelThread& m = *model_thread(t);
  WatchedAccesses& watched = cold_models_of(t)->watched;
  const u32 blocks = watched.blocks++;
  if (loads == nullptr || !model_plan.l1d || m.watching != 0 || (blocks >= first_blocks && blocks % pause_blocks != 0)) return;
  const CompilersFlags flags;
  each_line(t, [](WatchedLine& entry) { entry = {no_line, entry.probed}; });
  watched.count = 0;
  m.watching = 1;
}

TALLY_NO_SAVES __attribute__((noinline)) void watch_access(Thread* t, u64 address, u32 word) {
  WatchedAccesses& watched = cold_models_of(t)->watched;
  watched.list[watched.count++] = {address, model_thread(t)->back, word};
  if (watched.count < watched_at_a_time) return;
  const CompilersFlags flags;
  each_line(t, [](WatchedLine& entry) {
    if (entry.probed == no_line) entry.probed = entry.last;
  });
  model_thread(t)->watching = 0;
  find_instructions(watched);
  Guard guard(loads_lock);
  compare_with_stores(watched);
}

}  // namespace tally::engine::instrument
