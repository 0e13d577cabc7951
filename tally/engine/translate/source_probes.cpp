#include "tally/engine/translate/source_probes.hpp"

#include "tally/engine/clock.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/process_maps.hpp"
#include "tally/engine/translate/x87_pointer.hpp"

namespace tally::engine::translate {

void (*on_read)(Thread* t, channel::Source source, u64 pc, u64 value);

namespace {

using channel::Source;

bool is_rdpid(const Instruction& in) {
  return in.legacy && in.map == Map::two_bytes && in.opcode == 0xc7 && in.mod() == 3 && (in.modrm >> 3 & 7) == 7 &&
         in.bytes[0] == 0xf3;
}

/// The source of the number of a processor, which --repeatable fixes.
Source processor_number() { return settings().repeatable != 0 ? channel::source_count : channel::source_state; }

bool is_xbegin(const Instruction& in) {
  return in.legacy && in.map == Map::one_byte && in.opcode == 0xc7 && in.modrm == 0xf8;
}

Source source_of_opcode(const Instruction& in) {
  if (is_xbegin(in)) return channel::source_transaction;
  if (!in.legacy || in.map != Map::two_bytes) return channel::source_count;
  const u32 extension = in.modrm >> 3 & 7;
  if (in.opcode == 0xa2) return channel::source_cpuid;
  if (in.opcode == 0x31) return channel::source_time_stamp;
  if (in.opcode == 0x01 && in.modrm == 0xf9) return channel::source_time_stamp;
  if (in.opcode == 0x01 && in.modrm == 0xd0) return channel::source_xgetbv;
  if (in.opcode != 0xc7 || in.mod() != 3 || extension < 6) return channel::source_count;
  return is_rdpid(in) ? processor_number() : channel::source_random_instruction;
}

/// Whether a call instruction ends at the address: a direct one, or one by a register or memory.
bool follows_call(u64 address) {
  u8 before[8];
  if (safe_copy(before, reinterpret_cast<const void*>(address - 7), 7) != 0) return false;
  const auto is_indirect = [&](u32 length) { return before[7 - length] == 0xff && (before[8 - length] >> 3 & 7) == 2; };
  return before[2] == 0xe8 || is_indirect(2) || is_indirect(3) || is_indirect(4) || is_indirect(6) || is_indirect(7);
}

/// The part of the stack that is searched for return addresses.
constexpr u32 stack_words = 512;

/// Searches the mappings for the file of an address, and for the innermost return address in another file.
class Locator {
 public:
  Locator(u64 pc, u64 sp, channel::SourceRecord& record) : pc_(pc), record_(record) {
    const u64 missing = safe_copy(words_, reinterpret_cast<const void*>(sp), sizeof words_);
    words_read_ = static_cast<u32>((sizeof words_ - missing) / 8);
  }

  void find() {
    LARGE static KernelMappings mappings;
    mappings.each([this](const ListedMapping& m) { take(m); });
    const Caller& innermost = callers_[callers_[0].inode == inode_ ? 1 : 0];
    if (innermost.inode != 0) record_.caller = innermost.location;
  }

 private:
  static void keep(channel::SourceLocation& location, const ListedMapping& m, u64 address) {
    location.offset = m.offset + (address - m.start);
    u32 n = m.path_bytes < sizeof location.file - 1 ? m.path_bytes : u32{sizeof location.file - 1};
    copy(location.file, m.path, n);
    location.file[n] = 0;
  }

  /// The innermost return address in a file.
  struct Caller {
    u64 inode;  // of the file; 0: none
    u32 index;  // in words_
    channel::SourceLocation location;
  };

  void take(const ListedMapping& m) {
    if (m.permissions[2] != 'x') return;
    if (pc_ - m.start < m.end - m.start) {
      keep(record_.first, m, pc_);
      inode_ = m.inode;
      return;
    }
    if (m.inode == 0) return;
    for (u32 i = 0; i < words_read_; i++) {
      if (words_[i] - m.start >= m.end - m.start || !follows_call(words_[i])) continue;
      return add({m.inode, i, {}}, m);
    }
  }

  /// Keeps the two innermost ones in different files, because the file of the read may be listed later.
  void add(const Caller& caller, const ListedMapping& m) {
    Caller& first = callers_[0];
    Caller& second = callers_[1];
    Caller* at = first.inode == caller.inode ? &first : &second;
    if (at->inode != 0 && at->index < caller.index) return;
    if (at == &second && (first.inode == 0 || caller.index < first.index)) {
      second = first;
      at = &first;
    }
    *at = caller;
    keep(at->location, m, words_[caller.index] - 1);
  }

  u64 pc_, inode_ = 0;
  channel::SourceRecord& record_;
  u64 words_[stack_words];
  u32 words_read_;
  Caller callers_[2]{};
};

/// Records the location of a read, if it is the first of the run.
void note(Thread* t, Source source, u64 pc) {
  channel::SourceRecord& record = records().header().sources[source];
  u32 none = 0;
  if (__atomic_load_n(&record.state, __ATOMIC_RELAXED) != 0 ||
      !__atomic_compare_exchange_n(&record.state, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return;
  record.process = t->process;
  u64 sp = t->gpr[rsp];
  // The vdso's function is known; what matters is who called it.
  if (is_in_vdso(pc) && safe_copy(&pc, reinterpret_cast<const void*>(sp), 8) == 0) pc--, sp += 8;
  lock_code();
  Locator(pc, sp, record).find();
  unlock_code();
  __atomic_store_n(&record.state, 2, __ATOMIC_RELEASE);
}

}  // namespace

u32 return_addresses(const Thread* t, u64* to, u32 most) {
  constexpr u32 searched = 128;
  constexpr u64 lowest = u64{1} << 16, user_space_ends = u64{1} << 47;
  u64 words[searched];
  const u64 missing = safe_copy(words, reinterpret_cast<const void*>(t->gpr[rsp]), sizeof words);
  u32 n = 0;
  for (u32 i = 0; i < (sizeof words - missing) / 8 && n < most; i++)
    if (words[i] >= lowest && words[i] < user_space_ends && follows_call(words[i])) to[n++] = words[i];
  return n;
}

Source source_of(const Instruction& in) {
  if (is_in_vdso(in.pc) && vdso_function_at(in.pc) == VdsoFunction::get_processor) return processor_number();
  if (is_in_vdso(in.pc)) return is_clock_function(in.pc) ? channel::source_clock : channel::source_count;
  const Source source = source_of_opcode(in);
  const bool is_unused = source == channel::source_time_stamp && settings().counts_clock == 0 && is_in_linker(in.pc);
  return is_unused ? channel::source_count : source;
}

bool enters_first(const Instruction& in) {
  return source_of(in) != channel::source_count || is_emulated(in) || stores_x87_pointer(in);
}

bool reads_processor_number(const Instruction& in) {
  return is_in_vdso(in.pc) ? vdso_function_at(in.pc) == VdsoFunction::get_processor : is_rdpid(in);
}

bool is_emulated(const Instruction& in) {
  const bool counts_clock = settings().counts_clock != 0, repeatable = settings().repeatable != 0;
  if (!counts_clock && !repeatable) return false;
  if (is_in_vdso(in.pc) && vdso_return_after(in.pc) == 0) return false;
  const Source source = source_of(in);
  if (source == channel::source_clock || source == channel::source_time_stamp) return counts_clock;
  if (is_in_vdso(in.pc) && vdso_function_at(in.pc) == VdsoFunction::get_resolution) return counts_clock;
  const bool is_random = source == channel::source_random_instruction ||
                         (is_in_vdso(in.pc) && vdso_function_at(in.pc) == VdsoFunction::get_random);
  return repeatable && (is_random || reads_processor_number(in));
}

void emit_source_count(Builder& b, const Instruction& in) {
  constexpr u8 jrcxz = 0xe3, jump_short = 0xeb, jump_bytes = 5;
  static const u8 after_next[] = {0x4c, 0x8d, 0x1d, jump_bytes, 0, 0, 0};  // lea r11, [rip + jump_bytes]
  const u32 counter = counters_at + 8 * (u32{channel::first_source} + source_of(in));
  Emitter& e = b.e;
  const auto jump_ahead = [&](u8 opcode) {
    e.byte(opcode);
    return e.p++;
  };
  const auto land = [&](u8* distance) { *distance = static_cast<u8>(e.p - distance - 1); };
  u8* to_end = nullptr;
  e.store(rcx, o_borrowed_rcx);
  // The code is kept for runs with the same settings only.
  if (!is_emulated(in) && !stores_x87_pointer(in) && on_read == nullptr) {
    e.load(rcx, counter);
    u8* const to_first = jump_ahead(jrcxz);
    e.add_constant(rcx, 1);
    e.store(rcx, counter);
    e.load(rcx, o_borrowed_rcx);
    to_end = jump_ahead(jump_short);
    land(to_first);
  }
  e.store(r11, o_borrowed_r11);
  b.move_address(rcx, in.pc);
  e.bytes(after_next, sizeof after_next);
  b.enter(Gate::source, b.arena.to_source);
  if (to_end != nullptr) land(to_end);
}

void count_source(Thread* t, Source source, u64 pc) {
  counters(t)[u32{channel::first_source} + source]++;
  note(t, source, pc);
}

}  // namespace tally::engine::translate
