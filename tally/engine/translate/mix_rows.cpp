#include "tally/engine/translate/mix_rows.hpp"

#include "tally/engine/translate/exec_regions.hpp"
#include "tally/engine/translate/execution_counts.hpp"

namespace tally::engine::translate {
namespace {

const Mix& known_mix_of(const Instruction& in) {
  struct Known {
    u64 bytes[2];  // the last byte is the length
    Mix mix;
  };
  constexpr u32 known_bits = 14;
  static Known* known;
  if (known == nullptr) known = reinterpret_cast<Known*>(reserve(page_up(sizeof(Known) << known_bits), read_write));
  u64 bytes[2] = {};
  __builtin_memcpy(bytes, in.bytes, in.length);
  bytes[1] |= u64{in.length} << 56;
  Known& one = known[channel::hash_bits(channel::checksum_with(bytes[0], bytes[1]), known_bits)];
  if (one.bytes[0] == bytes[0] && one.bytes[1] == bytes[1]) return one.mix;
  one.mix = mix_of(in);
  one.bytes[0] = bytes[0];
  one.bytes[1] = bytes[1];
  return one.mix;
}

/// Decodes program code that was read before.
bool read_again(u64 pc, Instruction& in) {
  u8 bytes[16] = {};
  const u32 available = read_code(pc, bytes, 15);
  return available != 0 && decode(pc, bytes, available, in);
}

}  // namespace

Mix mix_of(const Instruction& in) {
  const Details details(in);
  if (details.raw.length == 0) return {};
  DecoderUse use;
  return mix_of(details.raw, details.operand, ZydisMnemonicGetString(details.raw.mnemonic));
}

Mix mix_at(u64 pc) {
  Instruction in;
  return read_again(pc, in) ? mix_of(in) : Mix{};
}

const Mix* run_time_mix(const Instruction& in) {
  if (!counts_mix()) return nullptr;
  const Mix& mix = known_mix_of(in);
  return mix.at_run_time != 0 ? &mix : nullptr;
}

void add_mix(channel::MixRow& row, const Instruction& in) {
  if (!counts_mix()) return;
  const Mix& mix = known_mix_of(in);
  for (u32 i = 0; i < mix.amounts; i++) row.add_to(mix.amount[i].field, mix.amount[i].n);
}

void add_mix(channel::Totals& totals, const Instruction& in, s64 n) {
  if (!counts_mix()) return;
  const Mix mix = mix_of(in);
  for (u32 i = 0; i < mix.amounts; i++) totals.add_to(mix.amount[i].field, mix.amount[i].n, n);
}

void add_mix_at(channel::Totals& totals, u64 pc, s64 n) {
  Instruction in;
  if (counts_mix() && read_again(pc, in)) add_mix(totals, in, n);
}

void fill_mix_rows(const Trace& t) {
  if (!counts_mix()) return;
  const auto row_of = [&t](u32 segment) -> channel::MixRow& { return own_records.rows[t.number + segment]; };
  channel::MixRow path{};
  u32 branches = 0;
  for (u32 i = 0; i < t.place_count; i++) {
    const InstructionMapping& p = t.places[i];
    if (counts_exits(t) && p.segment != 0) break;
    Instruction in;
    if (p.kind != Kind::end && read_again(t.pc + static_cast<u64>(static_cast<s64>(p.pc)), in))
      add_mix(counts_exits(t) ? path : row_of(p.segment), in);
    if (counts_exits(t) && is_branch(p.kind)) row_of(++branches) = path;
  }
  if (!counts_exits(t)) return;
  row_of(0) = path;
  // An exit that the first segment has counted subtracts what comes after it.
  for (u32 i = 1; i < t.segment_count; i++)
    if (t.segments[i].counted >= t.segments[0].counted) row_of(i).add(path, -1);
}

}  // namespace tally::engine::translate
