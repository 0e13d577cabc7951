#include "programs/lab/pmu/pebs.hpp"

#include <cstddef>
#include <vector>

namespace tally::pmu::emulated {
namespace {

constexpr int haswell_format = 2, skylake_format = 3;

// Intel SDM vol. 3B, the tables "PEBS Record Format" of Core, Nehalem, Haswell and Skylake: each format adds fields.
std::vector<std::uint64_t> words_of(const PebsState& state, const PebsDetails& details) {
  std::vector<std::uint64_t> words = {state.flags, state.next};
  words.insert(words.end(), state.registers.begin(), state.registers.end());
  // 90H: the status, with the bits of the counters that overflowed; since Skylake these counters alone.
  words.push_back(details.format >= skylake_format ? details.counters : details.status);
  words.push_back(details.accessed);
  words.insert(words.end(), {0, 0});  // data source and latency, which depend on caches
  words.push_back(state.instruction);
  words.push_back(0);  // TSX
  words.push_back(details.time_stamp);
  words.resize(pebs_record_bytes(details.format) / 8);
  return words;
}

}  // namespace

std::uint64_t pebs_record_bytes(int format) {
  switch (format) {
    case 0: return 0x90;
    case 1: return 0xB0;
    case haswell_format: return 0xC0;
    default: return 0xC8;
  }
}

PebsRecord store_pebs_record(LinearMemory& memory, std::uint64_t area, const PebsState& state,
                             const PebsDetails& details) {
  using Outcome = PebsRecord::Outcome;
  const auto base = memory.read(area + ds::base), index = memory.read(area + ds::index);
  const auto maximum = memory.read(area + ds::maximum), threshold = memory.read(area + ds::threshold);
  if (!base || !index || !maximum || !threshold) return {Outcome::no_area, area, details.counters};
  const std::vector<std::uint64_t> words = words_of(state, details);
  const std::uint64_t bytes = 8 * words.size();
  if (*index < *base || *index > *maximum || *maximum - *index < bytes)
    return {Outcome::out_of_bounds, *index, details.counters};
  for (std::uint64_t at = *index; at < *index + bytes; at += 8) {
    if (!memory.read(at)) return {Outcome::no_buffer, at, details.counters};
  }
  for (std::size_t i = 0; i < words.size(); ++i) memory.write(*index + 8 * i, words[i]);
  memory.write(area + ds::index, *index + bytes);
  return {Outcome::stored, *index, details.counters, *index + bytes >= *threshold};
}

}  // namespace tally::pmu::emulated
