#include "tally/backend/sim/code_counts.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <unordered_map>

#include "tally/backend/sim/counts.hpp"
#include "tally/backend/sim/sound.hpp"
#include "tally/base/text.hpp"

namespace tally::backend::sim {
namespace {

using channel::CodeRecordKind;

struct Mapping {
  std::uint64_t start, end, offset;
  std::uint32_t file;

  bool has(std::uint64_t pc) const { return pc - start < end - start; }
};

/// A trace of a log, and how many of the log's mappings came before it.
struct Trace {
  const channel::CodeTrace* record;
  std::uint32_t mappings;
};

/// The file names of all logs, each once.
class Files {
 public:
  std::uint32_t number(const channel::CodeMapping& m) {
    const char* const path = reinterpret_cast<const char*>(&m + 1);
    result::CodeFile file{std::string(path, ::strnlen(path, m.head.bytes - sizeof m)), m.inode, m.device_major,
                          m.device_minor};
    const auto [place, is_new] =
        numbers_.try_emplace({file.path, file.inode, file.device_major, file.device_minor}, files_.size());
    if (is_new) files_.push_back(std::move(file));
    return static_cast<std::uint32_t>(place->second);
  }
  const result::CodeFile& at(std::uint32_t number) const { return files_[number]; }
  std::vector<result::CodeFile> take() { return std::move(files_); }

 private:
  std::map<std::tuple<std::string, std::uint64_t, std::uint32_t, std::uint32_t>, std::size_t> numbers_;
  std::vector<result::CodeFile> files_;
};

/// One log, read. Whatever it says, nothing outside of it is read.
class Log {
 public:
  struct Counts {
    std::uint32_t process, thread, area;
  };

  Log(const Channel& shared, std::uint32_t number, Files& files) {
    const int file = shared.file.get();
    if (!linux::read_at(file, channel::code_log_offset(number), &head_, sizeof head_)) return;
    head_.bytes = std::clamp(head_.bytes, channel::code_records_at, channel::code_log_bytes);
    auto mapped = linux::map_shared(file, channel::code_log_offset(number), head_.bytes);
    if (!mapped) return;
    memory_ = std::move(*mapped);
    read(files);
  }

  const channel::CodeLog& head() const { return head_; }
  const std::vector<Counts>& counts() const { return counts_; }
  const std::vector<std::uint32_t>& shared_with() const { return shared_with_; }

  /// The trace with this segment among its own, of those below `bytes` of the log; null where none is.
  const Trace* trace_of(std::uint32_t segment, std::uint64_t bytes) const {
    const auto after = std::upper_bound(traces_.begin(), traces_.end(), segment,
                                        [](std::uint32_t number, const Trace& t) { return number < t.record->number; });
    if (after == traces_.begin()) return nullptr;
    const Trace& trace = *std::prev(after);
    const bool is_older = offset_of(trace.record) < bytes;
    return is_older && segment < trace.record->number + trace.record->segments ? &trace : nullptr;
  }

  /// The mapping of an address as it was when a trace was made, or a log was inherited; null where none is known.
  const Mapping* mapping_of(std::uint64_t pc, std::uint32_t before) const {
    for (std::uint32_t i = before; i-- > 0;)
      if (mappings_[i].has(pc)) return &mappings_[i];
    return nullptr;
  }
  std::uint32_t mappings_below(std::uint64_t bytes) const {
    const auto end = std::upper_bound(mapping_offsets_.begin(), mapping_offsets_.end(), bytes);
    return static_cast<std::uint32_t>(end - mapping_offsets_.begin());
  }
  std::uint32_t all_mappings() const { return static_cast<std::uint32_t>(mappings_.size()); }

  template <class Each>
  void corrections(Each&& each) const {
    if (memory_.data() == nullptr) return;
    const auto* const table =
        reinterpret_cast<const channel::CodeCorrection*>(memory_.data() + channel::code_corrections_at);
    for (std::uint32_t i = 0; i < channel::code_correction_limit; ++i)
      if (table[i].pc != 0) each(table[i]);
  }

 private:
  std::uint64_t offset_of(const void* record) const {
    return static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(record) - memory_.data());
  }

  void read(Files& files) {
    for (std::uint64_t at = channel::code_records_at; at + sizeof(channel::CodeRecord) <= head_.bytes;) {
      const auto* const record = reinterpret_cast<const channel::CodeRecord*>(memory_.data() + at);
      const std::uint64_t bytes = record->bytes;
      if (bytes < sizeof *record || bytes % 8 != 0 || bytes > head_.bytes - at) return;
      switch (record->kind) {
        case CodeRecordKind::mapping:
          add_mapping(reinterpret_cast<const channel::CodeMapping*>(record), at, files);
          break;
        case CodeRecordKind::trace: add_trace(reinterpret_cast<const channel::CodeTrace*>(record)); break;
        case CodeRecordKind::counts:
        case CodeRecordKind::shared: add_counts(reinterpret_cast<const channel::CodeCounts*>(record)); break;
        case CodeRecordKind::none: break;  // its process was killed while it wrote it; others may have gone on
        default: return;
      }
      at += bytes;
    }
    const auto by_number = [](const Trace& a, const Trace& b) { return a.record->number < b.record->number; };
    if (!std::is_sorted(traces_.begin(), traces_.end(), by_number))
      std::sort(traces_.begin(), traces_.end(), by_number);
  }

  void add_mapping(const channel::CodeMapping* m, std::uint64_t at, Files& files) {
    if (m->head.bytes < sizeof *m) return;
    mappings_.push_back({m->start, m->end, m->offset, files.number(*m)});
    mapping_offsets_.push_back(at);
  }

  void add_trace(const channel::CodeTrace* t) {
    const std::uint64_t places =
        t->head.bytes < sizeof *t ? 0 : (t->head.bytes - sizeof *t) / sizeof(channel::CodePlace);
    if (t->places <= places && t->segments > 0 && t->number < channel::segment_limit)
      traces_.push_back({t, all_mappings()});
  }

  void add_counts(const channel::CodeCounts* c) {
    if (c->head.bytes < sizeof *c) return;
    if (c->head.kind == CodeRecordKind::shared)
      shared_with_.push_back(c->process);
    else if (c->area < channel::area_limit)
      counts_.push_back({c->process, c->thread, c->area});
  }

  channel::CodeLog head_{};
  linux::Mapping memory_;
  std::vector<Trace> traces_;  // by rising numbers
  std::vector<Mapping> mappings_;
  std::vector<std::uint64_t> mapping_offsets_;
  std::vector<Counts> counts_;
  std::vector<std::uint32_t> shared_with_;
};

channel::Totals totals_of(const channel::CodePlace& p, std::int64_t reached, std::int64_t taken) {
  channel::Totals totals;
  totals.field[channel::instructions] = reached;
  totals.field[channel::loads] = reached * p.loads;
  totals.field[channel::stores] = reached * p.stores;
  totals.field[channel::taken] = taken;
  if (p.field > channel::taken && p.field < channel::field_count) totals.field[p.field] = reached;
  if (p.field == channel::conditional) totals.field[channel::conditional] = reached;
  return totals;
}

/// What one instruction counted.
struct Sum {
  channel::Totals totals;
  bool calls = false;
};

/// Of one owner: by file and address.
using Sums = std::map<std::pair<std::uint32_t, std::uint64_t>, Sum>;

class Reader {
 public:
  Reader(const Request& request, const Channel& shared, const std::vector<EventCount>& counts)
      : request_(request), shared_(shared) {
    made_.events = counts;
  }

  result::CodeCounts read() {
    const std::uint32_t last = std::min(shared_.records.header().next_code_log, channel::code_log_limit - 1);
    for (std::uint32_t i = 1; i <= last; ++i) logs_.push_back(std::make_unique<Log>(shared_, i, files_));
    for (std::uint32_t i = 1; i <= last; ++i) read_log(i);
    read_living();
    finish();
    return std::move(made_);
  }

 private:
  const Log& log(std::uint32_t number) const { return *logs_[number - 1]; }

  void read_log(std::uint32_t number) {
    const Log& one = log(number);
    latest_[one.head().process] = number;
    for (const std::uint32_t process : one.shared_with()) latest_[process] = number;
    for (const Log::Counts& counts : one.counts()) add_area(number, counts.area, owner(counts.process, counts.thread));
    one.corrections([&](const channel::CodeCorrection& c) {
      Place at = place_of(number, one.all_mappings(), c.pc);
      channel::Totals& totals = sums_[owner(c.process, 0)][{at.file, at.address}].totals;
      for (std::uint32_t f = 0; f < channel::field_count; ++f) totals.add_to(f, c.field[f], 1);
    });
  }

  /// Threads that had no time to say what they counted.
  void read_living() {
    const std::uint32_t threads = claimed_threads(shared_);
    for (std::uint32_t i = 1; i <= threads; ++i) {
      const channel::Thread& thread = shared_.records.thread(i);
      const auto known = latest_.find(thread.process);
      if (thread.state != channel::State::running || thread.area == 0 || thread.area >= channel::area_limit ||
          known == latest_.end())
        continue;
      add_area(known->second, thread.area, owner(thread.process, i));
    }
  }

  /// By the numbers of the records; thread 0: of all that are not told apart.
  std::uint32_t owner(std::uint32_t process, std::uint32_t thread) {
    const auto [place, is_new] = owners_.try_emplace({process, thread}, made_.owners.size());
    if (!is_new) return static_cast<std::uint32_t>(place->second);
    result::CodeOwner made;
    if (process < channel::process_limit) {
      const channel::Process& p = shared_.records.process(process);
      made.pid = p.pid;
      made.command = printable(std::string(p.name, ::strnlen(p.name, sizeof p.name)));
    }
    if (thread != 0 && thread < channel::thread_limit) {
      const channel::Thread& t = shared_.records.thread(thread);
      made.tid = t.tid;
      made.thread = printable(std::string(t.name, ::strnlen(t.name, sizeof t.name)));
    }
    made_.owners.push_back(std::move(made));
    sums_.emplace_back();
    return static_cast<std::uint32_t>(place->second);
  }

  void add_area(std::uint32_t number, std::uint32_t area, std::uint32_t owner) {
    // Only what was written of it has anything to say.
    const std::uint64_t begin = channel::area_offset(area), limit = begin + channel::segment_limit * 8;
    const std::uint64_t end = linux::data_end(shared_.file.get(), begin, limit);
    std::vector<std::uint64_t> counters((end - begin) / 8);
    if (counters.empty() || !linux::read_at(shared_.file.get(), begin, counters.data(), counters.size() * 8)) return;
    for (std::uint32_t i = 1; i < channel::first_segment && i < counters.size(); ++i) add_repeated(i, counters[i]);
    for (std::uint32_t i = channel::first_segment; i < counters.size();) {
      std::uint32_t next = i + 1;
      if (counters[i] != 0) {
        if (const auto [source, trace] = find(number, i); trace != nullptr) {
          add_trace(source, *trace, counters, owner);
          next = trace->record->number + trace->record->segments;
        }
      }
      i = next;
    }
  }

  void add_repeated(std::uint32_t dynamic, std::uint64_t times) {
    const auto n = static_cast<std::int64_t>(times);
    if (dynamic == channel::dynamic_load || dynamic == channel::dynamic_move) repeated_.add_to(channel::loads, 1, n);
    if (dynamic == channel::dynamic_compare) repeated_.add_to(channel::loads, 2, n);
    if (dynamic == channel::dynamic_store || dynamic == channel::dynamic_move) repeated_.add_to(channel::stores, 1, n);
  }

  /// The trace of a segment, and the log that has it: this one, or one that it goes on from.
  std::pair<std::uint32_t, const Trace*> find(std::uint32_t number, std::uint32_t segment) const {
    std::uint64_t bytes = channel::code_log_bytes;
    while (number != 0 && number <= logs_.size()) {
      if (const Trace* const trace = log(number).trace_of(segment, bytes); trace != nullptr) return {number, trace};
      const channel::CodeLog& head = log(number).head();
      if (head.inherited >= number) break;
      bytes = head.inherited_bytes;
      number = head.inherited;
    }
    return {0, nullptr};
  }

  struct Place {
    std::uint32_t file;
    std::uint64_t address;
  };

  Place place_of(std::uint32_t number, std::uint32_t mappings, std::uint64_t pc) {
    while (number != 0 && number <= logs_.size()) {
      if (const Mapping* const m = log(number).mapping_of(pc, mappings); m != nullptr)
        return {m->file, is_file(m->file) ? pc - m->start + m->offset : pc};
      const channel::CodeLog& head = log(number).head();
      if (head.inherited == 0 || head.inherited >= number) break;
      mappings = log(head.inherited).mappings_below(head.inherited_bytes);
      number = head.inherited;
    }
    return {nameless(), pc};
  }

  bool is_file(std::uint32_t file) {
    while (is_file_.size() <= file)
      is_file_.push_back(files_.at(static_cast<std::uint32_t>(is_file_.size())).inode != 0);
    return is_file_[file];
  }
  std::uint32_t nameless() {
    channel::CodeMapping none{};
    none.head.bytes = sizeof none;
    return files_.number(none);
  }

  void add_trace(std::uint32_t number, const Trace& trace, const std::vector<std::uint64_t>& counters,
                 std::uint32_t owner) {
    const channel::CodeTrace& t = *trace.record;
    const auto* const places = reinterpret_cast<const channel::CodePlace*>(&t + 1);
    const auto counter = [&](std::uint32_t i) {
      return std::size_t{t.number} + i < counters.size() ? counters[t.number + i] : 0;
    };
    Sums& sums = sums_[owner];
    auto hint = sums.end();
    channel::walk(
        t, places, counter,
        [&](const channel::CodePlace& p, std::uint64_t reached, std::uint64_t taken, std::uint64_t) {
          if (reached == 0 || (p.flags & channel::place_is_end)) return;
          const std::uint64_t pc = t.pc + static_cast<std::uint64_t>(std::int64_t{p.pc});
          const Place at = place_of(number, trace.mappings, pc);
          hint = sums.try_emplace(hint, {at.file, at.address});
          hint->second.totals.add(totals_of(p, static_cast<std::int64_t>(reached), static_cast<std::int64_t>(taken)));
          hint->second.calls |= p.field == channel::direct_calls || p.field == channel::indirect_calls;
          ++hint;
        });
  }

  void finish() {
    made_.files = files_.take();
    const std::size_t n = request_.events.size();
    std::vector<std::int64_t> placed(n);
    for (std::uint32_t owner = 0; owner < sums_.size(); ++owner) {
      for (const auto& [at, sum] : sums_[owner]) {
        const auto& f = sum.totals.field;
        made_.rows.push_back({owner, at.first, at.second, f[channel::instructions], f[channel::taken], sum.calls});
        for (std::size_t e = 0; e < n; ++e) {
          const std::int64_t value = value_of(request_.events[e].id, sum.totals).value_or(0);
          made_.counts.push_back(value);
          placed[e] += value;
        }
      }
      sums_[owner].clear();
    }
    for (std::size_t e = 0; e < n; ++e) {
      made_.repeated.push_back(value_of(request_.events[e].id, repeated_).value_or(0));
      const auto& total = made_.events[e].count.value;
      made_.unplaced.push_back(total ? *total - placed[e] - made_.repeated[e] : 0);
    }
  }

  const Request& request_;
  const Channel& shared_;
  Files files_;
  std::vector<char> is_file_;
  std::vector<std::unique_ptr<Log>> logs_;                   // from number 1 on
  std::unordered_map<std::uint32_t, std::uint32_t> latest_;  // process → its log
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> owners_;
  std::vector<Sums> sums_;  // of each owner
  channel::Totals repeated_;
  result::CodeCounts made_;
};

}  // namespace

result::CodeCounts code_counts(const Request& request, const Channel& shared, const std::vector<EventCount>& counts) {
  return Reader(request, shared, counts).read();
}

}  // namespace tally::backend::sim
