#include "tally/engine/translate/mix_rows.hpp"

#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/translate/code_reading.hpp"
#include "tally/engine/translate/execution_counts.hpp"

namespace tally::engine::translate {
namespace {

/// What is known of an instruction.
struct Described {
  Mix mix;
  u16 mnemonic = 0, category = 0, width = 0;
};

Described described(const Instruction& in) {
  const Details details(in);
  if (details.raw.length == 0) return {};
  DecoderUse use;
  return {mix_of(details.raw, details.operand, ZydisMnemonicGetString(details.raw.mnemonic)),
          static_cast<u16>(details.raw.mnemonic), static_cast<u16>(details.raw.meta.category),
          static_cast<u16>(largest_vector(details.raw, details.operand))};
}

struct MixEntry {
  u64 bytes[2];  // those that decide; the last byte is their number
  Described what;
  u32 form;  // its number in the log; 0: none yet
  u32 log;   // forms_begun then
};

// Forms that are in the log.
constexpr u32 form_slots = 2 * form_limit;
struct Form {
  Described what;
  u32 number;  // 0: free
};
Form* forms;
u32 form_count, forms_begun;
u32 form_numbers;  // in use in this log

bool is_prefix(u8 byte) {
  return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0xf0 || (byte & 0xf0) == 0x40 ||
         (byte & 0xe7) == 0x26 || byte == 0x64 || byte == 0x65;
}

/// Returns how many bytes of an instruction decide what it does: displacements and immediates do not, but those of
/// `enter` and of 3DNow do.
u32 deciding_bytes(const Instruction& in) {
  const bool is_3dnow = in.bytes[0] == 0x0f && in.bytes[1] == 0x0f;
  if (in.modrm_at != 0 && !is_3dnow) return in.modrm_at + 1u;
  constexpr u8 enter = 0xc8;
  if (!in.legacy || in.map == Map::other || (in.map == Map::one_byte && in.opcode == enter)) return in.length;
  u32 i = 0;
  while (is_prefix(in.bytes[i])) i++;
  return i + (in.map == Map::two_bytes ? 2 : 1);
}

MixEntry& entry_of(const Instruction& in) {
  constexpr u32 entry_bits = 14;
  static MixEntry* entries;
  if (entries == nullptr)
    entries = reinterpret_cast<MixEntry*>(reserve(page_up(sizeof(MixEntry) << entry_bits), read_write));
  u64 bytes[2] = {};
  const u32 n = deciding_bytes(in);
  __builtin_memcpy(bytes, in.bytes, n);
  bytes[1] |= u64{n} << 56;
  // Which register addresses memory does not matter.
  if (in.modrm_at != 0 && n == in.modrm_at + 1u && in.mod() != 3) reinterpret_cast<u8*>(bytes)[in.modrm_at] &= 0x38;
  MixEntry& entry = entries[channel::hash_bits(channel::checksum_with(bytes[0], bytes[1]), entry_bits)];
  if (entry.bytes[0] == bytes[0] && entry.bytes[1] == bytes[1]) return entry;
  entry = {{bytes[0], bytes[1]}, described(in), 0, 0};
  return entry;
}

bool are_equal(const Described& a, const Described& b) {
  if (a.mnemonic != b.mnemonic || a.category != b.category || a.width != b.width) return false;
  if (a.mix.amounts != b.mix.amounts) return false;
  for (u32 i = 0; i < a.mix.amounts; i++)
    if (a.mix.amount[i].field != b.mix.amount[i].field || a.mix.amount[i].n != b.mix.amount[i].n) return false;
  return true;
}

void copy_text(char* to, u32 limit, const char* text) {
  for (u32 i = 0; i + 1 < limit && text[i] != 0; i++) to[i] = text[i];
}

void log_form(const Described& what, u32 number) {
  auto* const record = reinterpret_cast<channel::CodeForm*>(code_log_begin(sizeof(channel::CodeForm)));
  if (record == nullptr) return;
  record->number = number;
  record->width = what.width;
  {
    DecoderUse use;
    copy_text(record->name, sizeof record->name, ZydisMnemonicGetString(static_cast<ZydisMnemonic>(what.mnemonic)));
    copy_text(record->category, sizeof record->category,
              ZydisCategoryGetString(static_cast<ZydisInstructionCategory>(what.category)));
  }
  for (u32 i = 0; i < what.mix.amounts; i++) record->row.add_to(what.mix.amount[i].field, what.mix.amount[i].n);
  code_log_end(&record->head, channel::CodeRecordKind::form);
}

/// Decodes program code that was read before.
bool read_again(Code& code, u64 pc, Instruction& in) {
  u32 available = 0;
  const u8* const bytes = code.at(pc, available);
  return bytes != nullptr && decode(pc, bytes, available, in);
}

}  // namespace

Mix mix_of(const Instruction& in) { return described(in).mix; }

Mix mix_at(u64 pc) {
  Instruction in;
  Code code;
  return read_again(code, pc, in) ? mix_of(in) : Mix{};
}

const Mix* run_time_mix(const Instruction& in) {
  if (!counts_mix()) return nullptr;
  const Mix& mix = entry_of(in).what.mix;
  return mix.at_run_time != 0 ? &mix : nullptr;
}

void add_mix(channel::MixRow& row, const Instruction& in) {
  if (!counts_mix()) return;
  const Mix& mix = entry_of(in).what.mix;
  for (u32 i = 0; i < mix.amounts; i++) row.add_to(mix.amount[i].field, mix.amount[i].n);
}

void add_mix(channel::Totals& totals, const Mix& mix, s64 n) {
  for (u32 i = 0; i < mix.amounts; i++) totals.add_to(mix.amount[i].field, mix.amount[i].n, n);
}

void add_mix_at(channel::Totals& totals, u64 pc, s64 n) {
  Instruction in;
  Code code;
  if (!counts_mix()) return;
  if (!read_again(code, pc, in)) return mark_partial(current(), channel::partial_unread_code);
  add_mix(totals, mix_of(in), n);
}

u32 logged_form(Code& code, u64 pc) {
  Instruction in;
  if (!read_again(code, pc, in)) return 0;
  MixEntry& entry = entry_of(in);
  if (entry.form != 0 && entry.log == forms_begun) return entry.form;
  if (forms == nullptr) forms = reinterpret_cast<Form*>(reserve(page_up(sizeof(Form) * form_slots), read_write));
  u32 i = entry.what.mnemonic * 37u;
  for (; forms[i % form_slots].number != 0; i++)
    if (are_equal(forms[i % form_slots].what, entry.what)) break;
  Form& form = forms[i % form_slots];
  if (form.number == 0) {
    u32 before = 0;
    if (form_count == form_limit || !claim_forms(1, before)) return 0;
    form_count++;
    form = {entry.what, before + 1};
    log_form(form.what, form.number);
  }
  entry.form = form.number;
  entry.log = forms_begun;
  return form.number;
}

void log_forms_again() {
  forms_begun++;
  form_count = 0;
  if (forms != nullptr) clear(forms, sizeof(Form) * form_slots);
}

void forget_forms() {
  log_forms_again();
  form_numbers = 0;
}

bool claim_forms(u32 n, u32& before) {
  const u32 most = settings().form_limit != 0 ? settings().form_limit : 0xffff;  // the code log has 16 bits for each
  before = form_numbers;
  if (n > most - form_numbers) return false;
  form_numbers += n;
  return true;
}

void fill_mix_rows(const Trace& t) {
  if (!counts_mix()) return;
  const auto row_of = [&t](u32 segment) -> channel::MixRow& { return own_records.rows[t.number + segment]; };
  channel::MixRow path{};
  Code code;
  u32 branches = 0;
  for (u32 i = 0; i < t.place_count; i++) {
    const InstructionMapping& p = t.places[i];
    if (counts_exits(t) && p.segment != 0) break;
    Instruction in;
    if (p.kind != Kind::end && read_again(code, t.pc + static_cast<u64>(static_cast<s64>(p.pc)), in))
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
