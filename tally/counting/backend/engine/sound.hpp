// What the engine's records cannot say: the engine lives in the measured program, which may write over them.
//
// None of this costs a program anything. It finds what is nonsense, and what does not fit together; a program that
// knows the layout and means harm can still write what does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// How many records of processes, and of threads, there are. At most those of which something is written: a number in
/// the header may be nonsense.
std::uint32_t claimed_processes(const Channel& shared);
std::uint32_t claimed_threads(const Channel& shared);
std::uint32_t claimed_code_logs(const Channel& shared);

/// The settings in the header, byte for byte: to see later whether they are the same.
std::string settings_in(const Channel& shared);

/// What is wrong with the records of a run, as words; empty where nothing is. `settings`: settings_in() before the
/// first program began. Records that a kill left unfinished may look the same: ask where nothing else is known.
std::string contradiction_in(const Channel& shared, const std::string& settings);

/// What is wrong with the record of a thread, or of the process with this number; empty where nothing is.
std::string contradiction_of(const channel::Thread& thread);
std::string contradiction_of(const channel::Process& process, std::uint32_t number);

/// What is said of a thread whose counters another one has, too, and of what is left out for there is too much of it
/// (effort.hpp).
std::string shared_area();
std::string too_much();

/// Why nothing can have counted that in so much time of processors; empty where it can. `whole`: from the beginning of
/// something to its end; of less, less is known.
std::string why_impossible(const channel::Totals& totals, Nanoseconds time, bool whole);

/// Whether models can have seen that of a thread which counted so much.
bool is_possible(const channel::ModelValues& values, const channel::Totals& totals);

/// What all processors of the machine have together in that time.
Nanoseconds time_of_all_processors(Nanoseconds time);

/// All words that these give.
std::vector<std::string> all_contradictions();

}  // namespace tally::backend::engine
