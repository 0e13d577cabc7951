#include "tally/engine/instrument/marked_addresses.hpp"

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/command.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/instrument/marks.hpp"
#include "tally/engine/instrument/running_totals.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/arenas.hpp"
#include "tally/engine/translate/generate.hpp"
#include "tally/engine/translate/instrumentation.hpp"

namespace tally::engine::instrument {
namespace {

// By open addressing.
constexpr u32 slot_limit = 1u << 17;
Slot* slots;
u32 slots_used;
channel::MarkPoints given;  // by the command

}  // namespace

Slot& slot_of(u64 pc) {
  u32 i = channel::hash32(pc) & (slot_limit - 1);
  while (slots[i].pc != 0 && slots[i].pc != pc) i = (i + 1) & (slot_limit - 1);
  return slots[i];
}

const channel::MarkPoints& given_marks() { return given; }

namespace {

/// Null where there are too many. Wants cache_lock held, as long as the slot is used.
Slot* slot_for(u64 pc) {
  Slot& s = slot_of(pc);
  if (s.pc == 0) {
    if (slots_used * 2 > slot_limit) return nullptr;
    slots_used++;
    s.pc = pc;
  }
  return &s;
}

/// What was translated of this address has no gate yet, or another one.
void renew(u64 pc) {
  if (find_trace(key_of(pc, false)) != nullptr || find_trace(key_of(pc, true)) != nullptr) invalidate(pc, 1);
}

/// From now on those are marked that the command has named. Wants cache_lock held.
void mark_given(const channel::MarkPoints& fresh) {
  enum : u32 { before = 2, now = 1 };
  for (u32 i = 0; i < given.count; i++) slot_of(given.point[i].address).given = before;
  for (u32 i = 0; i < fresh.count; i++) {
    Slot* const s = slot_for(fresh.point[i].address);
    if (s == nullptr) break;
    const bool is_new = s->given == 0;
    s->given = now;
    if (is_new) renew(s->pc);
  }
  for (u32 i = 0; i < given.count; i++)
    if (Slot& s = slot_of(given.point[i].address); s.given == before) s.given = 0;
  given = fresh;
}

/// What the command has written for the process of this thread.
bool take_points(const Thread* t, channel::MarkPoints& to) {
  const s64 page = kernel(SYS_mmap, 0, channel::mark_points_bytes, PROT_READ, MAP_SHARED,
                          inherited(channel::inherited_channel), channel::mark_points_offset(t->process));
  if (failed(page)) return false;
  copy(&to, reinterpret_cast<const void*>(page), sizeof to);
  kernel(SYS_munmap, static_cast<u64>(page), channel::mark_points_bytes);
  constexpr u32 room = sizeof to.point / sizeof to.point[0];
  if (to.count > room) to.count = room;
  return true;
}

}  // namespace

bool mark_return(u64 pc) {
  Guard guard(cache_lock);
  Slot* const s = slot_for(pc);
  if (s == nullptr) return false;
  const bool is_new = s->given + s->returns == 0;
  s->returns = 1;
  if (is_new) renew(pc);
  return true;
}

void learn_marks(Thread* t) {
  go_out(t);  // the command may take its time
  const bool answered = ask_command(t, channel::request_marks);
  come_in(t);
  static channel::MarkPoints fresh;
  Guard guard(cache_lock);
  if (slots == nullptr) slots = reinterpret_cast<Slot*>(reserve(slot_limit * sizeof(Slot), read_write));
  if (answered && take_points(t, fresh)) mark_given(fresh);
}

namespace {

bool is_marked(u64 pc) {
  if (slots == nullptr) return false;
  const Slot& s = slot_of(pc);
  return s.given + s.returns + s.done != 0;
}

bool is_done_here(const Instruction& in) {
  const channel::Marks& asked = settings().marks;
  if (asked.on == 0 || !in.legacy) return false;
  if (in.map == Map::two_bytes) return asked.rdpmc != 0 && in.opcode == 0x33;
  if (in.map != Map::one_byte) return false;
  // `int 3` is written in one byte, and can be in two.
  if (asked.trap == channel::trap_int3) return in.opcode == 0xcc || (in.opcode == 0xcd && in.bytes[in.length - 1] == 3);
  return asked.trap == channel::trap_int2e && in.opcode == 0xcd && in.bytes[in.length - 1] == 0x2e;
}

void note_first(const Instruction& in) {
  const bool is_done = is_done_here(in);
  if (!is_done && (slots == nullptr || slot_of(in.pc).pc == 0)) return;
  Slot* const s = slot_for(in.pc);
  if (s == nullptr) return;
  s->reads = in.map == Map::two_bytes;
  s->done = is_done ? in.length : 0;
}

void emit_gate(Builder& b) {
  // An address to which functions only return is of interest while one is open. The flags must stay as they are.
  bool always = slot_of(b.trace.pc).done != 0;
  for (u32 i = 0; i < given.count; i++)
    always |= given.point[i].address == b.trace.pc && given.point[i].role != channel::mark_leaves;
  Emitter& e = b.e;
  e.store(rcx, o_borrowed_rcx);
  u8* skip = nullptr;
  if (!always) {
    e.load(rcx, offsetof(Thread, in_functions));
    e.byte(0xe3);  // jrcxz
    skip = e.p;
    e.byte(0);
  }
  e.store(r11, o_borrowed_r11);
  e.move_constant(rcx, b.trace.pc);
  e.jump(b.arena.to_mark);
  if (!always) {
    *skip = static_cast<u8>(e.p - skip - 1);
    e.load(rcx, o_borrowed_rcx);
  }
  b.trace.gate = b.offset();
}

class MarkProbes final : public Probes {
 public:
  bool begins_at(u64 pc) const override { return is_marked(pc); }
  bool begins_at(const Instruction& in) const override { return is_done_here(in); }
  void begin_trace(Builder& b, const Instruction& in) override {
    note_first(in);
    if (is_marked(b.trace.pc)) emit_gate(b);
  }
  void counted(Builder& b, u32 number, bool) override { emit_touched(b, number); }
  bool is_followed(const Thread* t) const override { return is_watched(t); }
  void jumped(Thread* t) override { marks_landed(t); }
  void make_doors(Arena& a) override { a.to_mark = make_gate(a, enter_mark); }
};

constinit MarkProbes hooks;

}  // namespace

void marks_init() {
  if (marks_on()) probe_with(hooks);
}

}  // namespace tally::engine::instrument
