#include "tally/counting/backend/engine/profile/code_whereabouts.hpp"

#include <algorithm>
#include <cstring>

namespace tally::backend::engine {

using channel::CodeRecordKind;

void CodeLocator::refresh(std::uint32_t process) {
  const std::uint32_t last =
      std::min(__atomic_load_n(&shared_.records.header().next_code_log, __ATOMIC_ACQUIRE), channel::code_log_limit - 1);
  for (; last_ < last; ++last_) {
    const std::uint32_t number = last_ + 1;
    Log& log = logs_[number];
    // A new log sets its process later.
    if (!linux::read_at(shared_.file.get(), channel::code_log_offset(number), &log.head, sizeof log.head) ||
        log.head.bytes == 0)
      break;
    of_process_[log.head.process].push_back(number);
    read_on(number, log);
  }
  const auto logs = of_process_.find(process);
  if (logs == of_process_.end()) return;
  const std::vector<std::uint32_t> numbers = logs->second;
  for (const std::uint32_t number : numbers) read_on(number, logs_[number]);
}

void CodeLocator::read_on(std::uint32_t number, Log& log) {
  (void)engine::read_on(shared_.file.get(), number, log,
                        [&](const channel::CodeRecord& record, std::uint64_t at, std::uint64_t place) {
                          if (record.kind == CodeRecordKind::shared) add_sharing(number, record, place);
                          if (record.kind == CodeRecordKind::mapping) add_mapping(record, at, place, log);
                        });
}

void CodeLocator::add_sharing(std::uint32_t number, const channel::CodeRecord& record, std::uint64_t place) {
  channel::CodeCounts counts{};
  if (record.bytes < sizeof counts || !linux::read_at(shared_.file.get(), place, &counts, sizeof counts)) return;
  auto& numbers = of_process_[counts.process];
  if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
}

void CodeLocator::add_mapping(const channel::CodeRecord& record, std::uint64_t at, std::uint64_t place, Log& log) {
  if (record.bytes < sizeof(channel::CodeMapping)) return;
  // Aligned for the record's numbers.
  std::vector<std::uint64_t> memory(record.bytes / 8);
  if (!linux::read_at(shared_.file.get(), place, memory.data(), record.bytes)) return;
  const auto* const m = reinterpret_cast<const channel::CodeMapping*>(memory.data());
  if (m->head.bytes != record.bytes) return;
  log.mappings.emplace_back(at, CodeMapping{m->start, m->end, m->offset, files_.number(*m), m->number});
}

std::optional<CodePlaceInFile> CodeLocator::find(std::uint32_t process, std::uint64_t address) {
  std::optional<CodeMapping> found;
  const auto logs = of_process_.find(process);
  if (logs == of_process_.end()) return std::nullopt;
  for (std::uint32_t number : logs->second) {
    // A forked child continues its parent's log as it was then.
    for (std::uint64_t below = channel::code_log_bytes; number != 0 && logs_.contains(number);) {
      const Log& log = logs_.at(number);
      for (const auto& [at, mapping] : log.mappings) {
        if (at >= below || !mapping.has(address)) continue;
        if (found && (found->file != mapping.file || found->offset - found->start != mapping.offset - mapping.start))
          return std::nullopt;
        found = mapping;
      }
      below = log.head.inherited_bytes;
      // The program may have written this number: avoids cycles.
      number = log.head.inherited < number ? log.head.inherited : 0;
    }
  }
  if (!found) return std::nullopt;
  return CodePlaceInFile{&files_.at(found->file), found->offset + (address - found->start)};
}

}  // namespace tally::backend::engine
