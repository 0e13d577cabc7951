/// The answers of valgrind to its client requests: see guest/valgrind_answers.hpp. Defined in the guest layer.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

bool end_call_of_request(Thread* t);
void answer_as_valgrind(Thread* t, const u64 (&words)[6]);

}  // namespace tally::engine::instrument
