// Which templates a program used, in its order: most programs begin as they began the last time, and need no search.
#include "tally/engine/store.hpp"

namespace tally::engine {
namespace {

Uses known;    // of an earlier run
u32 position;  // in it
u32 searches;  // for what it did not foretell

Growing<channel::Use> uses;      // of this run
Growing<channel::Use> replaced;  // pairs: what was used, and what is to be used instead
constexpr u32 use_limit = 1u << 18;
u64 program, previous_pc;
bool is_kept;  // or is not to be

}  // namespace

void sequence_init(const char* name) {
  program = 0xcbf29ce484222325;  // FNV-1a
  for (; *name != 0; name++) program = (program ^ static_cast<u8>(*name)) * 0x100000001b3;
  known = find_sequence(program);
  uses.init(use_limit);
  replaced.init(use_limit);
}

const Template* next_template() { return position < known.size ? template_at(known.data[position]) : nullptr; }

u64 next_address(u64 pc) {
  const s32 distance = known.data[position].from_previous;
  return distance == 0 ? 0 : pc + static_cast<u64>(static_cast<s64>(distance));
}

void pass_template() { position++; }

void pass_to(const Template& t) {
  searches++;
  constexpr u32 longest_gap = 1024;
  const u32 place = use_of(t).place;
  for (u32 i = position; i < position + longest_gap && i < known.size; i++) {
    if (known.data[i].place != place) continue;
    position = i + 1;
    return;
  }
}

u32 note_use(const Template& t, u64 pc) {
  if (uses.full()) return 0;
  channel::Use use = use_of(t);
  const s64 distance = static_cast<s64>(pc - previous_pc);
  use.from_previous = fits32(distance) ? static_cast<s32>(distance) : 0;
  previous_pc = pc;
  return uses.add(use) + 1;
}

const Template* used_template(u32 use) { return template_at(uses[use - 1]); }

void replace_used(u32 use, const Template& by) {
  const Template* const t = used_template(use);
  if (t == nullptr || replaced.full(2)) return;
  replace_template(*t, by);
  replaced.add(uses[use - 1]);
  uses[use - 1].place = use_of(by).place;
  replaced.add(uses[use - 1]);
}

void keep_sequence() {
  Guard guard(cache_lock);
  constexpr u32 least = 64;
  if (is_kept) return;
  if (replaced.size > 0) add_replacements(replaced.data, replaced.size);
  const bool is_known = known.size > 0 && searches < uses.size / 4 && replaced.size == 0;
  if (uses.size < least || is_known) return;
  is_kept = true;
  add_sequence(program, uses.data, uses.size);
}

void drop_sequence() { is_kept = true; }

}  // namespace tally::engine
