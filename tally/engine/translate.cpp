// Program code → a trace: decoded a segment at a time, copied, given one counter a segment.
#include "tally/engine/cache.hpp"

namespace tally::engine {
namespace {

constexpr u32 segment_instructions = 64;  // most instructions of one segment
constexpr u32 trace_instructions = 32;    // where a trace ends at the next chance, unless settings say otherwise
constexpr u32 trace_segments = 8;
constexpr u32 join_after = 1;  // a trace this long ends where another begins

Instruction* buffer() {
  static Instruction* b;
  if (b == nullptr)
    b = reinterpret_cast<Instruction*>(reserve(page_up(sizeof(Instruction) * (segment_instructions + 1)), 3));
  return b;
}

/// A window of program code that has been read.
class Code {
 public:
  /// Bytes at pc: at least 15 where the program has them. Null when pc cannot be executed.
  const u8* at(u64 pc, u32& available) {
    if (pc < start_ || pc + 15 > start_ + valid_) {
      start_ = pc;
      valid_ = read_code(pc, bytes_, sizeof bytes_ - 16);
      if (valid_ == 0) return nullptr;
    }
    available = static_cast<u32>(start_ + valid_ - pc);
    if (available > 15) available = 15;
    return bytes_ + (pc - start_);
  }

 private:
  u64 start_ = 1, valid_ = 0;
  u8 bytes_[256 + 16];  // 16 can be read at every instruction
};

bool read_instruction(Code& code, u64 pc, Instruction& out, bool& readable) {
  u32 n = 0;
  const u8* bytes = code.at(pc, n);
  readable = bytes != nullptr;
  if (!readable) return false;
  if (!decode(pc, bytes, n, out)) {
    out.kind = Kind::step;
    out.length = 0;
    return false;
  }
  return true;
}

/// Whether the program overwrites all flags of `mask` from pc on before it reads one. Looks at a few instructions.
bool flags_dead(Code& code, u64 pc, u16 mask, int branches) {
  for (int i = 0; i < 6; i++) {
    Instruction in;
    bool readable = false;
    if (!read_instruction(code, pc, in, readable)) return false;
    if (in.reads & mask) return false;
    mask &= static_cast<u16>(~in.writes);
    if (mask == 0) return true;
    switch (in.kind) {
      case Kind::plain: pc = in.next(); break;
      case Kind::jump:
      case Kind::call: pc = in.target(); break;
      case Kind::jcc:
      case Kind::loop:
        return branches > 0 && flags_dead(code, in.next(), mask, branches - 1) &&
               flags_dead(code, in.target(), mask, branches - 1);
      default: return false;
    }
  }
  return false;
}

bool accesses_memory(const Instruction& in) { return in.loads + in.stores + in.dynamic > 0; }

/// How a segment is counted: where, and what the increment may use.
struct Increment {
  enum How : u8 { inc, scratch, late, spill } how;
  u32 at;  // before this instruction of the segment
  u8 reg;
};

bool borrows(Kind k) {
  return k == Kind::jump_indirect || k == Kind::call_indirect || k == Kind::ret || k == Kind::syscall;
}

bool find_dead_flags(const Instruction* in, u32 n, u16 live, u32& at) {
  bool found = false;
  for (u32 i = n; i-- > 0;) {
    live = static_cast<u16>((live & ~in[i].writes) | in[i].reads);
    if (live != 0) continue;
    // Best directly before an instruction that sets the flags and cannot fault: then nobody ever sees ours.
    const bool best = in[i].writes == counter_flags && !accesses_memory(in[i]);
    if (!found || best) at = i;
    found = true;
  }
  return found;
}

Increment choose_increment(Code& code, const Instruction* in, u32 n, u64 next) {
  u32 at = 0;
  if (find_dead_flags(in, n, counter_flags, at)) return {Increment::inc, at, 0};
  const Kind last = n > 0 ? in[n - 1].kind : Kind::plain;
  for (u32 i = 0; i < n; i++)
    if (const u8 reg = overwritten_register(in[i]); reg != no_register) return {Increment::scratch, i, reg};
  if (borrows(last)) return {Increment::late, n - 1, r11};
  bool dead = false;
  if (last == Kind::jcc || last == Kind::loop)
    dead = flags_dead(code, next, counter_flags, 1) && flags_dead(code, in[n - 1].target(), counter_flags, 1);
  else if (last == Kind::jump || last == Kind::call)
    dead = flags_dead(code, in[n - 1].target(), counter_flags, 1);
  else if (last == Kind::plain)
    dead = flags_dead(code, next, counter_flags, 1);
  if (dead && n == 0) return {Increment::inc, 0, 0};
  if (dead && find_dead_flags(in, n, 0, at)) return {Increment::inc, at, 0};
  return {Increment::spill, 0, r11};
}

void emit_increment(Emitter& e, u32 number, Increment::How how, u8 reg) {
  const u32 counter = counters_at + 8 * number;
  if (how == Increment::inc) {
    e.byte(0x65);
    e.byte(0x48);
    e.byte(0xff);
    e.byte(0x04);
    e.byte(0x25);
    e.dword(counter);
    return;
  }
  if (how == Increment::spill) e.store(reg, o_spill1);
  e.load(reg, counter);
  e.add_constant(reg, 1);
  e.store(reg, counter);
  if (how == Increment::spill) e.load(reg, o_spill1);
}

struct Builder {
  Arena& arena;
  Emitter e;
  Trace& trace;
  u64 body;

  u16 offset() const { return static_cast<u16>(e.here() - body); }
  Place& place(const Instruction& in, u32 segment, Borrowed borrowed = Borrowed::none, u8 reg = 0) {
    Place p{};
    p.pc = static_cast<s32>(in.pc - trace.pc);
    p.offset = offset();
    p.segment = static_cast<u8>(segment);
    p.kind = in.kind;
    p.loads = in.loads;
    p.stores = in.stores;
    p.borrowed = borrowed;
    p.reg = reg;
    trace.place_count++;
    return tables.places[tables.places.add(p)];
  }
};

// --- copies ---------------------------------------------------------------------------------------------------------

/// A RIP-relative operand whose target the cache does not reach, and not the low 2 GB either: through a register.
void copy_far(Builder& b, const Instruction& in, u32 segment) {
  static const u8 candidates[] = {rax, rcx, rdx, rbx, rsi, rdi};
  const u16 used = registers_of(in);
  u8 reg = rax;
  for (const u8 c : candidates)
    if (!(used >> c & 1)) reg = c;
  const u32 modrm = in.raw.raw.modrm.offset, displacement = in.raw.raw.disp.offset;
  b.e.store(reg, o_spill1);
  b.e.move_constant(reg, in.rip_operand());
  b.place(in, segment, Borrowed::one, reg);
  b.e.bytes(in.bytes, modrm);
  b.e.byte(static_cast<u8>((in.bytes[modrm] & 0x38) | reg));
  b.e.bytes(in.bytes + displacement + 4, in.length - displacement - 4);
  b.e.load(reg, o_spill1);
}

void copy_plain(Builder& b, const Instruction& in, u32 segment) {
  if (!in.rip_relative()) {
    b.place(in, segment);
    b.e.instruction(in.bytes, in.length);
    return;
  }
  const u64 operand = in.rip_operand();
  if (in.raw.mnemonic == ZYDIS_MNEMONIC_LEA && in.raw.operand_width >= 32) {
    b.place(in, segment);
    const u8 reg = static_cast<u8>(in.raw.raw.modrm.reg | in.raw.raw.rex.R << 3);
    b.e.move_constant(reg, in.raw.operand_width == 64 ? operand : static_cast<u32>(operand));
    return;
  }
  const u32 modrm = in.raw.raw.modrm.offset, displacement = in.raw.raw.disp.offset;
  const s64 relative = static_cast<s64>(operand - (b.e.here() + in.length));
  if (fits32(relative)) {
    b.place(in, segment);
    b.e.bytes(in.bytes, displacement);
    b.e.dword(static_cast<u32>(relative));
    b.e.bytes(in.bytes + displacement + 4, in.length - displacement - 4);
    return;
  }
  if (fits32(static_cast<s64>(operand))) {
    b.place(in, segment);
    b.e.bytes(in.bytes, modrm);
    b.e.byte(static_cast<u8>((in.bytes[modrm] & 0x38) | 4));
    b.e.byte(0x25);
    b.e.dword(static_cast<u32>(operand));
    b.e.bytes(in.bytes + displacement + 4, in.length - displacement - 4);
    return;
  }
  copy_far(b, in, segment);
}

/// rax = RCX or ECX, then counter + rax, flags kept. `negative`: minus.
void emit_dynamic_by_rcx(Emitter& e, u8 dynamic, bool short_count, bool negative) {
  const u32 counter = counters_at + 8 * dynamic;
  e.store(rdx, o_spill1);
  if (short_count) {
    e.store(rax, o_spill2);
    e.byte(0x89);  // mov eax, ecx
    e.byte(0xc8);
    if (negative) e.not_register(rax);
    e.load(rdx, counter);
    e.add_registers(rdx, rdx, rax);
    if (negative) e.add_constant(rdx, 1);
    e.store(rdx, counter);
    e.load(rax, o_spill2);
  } else {
    if (negative) e.not_register(rcx);
    e.load(rdx, counter);
    e.add_registers(rdx, rdx, rcx);
    if (negative) e.add_constant(rdx, 1), e.not_register(rcx);
    e.store(rdx, counter);
  }
  e.load(rdx, o_spill1);
}

void copy_repeat(Builder& b, const Instruction& in, u32 segment) {
  const bool short_count = in.raw.address_width == 32;
  emit_dynamic_by_rcx(b.e, in.dynamic, short_count, false);
  Place& p = b.place(in, segment);
  p.dynamic = static_cast<u8>(in.dynamic | (short_count ? 0x80 : 0));
  b.e.instruction(in.bytes, in.length);
  if (in.ends_early) emit_dynamic_by_rcx(b.e, in.dynamic, short_count, true);
}

/// Elements of a gather or scatter: as many as mask bits are set. The flags stay as they are.
void copy_gather(Builder& b, const Instruction& in, u32 segment) {
  Emitter& e = b.e;
  const bool by_k = in.raw.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
  const u32 element = (by_k ? in.raw.raw.evex.W : in.raw.raw.vex.W) != 0 ? 64 : 32;  // a union: only one is there
  const u32 index = in.raw.opcode & 1 ? 64 : 32;
  const u32 vector = in.raw.avx.vector_length;
  const u8 elements = static_cast<u8>(vector / (element > index ? element : index));
  const u8 mask = by_k ? in.raw.raw.evex.aaa : static_cast<u8>(~in.raw.raw.vex.vvvv & 15);
  e.store(rax, o_spill1);
  e.store(rdx, o_spill2);
  if (by_k) {
    const u8 kmovw[] = {0xc5, 0xf8, 0x93, static_cast<u8>(0xc0 | mask)};
    e.bytes(kmovw, sizeof kmovw);
  } else {
    const u8 movmsk[] = {0xc4, static_cast<u8>(0xc1 | (mask < 8 ? 0x20 : 0)),
                         static_cast<u8>(0x78 | (vector == 256 ? 4 : 0) | (element == 64 ? 1 : 0)), 0x50,
                         static_cast<u8>(0xc0 | (mask & 7))};
    e.bytes(movmsk, sizeof movmsk);
  }
  static const u8 lookup_rax[] = {0x65, 0x0f, 0xb6, 0x80}, lookup_rdx[] = {0x65, 0x0f, 0xb6, 0x92};
  if (elements == 16) {
    static const u8 halves[] = {0x0f, 0xb6, 0xd4, 0x0f, 0xb6, 0xc0};  // movzx edx, ah; movzx eax, al
    e.bytes(halves, sizeof halves);
    e.bytes(lookup_rdx, sizeof lookup_rdx);
    e.dword(o_popcount);
    e.bytes(lookup_rax, sizeof lookup_rax);
    e.dword(o_popcount);
    e.add_registers(rax, rax, rdx);
  } else {
    e.move_constant(rdx, (1u << elements) - 1);
    static const u8 pext[] = {0xc4, 0xe2, 0x7a, 0xf5, 0xc2};  // pext eax, eax, edx
    e.bytes(pext, sizeof pext);
    e.bytes(lookup_rax, sizeof lookup_rax);
    e.dword(o_popcount);
  }
  const u32 counter = counters_at + 8 * in.dynamic;
  e.load(rdx, counter);
  e.add_registers(rdx, rdx, rax);
  e.store(rdx, counter);
  e.load(rdx, o_spill2);
  e.load(rax, o_spill1);
  const u32 first = tables.places.size;
  copy_plain(b, in, segment);
  Place& p = tables.places[first];
  p.dynamic = static_cast<u8>(in.dynamic | 0x40);
  p.pad[0] = elements;
  p.pad[1] = static_cast<u8>(by_k ? 0 : element);
  p.pad[2] = mask;
}

// --- ends of segments -----------------------------------------------------------------------------------------------

void emit_push(Builder& b, u64 value) {
  if (value < 0x7fffffff) {
    b.e.byte(0x68);
    b.e.dword(static_cast<u32>(value));
    return;
  }
  const u64 at = literal(b.arena, value);
  b.e.byte(0xff);
  b.e.byte(0x35);
  b.e.dword(static_cast<u32>(at - b.e.here() - 4));
}

/// mov rcx, the operand of an indirect jump or call.
void emit_load_target(Builder& b, const Instruction& in) {
  Emitter& e = b.e;
  const auto& raw = in.raw.raw;
  if (in.raw.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS) e.byte(0x64);
  if (in.rip_relative()) {
    const u64 operand = in.rip_operand();
    if (fits32(static_cast<s64>(operand - (e.here() + 7)))) {
      e.byte(0x48);
      e.byte(0x8b);
      e.byte(0x0d);
      e.dword(static_cast<u32>(operand - e.here() - 4));
    } else {
      e.move_constant(rcx, operand);
      e.byte(0x48);
      e.byte(0x8b);
      e.byte(0x09);
    }
    return;
  }
  if (in.raw.address_width == 32) e.byte(0x67);
  e.byte(static_cast<u8>(0x48 | raw.rex.X << 1 | raw.rex.B));
  e.byte(0x8b);
  e.byte(static_cast<u8>(raw.modrm.mod << 6 | rcx << 3 | raw.modrm.rm));
  if (raw.modrm.mod != 3 && raw.modrm.rm == 4)
    e.byte(static_cast<u8>(raw.sib.scale << 6 | raw.sib.index << 3 | raw.sib.base));
  if (raw.modrm.mod == 1)
    e.byte(static_cast<u8>(raw.disp.value));
  else if (raw.modrm.mod == 2 || (raw.modrm.mod == 0 && raw.modrm.rm == 4 && raw.sib.base == 5))
    e.dword(static_cast<u32>(raw.disp.value));
}

/// Jumps by the thread's table: rcx = the target; rcx and r11 are saved.
void emit_indirect(Emitter& e) {
  static const u8 code[] = {0x44, 0x0f, 0xb7, 0xd9,         // movzx r11d, cx
                            0x65, 0x42, 0xff, 0x24, 0xdd};  // jmp gs:[r11 * 8 + table]
  e.bytes(code, sizeof code);
  e.dword(jump_table_at);
}

void emit_saves(Emitter& e) {
  e.store(rcx, o_gpr + 8 * rcx);
  e.store(r11, o_gpr + 8 * r11);
}

void end_indirect(Builder& b, const Instruction& in, u32 segment, const Increment& increment, u32 number,
                  u16& counted) {
  emit_saves(b.e);
  b.place(in, segment, Borrowed::rcx_r11);
  if (in.kind == Kind::ret) {
    b.e.byte(0x59);  // pop rcx
    if (in.raw.raw.imm[0].size != 0) {
      static const u8 lea_rsp[] = {0x48, 0x8d, 0xa4, 0x24};
      b.e.bytes(lea_rsp, sizeof lea_rsp);
      b.e.dword(static_cast<u32>(in.raw.raw.imm[0].value.u));
    }
  } else {
    emit_load_target(b, in);
    if (in.kind == Kind::call_indirect) emit_push(b, in.next());
  }
  if (increment.how == Increment::late) {
    emit_increment(b.e, number, Increment::late, r11);
    counted = b.offset();
  }
  emit_indirect(b.e);
}

void end_syscall(Builder& b, const Instruction& in, u32 segment, const Increment& increment, u32 number, u16& counted) {
  b.place(in, segment);
  emit_saves(b.e);
  if (increment.how == Increment::late) {
    emit_increment(b.e, number, Increment::late, r11);
    counted = b.offset();
  }
  b.e.move_constant(rcx, in.next());
  b.e.jump(b.arena.to_syscall);
}

/// loop and jrcxz reach 127 bytes only: over a jump to what follows.
void end_loop(Builder& b, const Instruction& in, u32 segment) {
  b.place(in, segment);
  if (in.raw.address_width == 32) b.e.byte(0x67);
  b.e.byte(in.raw.opcode);
  b.e.byte(5);
  u8* jump = b.e.p;
  b.e.jump(0);
  emit_exit(b.arena, b.e, -1, in.target());
  const u32 over = static_cast<u32>(b.e.p - jump - 5);
  __builtin_memcpy(jump + 1, &over, 4);
}

/// A direct exit; its jump is a place where the program stands at `target`.
void end_exit(Builder& b, u64 target, u32 segment) {
  b.trace.place_count++;
  Place p{};
  p.pc = static_cast<s32>(target - b.trace.pc);
  p.segment = static_cast<u8>(segment);
  p.kind = Kind::end;
  const u32 index = tables.places.add(p);
  const u64 at = emit_exit(b.arena, b.e, -1, target);
  tables.places[index].offset = static_cast<u16>(at - b.body);
}

bool far_away(u64 pc, u64 target) { return !fits32(static_cast<s64>(target - pc)); }

}  // namespace

Outcome translate(u64 pc, bool indirect, Trace*& out) {
  const u32 limit = settings().trace_limit != 0 ? settings().trace_limit : trace_instructions;
  if (!tables_have_room()) return Outcome::no_room;
  Code code, ahead;
  Instruction* in = buffer();
  watch_page(pc);
  bool readable = false;
  read_instruction(code, pc, in[0], readable);
  if (!readable) return Outcome::unreadable;
  if (in[0].kind == Kind::step) return Outcome::step;
  if (in[0].kind == Kind::leave) return Outcome::leave;
  Arena* arena = arena_for(pc);
  if (arena == nullptr) return Outcome::no_room;

  // The head is aligned so that it can be replaced in one store.
  Emitter e{reinterpret_cast<u8*>(arena->hot)};
  const u32 check = indirect ? entry_check_bytes(pc) : 0;
  e.nops(static_cast<u32>(-(e.here() + check) & 15));
  Trace& trace = *new_trace(*arena, pc, e.here());
  const u32 index = static_cast<u32>(&trace - tables.traces.data);
  if (indirect) {
    trace.entry = e.here();
    emit_entry_check(*arena, e, pc);
  }
  trace.body = e.here();
  trace.places = tables.places.size;
  trace.segments = tables.segments.size;
  Builder b{*arena, e, trace, trace.body};

  u32 total = 0, segment = 0;
  u64 at = pc;
  for (bool open = true; open; segment++) {
    // Read one segment.
    u32 n = 0;
    Kind kind = Kind::plain;
    u64 page = ~u64{0};
    while (n < segment_instructions && (total + n < limit || (n == 0 && segment == 0))) {
      if (at / page_bytes != page || (at + 14) / page_bytes != page) {
        watch_page(at);
        if ((at + 14) / page_bytes != at / page_bytes) watch_page(at + 14);
        page = at / page_bytes;
      }
      if (!read_instruction(code, at, in[n], readable) || in[n].kind == Kind::step || in[n].kind == Kind::leave) break;
      register_page(index, at);
      if ((in[n].next() - 1) / page_bytes != at / page_bytes) register_page(index, in[n].next() - 1);
      kind = in[n].kind;
      at = in[n++].next();
      if (kind == Kind::jump && !far_away(pc, in[n - 1].target()) && find_trace(in[n - 1].target()) == nullptr &&
          total + n < limit && in[n - 1].target() != pc) {
        at = in[n - 1].target();  // goes on behind the jump
        kind = Kind::plain;
        continue;
      }
      if (kind != Kind::plain) break;
    }
    total += n;

    // Count it.
    channel::SegmentVector v{};
    for (u32 i = 0; i < n; i++) {
      v.counts[channel::instructions]++;
      v.counts[channel::loads] = static_cast<u16>(v.counts[channel::loads] + in[i].loads);
      v.counts[channel::stores] = static_cast<u16>(v.counts[channel::stores] + in[i].stores);
      add_kind(v, in[i].kind);
    }
    if (segment > 0) v.branches[channel::taken - 3]--;
    const u32 number = new_segment(v);
    if (number == 0) {
      // Out of numbers in the middle: what was begun is given up, nothing of it was ever reachable but by its pc.
      trace.dead = true;
      return Outcome::no_room;
    }
    if (segment == 0) trace.number = number;
    const u64 next = at;
    const Increment increment = choose_increment(ahead, in, n, next);
    u16 counted = 0xffff;
    const u16 first_place = static_cast<u16>(trace.place_count);
    for (u32 i = 0; i < n; i++) {
      if (increment.at == i && increment.how != Increment::late) {
        emit_increment(b.e, number, increment.how, increment.reg);
        counted = b.offset();
      }
      const Instruction& x = in[i];
      // No instruction of the head may end within its first five bytes: they are what replaces it when it is dropped.
      if (b.offset() == 0 && (x.kind == Kind::loop || x.kind == Kind::jump || x.length < 5)) b.e.nops(5);
      if (x.kind == Kind::plain || x.kind == Kind::trap) {
        if (x.kind == Kind::trap && x.raw.opcode == 0xcd && x.bytes[1] == 0x80)
          mark_partial(current(), channel::partial_int80);
        if (x.gather)
          copy_gather(b, x, segment);
        else if (x.dynamic != 0)
          copy_repeat(b, x, segment);
        else
          copy_plain(b, x, segment);
        continue;
      }
      switch (x.kind) {
        case Kind::jcc: {
          const u32 p = tables.places.size;
          b.place(x, segment);
          const u64 jump = emit_exit(*arena, b.e, x.raw.opcode & 15, x.target());
          tables.places[p].offset = static_cast<u16>(jump - b.body);
          break;
        }
        case Kind::loop: end_loop(b, x, segment); break;
        case Kind::jump:
          b.place(x, segment);  // no code: what follows is at the target already
          if (i == n - 1 && kind == Kind::jump) end_exit(b, x.target(), segment);
          break;
        case Kind::call:
          b.place(x, segment);
          emit_push(b, x.next());
          end_exit(b, x.target(), segment);
          break;
        case Kind::jump_indirect:
        case Kind::call_indirect:
        case Kind::ret: end_indirect(b, x, segment, increment, number, counted); break;
        case Kind::syscall: end_syscall(b, x, segment, increment, number, counted); break;
        case Kind::transaction:
          b.place(x, segment);
          b.e.byte(0xb8);  // mov eax, 0: aborted, no reason
          b.e.dword(0);
          end_exit(b, x.target(), segment);
          break;
        default: break;
      }
    }
    if (n == 0) {
      emit_increment(b.e, number, increment.how, increment.reg);
      counted = b.offset();
    }
    tables.segments.add({counted, first_place});
    open = (kind == Kind::jcc || kind == Kind::loop);
    if (kind == Kind::plain || kind == Kind::trap) {
      end_exit(b, at, segment);
    } else if (open) {
      // Behind a branch there is always one more segment, if only an empty one: it tells how often the branch was not
      // taken. It goes on with program code unless the trace is long enough.
      const bool stop =
          total >= limit || segment + 2 >= trace_segments || (total >= join_after && find_trace(at) != nullptr);
      if (stop) {
        channel::SegmentVector edge{};
        edge.branches[channel::taken - 3] = -1;
        const u32 edge_number = new_segment(edge);
        if (edge_number == 0) {
          trace.dead = true;
          return Outcome::no_room;
        }
        const Increment how = choose_increment(ahead, in, 0, at);
        const u16 place_index = static_cast<u16>(trace.place_count);
        emit_increment(b.e, edge_number, how.how, how.reg);
        tables.segments.add({b.offset(), place_index});
        end_exit(b, at, segment + 1);
        segment++;
        open = false;
      }
    }
  }
  trace.segment_count = static_cast<u16>(segment);
  trace.bytes = static_cast<u32>(b.e.here() - b.body);
  arena->hot = b.e.here();
  out = &trace;
  return Outcome::translated;
}

}  // namespace tally::engine
