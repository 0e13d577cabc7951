#include "tally/backend/sim/cache_workers.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "tally/backend/sim/models.hpp"
#include "tally/linux/disturbance.hpp"
#include "tally/linux/quiet_thread.hpp"
#include "tally/linux/sparse_memory.hpp"
#include "tally/sim/first_levels.hpp"
#include "tally/sim/memory.hpp"

namespace tally::backend::sim {
namespace {

using channel::NoteRing;
using linux::SparseMemory;
using tally::sim::FirstLevels;
using tally::sim::HierarchyCounts;
using tally::sim::HierarchyShape;
using tally::sim::LowerLevels;

/// The last level of a process, which its threads share, or of one thread.
struct LastLevel {
  SparseMemory table;
  std::mutex mutex;
};

/// The levels of one thread, and what was counted in them since that was last added to its page.
class Levels {
 public:
  /// Empty ones. Nothing without memory.
  static std::optional<Levels> make(const HierarchyShape& shape, std::shared_ptr<LastLevel> last) {
    auto own =
        SparseMemory::make((FirstLevels::words(shape) + tally::sim::table_words(shape.l2)) * sizeof(std::uint64_t));
    if (!own) return std::nullopt;
    Levels made(shape, std::move(*own), std::move(last));
    made.lower_ = LowerLevels(shape, made.l2_table(), made.llc_table());
    return made;
  }

  /// What they are now, over a copy of all.
  std::optional<Levels> copy() const {
    auto own = own_.copy();
    if (!own) return std::nullopt;
    std::shared_ptr<LastLevel> last;
    if (last_ != nullptr) {
      const std::lock_guard lock(last_->mutex);
      auto table = last_->table.copy();
      if (!table) return std::nullopt;
      last = std::make_shared<LastLevel>();
      last->table = std::move(*table);
    }
    Levels made(shape_, std::move(*own), std::move(last));
    made.lower_ = lower_.over(made.l2_table(), made.llc_table());
    return made;
  }

  /// The notes are overwritten.
  void take(tally::sim::Note* notes, std::uint32_t n) {
    if (shape_.l1i.sets == 0 || shape_.l1d.sets == 0) n = only_those_there(notes, n);
    const std::uint32_t missed = first_.access_all(notes, n, counts_);
    if (missed == 0 || (shape_.l2.sets == 0 && shape_.llc.sets == 0)) return;
    std::unique_lock<std::mutex> lock;
    if (last_ != nullptr) lock = std::unique_lock(last_->mutex);
    lower_.request_all(notes, missed, counts_);
  }

  HierarchyCounts counted() { return std::exchange(counts_, {}); }
  const std::shared_ptr<LastLevel>& last() const { return last_; }

 private:
  /// Without lower levels.
  Levels(const HierarchyShape& shape, SparseMemory own, std::shared_ptr<LastLevel> last)
      : shape_(shape), own_(std::move(own)), last_(std::move(last)), first_(shape, own_.words()) {}

  /// Leaves out notes for a level that does not exist: a program may have written them.
  std::uint32_t only_those_there(tally::sim::Note* notes, std::uint32_t n) const {
    return static_cast<std::uint32_t>(
        std::remove_if(notes, notes + n,
                       [this](tally::sim::Note note) {
                         const bool is_code = (note & 3) == tally::sim::note_of(0, tally::sim::Access::fetch);
                         return (is_code ? shape_.l1i : shape_.l1d).sets == 0;
                       }) -
        notes);
  }
  std::uint64_t* l2_table() const { return own_.words() + FirstLevels::words(shape_); }
  std::uint64_t* llc_table() const { return last_ != nullptr ? last_->table.words() : nullptr; }

  HierarchyShape shape_;
  SparseMemory own_;
  std::shared_ptr<LastLevel> last_;
  FirstLevels first_;
  LowerLevels lower_;
  HierarchyCounts counts_;
};

void add(channel::ModelLevelCounts& to, const tally::sim::LevelCounts& from) {
  auto sum = std::bit_cast<tally::sim::LevelCounts>(to);
  sum.add(from);
  to = std::bit_cast<channel::ModelLevelCounts>(sum);
}

/// References of first levels are the engine's to count, at the same time: those words are left alone.
void add(channel::ModelValues& to, const HierarchyCounts& from) {
  to.l1i.fetch_misses += from.l1i.fetch_misses;
  to.l1d.load_misses += from.l1d.load_misses;
  to.l1d.store_misses += from.l1d.store_misses;
  to.l1d_across.load_misses += from.l1d_across.load_misses;
  to.l1d_across.store_misses += from.l1d_across.store_misses;
  add(to.l2, from.l2);
  add(to.llc, from.llc);
  to.prefetches += from.prefetches;
}

/// No more than there is room for, whatever a program wrote there.
std::uint32_t notes_of(const channel::NoteBlock& block) {
  return std::min<std::uint32_t>(block.notes, channel::note_block_bytes / sizeof(tally::sim::Note));
}

constexpr std::uint64_t every_cache = channel::model_l1i | channel::model_l1d | channel::model_lower;

/// What is known of a thread under the engine.
struct Player {
  linux::Mapping ring_memory, counts_memory;
  std::uint32_t begun = 0;  // as NoteRing::begun, of the thread that the levels belong to
  std::optional<Levels> levels;
  bool forgotten = false;

  NoteRing& ring() const { return *reinterpret_cast<NoteRing*>(ring_memory.data()); }
  channel::ModelCounts& counts() const { return *reinterpret_cast<channel::ModelCounts*>(counts_memory.data()); }
  tally::sim::Note* block(std::uint32_t number) const {
    return reinterpret_cast<tally::sim::Note*>(ring_memory.data() +
                                               (1 + number % channel::note_blocks) * channel::note_block_bytes);
  }
  /// The lines of a block, which an engine wrote last, are asked for together: one after the other they cost some 30 ns
  /// each.
  void fetch(std::uint32_t number) const {
    const std::uint32_t notes = notes_of(ring().block[number % channel::note_blocks]);
    for (std::uint32_t i = 0; i < notes; i += 64 / sizeof(tally::sim::Note)) __builtin_prefetch(block(number) + i);
  }
  std::uint32_t waiting() const {
    return __atomic_load_n(&ring().published, __ATOMIC_ACQUIRE) - __atomic_load_n(&ring().taken, __ATOMIC_RELAXED);
  }
};

}  // namespace

class CacheWorkers::Work {
 public:
  Work(const Channel& shared, const channel::Models& models, unsigned threads)
      : shared_(shared), bell_(shared.records.header().bell), shape_(shape_of(models)), own_llc_(models.own_llc != 0) {
    try {
      for (unsigned i = 0; i < threads; ++i) threads_.push_back(linux::quiet_thread([this] { work(); }));
    } catch (const std::system_error&) {
      // Fewer are enough.
      if (threads_.empty()) throw;
    }
  }

  void forget(std::uint32_t process) {
    const std::lock_guard lock(mutex_);
    for (auto at = players_.begin(); at != players_.end();) {
      const auto here = at++;
      if (shared_.records.thread(here->first).process != process) continue;
      here->second->forgotten = true;
      if (__atomic_load_n(&here->second->ring().queued, __ATOMIC_SEQ_CST) == 0) drop(here->first);
    }
  }

  void finish() {
    __atomic_store_n(&bell_.closed, 1, __ATOMIC_SEQ_CST);
    {
      const std::lock_guard lock(mutex_);
      finishing_ = true;
    }
    ring_bell();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  void ring_bell() {
    __atomic_add_fetch(&bell_.rings, 1, __ATOMIC_SEQ_CST);
    linux::wake_all(bell_.rings);
  }

  void work() {
    while (const auto number = next()) serve(*number);
  }

  /// The next thread that has something; waits for one. Nothing at the end.
  std::optional<std::uint32_t> next() {
    std::unique_lock lock(mutex_);
    while (true) {
      collect();
      if (!waiting_.empty() && stuck_ > waiting_.size() && !finishing_) {
        // All wait for what their parents hand on.
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        lock.lock();
        collect();
      }
      if (!waiting_.empty()) {
        const std::uint32_t number = waiting_.front();
        waiting_.pop_front();
        ++working_;
        if (!waiting_.empty() && __atomic_load_n(&bell_.sleepers, __ATOMIC_SEQ_CST) != 0) ring_bell();
        return number;
      }
      if (finishing_) return std::nullopt;
      tidy();
      const std::uint32_t rings = __atomic_load_n(&bell_.rings, __ATOMIC_SEQ_CST);
      lock.unlock();
      if (soon()) {
        lock.lock();
        continue;
      }
      __atomic_add_fetch(&bell_.sleepers, 1, __ATOMIC_SEQ_CST);
      // Whoever puts a thread into the list from here on sees a sleeper.
      if (__atomic_load_n(&bell_.first, __ATOMIC_SEQ_CST) == 0) linux::sleep_while(bell_.rings, rings);
      __atomic_sub_fetch(&bell_.sleepers, 1, __ATOMIC_SEQ_CST);
      lock.lock();
    }
  }

  channel::State state_of(std::uint32_t process) const {
    if (process >= channel::process_limit) return channel::State::ended;
    return static_cast<channel::State>(__atomic_load_n(
        reinterpret_cast<const std::uint32_t*>(&shared_.records.process(process).state), __ATOMIC_ACQUIRE));
  }

  /// Gives back what nobody will ask for: last levels of processes that have ended, levels for forks that failed. Wants
  /// mutex_ held.
  void tidy() {
    std::erase_if(last_levels_, [this](const auto& one) {
      return one.second.use_count() == 1 && state_of(one.first) != channel::State::running;
    });
    std::erase_if(forked_, [this](const auto& one) { return state_of(one.first) == channel::State::free; });
  }

  /// Whether there is something in a moment. To sleep and be woken costs the engine that wakes more than this costs
  /// where a processor is idle; whoever else wants the processor gets it.
  bool soon() const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
    while (__atomic_load_n(&bell_.first, __ATOMIC_RELAXED) == 0) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::yield();
    }
    return true;
  }

  /// Takes the list of the engines over. What a program may have written there over it leads nowhere else.
  void collect() {
    std::vector<std::uint32_t> found;
    std::uint32_t number = __atomic_exchange_n(&bell_.first, 0, __ATOMIC_SEQ_CST);
    while (number != 0 && number < channel::thread_limit && found.size() < players_.size() + 2) {
      const Player* const player = player_of(number);
      if (player == nullptr) break;
      found.push_back(number);
      number = player->ring().next;
    }
    // The first one stands at the end.
    waiting_.insert(waiting_.end(), found.rbegin(), found.rend());
  }

  Player* player_of(std::uint32_t number) {
    if (const auto known = players_.find(number); known != players_.end()) return known->second.get();
    auto ring = linux::map_shared(shared_.file.get(), channel::note_ring_offset(number), channel::note_ring_bytes);
    auto counts =
        linux::map_shared(shared_.file.get(), channel::model_counts_offset(number), channel::model_counts_bytes);
    if (!ring || !counts) return nullptr;
    auto player = std::make_unique<Player>();
    player->ring_memory = std::move(*ring);
    player->counts_memory = std::move(*counts);
    return players_.emplace(number, std::move(player)).first->second.get();
  }

  void drop(std::uint32_t number) {
    players_.erase(number);
    linux::discard(shared_.file.get(), channel::note_ring_offset(number) + channel::note_block_bytes,
                   channel::note_ring_bytes - channel::note_block_bytes);
  }

  /// Takes what waits in the ring of a thread, a ring full at most: others have their turn.
  void serve(std::uint32_t number) {
    std::unique_lock lock(mutex_);
    const auto known = players_.find(number);
    if (known == players_.end()) {  // a program has written over the list
      --working_;
      return;
    }
    Player& player = *known->second;
    lock.unlock();
    NoteRing& ring = player.ring();
    bool closed = false, is_stuck = false;
    const std::uint32_t waiting = player.waiting();
    if (waiting > channel::note_blocks) {
      pass_over(player);
    } else if (waiting != 0 && !begin(player)) {
      is_stuck = true;
      std::this_thread::yield();
    } else {
      for (std::uint32_t i = 0; i < waiting; ++i) {
        if (i + 1 < waiting) player.fetch(ring.taken + 1);
        if (closed = take_block(player); closed) break;
      }
    }
    lock.lock();
    --working_;
    stuck_ = is_stuck ? stuck_ + 1 : 0;
    if (closed || (player.forgotten && player.waiting() == 0)) return leave(number, player);
    __atomic_store_n(&ring.queued, 0, __ATOMIC_SEQ_CST);
    if (player.waiting() != 0 && __atomic_exchange_n(&ring.queued, 1, __ATOMIC_SEQ_CST) == 0)
      waiting_.push_back(number);
  }

  void leave(std::uint32_t number, Player& player) {
    NoteRing& ring = player.ring();
    const std::uint32_t published = __atomic_load_n(&ring.published, __ATOMIC_ACQUIRE);
    const linux::Mapping kept = std::move(player.ring_memory);
    drop(number);
    __atomic_store_n(&ring.queued, 0, __ATOMIC_SEQ_CST);
    // From here on another thread may have the record, and write.
    __atomic_store_n(&ring.taken, published, __ATOMIC_SEQ_CST);
    tell(ring);
  }

  /// Levels for the thread that has the ring now. False where those of its parent are not known yet.
  bool begin(Player& player) {
    NoteRing& ring = player.ring();
    const std::uint32_t begun = __atomic_load_n(&ring.begun, __ATOMIC_ACQUIRE);
    if (player.levels && player.begun == begun) return true;
    const std::lock_guard lock(mutex_);
    const auto from = ring.forked != 0 ? forked_.find(ring.forked) : forked_.end();
    if (from != forked_.end()) {
      player.levels = std::move(from->second);
      forked_.erase(from);
      if (!player.levels) {
        player.counts().without |= every_cache;
        player.levels = fresh(ring.process, player.counts());
      } else if (player.levels->last() != nullptr && !own_llc_) {
        last_levels_[ring.process] = player.levels->last();
      }
    } else if (ring.forked != 0 && !is_last_to_work()) {
      return false;
    } else {
      player.levels = fresh(ring.process, player.counts());
    }
    player.begun = begun;
    return true;
  }

  /// Whether nobody is left who could say what a parent's levels are. Wants mutex_ held.
  bool is_last_to_work() const {
    return finishing_ && working_ == 1 && stuck_ > waiting_.size() &&
           __atomic_load_n(&bell_.first, __ATOMIC_SEQ_CST) == 0;
  }

  /// Wants mutex_ held.
  std::optional<Levels> fresh(std::uint32_t process, channel::ModelCounts& counts) {
    HierarchyShape shape = shape_;
    std::shared_ptr<LastLevel> last;
    if (shape.llc.sets != 0) {
      if (!own_llc_) last = last_levels_[process];
      if (last == nullptr) last = new_last_level();
      if (last == nullptr) {
        shape.llc = {};
        counts.without |= channel::model_llc;
      } else if (!own_llc_) {
        last_levels_[process] = last;
      }
    }
    auto levels = Levels::make(shape, std::move(last));
    if (!levels) counts.without |= every_cache;
    return levels;
  }

  /// Null where there is no memory for its table, or nothing would be left beside it.
  std::shared_ptr<LastLevel> new_last_level() const {
    constexpr std::size_t beside = std::size_t{2} << 30;
    const std::size_t bytes = tally::sim::shared_words(shape_) * sizeof(std::uint64_t);
    if (!SparseMemory::make(bytes + beside)) return nullptr;
    auto table = SparseMemory::make(bytes);
    if (!table) return nullptr;
    auto last = std::make_shared<LastLevel>();
    last->table = std::move(*table);
    return last;
  }

  /// The next block of the ring. True where it is the thread's last one.
  bool take_block(Player& player) {
    NoteRing& ring = player.ring();
    const std::uint32_t number = ring.taken;
    const channel::NoteBlock block = ring.block[number % channel::note_blocks];
    if (player.levels && block.notes != 0) {
      player.levels->take(player.block(number), notes_of(block));
      add(player.counts().values, player.levels->counted());
    }
    if (block.forks != 0) {
      auto copy = player.levels ? player.levels->copy() : std::nullopt;
      const std::lock_guard lock(mutex_);
      tidy();
      forked_.insert_or_assign(block.forks, std::move(copy));
    }
    if (block.closes != 0) return true;  // leave() says that it is taken
    __atomic_store_n(&ring.taken, number + 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ring.waits, __ATOMIC_SEQ_CST) != 0 && player.waiting() <= channel::note_blocks / 2) tell(ring);
    return false;
  }

  static void tell(NoteRing& ring) {
    if (__atomic_exchange_n(&ring.waits, 0, __ATOMIC_SEQ_CST) != 0) linux::wake_all(ring.taken);
  }

  /// Nothing that an engine writes: a program has written over it.
  static void pass_over(Player& player) {
    NoteRing& ring = player.ring();
    __atomic_store_n(&ring.taken, __atomic_load_n(&ring.published, __ATOMIC_ACQUIRE), __ATOMIC_SEQ_CST);
    player.counts().without |= every_cache;
    tell(ring);
  }

  const Channel& shared_;
  channel::NoteBell& bell_;
  const HierarchyShape shape_;
  const bool own_llc_;
  std::mutex mutex_;  // of what follows
  std::map<std::uint32_t, std::unique_ptr<Player>> players_;
  std::deque<std::uint32_t> waiting_;                      // threads that have something, or seem to
  std::map<std::uint32_t, std::optional<Levels>> forked_;  // by process: what its first thread will begin with
  std::map<std::uint32_t, std::shared_ptr<LastLevel>> last_levels_;  // by process, as long as it runs
  unsigned working_ = 0;                                             // threads that have taken one of them out
  std::size_t stuck_ = 0;                                            // turns without one in which anything was taken
  bool finishing_ = false;
  std::vector<std::thread> threads_;
};

CacheWorkers::CacheWorkers(const Channel& shared, const channel::Models& models, unsigned threads)
    : work_(std::make_unique<Work>(shared, models, threads)) {}

CacheWorkers::~CacheWorkers() { finish(); }

void CacheWorkers::forget(std::uint32_t process) { work_->forget(process); }

void CacheWorkers::finish() { work_->finish(); }

unsigned usual_cache_workers() {
  constexpr int most = 16;
  const int processors = linux::allowed_processors();
  return processors < 2 ? 0 : static_cast<unsigned>(std::min(processors, most));
}

}  // namespace tally::backend::sim
