#include "tally/counting/backend/engine/profile/read_code_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tally/linux/files/code_files.hpp"

namespace tally::backend::engine {

using channel::CodeRecordKind;

namespace {

std::string hex(const std::uint8_t* bytes, std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

}  // namespace

std::uint32_t CodeFiles::number(const channel::CodeMapping& m) {
  const char* const path = reinterpret_cast<const char*>(&m + 1);
  result::CodeFile file{std::string(path, ::strnlen(path, m.head.bytes - sizeof m)), m.inode, m.device_major,
                        m.device_minor};
  if (file.inode != 0) file.path = linux::without_deleted(std::move(file.path));
  file.overwritten = m.inode == 0 && (m.flags & channel::mapping_overwritten) != 0;
  std::string build_id;
  if (m.inode != 0) file.identity.emplace();  // an identity that no file has
  if (m.inode != 0 && m.identity.inode != 0) {
    build_id = hex(m.identity.build_id, std::min<std::size_t>(m.identity.build_id_bytes, sizeof m.identity.build_id));
    file.identity = result::FileIdentity{m.identity.device,     m.identity.inode,       m.identity.bytes,
                                         m.identity.modified_s, m.identity.modified_ns, build_id};
  }
  const std::uint64_t content = m.inode != 0 ? channel::check_of(m.identity) : 0;
  const auto [place, is_new] = numbers_.try_emplace(
      {file.path, file.inode, file.device_major, file.device_minor, file.overwritten, content, build_id},
      files_.size());
  if (is_new) {
    file.path = linux::listed_path(file.path, file.inode);
    files_.push_back(std::move(file));
  }
  return static_cast<std::uint32_t>(place->second);
}

CodeLogReader::CodeLogReader(const Channel& shared, std::uint32_t number, CodeFiles& files, Effort& effort)
    : effort_(effort) {
  const int file = shared.file.get();
  if (!linux::read_at(file, channel::code_log_offset(number), &head_, sizeof head_)) return;
  head_.bytes = std::clamp(head_.bytes, channel::code_records_at, channel::code_log_bytes);
  // Works on a copy, so that running processes cannot change it later. Ignores everything after the last written page,
  // whatever the header contains.
  const std::uint64_t begin = channel::code_log_offset(number) + channel::code_records_at;
  const std::uint64_t claimed = head_.bytes - channel::code_records_at;
  const std::uint64_t written = std::min(claimed, linux::data_end(file, begin, begin + claimed) - begin);
  if (!effort_.take_log_bytes(written)) return;
  memory_ = std::make_unique_for_overwrite<std::uint64_t[]>(written / sizeof(std::uint64_t));
  bytes_ = written / sizeof(std::uint64_t) * sizeof(std::uint64_t);
  if (!linux::read_at(file, begin, memory_.get(), bytes_)) bytes_ = 0;
  read_corrections(shared, number);
  read(files);
}

const LoggedTrace* CodeLogReader::trace_of(std::uint32_t segment, std::uint64_t bytes) const {
  const auto has_segment = [segment](const LoggedTrace& t) { return segment - t.record->number < t.record->segments; };
  // Most callers ask for segments in order.
  if (next_ >= traces_.size() || !has_segment(traces_[next_])) {
    const auto begins_after = [](std::uint32_t number, const LoggedTrace& t) { return number < t.record->number; };
    const auto after = std::upper_bound(traces_.begin(), traces_.end(), segment, begins_after);
    if (after == traces_.begin() || !has_segment(*std::prev(after))) return nullptr;
    next_ = static_cast<std::size_t>(after - traces_.begin()) - 1;
  }
  const LoggedTrace& trace = traces_[next_++];
  return offset_of(trace.record) < bytes ? &trace : nullptr;
}

const channel::CodeJump* CodeLogReader::jump_of(std::uint32_t segment, std::uint64_t bytes) const {
  const auto at = std::lower_bound(jumps_.begin(), jumps_.end(), segment,
                                   [](const auto* jump, std::uint32_t number) { return jump->number < number; });
  return at != jumps_.end() && (*at)->number == segment && offset_of(*at) < bytes ? *at : nullptr;
}

const CodeMapping* CodeLogReader::mapping_of(std::uint64_t pc, std::uint32_t mappings) const {
  std::uint32_t i = std::min(mappings, all_mappings());
  const std::uint32_t all = i;
  while (i > 0 && !mappings_[i - 1].has(pc)) --i;
  return effort_.take_steps(all - i + 1) && i > 0 ? &mappings_[i - 1] : nullptr;
}

const CodeMapping* CodeLogReader::numbered_mapping(std::uint64_t pc, std::uint32_t number,
                                                   std::uint32_t mappings) const {
  const std::uint32_t all = std::min(mappings, all_mappings());
  std::uint32_t i = all;
  while (i > 0 && (mappings_[i - 1].number != number || !mappings_[i - 1].has(pc))) --i;
  return effort_.take_steps(all - i + 1) && i > 0 ? &mappings_[i - 1] : nullptr;
}

std::uint32_t CodeLogReader::mappings_below(std::uint64_t bytes) const {
  const auto end = std::lower_bound(mapping_offsets_.begin(), mapping_offsets_.end(), bytes);
  return static_cast<std::uint32_t>(end - mapping_offsets_.begin());
}

void CodeLogReader::read_corrections(const Channel& shared, std::uint32_t number) {
  const int file = shared.file.get();
  const std::uint64_t begin = channel::code_log_offset(number) + channel::code_corrections_at,
                      limit = channel::code_log_offset(number) + channel::code_records_at;
  const auto table = read_table<channel::CodeCorrection>(file, begin, limit);
  std::copy_if(table.begin(), table.end(), std::back_inserter(corrections_),
               [](const channel::CodeCorrection& c) { return c.site != 0; });
}

void CodeLogReader::read(CodeFiles& files) {
  const std::uint64_t end = bytes_;
  for (std::uint64_t at = 0; at + sizeof(channel::CodeRecord) <= end;) {
    const auto* const record = reinterpret_cast<const channel::CodeRecord*>(this->bytes() + at);
    const std::uint64_t bytes = record->bytes;
    if (bytes < sizeof *record || bytes % 8 != 0 || bytes > end - at) return;
    switch (record->kind) {
      case CodeRecordKind::mapping:
        add_mapping(reinterpret_cast<const channel::CodeMapping*>(record), at + channel::code_records_at, files);
        break;
      case CodeRecordKind::trace: add_trace(reinterpret_cast<const channel::CodeTrace*>(record)); break;
      case CodeRecordKind::counts:
      case CodeRecordKind::calls:
      case CodeRecordKind::statistics:
      case CodeRecordKind::python:
      case CodeRecordKind::shared: add_counts(reinterpret_cast<const channel::CodeCounts*>(record)); break;
      case CodeRecordKind::form: add_form(reinterpret_cast<const channel::CodeForm*>(record)); break;
      case CodeRecordKind::jump:
        if (bytes >= sizeof(channel::CodeJump)) jumps_.push_back(reinterpret_cast<const channel::CodeJump*>(record));
        break;
      case CodeRecordKind::none: break;  // its process was killed while it wrote the record; others may have continued
      default: return;
    }
    at += bytes;
  }
  const auto by_number = [](const LoggedTrace& a, const LoggedTrace& b) { return a.record->number < b.record->number; };
  if (!std::is_sorted(traces_.begin(), traces_.end(), by_number)) std::sort(traces_.begin(), traces_.end(), by_number);
  std::sort(jumps_.begin(), jumps_.end(), [](const auto* a, const auto* b) { return a->number < b->number; });
}

void CodeLogReader::add_mapping(const channel::CodeMapping* m, std::uint64_t at, CodeFiles& files) {
  if (m->head.bytes < sizeof *m) return;
  mappings_.push_back({m->start, m->end, m->offset, files.number(*m), m->number});
  mapping_offsets_.push_back(at);
}

void CodeLogReader::add_trace(const channel::CodeTrace* t) {
  const std::size_t of_place = sizeof(channel::CodePlace) + (t->has_forms != 0 ? sizeof(std::uint16_t) : 0);
  const std::uint64_t places = t->head.bytes < sizeof *t ? 0 : (t->head.bytes - sizeof *t) / of_place;
  if (t->places <= places && t->segments > 0 && t->number < channel::segment_limit)
    traces_.push_back({t, all_mappings()});
}

void CodeLogReader::add_form(const channel::CodeForm* f) {
  constexpr std::uint32_t most = 0xffff;
  if (f->head.bytes < sizeof *f || f->number > most) return;
  if (forms_.size() <= f->number) forms_.resize(f->number + 1);
  forms_[f->number] = f;
}

const channel::CodeForm* CodeLogReader::form(std::uint32_t number) const {
  return number < forms_.size() ? forms_[number] : nullptr;
}

void CodeLogReader::add_counts(const channel::CodeCounts* c) {
  if (c->head.bytes < sizeof *c) return;
  if (c->head.kind == CodeRecordKind::shared) return shared_with_.push_back(c->process);
  if (c->area >= channel::area_limit) return;
  auto& areas = c->head.kind == CodeRecordKind::calls        ? calls_
                : c->head.kind == CodeRecordKind::statistics ? values_
                : c->head.kind == CodeRecordKind::python     ? python_
                                                             : counts_;
  areas.push_back({c->process, c->thread, c->area, c->part});
}

}  // namespace tally::backend::engine
