// Kinds of instructions that the core model distinguishes by their timing.
#pragma once

#include <cstdint>

namespace tally::models {

/// One kind. `unknown`: no list has the mnemonic (system instructions, recent extensions).
enum class Operation : std::uint8_t {
  unknown,
  nop,
  zeroing,          ///< clearing a register by an idiom (xor with itself): no sources, no latency
  move,             ///< also loads and stores, whose time comes from the memory operand
  move_self,        ///< from a register to itself, which clears its upper half
  extend,           ///< to a wider register
  extend_byte,      ///< by zeros, from the low byte of another register
  extend_sign,      ///< movsx, movsxd
  alu,              ///< addition, logic, comparison, test, decrement …
  add_constant,     ///< of a constant to a 64-bit register, which some cores do at renaming
  carry,            ///< addition and subtraction with carry
  select,           ///< cmov by one flag
  select_unsigned,  ///< cmovbe, cmova
  select_signed,    ///< cmovl, cmovle, cmovge, cmovg
  set,              ///< setcc
  lea,              ///< up to two address parts
  lea_constant,     ///< a 64-bit register and a constant
  lea_scaled,       ///< up to two address parts, of which one is multiplied
  lea_slow,         ///< three address parts
  lea_slow_scaled,  ///< three, of which one is multiplied
  lea_relative,     ///< to RIP
  shift,            ///< by a constant, and rotation
  shift_by_register,
  rotate_carry,
  shift_double,
  bit_test,
  bit_set,          ///< bts, btr, btc
  bit_test_memory,  ///< at an offset in memory that a register has
  bit_count,        ///< bsf, bsr, lzcnt, tzcnt, popcnt
  bit_deposit,      ///< pdep, pext, crc32
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
  jump,         ///< conditional
  jump_always,  ///< direct, indirect: taken each time
  call,
  ret,
  leave,
  vector_move,
  vector_integer,
  vector_ones,  ///< setting all bits by an idiom (a comparison with itself): no sources
  vector_logic,
  vector_blend_variable,
  vector_shuffle,
  vector_shuffle_bytes,  ///< by an index, over two registers, to elements of another width
  vector_shuffle_lanes,
  vector_insert_lane,  ///< and broadcast of the first element
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
  vector_ternary,        ///< any function of three bits (vpternlog)
  vector_permute_bytes,  ///< by an index of bytes, or over two registers (vpermb, vpermi2d …)
  vector_compress,       ///< and expansion
  vector_narrow,         ///< to elements of half the width or less
  vector_compare_mask,   ///< into a mask register
  vector_count,          ///< of ones, of leading zeroes, in each element
  vector_conflict,
  vector_zero_upper,
  mask_logic,
  mask_arithmetic,  ///< addition, shift, packing of mask registers
  mask_test,
  mask_move,        ///< between mask registers, or from memory
  mask_to_integer,  ///< and back
  gather,
  scatter,
  sha1_rounds,
  sha256_rounds,
  sha_schedule,
  string_move,     ///< repeated movs, and what each repetition adds to it: HierarchyCounts::string_steps
  string_store,    ///< repeated stos
  string_compare,  ///< repeated lods, scas and cmps
  string_step,     ///< one of these that is not repeated
  fence,           ///< of loads or stores
  fence_full,
  pause,
  time_stamp,
  random,
  state_read,   ///< of control and status registers: stmxcsr, xgetbv, fnstcw
  state_write,  ///< and their change, which later instructions wait for
  state_save,   ///< of the vector registers: xsave, and back
  serialize,    ///< cpuid
  fp_add,       ///< addition, comparison, minimum, maximum
  fp_multiply,
  fp_fma,
  fp_convert,          ///< between floating point and integers, of equal width
  fp_convert_width,    ///< to the other precision
  fp_convert_general,  ///< to and from general registers
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
  x87_integer,   ///< load and store of integers
  x87_constant,  ///< loads of pi and logarithms
  x87_round,     ///< to an integer, remainder, scale
  x87_function,  ///< trigonometric, logarithm, power
  tile_move,     ///< AMX: load, store, zero, configuration
  tile_multiply,
  count,  ///< the number of kinds
};

constexpr unsigned operations = static_cast<unsigned>(Operation::count);

/// Properties of an instruction that determine its kind, in addition to the mnemonic.
struct Form {
  std::uint16_t bits = 64;         ///< operand width; the vector length for SSE and AVX
  std::uint8_t operands = 2;       ///< explicit operands
  bool immediate = false;          ///< the last one is a constant
  bool memory = false;             ///< one of them is in memory
  std::uint8_t address_parts = 1;  ///< of base, index and displacement
  std::uint8_t scale = 1;          ///< by which the index is multiplied; 0: the address has none
  bool relative = false;           ///< the address is relative to RIP
  bool locked = false;             ///< has a lock prefix
  bool repeated = false;           ///< has a prefix that repeats it
  bool general = false;            ///< one of them is a general register
  bool same_register = false;      ///< all sources are the same register
  bool low_byte = false;           ///< the last operand is the low byte of a register
};

/// Returns the kind of an instruction. The mnemonic is in lower case, as in a disassembly, and ends with a zero; AVX
/// forms are found by the name without `v`. Cost: a search of some 5 KB of names, so keep the result.
Operation operation_of(const char* mnemonic, const Form& form);

/// Whether it is a `lea` of three address parts, or of fewer.
constexpr bool adds_three(Operation operation) {
  return operation == Operation::lea_slow || operation == Operation::lea_slow_scaled;
}
constexpr bool adds_two(Operation operation) {
  return operation == Operation::lea || operation == Operation::lea_constant || operation == Operation::lea_scaled;
}

/// Whether later instructions start only when this one and all before it have ended.
constexpr bool serializes(Operation operation) {
  return operation == Operation::fence || operation == Operation::fence_full || operation == Operation::serialize;
}

}  // namespace tally::models
