#include "tally/counting/backend/engine/model_workers.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tally/counting/backend/engine/engine_models.hpp"
#include "tally/counting/backend/engine/offloaded_models.hpp"
#include "tally/counting/backend/engine/ring_memory.hpp"
#include "tally/engine/models/branch/outcome.hpp"
#include "tally/engine/models/cache/note.hpp"
#include "tally/engine/models/table_memory.hpp"
#include "tally/linux/machine/sparse_memory.hpp"
#include "tally/linux/process/disturbance.hpp"
#include "tally/linux/process/worker_thread.hpp"

namespace tally::backend::engine {
namespace {

using channel::NoteRing;
using channel::RingContent;
using linux::SparseMemory;

/// Returns the number of entries in a block, limited to its size, because a program may have overwritten it.
std::uint32_t count_of(const channel::NoteBlock& block, std::size_t bytes_of_each) {
  return std::min<std::uint32_t>(block.count, static_cast<std::uint32_t>(channel::note_block_bytes / bytes_of_each));
}

/// The state of a ring.
struct Player {
  RingContent kind;
  RingMemory memory;
  linux::Mapping counts_memory, values_memory;
  Placed placed;
  std::uint32_t area = 0;   // that `placed.table` is in; 0: none
  std::uint32_t begun = 0;  // NoteRing::begun of the thread that the models belong to
  std::unique_ptr<OffloadedModel> offloaded;
  bool forgotten = false;
  std::uint64_t stuck_at = 0;  // the number of steps when its parent's models were last missing

  std::size_t bytes_of_each() const {
    if (kind == RingContent::outcomes) return sizeof(tally::models::Outcome);
    return placed.statistics.count != 0 ? sizeof(tally::models::PlacedNote) : sizeof(tally::models::Note);
  }

  NoteRing& ring() const { return memory.head(); }
  channel::ModelCounts& counts() const { return *reinterpret_cast<channel::ModelCounts*>(counts_memory.data()); }
  /// Prefetches the cache lines of a block, which an engine wrote last: one by one they cost about 30 ns each.
  void fetch(std::uint32_t number) const {
    const std::size_t bytes = count_of(memory.about(number), bytes_of_each()) * bytes_of_each();
    for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(memory.block(number) + at);
  }
};

}  // namespace

class ModelWorkers::Work {
 public:
  Work(const Channel& shared, const channel::Models& models, unsigned threads)
      : shared_(shared),
        bell_(shared.records.header().wakeup),
        shapes_{shape_of(models), tlbs_of(models), (models.on & channel::model_lower) != 0},
        own_llc_(models.own_llc != 0) {
    try {
      for (unsigned i = 0; i < threads; ++i) threads_.push_back(linux::worker_thread([this] { work(); }));
    } catch (const std::system_error&) {
      // Fewer workers are enough.
      if (threads_.empty()) throw;
    }
  }

  void forget(std::uint32_t process) {
    const std::lock_guard lock(mutex_);
    collect();
    for (auto at = players_.begin(); at != players_.end();) {
      const auto here = at++;
      if (shared_.records.thread(channel::thread_of_ring(here->first)).process != process) continue;
      here->second->forgotten = true;
      if (__atomic_load_n(&here->second->ring().queued, __ATOMIC_SEQ_CST) == 0) drop(here->first);
    }
    if (!waiting_.empty()) ring_bell();
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

  /// Returns the next ring with blocks; waits for one. Returns nothing at the end.
  std::optional<std::uint32_t> next() {
    std::unique_lock lock(mutex_);
    while (true) {
      collect();
      const bool waits_for_parents = !waiting_.empty() && all_are_stuck();
      if (waits_for_parents && !(finishing_ && busy_ == 0)) {
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        lock.lock();
        collect();
        if (finishing_ && busy_ != 0) continue;
      }
      if (!waiting_.empty()) {
        const std::uint32_t number = waiting_.front();
        waiting_.pop_front();
        ++busy_;
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
      // An engine that adds a ring to the list from here on sees a sleeper.
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

  /// Releases what is not needed any more: last levels of processes that have ended, and models for forks that failed.
  /// The caller holds mutex_.
  void tidy() {
    std::erase_if(last_levels_, [this](const auto& one) {
      return one.second.use_count() == 1 && state_of(one.first) != channel::State::running;
    });
    std::erase_if(forked_, [this](const auto& one) { return state_of(one.first.process) == channel::State::free; });
  }

  /// Whether an engine adds a ring within a moment. Sleeping costs the engine that wakes the worker more than this
  /// costs on an idle CPU; other threads get the CPU meanwhile.
  bool soon() const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
    while (__atomic_load_n(&bell_.first, __ATOMIC_RELAXED) == 0) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::yield();
    }
    return true;
  }

  /// Takes over the engines' list. An overwritten list cannot lead outside valid rings.
  void collect() {
    std::vector<std::uint32_t> found;
    std::uint32_t number = __atomic_exchange_n(&bell_.first, 0, __ATOMIC_SEQ_CST);
    while (number != 0 && number < channel::rings_of_thread * channel::thread_limit &&
           found.size() < players_.size() + 2) {
      const Player* const player = player_of(number);
      if (player == nullptr) break;
      found.push_back(number);
      number = player->ring().next;
    }
    if (!found.empty()) ++steps_;  // these may offload what others wait for
    // The list has the oldest ring last.
    waiting_.insert(waiting_.end(), found.rbegin(), found.rend());
  }

  Player* player_of(std::uint32_t number) {
    if (const auto known = players_.find(number); known != players_.end()) return known->second.get();
    auto ring = RingMemory::map(shared_, number);
    auto counts = linux::map_shared(shared_.file.get(), channel::model_counts_offset(channel::thread_of_ring(number)),
                                    channel::model_counts_bytes);
    if (!ring || !counts) return nullptr;
    auto player = std::make_unique<Player>();
    player->kind = channel::held_by_ring(number);
    player->memory = std::move(*ring);
    player->counts_memory = std::move(*counts);
    player->placed.statistics = shared_.records.header().settings.placed;
    return players_.emplace(number, std::move(player)).first->second.get();
  }

  void drop(std::uint32_t number) {
    players_.erase(number);
    RingMemory::discard(shared_, number);
  }

  /// Processes the blocks of a ring, at most as many as fit in it, so that other rings get their turn.
  void serve(std::uint32_t number) {
    std::unique_lock lock(mutex_);
    const auto known = players_.find(number);
    if (known == players_.end()) {  // a program has overwritten the list
      --busy_;
      return;
    }
    Player& player = *known->second;
    lock.unlock();
    NoteRing& ring = player.ring();
    bool closed = false, is_stuck = false;
    const std::uint32_t waiting = player.memory.waiting();
    if (waiting > channel::note_blocks) {
      pass_over(player);
    } else if (waiting != 0 && !begin(player)) {
      is_stuck = true;
      std::this_thread::yield();
    } else {
      for (std::uint32_t i = 0; i < waiting; ++i) {
        if (i + 1 < waiting) player.fetch(ring.taken + 1);
        map_values(player, number);
        if (closed = take_block(player); closed) break;
      }
    }
    lock.lock();
    --busy_;
    if (!is_stuck) ++steps_;
    if (closed || (player.forgotten && player.memory.waiting() == 0)) return leave(number, player);
    __atomic_store_n(&ring.queued, 0, __ATOMIC_SEQ_CST);
    if (player.memory.waiting() != 0 && __atomic_exchange_n(&ring.queued, 1, __ATOMIC_SEQ_CST) == 0)
      waiting_.push_back(number);
  }

  void leave(std::uint32_t number, Player& player) {
    RingMemory memory = std::move(player.memory);
    const std::uint32_t published = __atomic_load_n(&memory.head().published, __ATOMIC_ACQUIRE);
    drop(number);
    __atomic_store_n(&memory.head().queued, 0, __ATOMIC_SEQ_CST);
    memory.leave(published);
  }

  /// Prepares models for the thread that now owns the ring. Returns false if those of its parent are not available yet.
  bool begin(Player& player) {
    NoteRing& ring = player.ring();
    const std::uint32_t begun = __atomic_load_n(&ring.begun, __ATOMIC_ACQUIRE);
    if (player.offloaded != nullptr && player.begun == begun) return true;
    const std::lock_guard lock(mutex_);
    const auto from = ring.forked != 0 ? forked_.find({ring.forked, player.kind}) : forked_.end();
    if (from != forked_.end()) {
      player.offloaded = std::move(from->second);
      forked_.erase(from);
      if (player.offloaded == nullptr) {
        add_without(player, channel::models_of(player.kind));
        player.offloaded = fresh(player);
      } else if (const auto* levels = dynamic_cast<OffloadedCaches*>(player.offloaded.get());
                 levels != nullptr && levels->last() != nullptr && !own_llc_) {
        last_levels_[ring.process] = levels->last();
      }
    } else if (ring.forked != 0 && !is_last_to_work()) {
      player.stuck_at = steps_;
      return false;
    } else {
      player.offloaded = fresh(player);
    }
    player.begun = begun;
    return true;
  }

  /// Maps the table of values of the thread that owns the ring now. A part of the run has its own: the thread changes
  /// it after all earlier blocks were taken.
  void map_values(Player& player, std::uint32_t number) const {
    if (player.placed.statistics.count == 0) return;
    const std::uint32_t area = shared_.records.thread(channel::thread_of_ring(number)).statistics;
    if (area == std::exchange(player.area, area)) return;
    auto memory = area != 0 && area < channel::area_limit
                      ? linux::map_shared(shared_.file.get(), channel::area_offset(area), channel::area_bytes)
                      : fail(Code::cannot_measure, "");
    player.placed.table = {};
    if (!memory) return;
    player.values_memory = std::move(*memory);
    player.placed.table = channel::ValueTable(player.values_memory.data());
  }

  /// Atomic, because both rings of a thread may set bits at the same time.
  static void add_without(Player& player, std::uint64_t models) {
    __atomic_or_fetch(&player.counts().without, models, __ATOMIC_RELAXED);
  }

  /// Whether each waiting ring lacks its parent's models, and nothing has happened since it was served. The caller
  /// holds mutex_.
  bool all_are_stuck() const {
    return std::ranges::all_of(waiting_, [this](std::uint32_t number) {
      const auto player = players_.find(number);
      return player != players_.end() && player->second->stuck_at == steps_;
    });
  }

  /// Whether neither another worker nor a waiting ring is left that could provide a parent's models. The caller
  /// holds mutex_.
  bool is_last_to_work() const {
    return finishing_ && busy_ == 1 && __atomic_load_n(&bell_.first, __ATOMIC_SEQ_CST) == 0 && all_are_stuck();
  }

  /// Returns empty models. The caller holds mutex_.
  std::unique_ptr<OffloadedModel> fresh(Player& player) {
    if (player.kind == RingContent::outcomes) return offloaded_predictor();
    const std::uint32_t process = player.ring().process;
    LevelShapes shapes = shapes_;
    std::shared_ptr<LastLevel> last;
    if (shapes.caches.llc.sets != 0) {
      if (!own_llc_) last = last_levels_[process];
      if (last == nullptr) last = new_last_level();
      if (last == nullptr) {
        shapes.caches.llc = {};
        add_without(player, channel::model_llc);
      } else if (!own_llc_) {
        last_levels_[process] = last;
      }
    }
    auto levels = OffloadedCaches::make(shapes, std::move(last));
    if (levels == nullptr) add_without(player, channel::models_of(player.kind));
    return levels;
  }

  /// Returns null if there is no memory for its table, or if no reserve would be left.
  std::shared_ptr<LastLevel> new_last_level() const {
    constexpr std::size_t reserve = std::size_t{2} << 30;
    const std::size_t bytes = tally::models::shared_words(shapes_.caches) * sizeof(std::uint64_t);
    if (!SparseMemory::make(bytes + reserve)) return nullptr;
    auto table = SparseMemory::make(bytes);
    if (!table) return nullptr;
    auto last = std::make_shared<LastLevel>();
    last->table = std::move(*table);
    return last;
  }

  /// Processes the next block of the ring. Returns true if it is the thread's last one.
  bool take_block(Player& player) {
    const std::uint32_t number = player.ring().taken;
    const channel::NoteBlock block = player.memory.about(number);
    if (player.offloaded != nullptr && block.count != 0)
      player.offloaded->take(player.memory.block(number), count_of(block, player.bytes_of_each()), player.counts(),
                             player.placed);
    if (block.forks != 0) {
      auto copy = player.offloaded != nullptr ? player.offloaded->copy() : nullptr;
      const std::lock_guard lock(mutex_);
      tidy();
      forked_.insert_or_assign({block.forks, player.kind}, std::move(copy));
    }
    if (block.closes != 0) return true;  // leave() marks it as taken
    player.memory.take(number);
    return false;
  }

  /// Skips all blocks: an engine cannot have written this state, so a program has overwritten the ring.
  static void pass_over(Player& player) {
    player.memory.pass_over();
    add_without(player, channel::models_of(player.kind));
  }

  const Channel& shared_;
  channel::RingWakeup& bell_;
  const LevelShapes shapes_;
  const bool own_llc_;
  std::mutex mutex_;  // guards everything below
  std::map<std::uint32_t, std::unique_ptr<Player>> players_;
  std::deque<std::uint32_t> waiting_;  // rings that have blocks, or may have
  struct Child {
    std::uint32_t process;
    RingContent kind;
    auto operator<=>(const Child&) const = default;
  };
  std::map<Child, std::unique_ptr<OffloadedModel>> forked_;          // initial models of that process's first thread
  std::map<std::uint32_t, std::shared_ptr<LastLevel>> last_levels_;  // by process, while it runs
  unsigned busy_ = 0;        // workers with a ring, which may provide models to others
  std::uint64_t steps_ = 1;  // lists of rings taken over, and rings served with progress
  bool finishing_ = false;
  std::vector<std::thread> threads_;
};

ModelWorkers::ModelWorkers(const Channel& shared, const channel::Models& models, unsigned threads)
    : work_(std::make_unique<Work>(shared, models, threads)) {}

ModelWorkers::~ModelWorkers() { finish(); }

void ModelWorkers::forget(std::uint32_t process) { work_->forget(process); }

void ModelWorkers::finish() { work_->finish(); }

unsigned default_model_workers() {
  constexpr int most = 16;
  const int processors = linux::allowed_processors();
  return processors < 2 ? 0 : static_cast<unsigned>(std::min(processors, most));
}

}  // namespace tally::backend::engine
