#include "tally/engine/instrument/marked_addresses.hpp"

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/command_requests.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/instrument/call_code.hpp"
#include "tally/engine/instrument/call_probes.hpp"
#include "tally/engine/instrument/exact_sums.hpp"
#include "tally/engine/instrument/mark_probes.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/instrument/python_frames.hpp"
#include "tally/engine/instrument/running_totals.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/arenas.hpp"
#include "tally/engine/translate/generate.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/program_marks.hpp"

namespace tally::engine::instrument {
namespace {

// A table with open addressing.
constexpr u32 slot_limit = 1u << 17;
Slot* slots;
u32 slots_used;
channel::MarkPoints given_points;  // marked by the command

}  // namespace

Slot& slot_of(u64 pc) {
  u32 i = channel::hash32(pc) & (slot_limit - 1);
  while (slots[i].pc != 0 && slots[i].pc != pc) i = (i + 1) & (slot_limit - 1);
  return slots[i];
}

const channel::MarkPoints& given_marks() { return given_points; }

bool has_given_marks(u64 start, u64 bytes) {
  for (u32 i = 0; i < given_points.count; i++)
    if (given_points.point[i].address - start < bytes) return true;
  return false;
}

namespace {

/// Returns the entry of an address; null if there are too many. The caller holds cache_lock while it uses the entry.
Slot* slot_for(u64 pc) {
  Slot& s = slot_of(pc);
  if (s.pc == 0) {
    if (slots_used * 2 > slot_limit) return nullptr;
    slots_used++;
    s.pc = pc;
  }
  return &s;
}

/// Invalidates translations of this address: they have no gate yet, or another one.
void invalidate_traces(u64 pc) {
  if (find_trace(key_of(pc, false)) != nullptr || find_trace(key_of(pc, true)) != nullptr) invalidate(pc, 1);
}

/// Marks the addresses that the command has named, instead of those before. The caller holds cache_lock.
void mark_given(const channel::MarkPoints& fresh) {
  enum : u32 { before = 2, now = 1 };
  for (u32 i = 0; i < given_points.count; i++) slot_of(given_points.point[i].address).given = before;
  for (u32 i = 0; i < fresh.count; i++) {
    Slot* const s = slot_for(fresh.point[i].address);
    if (s == nullptr) break;
    const bool is_new = s->given == 0;
    s->given = now;
    if (is_new) invalidate_traces(s->pc);
  }
  for (u32 i = 0; i < given_points.count; i++)
    if (Slot& s = slot_of(given_points.point[i].address); s.given == before) s.given = 0;
  given_points = fresh;
}

/// Reads what the command has written for the process of this thread.
bool read_points(const Thread* t, channel::MarkPoints& to) {
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
  // The gate of a Python mark is for that mark alone.
  const bool is_new = s->returns == 0 && (s->given == 0 || python_on());
  s->returns = 1;
  if (is_new) invalidate_traces(pc);
  return true;
}

void learn_marks(Thread* t) {
  go_out(t);  // the command may take a while
  const bool answered = ask_command(t, channel::request_marks);
  come_in(t);
  static channel::MarkPoints fresh;
  Guard guard(cache_lock);
  if (slots == nullptr) slots = reinterpret_cast<Slot*>(reserve(slot_limit * sizeof(Slot), read_write));
  if (!answered || !read_points(t, fresh)) return;
  if (python_on()) add_python_marks(fresh);
  mark_given(fresh);
}

namespace {

bool is_marked(u64 pc) {
  if (slots == nullptr) return false;
  const Slot& s = slot_of(pc);
  return s.given + s.returns + s.done != 0;
}

bool must_emulate(const Instruction& in) {
  const channel::Marks& marks = settings().marks;
  if (marks.on == 0 || !in.legacy) return false;
  if (in.map == Map::two_bytes) return marks.rdpmc != 0 && in.opcode == 0x33;
  if (in.map != Map::one_byte) return false;
  // `int 3` has a form of one byte and one of two.
  if (marks.trap == channel::trap_int3) return in.opcode == 0xcc || (in.opcode == 0xcd && in.bytes[in.length - 1] == 3);
  return marks.trap == channel::trap_int2e && in.opcode == 0xcd && in.bytes[in.length - 1] == 0x2e;
}

void record_first(const Instruction& in) {
  const bool emulated = must_emulate(in);
  if (!emulated && (slots == nullptr || slot_of(in.pc).pc == 0)) return;
  Slot* const s = slot_for(in.pc);
  if (s == nullptr) return;
  s->reads = in.map == Map::two_bytes;
  s->done = emulated ? in.length : 0;
}

/// Returns the mark of a Python interpreter at `pc` if nothing else is marked there; null otherwise.
const channel::MarkPoint* only_python_mark(u64 pc, const Instruction& in) {
  const channel::MarkPoint* match = nullptr;
  const Slot& s = slot_of(pc);
  if (!asks_python() || s.returns != 0 || s.done != 0 || begins_mark(in)) return nullptr;
  for (u32 i = 0; i < given_points.count; i++) {
    if (given_points.point[i].address != pc) continue;
    if (match != nullptr || !is_python(given_points.point[i])) return nullptr;
    match = &given_points.point[i];
  }
  return match;
}

void emit_gate(Builder& b, const Instruction& in) {
  recorder.give_up();  // other runs may have other marks
  if (const channel::MarkPoint* const point = only_python_mark(b.trace.pc, in)) {
    b.e.store(r11, o_borrowed_r11);
    emit_python_mark(b, *point);
    b.e.load(r11, o_borrowed_r11);
    b.trace.gate = b.offset();
    return;
  }
  // A gate at a mere return address is needed only while a marked function is open. It must not change the flags.
  // Calls of functions that are also entered by jumps are known already.
  bool always = slot_of(b.trace.pc).done != 0 || begins_mark(in), entered = false;
  for (u32 i = 0; i < given_points.count; i++) {
    if (given_points.point[i].address != b.trace.pc) continue;
    const u32 role = given_points.point[i].role;
    entered |= role == channel::mark_entered;
    always |= role != channel::mark_leaves && role != channel::mark_entered;
  }
  always |= entered && slot_of(b.trace.pc).returns != 0;
  Emitter& e = b.e;
  e.store(rcx, o_borrowed_rcx);
  if (always || entered) e.store(r11, o_borrowed_r11);
  u8* skip = nullptr;
  if (!always) {
    if (entered)
      emit_distance_to_active(e, b.trace.pc);
    else
      e.load(rcx, offsetof(Thread, in_functions));
    e.byte(0xe3);  // jrcxz
    skip = e.p;
    e.byte(0);
    if (!entered) e.store(r11, o_borrowed_r11);
  }
  e.move_constant(rcx, b.trace.pc);
  e.jump(b.arena.to_mark);
  if (!always) {
    *skip = static_cast<u8>(e.p - skip - 1);
    if (entered) e.load(r11, o_borrowed_r11);
    e.load(rcx, o_borrowed_rcx);
  }
  b.trace.gate = b.offset();
}

class MarkProbes final : public Probes {
 public:
  bool begins_at(u64 pc) const override { return is_marked(pc); }
  bool begins_at(const Instruction& in) const override { return must_emulate(in); }
  void begin_trace(Builder& b, const Instruction& in) override {
    record_first(in);
    if (is_marked(b.trace.pc)) emit_gate(b, in);
  }
  void counted(Builder& b, u32 number) override { emit_touched(b, number); }
  void jumped(Thread* t) override { marks_landed(t); }
  void make_gates(Arena& a) override {
    a.to_mark = make_gate(a, enter_mark);
    if (asks_python() && !calls_on()) a.to_model = make_gate(a, enter_model);
  }
};

constinit MarkProbes hooks;

}  // namespace

void marks_init() {
  if (marks_on()) probe_with(hooks);
}

}  // namespace tally::engine::instrument
