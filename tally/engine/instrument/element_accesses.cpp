// Instructions whose accesses are known only when they run: before each of them, generated code saves what they depend
// on and calls the model once.
#include "tally/engine/instrument/extended_state.hpp"
#include "tally/engine/instrument/model_code.hpp"
#include "tally/engine/instrument/model_emit.hpp"
#include "tally/engine/translate/entry.hpp"

namespace tally::engine::instrument {

namespace {

using models::Access;

Growing<ElementAccesses> element_accesses;
constexpr u32 scattered_limit = 1u << 20;

// --- saved operands -------------------------------------------------------------------------------------------------

/// Encodes gs:[offset] as an operand, with the register `reg`.
void at_gs(Emitter& e, u32 reg, u32 offset) {
  e.byte(static_cast<u8>(4 | (reg & 7) << 3));
  e.byte(0x25);
  e.dword(offset);
}

/// vmovdqu32 gs:[offset], zmm
void save_zmm(Emitter& e, u32 reg, u32 offset) {
  const u32 extended = (reg & 8 ? 0u : 0x80u) | (reg & 16 ? 0u : 0x10u);
  const u8 code[] = {0x65, 0x62, static_cast<u8>(0x61 | extended), 0x7e, 0x48, 0x7f};
  e.bytes(code, sizeof code);
  at_gs(e, reg, offset);
}

/// vmovdqu gs:[offset], ymm
void save_ymm(Emitter& e, u32 reg, u32 offset) {
  const u8 code[] = {0x65, 0xc5, static_cast<u8>(reg & 8 ? 0x7e : 0xfe), 0x7f};
  e.bytes(code, sizeof code);
  at_gs(e, reg, offset);
}

/// movdqu gs:[offset], xmm
void save_xmm(Emitter& e, u32 reg, u32 offset) {
  const u8 code[] = {0x65, 0xf3, static_cast<u8>(reg & 8 ? 0x44 : 0x40), 0x0f, 0x7f};
  e.bytes(code, sizeof code);
  at_gs(e, reg, offset);
}

/// kmovw or kmovq gs:[offset], k
void save_mask(Emitter& e, u32 reg, u32 offset, bool narrow) {
  const u8 code[] = {0x65, 0xc4, 0xe1, static_cast<u8>(narrow ? 0x78 : 0xf8), 0x91};
  e.bytes(code, sizeof code);
  at_gs(e, reg, offset);
}

void save_operands(Emitter& e, const Instruction& in, const ElementAccesses& s) {
  if (s.pattern == Pattern::bits) e.store(in.reg(), o_model_kept);
  if (s.pattern == Pattern::elements) (s.by_k ? save_zmm : save_ymm)(e, s.vector, o_model_kept);
  if (s.pattern != Pattern::elements && s.pattern != Pattern::masked) return;
  if (s.by_k)
    save_mask(e, s.mask, o_model_kept_2, s.narrow);
  else
    (s.old_vector ? save_xmm : save_ymm)(e, s.mask, o_model_kept_2);
}

/// Returns the most accesses that the instruction can have.
u32 access_limit(const ElementAccesses& s) {
  switch (s.pattern) {
    case Pattern::elements: return s.elements.count;
    case Pattern::frames: return 2u * s.level;
    case Pattern::state: return 32;
    default: return 1;
  }
}

// --- accesses -------------------------------------------------------------------------------------------------------

/// `n`: a multiple of 8, like the sizes of all components.
bool is_zero(const u8* bytes, u32 n) {
  u64 any = 0;
  for (u32 i = 0; i < n; i += 8) any |= at<u64>(reinterpret_cast<u64>(bytes + i));
  return any == 0;
}

/// Returns the components of `requested` that are not in their initial state; xgetbv does not report that of MXCSR.
/// Zeros are the initial state, whatever xgetbv reports: after a load it reports a component as in use until the kernel
/// takes the CPU away (seen on a Zen 5), and counts must not depend on when that happens.
u64 in_use(u64 requested) {
  const ExtendedState& s = extended_state();
  if (!s.reports_use) return ~u64{0};
  alignas(64) u8 area[4096] = {};
  constexpr u32 vectors_end = 416, vectors = 160;
  u64 saved = requested & 2;
  for (u32 i = 2; i < 63; i++)
    if (const auto& c = s.layout.component[i]; c.bytes != 0 && c.offset + c.bytes <= sizeof area)
      saved |= requested & u64{1} << i;
  asm volatile("xsave64 (%0)" ::"r"(area), "a"(static_cast<u32>(saved)), "d"(static_cast<u32>(saved >> 32)) : "memory");
  u64 used = extended_control(1);
  for (u32 i = 1; i < 63; i++) {
    if (!(saved >> i & 1)) continue;
    const u32 begin = i == 1 ? vectors : s.layout.component[i].offset;
    if (is_zero(area + begin, i == 1 ? vectors_end - vectors : s.layout.component[i].bytes)) used &= ~(u64{1} << i);
  }
  u32 mxcsr = 0;
  asm volatile("stmxcsr %0" : "=m"(mxcsr));
  return used | (mxcsr != 0x1f80 ? 2 : 0);
}

void add_state(models::AccessSequence& to, const ElementAccesses& s, u64 address, u64 asked) {
  const u64 requested = asked & movable_components();
  const models::StateLayout& layout = extended_state().layout;
  if (s.stores) {
    const u64 form = s.compact ? requested | models::compacted : 0;
    models::add_state(to, layout, address, s.choice ? requested & in_use(requested) : requested, requested, form,
                      s.header, Access::store);
    return;
  }
  u64 header[2] = {};  // XSTATE_BV, XCOMP_BV; if they cannot be read, the instruction faults there
  safe_copy(header, reinterpret_cast<const void*>(address + 512), sizeof header);
  const u64 form = header[1] & models::compacted ? header[1] : 0;
  models::add_state(to, layout, address, requested & header[0], requested, form, s.header, Access::load);
}

/// Returns the offset of the word with a bit whose number is in a register.
u64 word_of_bit(u64 number, u32 bytes) {
  const s64 bit = bytes == 2   ? static_cast<s16>(number)
                  : bytes == 4 ? static_cast<s32>(number)
                               : static_cast<s64>(number);
  return static_cast<u64>(bit >> (bytes == 2 ? 4 : bytes == 4 ? 5 : 6)) * bytes;
}

void find_accesses(models::AccessSequence& to, const ElementAccesses& s, const ModelThread& m) {
  const u64 at = m.argument;
  const Access what = s.modifies ? Access::modify : s.stores ? Access::store : Access::load;
  const auto narrow = [&s](u64 address) { return s.elements.low ? static_cast<u32>(address) : address; };
  const u8* const second = m.kept[1];
  u64 mask = 0;
  if (s.by_k)
    __builtin_memcpy(&mask, second, s.narrow ? 2 : 8);
  else if (s.pattern == Pattern::elements || s.pattern == Pattern::masked)
    mask = models::mask_of_signs(s.elements, second);
  switch (s.pattern) {
    case Pattern::elements: return models::add_elements(to, s.elements, at, mask, m.kept[0], what);
    case Pattern::masked: return models::add_masked(to, s.elements, at, mask, what);
    case Pattern::table: return to.add(narrow(at + (m.saved[8] & 0xff)), 1, what);
    case Pattern::bits: {
      u64 number = 0;
      __builtin_memcpy(&number, m.kept[0], sizeof number);
      return to.add(narrow(at + word_of_bit(number, s.elements.bytes)), s.elements.bytes, what);
    }
    case Pattern::frames: return models::add_frames(to, at, m.stack, s.level, s.elements.bytes);
    case Pattern::state: return add_state(to, s, at, (m.saved[1] << 32) | static_cast<u32>(m.saved[8]));
    case Pattern::line: return to.add(at & ~u64{63}, 64, what);
    case Pattern::none: return;
  }
}

}  // namespace

bool element_accesses_have_room() {
  return element_accesses.data == nullptr || !element_accesses.full(ModelCode::instruction_limit);
}

void element_accesses_forget_code() {
  if (element_accesses.data != nullptr) element_accesses.reset(0);
}

void ModelCode::ask_element_accesses(Builder& b, u32 i) {
  if (!model_plan.data() && !records_) return;
  recorder.give_up();  // their numbers cannot be relocated
  if (element_accesses.data == nullptr) element_accesses.init(scattered_limit);
  if (element_accesses.full()) return mark_partial(current(), channel::partial_code_lines);
  ElementAccesses s = facts_[i].scattered;
  Emitter& e = b.e;
  load_address(e, facts_[i].access[0], a_, b_);
  e.store(a_, o_model_argument);
  save_operands(e, in_[i], s);
  if (records_) {
    s.word = progress_.words;
    progress_.words = static_cast<u16>(progress_.words + 1 + 2 * access_limit(s));
    progress_.count++;
    add_op({0, in_[i].pc, s.word, 0, models::Step::element_accesses});
  }
  site_ = site_of(in_[i].pc);
  ask_lookup(e, b.arena.to_model, word_of(Ask::element_accesses, element_accesses.add(s)));
  mark(b);
}

void model_element_accesses(Thread* t, u32 number) {
  const ElementAccesses& s = element_accesses[number];
  const ModelThread& m = *model_thread(t);
  models::AccessSequence found;
  find_accesses(found, s, m);
  const u32 most = access_limit(s);
  if (found.count > most) found.count = most;
  if (model_plan.data())
    for (u32 i = 0; i < found.count; i++)
      models_access(t, found.accesses[i].address, found.accesses[i].bytes, static_cast<Ask>(found.accesses[i].what));
  if (s.word == 0) return;
  u64* word = m.record + s.word;
  *word++ = found.count;
  for (u32 i = 0; i < found.count; i++) {
    *word++ = found.accesses[i].address;
    *word++ = found.accesses[i].word();
  }
}

}  // namespace tally::engine::instrument
