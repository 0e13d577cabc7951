#include "tally/engine/instrument/jump_probes.hpp"

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/instrument/call_code.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/logged_code.hpp"

namespace tally::engine::instrument {
namespace {

/// A jump in translated code and a target, with the segment number of their counter.
struct Pair {
  u64 target;
  u32 word, number;
};
constexpr u32 site_limit = 1u << 21, pair_limit = 1u << 19, slot_count = 2 * pair_limit, sites_of_trace = 16;
Growing<u64> sites;  // addresses of the jumps
Growing<Pair> pairs;
Growing<u32> slots;  // indices of pairs by their hash; 0: free

u32& slot_of(u32 word, u64 target) {
  u32 i = channel::hash_bits(u64{word} << 32 ^ target, 20);
  while (slots[i] != 0 && (pairs[slots[i]].word != word || pairs[slots[i]].target != target)) i = (i + 1) % slot_count;
  return slots[i];
}
static_assert(slot_count == 1u << 20);

/// Returns the segment number of a pair, and creates it if there is none; 0 without room.
u32 number_of(u32 word, u64 target) {
  u32& slot = slot_of(word, target);
  if (slot != 0) return pairs[slot].number;
  if (pairs.full() || !code_log_has_room(sizeof(channel::CodeJump))) return 0;
  const u64 site = sites[word >> jump_word_shift];
  // Both mappings are logged before the record.
  const u32 site_mapping = logged_mapping(site), target_mapping = logged_mapping(target);
  const u32 number = new_segment({});
  auto* const record =
      number != 0 ? reinterpret_cast<channel::CodeJump*>(code_log_begin(sizeof(channel::CodeJump))) : nullptr;
  if (record == nullptr) return 0;
  record->site = site;
  record->target = target;
  record->site_mapping = site_mapping;
  record->target_mapping = target_mapping;
  record->number = number;
  code_log_end(&record->head, channel::CodeRecordKind::jump);
  slot = pairs.add({target, word, number});
  return number;
}

class Hooks final : public Probes {
 public:
  void called(Builder& b, const Instruction& site, bool direct) override {
    if (!direct) emit_call(b, site, false, jump_word_of(site.pc));
  }
  bool jumps(Builder& b, const Instruction& in) override {
    emit_jump(b, in, jump_word_of(in.pc));
    return true;
  }
  bool has_room() const override { return !sites.full(sites_of_trace) && !pairs.full(); }
  void discarded() override {
    sites.reset(0);
    pairs.reset(1);
    slots.reset(slot_count);
  }
  void make_gates(Arena& a) override { make_call_code(a); }
};
constinit Hooks hooks;

}  // namespace

u32 jump_word_of(u64 pc) { return sites.add(pc) << jump_word_shift | jump_word; }

void jumps_init() {
  if (!jumps_on()) return;
  sites.init(site_limit);
  pairs.init(pair_limit);
  slots.init(slot_count);
  pairs.size = 1;
  slots.size = slot_count;
  probe_with(hooks);
}

void jumps_asked(Thread* t, u32 word) {
  const u64 target = model_thread(t)->saved[0];
  Guard guard(cache_lock);
  const u32 number = cache_is_damaged() ? 0 : number_of(word, target);
  if (number == 0) return;  // it is not counted
  recent_jump(t, word, target) = {target, word, static_cast<u32>(counters_at + 8 * number)};
  counters(t)[number]++;
}

}  // namespace tally::engine::instrument
