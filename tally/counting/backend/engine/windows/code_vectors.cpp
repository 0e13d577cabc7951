#include "tally/counting/backend/engine/windows/code_vectors.hpp"

#include <algorithm>

namespace tally::backend::engine {

using channel::CodeRecordKind;

CodeBlocks::Log* CodeBlocks::read_on(std::uint32_t number) {
  if (number == 0 || number >= channel::code_log_limit) return nullptr;
  Log& log = logs_[number];
  const auto each = [&](const channel::CodeRecord& record, std::uint64_t at, std::uint64_t place) {
    if (record.kind == CodeRecordKind::trace) add_trace(record, at, place, log);
  };
  return engine::read_on(shared_.file.get(), number, log, each) ? &log : nullptr;
}

void CodeBlocks::add_trace(const channel::CodeRecord& record, std::uint64_t at, std::uint64_t place, Log& log) {
  if (record.bytes < sizeof(channel::CodeTrace)) return;
  Trace added{std::vector<std::uint64_t>(record.bytes / 8), at};
  if (!linux::read_at(shared_.file.get(), place, added.record.data(), record.bytes)) return;
  const channel::CodeTrace& head = added.head();
  const std::uint64_t places = (record.bytes - sizeof head) / sizeof(channel::CodePlace);
  if (head.places > places || head.segments == 0 || head.number > channel::segment_limit - head.segments) return;
  find_blocks(log.head.process, added);
  log.traces.push_back(std::move(added));
  const Trace& trace = log.traces.back();
  const std::uint32_t first = trace.head().number, end = first + trace.head().segments;
  if (log.by_segment.size() < end) log.by_segment.resize(end + end / 2);
  std::fill(log.by_segment.begin() + first, log.by_segment.begin() + end, &trace);
}

const CodeBlocks::Trace* CodeBlocks::cached(const Log& log, std::uint32_t segment) const {
  return segment < log.by_segment.size() ? log.by_segment[segment] : nullptr;
}

const CodeBlocks::Trace* CodeBlocks::trace_of(std::uint32_t number, std::uint32_t segment) {
  if (const auto log = logs_.find(number); log != logs_.end())
    if (const Trace* const trace = cached(log->second, segment); trace != nullptr) return trace;
  const Trace* const found = segment < channel::segment_limit ? find(number, segment) : nullptr;
  if (found == nullptr) return nullptr;
  auto& by_segment = logs_[number].by_segment;
  if (by_segment.size() <= segment) by_segment.resize(segment + 1);
  return by_segment[segment] = found;
}

// Searches the log, and the logs that it continues.
const CodeBlocks::Trace* CodeBlocks::find(std::uint32_t number, std::uint32_t segment) {
  for (std::uint64_t below = channel::code_log_bytes; number != 0;) {
    const Log* const log = read_on(number);
    if (log == nullptr) return nullptr;
    if (const Trace* const trace = cached(*log, segment); trace != nullptr && trace->at < below) return trace;
    below = log->head.inherited_bytes;
    // The program may have written this number: avoids cycles.
    number = log->head.inherited < number ? log->head.inherited : 0;
  }
  return nullptr;
}

std::optional<std::uint32_t> CodeBlocks::process_of(std::uint32_t log) {
  auto found = logs_.find(log);
  if (found == logs_.end() && read_on(log) != nullptr) found = logs_.find(log);
  return found != logs_.end() ? std::optional(found->second.head.process) : std::nullopt;
}

void CodeBlocks::find_blocks(std::uint32_t process, Trace& trace) {
  auto& numbers = numbers_[process];
  std::uint32_t block = 0;
  for (std::uint32_t i = 0; i < trace.head().places; ++i) {
    const channel::CodePlace& place = trace.places()[i];
    const std::uint64_t pc = trace.head().pc + static_cast<std::uint64_t>(std::int64_t{place.pc});
    const auto found = numbers.find(pc);
    if (found != numbers.end()) {
      block = found->second;
    } else {
      if (block == 0) block = ++blocks_;
      if (!(place.flags & channel::place_is_end)) numbers[pc] = block;
    }
    trace.blocks.push_back(block);
    if (place.field != 0 || (place.flags & channel::place_branches)) block = 0;
  }
}

std::uint32_t CodeBlocks::block_of(std::uint32_t log, std::uint64_t pc) {
  const auto found = logs_.find(log);
  auto& number = numbers_[found != logs_.end() ? found->second.head.process : 0][pc];
  if (number == 0) number = ++blocks_;
  return number;
}

void CodeVector::add(CodeBlocks& blocks, std::uint32_t log, std::span<const std::uint64_t> words) {
  // The segments of a trace are next to each other; together they determine the executions of its instructions.
  reader_.read(
      words,
      [&](std::uint32_t segment, std::uint32_t times) {
        if (const CodeBlocks::Trace* const trace = blocks.trace_of(log, segment); trace != trace_) {
          end_trace();
          trace_ = trace;
          counters_.assign(trace != nullptr ? trace->head().segments : 0, 0);
        }
        if (trace_ != nullptr) counters_[segment - trace_->head().number] += times;
      },
      [&](std::uint64_t pc, std::int32_t times) { add(blocks.block_of(log, pc), times); });
}

void CodeVector::end_trace() {
  if (trace_ != nullptr) add(*trace_, counters_);
  trace_ = nullptr;
}

void CodeVector::add(const CodeBlocks::Trace& trace, const std::vector<std::uint64_t>& counters) {
  std::uint32_t place = 0;
  channel::walk(
      trace.head(), trace.places(), [&](std::uint32_t i) { return counters[i]; },
      [&](const channel::CodePlace& p, std::uint64_t reached, std::uint64_t, std::uint64_t) {
        const std::uint32_t block = trace.blocks[place++];
        if (reached != 0 && !(p.flags & channel::place_is_end)) add(block, static_cast<std::int64_t>(reached));
      });
}

void CodeVector::add(std::uint32_t block, std::int64_t instructions) {
  if (counts_.size() <= block) counts_.resize(block + block / 2 + 1);
  if (counts_[block] == 0) touched_.push_back(block);
  counts_[block] += instructions;
}

std::vector<result::BlockCount> CodeVector::take() {
  end_trace();
  std::vector<result::BlockCount> vector;
  std::sort(touched_.begin(), touched_.end());
  for (const std::uint32_t block : touched_) {
    // A count that was taken back to 0 and added to again is in the list twice.
    if (counts_[block] != 0) vector.push_back({block, counts_[block]});
    counts_[block] = 0;
  }
  touched_.clear();
  return vector;
}

}  // namespace tally::backend::engine
