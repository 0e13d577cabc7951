#include "tally/counting/records/records_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/base/version.hpp"

namespace tally::detail {
namespace {

// A program may start thousands of processes, and each keeps its first block until the command ends.
constexpr std::size_t first_block = std::size_t{8} << 10;
constexpr std::size_t most_doublings = 3;
constexpr std::size_t page = std::size_t{4} << 10;
constexpr std::size_t alignment = 64;  // as far as possible, a thread's records share no cache line with another's
constexpr std::string_view mark = "tally records\n";

struct BlockHead {
  char mark[16];
  char version[32];          // of tally: the layout belongs to it
  std::uint32_t record = 0;  // sizes of structs: builds of one version may differ
  std::uint32_t overheads = 0;
  std::uint64_t bytes = 0;  // of the whole block
  std::uint64_t used = 0;   // bytes of complete items, with this head
};

enum class Kind : std::uint32_t { record = 1, description };

struct ItemHead {
  Kind kind{};
  std::uint32_t text_bytes = 0;  // at the end of the item: the name, or the description
  std::uint64_t bytes = 0;       // of the whole item
  std::uint64_t counters = 0, thread = 0;
  std::int32_t thread_number = 0, openmp_number = 0;
  bool has_openmp_number = false, has_histograms = false;
};

constexpr std::size_t aligned(std::size_t bytes, std::size_t to = alignment) { return (bytes + to - 1) / to * to; }

constexpr std::size_t head_bytes = aligned(sizeof(ItemHead));
constexpr std::size_t block_head_bytes = aligned(sizeof(BlockHead));

BlockHead block_head(std::size_t bytes) {
  BlockHead head{};
  mark.copy(head.mark, sizeof head.mark - 1);
  version().copy(head.version, sizeof head.version - 1);
  head.record = sizeof(Record);
  head.overheads = sizeof(Overheads);
  head.bytes = bytes;
  head.used = block_head_bytes;
  return head;
}

// A description is a list of texts, each after its length.
class Texts {
 public:
  void add(std::string_view text) {
    all_ += fmt::format("{} ", text.size());
    all_ += text;
  }
  void add(std::int64_t number) { add(fmt::format("{}", number)); }
  const std::string& all() const { return all_; }

 private:
  std::string all_;
};

class TextReader {
 public:
  explicit TextReader(std::string_view all) : all_(all) {}
  std::string_view text() {
    const std::size_t blank = all_.find(' ');
    const auto bytes = parse_integer(all_.substr(0, blank));
    if (blank == std::string_view::npos || !bytes || *bytes < 0 ||
        static_cast<std::uint64_t>(*bytes) > all_.size() - blank - 1) {
      all_ = {};
      is_damaged_ = true;
      return {};
    }
    const std::string_view one = all_.substr(blank + 1, static_cast<std::size_t>(*bytes));
    all_.remove_prefix(blank + 1 + one.size());
    return one;
  }
  std::int64_t number() {
    const auto value = parse_integer(text());
    is_damaged_ = is_damaged_ || !value;
    return value.value_or(0);
  }
  bool is_damaged() const { return is_damaged_; }

 private:
  std::string_view all_;
  bool is_damaged_ = false;
};

std::string description(const CountedEvents& counted, const result::ProgramRegions& program) {
  Texts texts;
  texts.add(program.pid);
  texts.add(program.rank ? fmt::format("{}", *program.rank) : "");
  texts.add(std::ssize(program.command));
  for (const std::string& word : program.command) texts.add(word);
  texts.add(std::ssize(counted.events));
  for (std::size_t i = 0; i < counted.events.size(); ++i) {
    const event::Event& event = counted.events[i];
    const Count& zero = counted.zeros[i];
    texts.add(static_cast<std::int64_t>(event.id));
    texts.add(static_cast<std::int64_t>(event.mode));
    texts.add(event.asked);
    texts.add(event.label);
    texts.add(name(zero.trust));
    texts.add(zero.reason);
    texts.add(zero.source.text());
    texts.add(zero.model);
  }
  texts.add(std::ssize(counted.metrics));
  for (const MetricChoice& metric : counted.metrics) {
    texts.add(metric.name);
    texts.add(metric.unit);
    texts.add(metric.row_event);
    texts.add(metric.formula.text());
    texts.add(static_cast<std::int64_t>(metric.mode));
    texts.add(metric.asked ? 1 : 0);
  }
  return texts.all();
}

// Returns false if the text is damaged.
bool read_description(std::string_view text, CountedEvents& counted, result::ProgramRegions& program) {
  TextReader texts(text);
  program.pid = texts.number();
  const std::string_view rank = texts.text();
  program.rank = std::nullopt;
  if (const auto number = parse_integer(rank)) program.rank = static_cast<std::int32_t>(*number);
  program.command.clear();
  for (std::int64_t words = texts.number(); words > 0 && !texts.is_damaged(); --words)
    program.command.emplace_back(texts.text());
  const std::int64_t events = texts.number();
  if (events < 0 || events > std::int64_t{most_events}) return false;
  for (std::int64_t i = 0; i < events; ++i) {
    event::Event event;
    event.id = static_cast<event::Id>(texts.number());
    event.mode = static_cast<Mode>(texts.number());
    event.asked = texts.text();
    event.label = texts.text();
    Count zero;
    zero.trust = trust_of(texts.text()).value_or(Trust::absent);
    if (zero.trust != Trust::absent) zero.value = 0;
    zero.reason = texts.text();
    zero.source = parse_source(texts.text());
    zero.model = texts.text();
    counted.events.push_back(std::move(event));
    counted.zeros.push_back(std::move(zero));
  }
  for (std::int64_t metrics = texts.number(); metrics > 0 && !texts.is_damaged(); --metrics) {
    MetricChoice metric;
    metric.name = texts.text();
    metric.unit = texts.text();
    metric.row_event = texts.text();
    auto formula = Formula::parse(texts.text());
    if (!formula) return false;
    metric.formula = *std::move(formula);
    metric.mode = static_cast<Mode>(texts.number());
    metric.asked = texts.number() != 0;
    counted.metrics.push_back(std::move(metric));
  }
  return !texts.is_damaged();
}

// The records of a Counters object as they are read.
struct ReadCounters {
  std::string description;
  Overheads overhead;
  std::vector<std::string> names;
  std::vector<std::pair<std::uint64_t, ThreadRecords>> threads;  // by the number that distinguishes them
};

struct ReadItems {
  std::map<std::uint64_t, ReadCounters> counters;
  std::vector<std::unique_ptr<Record>> records;
  std::vector<std::unique_ptr<Histograms>> histograms;
  std::map<std::int32_t, std::int32_t> openmp_numbers;
};

template <class Value>
Value copied(std::string_view bytes, std::size_t at) {
  Value value;
  std::memcpy(static_cast<void*>(&value), bytes.data() + at, sizeof value);
  return value;
}

// Returns whether the item is complete and valid.
bool read_item(std::string_view item, const ItemHead& head, ReadItems& to) {
  std::size_t needed = head_bytes + head.text_bytes;
  needed += head.kind == Kind::record ? sizeof(Record) : sizeof(Overheads);
  if (head.has_histograms) needed += sizeof(Histograms);
  if (item.size() < needed) return false;
  ReadCounters& counters = to.counters[head.counters];
  const std::string_view text = item.substr(needed - head.text_bytes, head.text_bytes);
  if (head.kind == Kind::description) {
    counters.description = text;
    counters.overhead = copied<Overheads>(item, head_bytes);
    return true;
  }
  const Record* const record =
      to.records.emplace_back(std::make_unique<Record>(copied<Record>(item, head_bytes))).get();
  const Histograms* histograms = nullptr;
  if (head.has_histograms) {
    to.histograms.push_back(std::make_unique<Histograms>(copied<Histograms>(item, head_bytes + sizeof(Record))));
    histograms = to.histograms.back().get();
  }
  constexpr std::size_t most_names = std::size_t{1} << 24;
  if (record->name >= most_names || static_cast<std::size_t>(record->path) >= path_count) return false;
  if (counters.names.size() <= record->name) counters.names.resize(record->name + 1);
  counters.names[record->name] = text;
  auto thread = std::find_if(counters.threads.begin(), counters.threads.end(),
                             [&](const auto& one) { return one.first == head.thread; });
  if (thread == counters.threads.end())
    thread = counters.threads.insert(thread, {head.thread, {head.thread_number, {}}});
  thread->second.records.push_back({record, histograms});
  if (head.has_openmp_number) to.openmp_numbers[head.thread_number] = head.openmp_number;
  return true;
}

// Returns false if the content is damaged.
bool read_blocks(std::string_view content, ReadItems& to) {
  while (content.size() >= block_head_bytes) {
    const auto block = copied<BlockHead>(content, 0);
    if (block.bytes == 0) return true;  // the process ended before its first item
    if (block.bytes > content.size() || block.used > block.bytes) return false;
    for (std::size_t at = block_head_bytes; at < block.used;) {
      if (block.used - at < head_bytes) return false;
      const auto head = copied<ItemHead>(content, at);
      if (head.bytes < head_bytes || head.bytes > block.used - at) return false;
      if (!read_item(content.substr(at, head.bytes), head, to)) return false;
      at += head.bytes;
    }
    content.remove_prefix(block.bytes);
  }
  return true;
}

}  // namespace

std::unique_ptr<RecordsMemory> RecordsMemory::create(const std::filesystem::path& folder) {
  auto memory = linux::SharedMemory::create(folder);
  return memory ? std::unique_ptr<RecordsMemory>(new RecordsMemory(*std::move(memory))) : nullptr;
}

// Returns memory for an item, which publish() adds to the block. Null without memory.
std::uint8_t* RecordsMemory::reserve(std::size_t bytes) {
  if (blocks_.empty() || blocks_.back().bytes - blocks_.back().used < bytes) {
    const std::size_t usual = first_block << std::min(blocks_.size(), most_doublings);
    const std::size_t needed = std::max(usual, aligned(block_head_bytes + bytes, page));
    std::uint8_t* const memory = shared_.append(needed);
    if (memory == nullptr) return nullptr;
    new (memory) BlockHead(block_head(needed));
    blocks_.push_back({memory, needed, block_head_bytes});
  }
  return blocks_.back().memory + blocks_.back().used;
}

void RecordsMemory::publish(std::size_t bytes) {
  Block& block = blocks_.back();
  block.used += bytes;
  auto* const head = std::launder(reinterpret_cast<BlockHead*>(block.memory));  // NOLINT(*-reinterpret-cast)
  __atomic_store_n(&head->used, block.used, __ATOMIC_RELEASE);
}

RecordsMemory::NewRecord RecordsMemory::add_record(const Owner& owner, std::string_view name, std::uint32_t number,
                                                   bool with_histograms) {
  const std::size_t histograms_at = head_bytes + sizeof(Record);
  const std::size_t name_at = histograms_at + (with_histograms ? sizeof(Histograms) : 0);
  const std::size_t bytes = aligned(name_at + name.size());
  const std::lock_guard guard(lock_);
  std::uint8_t* const item = reserve(bytes);
  if (item == nullptr) return {};
  new (item) ItemHead{Kind::record,
                      static_cast<std::uint32_t>(name.size()),
                      bytes,
                      owner.counters,
                      owner.thread,
                      owner.thread_number,
                      owner.openmp_number.value_or(0),
                      owner.openmp_number.has_value(),
                      with_histograms};
  NewRecord made{new (item + head_bytes) Record, nullptr};
  made.record->name = number;
  if (with_histograms) made.histograms = new (item + histograms_at) Histograms;
  std::copy(name.begin(), name.end(), item + name_at);
  publish(bytes);
  return made;
}

void RecordsMemory::describe(std::uint64_t counters, const CountedEvents& counted,
                             const result::ProgramRegions& program) {
  const std::string text = description(counted, program);
  const std::size_t text_at = head_bytes + sizeof(Overheads);
  const std::size_t bytes = aligned(text_at + text.size());
  const std::lock_guard guard(lock_);
  std::uint8_t* const item = reserve(bytes);
  if (item == nullptr) return;
  new (item)
      ItemHead{Kind::description, static_cast<std::uint32_t>(text.size()), bytes, counters, 0, 0, 0, false, false};
  new (item + head_bytes) Overheads(counted.overhead);
  std::copy(text.begin(), text.end(), item + text_at);
  publish(bytes);
}

void RecordsMemory::become_private() {
  for (const Block& block : blocks_) linux::SharedMemory::make_private(block.memory, block.bytes, block.used);
}

bool are_records(std::string_view content) { return content.starts_with(mark); }

Result<result::ProgramRegions> read_records(std::string_view content) {
  result::ProgramRegions program;
  ReadItems items;
  const auto head = content.size() >= sizeof(BlockHead) ? copied<BlockHead>(content, 0) : BlockHead{};
  const BlockHead own = block_head(0);
  if (std::memcmp(head.version, own.version, sizeof own.version) != 0 || head.record != own.record ||
      head.overheads != own.overheads) {
    return fail(Code::cannot_measure,
                fmt::format("it ended without C's exit handlers, and its libtally is of another version than tally {}",
                            version()));
  }
  if (!read_blocks(content, items)) return fail(Code::cannot_measure, "its shared memory is damaged");
  for (auto& [number, read] : items.counters) {
    CountedEvents counted;
    counted.overhead = read.overhead;
    if (read.description.empty()) continue;
    if (!read_description(read.description, counted, program))
      return fail(Code::cannot_measure, "its shared memory is damaged");
    std::vector<ThreadRecords> threads;
    for (auto& [distinguished, thread] : read.threads) threads.push_back(std::move(thread));
    for (RegionResult& region_result :
         results_of(counted, read.names, threads,
                    "the process ended in this region, without C's exit handlers: up to one entry "
                    "of each thread may be counted in part"))
      program.regions.push_back(std::move(region_result));
  }
  program.openmp_numbers = std::move(items.openmp_numbers);
  return program;
}

}  // namespace tally::detail
