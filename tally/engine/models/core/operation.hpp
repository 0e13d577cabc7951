// Kinds of instructions that the core model distinguishes by their timing.
#pragma once

#include <cstdint>

namespace tally::models {

/// One kind. `unknown`: no list has the mnemonic (system instructions, microcode, recent extensions).
enum class Operation : std::uint8_t {
  unknown,
  nop,
  zeroing,   ///< clearing a register by an idiom (xor with itself): no sources, no latency
  move,      ///< also loads and stores, whose time comes from the memory operand
  extend,    ///< to a wider register
  alu,       ///< addition, logic, comparison, test, decrement …
  carry,     ///< addition and subtraction with carry
  select,    ///< cmov
  set,       ///< setcc
  lea,       ///< up to two address parts
  lea_slow,  ///< three address parts, or RIP-relative
  shift,     ///< by a constant, and rotation
  shift_by_register,
  rotate_carry,
  shift_double,
  bit_test,
  bit_count,  ///< bsf, bsr, lzcnt, tzcnt, popcnt, crc32, pdep, pext
  bit_extract,
  byte_swap,
  byte_swap_wide,
  multiply,
  multiply_wide,  ///< with a result in two registers
  divide,         ///< up to 32 bits
  divide_wide,
  divide_wide_signed,
  exchange,
  locked,  ///< read-modify-write with a lock, and exchange with memory
  push,
  pop,
  jump,  ///< conditional, direct, indirect
  call,
  ret,
  leave,
  vector_move,
  vector_integer,
  vector_logic,
  vector_blend_variable,
  vector_shuffle,
  vector_shuffle_lanes,
  vector_horizontal,
  vector_shift_by_register,
  vector_shift_variable,
  vector_multiply,
  vector_multiply_32,
  vector_compare_64,
  vector_sad,
  vector_mpsad,
  vector_test,
  vector_mask,        ///< signs of all elements into a register
  vector_to_integer,  ///< and back: movd, movq
  vector_extract,
  vector_insert,
  vector_string_explicit,
  vector_string_implicit,
  carryless_multiply,
  aes,
  aes_columns,
  aes_key,
  fp_add,  ///< addition, comparison, minimum, maximum
  fp_multiply,
  fp_fma,
  fp_convert,        ///< between floating point and integers, of equal width
  fp_convert_width,  ///< to the other precision, or to and from general registers
  fp_round,
  fp_approximate,
  fp_divide_single,
  fp_divide_single_wide,  ///< 256 bits
  fp_divide_double,
  fp_divide_double_wide,
  fp_root_single,
  fp_root_single_wide,
  fp_root_double,
  fp_root_double_wide,
  fp_horizontal,
  fp_dot_single,
  fp_dot_double,
  x87_move,
  x87_add,
  x87_multiply,
  x87_divide,
  x87_root,
  count,  ///< the number of kinds
};

constexpr unsigned operations = static_cast<unsigned>(Operation::count);

/// Properties of an instruction that determine its kind, in addition to the mnemonic.
struct Form {
  std::uint16_t bits = 64;         ///< operand width; the vector length for SSE and AVX
  std::uint8_t operands = 2;       ///< explicit operands
  bool immediate = false;          ///< the last one is a constant
  bool memory = false;             ///< one of them is in memory
  std::uint8_t address_parts = 1;  ///< of base, index and displacement; 3 for RIP-relative
  bool locked = false;             ///< has a lock prefix
  bool same_register = false;      ///< all sources are the same register
};

/// Returns the kind of an instruction. The mnemonic is in lower case, as in a disassembly, and ends with a zero; AVX
/// forms are found by the name without `v`. Cost: a search of some 5 KB of names, so keep the result.
Operation operation_of(const char* mnemonic, const Form& form);

}  // namespace tally::models
