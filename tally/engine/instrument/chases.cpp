#include "tally/engine/instrument/chases.hpp"

#include <initializer_list>
#include <utility>

#include "tally/engine/instrument/core_code.hpp"
#include "tally/engine/translate/code_reading.hpp"

namespace tally::engine::instrument {
namespace {

using models::CoreInstruction;

constexpr u32 line_bytes = 64, busy_instructions = 20;  // of a line
constexpr u32 path_limit = 8, instruction_limit = 96, pointer_limit = 24;
constexpr u32 stack_pointer = 1u << (models::first_general + rsp), frame_pointer = 1u << (models::first_general + rbp);

/// A bit for each general register in a list. Flags end in branches, which are predicted.
template <u32 n>
u32 general_in(const models::Register (&list)[n]) {
  u32 bits = 0;
  for (const models::Register r : list)
    if (r >= models::first_general && r < models::flags_register) bits |= 1u << r;
  return bits;
}

u32 bit_of(models::Register r) { return r < models::flags_register ? 1u << r : 0; }

/// A variable on the stack that holds eight bytes; no bytes: none.
using Variable = models::SymbolicAddress;

/// Returns the variable that an instruction accesses; none if it accesses something else.
Variable variable_of(const CoreInstruction& code) {
  const u32 base = bit_of(code.at.base);
  const bool is_on_stack = base == stack_pointer || base == frame_pointer;
  return is_on_stack && code.at.index == models::no_register && code.at.bytes == 8 ? code.at : Variable{};
}

bool loads(const CoreInstruction& code) { return (code.memory & CoreInstruction::loads) != 0; }
bool stores(const CoreInstruction& code) { return (code.memory & CoreInstruction::stores) != 0; }

/// What follows from a line, and what still holds the pointer to it, after some instructions.
struct Path {
  u64 pc;
  u32 results, pointers;              // registers that follow from the line, and that hold the pointer
  Variable results_in[3];             // variables that follow from the line, the newest first
  Variable pointer_in;                // one that holds the pointer
  bool is_linear;                     // registers of the address change by constants only
  bool is_same = true;                // registers of the address do not change
  u64 added_to = 0, overwritten = 0;  // registers that sums and products change, and that others write
  u32 advance = 0, instructions = 1;
  u32 pointers_for = pointer_limit;  // instructions for which pointers are followed

  bool follows_line() const { return (results | pointers) != 0 || results_in[0].bytes != 0 || pointer_in.bytes != 0; }
  u32 stride() const {
    const u32 back = 0 - advance;
    return advance < back ? advance : back;
  }
  bool is_busy() const {
    const u32 new_bytes = stride() < line_bytes ? stride() : line_bytes;
    return is_linear && new_bytes != 0 &&
           (instructions * line_bytes >= busy_instructions * new_bytes || (added_to & ~overwritten) != 0);
  }
  void add_work(const CoreInstruction& code);
  void advance_by(const CoreInstruction& code, const CoreInstruction& access);
  void pass(const CoreInstruction& code, const CoreInstruction& access);
  void forget(const Variable& variable);
};

void Path::forget(const Variable& variable) {
  u32 left = 0;
  for (const Variable& each : results_in)
    if (!(each == variable)) results_in[left++] = each;
  for (; left < 3; left++) results_in[left] = {};
  if (variable == pointer_in) pointer_in = {};
}

void Path::add_work(const CoreInstruction& code) {
  using enum models::Operation;
  const bool is_long = code.operation == fp_add || code.operation == fp_fma || code.operation == fp_multiply;
  for (const models::Register r : code.results) {
    bool is_read = false;
    for (const models::Register source : code.sources) is_read |= source == r;
    if (r < 64) (is_long && is_read ? added_to : overwritten) |= u64{1} << r;
  }
}

void Path::advance_by(const CoreInstruction& code, const CoreInstruction& access) {
  ++instructions;
  add_work(code);
  const u32 written = general_in(code.results) & ~bit_of(code.moved);
  is_linear = is_linear && instructions < instruction_limit && (written & general_in(access.address)) == 0;
  if (code.moved == models::no_register) return;
  if (code.moved == access.at.base) advance += code.by;
  if (code.moved == access.at.index) advance += code.by * (access.at.form & models::SymbolicAddress::factor);
}

/// Whether a load by the same pointer is mostly of the same line.
bool is_near(const CoreInstruction& a, const CoreInstruction& b) {
  const u32 up = a.at.displacement - b.at.displacement, down = 0 - up;
  return a.at.bytes != 0 && b.at.bytes != 0 && a.at.index == b.at.index && a.at.form == b.at.form &&
         (up < down ? up : down) < 64;
}

void Path::pass(const CoreInstruction& code, const CoreInstruction& access) {
  advance_by(code, access);
  const u32 written = general_in(code.results);
  is_same = is_same && (written & general_in(access.address)) == 0;
  const Variable variable = variable_of(code);
  bool follows = ((general_in(code.sources) | general_in(code.address)) & results) != 0;
  follows |= loads(code) && (bit_of(code.at.base) & pointers) != 0 && is_near(code, access);
  // Fields of a structure are close to its start.
  const u32 parts = general_in(code.address) | general_in(code.sources);
  const bool copies = code.operation == models::Operation::move && code.memory == 0;
  bool points = (copies || adds_two(code.operation)) && parts != 0 && (parts & ~pointers) == 0;
  if (variable.bytes != 0) {
    for (const Variable& each : results_in) follows |= loads(code) && each == variable;
    points = !stores(code) && variable == pointer_in;
    if (stores(code)) forget(variable);
    if (stores(code) && follows) {
      results_in[2] = results_in[1];
      results_in[1] = results_in[0];
      results_in[0] = variable;
    }
  }
  results = (results & ~written) | (follows ? written : 0);
  pointers = (pointers & ~written) | (points ? written : 0);
  for (const Variable each : {results_in[0], results_in[1], results_in[2], pointer_in})
    if (((written | bit_of(code.moved)) & bit_of(each.base)) != 0) forget(each);
  if (pointers_for != 0 && --pointers_for == 0) pointers = 0, pointer_in = {};
}

/// Where a loaded value is, and what follows from it: registers of all kinds, and a variable on the stack.
class Followed {
 public:
  explicit Followed(const CoreInstruction& access) { set(access, true); }

  bool is_anywhere() const { return (registers_[0] | registers_[1]) != 0 || variable_.bytes != 0; }
  /// In the register of results.
  bool is_result() const { return has(models::first_general + rax); }
  /// In a register of the first two arguments. The call forgets all registers that the callee need not keep.
  bool is_passed() {
    const bool passed = has(models::first_general + rdi) || has(models::first_general + rsi);
    registers_[0] &= u64{1u << rbx | 1u << rbp | 0xf000u} << models::first_general;
    registers_[1] = 0;
    return passed;
  }
  bool decides(const CoreInstruction& branch) const {
    for (const models::Register r : branch.sources)
      if (has(r)) return true;
    return has(branch.address[0]) || has(branch.address[1]);
  }
  void pass(const CoreInstruction& code) {
    const Variable at = variable_of(code);
    const bool follows = decides(code) || (loads(code) && at.bytes != 0 && at == variable_);
    if (stores(code) && at.bytes != 0 && (follows || at == variable_)) variable_ = follows ? at : Variable{};
    set(code, follows);
  }

 private:
  void set(const CoreInstruction& code, bool follows) {
    for (const models::Register r : code.results)
      if (r != models::no_register) {
        u64& word = registers_[r / 64];
        word = (word & ~(u64{1} << r % 64)) | u64{follows} << r % 64;
      }
  }
  bool has(models::Register r) const { return (registers_[r / 64] >> r % 64 & 1) != 0; }

  u64 registers_[2] = {};
  Variable variable_ = {};
};

/// Returns the variable from which the instruction before loads the pointer of an access.
Variable variable_before(const Instruction& in, const CoreInstruction& access, translate::Code& bytes) {
  for (const u32 length : {4, 5, 7, 8}) {
    Instruction before;
    bool readable = false;
    if (!translate::read_instruction(bytes, in.pc - length, before, readable) || before.length != length) continue;
    const CoreInstruction code = core_code(before);
    if (code.operation == models::Operation::move && code.memory == CoreInstruction::loads &&
        general_in(code.results) == bit_of(access.at.base))
      return variable_of(code);
  }
  return {};
}

/// Returns chase, busy or none, for an access whose address has other registers than the stack pointer.
Reuse reuse_in_loop(const Instruction& in, const CoreInstruction& access) {
  const u32 address = general_in(access.address), written = general_in(access.results);
  const bool is_local = bit_of(access.at.base) == frame_pointer && access.at.index == models::no_register;
  translate::Code bytes;
  Path paths[path_limit] = {{in.next(),
                             loads(access) ? written : 0,
                             bit_of(access.at.base) & ~stack_pointer & ~written,
                             {},
                             variable_before(in, access, bytes),
                             access.memory == CoreInstruction::loads && (written & address) == 0 && !is_local}};
  paths[0].add_work(access);
  u32 left = instruction_limit, busy_left = instruction_limit;  // of paths that may find a chase, and of others
  Reuse reuse = Reuse::none;
  bool has_returned = false;
  for (u32 count = 1; count > 0;) {
    Path path = paths[--count];
    while (path.follows_line() || (path.is_linear && !has_returned)) {
      if (path.pc == in.pc) {
        if ((path.results & address) != 0) return Reuse::chase;
        // Sets do not crowd if it uses all lines.
        if (!has_returned && path.is_busy() && (reuse == Reuse::none || path.stride() < line_bytes))
          reuse = Reuse::busy;
        has_returned = true;
        break;
      }
      Instruction next;
      bool readable = false;
      u32& budget = path.follows_line() ? left : busy_left;
      if (budget == 0 || !translate::read_instruction(bytes, path.pc, next, readable)) {
        if (path.follows_line()) return reuse;
        break;
      }
      --budget;
      const CoreInstruction code = core_code(next);
      if (path.is_same && reuse == Reuse::none && access.memory == CoreInstruction::loads && stores(code) &&
          code.at.bytes != 0 && code.at == access.at)
        reuse = Reuse::updated;
      path.pass(code, access);
      const bool forks = next.kind == Kind::jcc || next.kind == Kind::loop;
      if (!forks && next.kind != Kind::plain && next.kind != Kind::jump) break;
      path.pc = next.kind == Kind::plain ? next.next() : next.target();
      if (!forks) continue;
      // The innermost loop first.
      const bool goes_back = next.target() <= next.pc;
      if (count < path_limit && path.follows_line()) {
        paths[count] = path;
        paths[count++].pc = goes_back ? next.next() : next.target();
      }
      if (!goes_back) path.pc = next.next();
    }
  }
  return reuse;
}

/// Whether the value of a load decides a branch soon.
bool decides(const Instruction& in, const CoreInstruction& access) {
  constexpr u32 most = 48;
  if (in.kind != Kind::plain) return true;
  translate::Code bytes;
  Followed value(access);
  Instruction next = in;
  bool has_returned = false;
  for (u32 left = most; left > 0; --left) {
    if (next.kind == Kind::ret) return value.is_result();
    if (next.kind == Kind::jump_indirect) return value.decides(core_code(next));
    if (next.kind == Kind::call_indirect && value.decides(core_code(next))) return true;
    if ((next.kind == Kind::call || next.kind == Kind::call_indirect) && value.is_passed()) return true;
    const bool goes_back = next.kind == Kind::jcc && next.target() <= next.pc;
    const u64 pc = goes_back || next.kind == Kind::jump ? next.target() : next.next();
    bool readable = false;
    if (!value.is_anywhere() || !translate::read_instruction(bytes, pc, next, readable)) return false;
    if (pc == in.pc && std::exchange(has_returned, true)) return false;
    const CoreInstruction code = core_code(next);
    if (next.kind == Kind::jcc && value.decides(code)) return true;
    value.pass(code);
  }
  return false;
}

}  // namespace

Reuse reuse_of(const Instruction& in) {
  const CoreInstruction access = core_code(in);
  if (access.memory == 0 || (general_in(access.address) & ~stack_pointer) == 0) return Reuse::none;
  const Reuse reuse = reuse_in_loop(in, access);
  const bool is_load = access.memory == CoreInstruction::loads || in.kind == Kind::call_indirect;
  return reuse == Reuse::none && is_load && decides(in, access) ? Reuse::deciding : reuse;
}

}  // namespace tally::engine::instrument
