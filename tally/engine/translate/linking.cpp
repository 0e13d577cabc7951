#include "tally/engine/translate/linking.hpp"

#include "tally/engine/translate/arenas.hpp"
#include "tally/engine/translate/entry_check.hpp"
#include "tally/engine/translate/indirect_targets.hpp"
#include "tally/engine/translate/instrumentation.hpp"

namespace tally::engine::translate {
namespace {

struct Exit {
  u64 source;  // address of the displacement to patch
  u64 target;  // key of a trace
};
Growing<Exit> links;

}  // namespace

void links_init() {
  links.init_in_steps(4u << 20);
  links.size = first_link;
}

void links_forget() { links.reset(first_link); }

bool links_are_full(u32 more) { return links.full(more); }
void populate_links(u32 n) { links.populate_next(n); }

void patch_forwarding_jump(u64 forwarding_jump, u64 to) {
  const u32 displacement = to == 0 ? 0 : static_cast<u32>(to - forwarding_jump - 5);
  __atomic_store_n(reinterpret_cast<u32*>(forwarding_jump + 1), displacement, __ATOMIC_RELEASE);
}

u64 emit_exit(Arena& a, Emitter& e, int condition, u64 target) {
  const u32 opcode_bytes = condition < 0 ? 1 : 2;
  u32 gap = 0;
  while (crosses_line(e.here() + opcode_bytes + gap)) gap++;
  e.nops(gap);
  const u64 at = e.here();
  if (condition < 0)
    e.byte(0xe9);
  else
    e.byte(0x0f), e.byte(static_cast<u8>(0x80 | condition));
  link_exit(a, e.p, target);
  e.p += 4;
  return at;
}

void link_exit(Arena& a, u8* displacement, u64 target) {
  Emitter e{displacement};
  if (const Trace* t = find_trace(target); t != nullptr && fits32(static_cast<s64>(t->body - e.here() - 4))) {
    e.dword(static_cast<u32>(t->body - e.here() - 4));
    return;
  }
  const u64 source = e.here();
  e.dword(static_cast<u32>(a.cold - source - 4));
  Emitter stub{reinterpret_cast<u8*>(a.cold)};
  emit_stub(a, stub, source, target);
  a.cold = stub.here();
}

void emit_stub(const Arena& a, Emitter& e, u64 source, u64 target) {
  e.store(rax, o_gpr);
  e.move_constant(rax, links.add({source, target}));
  e.jump(a.to_link);
}

namespace {

/// Adds an entry check outside the trace.
void add_entry(Trace& t) {
  Arena* a = arena_for(t.pc);
  if (a == nullptr || !fits32(static_cast<s64>(a->cold - t.body))) a = arena_around(t.body);
  Emitter out{reinterpret_cast<u8*>((a->cold + 15) & ~15ull)};
  t.entry = emit_entry_check(*a, out, t.pc);
  out.jump(t.body);
  a->cold = out.here();
}

}  // namespace

void settle(Thread* t, Trace& trace, bool is_new) {
  if (is_new && trace.forwarding_jump != 0 && fits32(static_cast<s64>(trace.body - trace.forwarding_jump)))
    patch_forwarding_jump(trace.forwarding_jump, trace.body);
  t->resume = trace.body + (t->past_check != 0 ? trace.check : t->past_gate != 0 ? trace.gate : 0);
  t->resumes_past_gate = t->past_gate;
  t->past_gate = t->past_check = 0;
  if (t->link == no_link) return;
  if (t->link == by_jump) {
    // Most targets of a short program are reached once or twice: the search in generated code writes slots of the jump
    // table, and so copies its pages, for the others. It does not search for threads in steps.
    if (is_new || t->followed != 0) return;
    if (trace.entry == 0) add_entry(trace);
    if (trace.steps)
      jump_slot(t, t->pc, true) = trace.entry;
    else
      add_indirect_target(t->pc, trace.entry);
    return;
  }
  const Exit& link = links[static_cast<u32>(t->link)];
  const s64 displacement = static_cast<s64>(trace.body - link.source - 4);
  if (link.source != 0 && link.target == key_of(trace) && fits32(displacement))
    __atomic_store_n(reinterpret_cast<u32*>(link.source), static_cast<u32>(displacement), __ATOMIC_RELEASE);
}

u64 link_target(u64 link) { return pc_of_key(links[static_cast<u32>(link)].target); }

}  // namespace tally::engine::translate
