/// What an instruction does, for the fields from channel::first_mix_field on: one rule from Zydis's operands.
#pragma once
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::translate {

/// What one execution of an instruction adds to the fields; and what each iteration, or each element that is active in
/// a mask, adds in addition.
struct Mix {
  static constexpr u32 limit = 8, at_run_time_limit = 3;
  struct Amount {
    u8 field;
    s16 n;
  };
  u8 amounts = 0, at_run_time = 0;
  Amount amount[limit], of_each[at_run_time_limit];
  /// The mask of an instruction that is no gather or scatter.
  ElementMask mask{};

  void add(u32 field, s32 n = 1) {
    if (n != 0 && amounts < limit) amount[amounts++] = {static_cast<u8>(field), static_cast<s16>(n)};
  }
  void add_of_each(u32 field, s32 n = 1) {
    if (n != 0 && at_run_time < at_run_time_limit)
      of_each[at_run_time++] = {static_cast<u8>(field), static_cast<s16>(n)};
  }
};

/// Bits of the largest vector register among the operands; 0: none.
u32 largest_vector(const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operand);

/// Pure. `operand`: raw.operand_count operands; `name`: ZydisMnemonicGetString().
Mix mix_of(const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operand, const char* name);

}  // namespace tally::engine::translate
