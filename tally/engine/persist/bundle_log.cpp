#include "tally/engine/persist/bundle_log.hpp"

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/translate/logged_code.hpp"
#include "tally/engine/translate/mix_rows.hpp"

namespace tally::engine::persist {
namespace {

using channel::CodeForm;
using channel::CodePlace;
using channel::CodeRecord;
using channel::CodeRecordKind;
using channel::CodeTrace;

/// Before the stored records. In these, the address of a trace is relative to the bundle's mapping, the number of its
/// first segment to the bundle's first one, and forms have numbers from 1 on.
struct StoredLog {
  u64 bundle;  // RecordHead::check of the bundle
  u32 bytes, forms;
};
static_assert(sizeof(StoredLog) % 8 == 0);

u64 key_of_log(const channel::Bundle& bundle) {
  constexpr u64 of_logs = 0x2545F4914F6CDD1Dull;
  return channel::checksum_with(bundle.key, of_logs);
}

/// Adds `pc` to the addresses of traces, `number` to their segment numbers and `form` to the numbers of forms. Never
/// reads outside the records, whatever they contain. Returns false if they are not these numbers of forms and traces.
bool shift_records(u8* at, u64 bytes, u64 pc, u32 number, u32 form, u32 forms, u32 traces) {
  for (u8* const end = at + bytes; at < end;) {
    auto* const record = reinterpret_cast<CodeRecord*>(at);
    const u64 left = static_cast<u64>(end - at), size = left < sizeof *record ? 0 : record->bytes;
    if (size < sizeof *record || size % 8 != 0 || size > left) return false;
    if (record->kind == CodeRecordKind::form && size == sizeof(CodeForm)) {
      reinterpret_cast<CodeForm*>(at)->number += form;
      forms--;
    } else if (record->kind == CodeRecordKind::trace && size >= sizeof(CodeTrace)) {
      auto* const trace = reinterpret_cast<CodeTrace*>(at);
      auto* const places = reinterpret_cast<CodePlace*>(trace + 1);
      trace->pc += pc;
      trace->number += number;
      if (trace->places * (sizeof(CodePlace) + (trace->has_forms != 0 ? sizeof(u16) : 0)) > size - sizeof *trace)
        return false;
      u16* const of_place = reinterpret_cast<u16*>(places + trace->places);
      for (u32 i = 0; trace->has_forms != 0 && i < trace->places; i++)
        if (of_place[i] != 0) of_place[i] = static_cast<u16>(of_place[i] + form);
      traces--;
    } else {
      return false;
    }
    at += size;
  }
  return forms == 0 && traces == 0;
}

}  // namespace

BundleLog::BundleLog(const channel::Bundle& bundle, u64 start, u64 last, u32 number)
    : bundle_(bundle), start_(start), number_(number) {
  // The mapping is logged before its traces, and the records have none.
  if (!logs_code() || !translate::logs_forms() || !translate::logged_around(start).has(last)) return;
  from_ = code_log_end_so_far();
}

bool BundleLog::log(u32 traces) {
  if (from_ == nullptr) return false;
  const channel::Bundle* const record = find_bundle(key_of_log(bundle_));
  if (record != nullptr && record->head.bytes >= sizeof *record + sizeof(StoredLog)) {
    const u32 damage_before = store_damage();
    const auto& stored = *reinterpret_cast<const StoredLog*>(record->after_names());
    const u8* const records = reinterpret_cast<const u8*>(&stored + 1);
    const bool fits = stored.bundle == bundle_.head.check && stored.bytes >= sizeof(CodeForm) &&
                      stored.bytes <= record->head.bytes - sizeof *record - sizeof stored;
    const CodeRecord first = fits ? *reinterpret_cast<const CodeRecord*>(records) : CodeRecord{};
    const bool is_form = first.kind == CodeRecordKind::form && first.bytes == sizeof(CodeForm);
    u32 form = 0;
    u8* const to = is_form && translate::claim_forms(stored.forms, form) ? code_log_begin(stored.bytes) : nullptr;
    if (to != nullptr) {
      // Until its kind is written, readers see one record that has not been completed.
      const u64 rest = stored.bytes - sizeof first;
      populate(to, stored.bytes);
      copy(to + sizeof first, records + sizeof first, rest);
      if (shift_records(to + first.bytes, stored.bytes - first.bytes, start_, number_, form, stored.forms - 1,
                        traces) &&
          store_damage() == damage_before) {
        reinterpret_cast<CodeForm*>(to)->number += form;
        reinterpret_cast<CodeRecord*>(to)->bytes = first.bytes;
        code_log_end(reinterpret_cast<CodeRecord*>(to), first.kind);
        return true;
      }
    }
  }
  translate::log_forms_again();
  translate::claim_forms(0, form_);
  from_ = code_log_end_so_far();
  return false;
}

void BundleLog::store(u32 traces) {
  if (from_ == nullptr) return;
  const u64 bytes = static_cast<u64>(code_log_end_so_far() - from_);
  u32 last_form = 0;
  translate::claim_forms(0, last_form);
  const u32 forms = last_form - form_;
  channel::Bundle* const result = begin_bundle(key_of_log(bundle_), sizeof(StoredLog) + bytes);
  if (result == nullptr) return;
  auto& stored = *reinterpret_cast<StoredLog*>(result->after_names());
  stored = {bundle_.head.check, static_cast<u32>(bytes), forms};
  u8* const records = reinterpret_cast<u8*>(&stored + 1);
  copy(records, from_, bytes);
  // Other threads may have logged something between them.
  if (!shift_records(records, bytes, 0 - start_, 0 - number_, 0 - form_, forms, traces)) stored.bytes = 0;
  end_bundle(*result);
}

}  // namespace tally::engine::persist
