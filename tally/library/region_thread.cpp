// One-time work: opens a thread's counters, and creates the records of names.
#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "tally/library/region_output.hpp"
#include "tally/library/region_thread.hpp"
#include "tally/linux/process/openmp.hpp"

namespace tally::detail {

thread_local constinit Here here;

namespace {

// States of the calling thread, one for each Counters that it uses. Closes their counters when the thread ends.
struct ThreadStates {
  std::vector<std::shared_ptr<Thread>> threads;
  bool busy = false;
  ~ThreadStates();
};
thread_local constinit bool ended = false;
thread_local ThreadStates own;

ThreadStates::~ThreadStates() {
  ended = true;
  here = {};
  for (const auto& thread : threads) close_counters(*thread);
}

// All Shared objects. fork() waits until none of their locks is taken.
struct All {
  std::mutex lock;
  std::vector<std::weak_ptr<Shared>> shared;
  std::vector<std::shared_ptr<Shared>> held;  // during a fork
};
All& all() {
  static All* const one = new All;  // never destroyed: the program's last threads may outlive static objects
  return *one;
}

void before_fork() {
  all().lock.lock();
  for (const auto& weak : all().shared) {
    if (auto shared = weak.lock()) {
      shared->lock.lock();
      all().held.push_back(std::move(shared));
    }
  }
  lock_kept();
}

void let_go(bool in_child) {
  unlock_kept(in_child);
  for (const auto& shared : all().held) shared->lock.unlock();
  // One of them may be destroyed here, and its destructor takes locks.
  const auto held = std::exchange(all().held, {});
  all().lock.unlock();
}

void in_parent() { let_go(false); }

// The child inherits the descriptors of its parent's counters, but not their pages: the kernel does not copy them. It
// starts again, without its parent's counts. Open entries are dropped when they end.
void in_child() {
  here = {};
  for (const auto& shared : all().held) {
    for (const auto& thread : shared->threads) {
      for (linux::UserCounter& one : thread->user) one.page = nullptr;
      close_counters(*thread);
      thread->innermost = nullptr;
      new std::shared_ptr<Thread>(thread);  // never freed: open entries still use it
    }
    shared->threads.clear();
    shared->names.clear();
    shared->numbers.clear();
  }
  if (!ended) own.threads.clear();
  let_go(true);
}

bool keeps_histogram(const Options& options, std::string_view name) {
  const auto& asked = options.histograms;
  return std::any_of(asked.begin(), asked.end(), [&](const std::string& one) { return one == "*" || one == name; });
}

void begin_extremes(Record& record) {
  for (Number& least : record.least) least.set(std::numeric_limits<std::int64_t>::max());
  for (Number& most : record.most) most.set(std::numeric_limits<std::int64_t>::min());
}

// Prepares the record for entries.
void ready(Thread& thread, Record& record) {
  record.take = take_of(thread.events, thread.shared->options);
  if (!thread.histograms.empty()) record.histograms = &thread.histograms.front();
}

// Returns the record of a name for the thread's path, and creates it at the first call. The caller holds the lock.
Record& record_of(Thread& thread, std::string_view name) {
  auto& known = thread.by_name[static_cast<std::size_t>(thread.path)];
  if (const auto found = known.find(name); found != known.end()) return *found->second;
  Shared& shared = *thread.shared;
  const auto [number, added] = shared.numbers.try_emplace(std::string(name), shared.names.size());
  if (added) shared.names.emplace_back(name);
  const bool has_own_histograms = keeps_histogram(shared.options, name);
  RecordsMemory::NewRecord made;
  if (RecordsMemory* const memory = shared.calibrates ? nullptr : records_memory()) {
    describe(shared);
    const auto number_of_thread = reinterpret_cast<std::uintptr_t>(&thread);  // NOLINT(*-reinterpret-cast)
    made = memory->add_record({shared.id, number_of_thread, thread.number, thread.openmp_number}, name, number->second,
                              has_own_histograms);
  }
  if (made.record == nullptr) {
    made.record = &thread.own_records.emplace_back();
    if (has_own_histograms) made.histograms = &thread.histograms.emplace_back();
  }
  Record& record = *made.record;
  thread.records.push_back(&record);
  record.name = number->second;
  record.path = thread.path;
  ready(thread, record);
  if (made.histograms != nullptr) record.histograms = made.histograms;
  begin_extremes(record);
  record.text = known.emplace(name, &record).first->first;
  return record;
}

constexpr std::size_t most_slots_without_probing = 8192;

// Puts a literal into its first slot that is free; returns whether that is the one that is searched first.
bool put(std::vector<Slot>& slots, const Slot& slot) {
  const std::uint64_t mask = slots.size() - 1, first = place_of(slot.key, mask);
  std::uint64_t at = first;
  while (slots[at].key != 0) at = (at + 1) & mask;
  slots[at] = slot;
  return at == first;
}

// An entry that finds its record in a second slot executes some instructions more than what is subtracted for it. So
// the table grows until every literal has the slot that is searched first, up to a limit of memory (128 KiB per
// thread).
void keep_slot(Thread& thread, std::uint64_t key, Record& record) {
  std::vector<Slot> known{{key, &record}};
  for (const Slot& slot : thread.slots)
    if (slot.key != 0) known.push_back(slot);
  for (std::size_t size = thread.slots.size();; size *= 2) {
    std::vector<Slot> slots(size);
    bool are_first = 2 * known.size() <= size;
    if (are_first)
      for (const Slot& slot : known) are_first = put(slots, slot) && are_first;
    if (!are_first && (2 * known.size() > size || size < most_slots_without_probing)) continue;
    thread.slots.swap(slots);
    thread.mask = size - 1;
    return;
  }
}

// `name`: its length is computed in here, where nothing is counted.
template <class Name>
Record& make_record(Thread& thread, Name name, std::uint64_t key) noexcept {
  if (thread.busy) return thread.unnamed;
  thread.busy = true;
  Record* record = nullptr;
  {
    const Excluded excluded(thread, &Overhead::making, is_observed(thread));
    const std::lock_guard guard(thread.shared->lock);
    record = &record_of(thread, name);
    if (key != 0) keep_slot(thread, key, *record);
  }
  thread.busy = false;
  return *record;
}

// `name`: its length is computed in here, too.
template <class Name>
Record& find_by_characters(Thread& thread, Name name) noexcept {
  if (thread.busy) return thread.unnamed;
  const Excluded excluded(thread, &Overhead::finding, is_observed(thread));
  const auto& known = thread.by_name[static_cast<std::size_t>(thread.path)];
  const auto found = known.find(std::string_view(name));
  return found != known.end() ? *found->second : make_record(thread, name, 0);
}

// Opens the thread's events as one group.
std::optional<NotOpened> open_group(Thread& thread, bool pinned) {
  const std::vector<backend::OwnEvent>& events = thread.shared->own;
  linux::PerfTarget target;
  target.whole_group = true;
  target.pinned = pinned;
  thread.counters.clear();
  thread.counters.reserve(events.size());  // the leader must not move
  for (std::size_t i = 0; i < events.size(); ++i) {
    const linux::PerfCounter* leader = i == 0 ? nullptr : &thread.counters.front();
    linux::PerfCounter counter = linux::open_readable(events[i].event, target, leader);
    if (!counter) {
      const int why = counter.os_errno;
      thread.counters.clear();
      return NotOpened{i, why};
    }
    thread.counters.push_back(std::move(counter));
  }
  return std::nullopt;
}

bool holds_numbers(Thread& thread) {
  std::array<linux::PerfValue, most_events> values;
  return thread.counters.front().read_group({values.data(), thread.counters.size()}) == 0;
}

}  // namespace

void close_counters(Thread& thread) {
  if (thread.closed.test_and_set()) return;
  take_path(thread, Path::none);
  for (linux::UserCounter& one : thread.user) linux::unmap_page(std::exchange(one.page, nullptr));
  thread.counters.clear();
}

void take_path(Thread& thread, Path path) noexcept {
  thread.path = path;
  thread.read = read_of(path, thread.events, thread.shared->options.serialize);
  for (Slot& slot : thread.slots) slot = {};
}

std::optional<NotOpened> open_counters(Thread& thread) {
  if (thread.shared->by_engine) {
    take_path(thread, Path::engine);
    return std::nullopt;
  }
  // Pinned: a region's counters run all the time, and the other counters of the program are multiplexed.
  auto failed = open_group(thread, true);
  if (!failed && !holds_numbers(thread)) failed = open_group(thread, false);
  if (failed) return failed;
  bool readable = true;
  for (std::size_t i = 0; i < thread.counters.size(); ++i) {
    thread.user[i].page = linux::map_page(thread.counters[i]);
    thread.user[i].turns = &thread.turns;
    readable = readable && thread.user[i].page != nullptr && thread.user[i].refresh();
    thread.base[i] = thread.user[i].offset;
  }
  take_path(thread, readable ? Path::user : Path::group);
  return std::nullopt;
}

Thread* find_thread(Shared& shared) noexcept {
  if (ended || own.busy) return nullptr;
  for (const auto& thread : own.threads) {
    if (thread->id != shared.id) continue;
    here = {shared.id, thread.get()};
    return here.thread;
  }
  own.busy = true;
  auto thread = std::make_shared<Thread>();
  thread->id = shared.id;
  thread->shared = &shared;
  thread->number = linux::thread_number();
  thread->openmp_number = linux::openmp_number();
  thread->events = static_cast<std::uint32_t>(shared.events.size());
  if (!shared.options.histograms.empty()) thread->histograms.emplace_back();
  for (Record* const record : {&thread->unnamed, &thread->recursive}) ready(*thread, *record);
  thread->slots.resize(64);
  thread->mask = 63;
  take_path(*thread, Path::none);
  // A thread whose counters do not open drops its entries, and the results report that.
  (void)open_counters(*thread);
  {
    const std::lock_guard guard(shared.lock);
    shared.threads.push_back(thread);
  }
  std::erase_if(own.threads, [](const auto& one) { return one->closed.test(); });
  own.threads.push_back(thread);
  begin_at_nothing(*thread);
  own.busy = false;
  here = {shared.id, thread.get()};
  return here.thread;
}

Record& find_record(Thread& thread, Literal name) noexcept {
  const std::uint64_t key = Access::key(name);
  std::uint64_t at = place_of(key, thread.mask);
  for (; thread.slots[at].key != 0; at = (at + 1) & thread.mask) {
    if (thread.slots[at].key == key) return *thread.slots[at].record;
  }
  return make_record(thread, name.text(), key);
}

Record& find_record(Thread& thread, std::string_view name) noexcept { return find_by_characters(thread, name); }
Record& find_record(Thread& thread, const char* name) noexcept { return find_by_characters(thread, name); }

bool reset_records(Thread& thread, std::string_view name) {
  for (const Record* record : thread.records)
    if (record->text == name && record->depth != 0) return false;
  const std::lock_guard guard(thread.shared->lock);  // readers see the counts before or after it
  for (Record* const one : thread.records) {
    Record& record = *one;
    if (record.text != name) continue;
    for (Number* number : {&record.entries, &record.inner, &record.recursive, &record.dropped}) number->set(0);
    for (Number& total : record.total) total.set(0);
    begin_extremes(record);
    const bool is_own = !thread.histograms.empty() && record.histograms != &thread.histograms.front();
    for (std::size_t i = 0; is_own && i < thread.events; ++i)
      for (Number& bucket : (*record.histograms)[i]) bucket.set(0);
  }
  return true;
}

Shared::~Shared() {
  keep(*this);
  for (const auto& thread : threads) close_counters(*thread);
}

std::vector<std::shared_ptr<Shared>> all_shared() {
  std::vector<std::shared_ptr<Shared>> living;
  const std::lock_guard guard(all().lock);
  for (const auto& weak : all().shared) {
    if (auto shared = weak.lock()) living.push_back(std::move(shared));
  }
  return living;
}

void enlist(const std::shared_ptr<Shared>& shared) {
  static std::once_flag registered;
  std::call_once(registered, [] { linux::at_fork(before_fork, in_parent, in_child); });
  const std::lock_guard guard(all().lock);
  std::erase_if(all().shared, [](const auto& one) { return one.expired(); });
  all().shared.push_back(shared);
}

}  // namespace tally::detail
