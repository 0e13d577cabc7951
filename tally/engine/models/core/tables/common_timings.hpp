// The rows that all cores out of order have in common. Written by cores.py.
#pragma once

#include "tally/engine/models/core/cores.hpp"

namespace tally::models::common {

using enum Operation;
inline constexpr const char* source_0 = "Intel and AMD optimization manuals: done at renaming, or by the stack engine";
inline constexpr const char* source_1 = "an estimate: right in its order of magnitude";

inline constexpr Timing rows[] = {
    {nop, 0, 1, {}, source_0},           {zeroing, 0, 1, {}, source_0},       {vector_move, 0, 1, {}, source_0},
    {random, 250, 1000, {}, source_1},   {state_read, 4, 4, {}, source_1},    {state_write, 8, 12, {}, source_1},
    {state_save, 70, 300, {}, source_1}, {serialize, 100, 500, {}, source_1}, {x87_integer, 4, 2, {}, source_1},
    {x87_constant, 2, 2, {}, source_1},  {x87_round, 20, 17, {}, source_1},   {x87_function, 80, 80, {}, source_1},
};

}  // namespace tally::models::common
