// Compares the workers' results for hand-written blocks of notes with the same models run directly.
#include "tally/counting/backend/engine/model_workers.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tally/counting/backend/engine/engine_models.hpp"
#include "tally/engine/models/branch/tage.hpp"
#include "tally/engine/models/cache/first_levels.hpp"

namespace tally::backend::engine {
namespace {

using tally::models::Access;
using tally::models::HierarchyCounts;
using tally::models::Note;

constexpr std::uint32_t on = channel::model_l1i | channel::model_l1d | channel::model_lower;

channel::ModelLevel level(std::uint32_t sets, std::uint32_t ways) { return {sets, ways, 6, 0, 1, 0}; }

channel::Models models() {
  channel::Models result{};
  result.on = on;
  result.l1i = result.l1d = level(8, 2);
  result.l2 = level(32, 4);
  result.llc = level(96, 8);
  return result;
}

/// Publishes notes like a thread under the engine, and reads its counts.
class Engine {
 public:
  Engine(Channel& shared, std::uint32_t thread, std::uint32_t process, std::uint32_t forked = 0,
         channel::RingContent what = channel::RingContent::notes)
      : shared_(shared),
        thread_(thread),
        number_(channel::ring_number(thread, what)),
        memory_(*linux::map_shared(shared.file.get(), channel::note_ring_offset(number_), channel::note_ring_bytes)) {
    shared.records.thread(thread).process = process;
    shared.records.process(process).state = channel::State::running;
    ring().process = process;
    ring().forked = forked;
    __atomic_store_n(&ring().begun, ring().begun + 1, __ATOMIC_RELEASE);
  }

  channel::NoteRing& ring() { return *reinterpret_cast<channel::NoteRing*>(memory_.data()); }

  std::uint8_t* block(std::uint32_t number) {
    return memory_.data() + (1 + number % channel::note_blocks) * channel::note_block_bytes;
  }

  template <class Word>
  void publish(const std::vector<Word>& notes, std::uint32_t forks = 0, std::uint32_t closes = 0) {
    channel::NoteRing& r = ring();
    while (r.published - __atomic_load_n(&r.taken, __ATOMIC_ACQUIRE) >= channel::note_blocks) std::this_thread::yield();
    const std::uint32_t next = r.published % channel::note_blocks;
    std::copy(notes.begin(), notes.end(), reinterpret_cast<Word*>(block(next)));
    r.block[next] = {static_cast<std::uint32_t>(notes.size()), forks, closes};
    __atomic_store_n(&r.published, r.published + 1, __ATOMIC_SEQ_CST);
    ring_bell();
  }
  void ring_bell() {
    channel::RingWakeup& wakeup = shared_.records.header().wakeup;
    channel::enqueue(wakeup, ring(), number_);
    if (__atomic_load_n(&wakeup.sleepers, __ATOMIC_SEQ_CST) == 0) return;
    __atomic_add_fetch(&wakeup.rings, 1, __ATOMIC_SEQ_CST);
    linux::wake_all(wakeup.rings);
  }

  /// Waits until this many of its blocks are taken.
  void wait_for(std::uint32_t taken) {
    while (__atomic_load_n(&ring().taken, __ATOMIC_ACQUIRE) != taken) std::this_thread::yield();
  }

  channel::ModelCounts counts() const {
    channel::ModelCounts result{};
    (void)linux::read_at(shared_.file.get(), channel::model_counts_offset(thread_), &result, sizeof result);
    return result;
  }

 private:
  Channel& shared_;
  std::uint32_t thread_, number_;
  linux::Mapping memory_;
};

/// A load of one line, always the same.
const std::vector<Note> line{tally::models::note_of(0x12340, Access::load)};

const std::vector<Note> nothing;

std::vector<Note> some_notes(std::mt19937_64& random, std::size_t n) {
  std::vector<Note> notes;
  for (std::size_t i = 0; i < n; ++i)
    notes.push_back(tally::models::note_of((random() % 2000) << 6, static_cast<Access>(random() % 4)));
  return notes;
}

/// The same models, run by this thread.
class Direct {
 public:
  Direct()
      : shape_(shape_of(models())),
        first_table_(tally::models::FirstLevels::words(shape_)),
        l2_(tally::models::table_words(shape_.l2)),
        llc_(tally::models::table_words(shape_.llc)),
        first_(shape_, first_table_.data()),
        lower_(shape_, l2_.data(), llc_.data()) {}
  void take(std::vector<Note> notes) {
    const auto missed = first_.access_all(notes.data(), static_cast<std::uint32_t>(notes.size()), counts);
    lower_.request_all(notes.data(), missed, counts);
  }
  HierarchyCounts counts;

 private:
  tally::models::HierarchyShape shape_;
  std::vector<std::uint64_t> first_table_, l2_, llc_;
  tally::models::FirstLevels first_;
  tally::models::LowerLevels lower_;
};

HierarchyCounts caches_of(const channel::ModelCounts& counts) {
  HierarchyCounts result;
  static_assert(offsetof(channel::ModelValues, l1i) == 0);
  std::memcpy(static_cast<void*>(&result), &counts.values, sizeof result);
  return result;
}

TEST(ModelWorkers, count_like_models_that_run_directly) {
  auto shared = Channel::make();
  ASSERT_TRUE(shared);
  ModelWorkers workers(*shared, models(), 2);
  Engine engine(*shared, 7, 3);
  Direct direct;
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const auto notes = some_notes(random, random() % channel::notes_limit);
    engine.publish(notes);
    direct.take(notes);
  }
  workers.finish();
  EXPECT_EQ(caches_of(engine.counts()), direct.counts);
  EXPECT_GT(direct.counts.llc.misses(), 1000u);
}

TEST(ModelWorkers, a_forked_child_begins_with_its_parents_levels_in_any_order) {
  auto shared = Channel::make();
  ASSERT_TRUE(shared);
  ModelWorkers workers(*shared, models(), 3);
  shared->records.process(4).state = channel::State::running;  // as before a fork
  Engine parent(*shared, 7, 3), child(*shared, 8, 4, 4);
  std::mt19937_64 random(2);
  const auto before = some_notes(random, 1500), of_parent = some_notes(random, 900), of_child = some_notes(random, 800);
  child.publish(of_child);
  parent.publish(before);
  parent.publish(nothing, 4);
  parent.publish(of_parent);
  workers.finish();
  Direct first, second;
  first.take(before);
  second.take(before);
  second.counts = {};
  first.take(of_parent);
  second.take(of_child);
  EXPECT_EQ(caches_of(parent.counts()), first.counts);
  EXPECT_EQ(caches_of(child.counts()), second.counts);
}

TEST(ModelWorkers, predictors_and_tlbs_of_a_forked_child_continue_its_parents) {
  auto shared = Channel::make();
  ASSERT_TRUE(shared);
  shared->records.process(4).state = channel::State::running;
  channel::Models with_tlbs = models();
  with_tlbs.on |= channel::model_tlbs | channel::model_branches;
  with_tlbs.dtlb = {4, 2, 12, 0, 1, 0};
  ModelWorkers workers(*shared, with_tlbs, 2);
  constexpr auto outcomes = channel::RingContent::outcomes;
  Engine parent(*shared, 7, 3), parents_branches(*shared, 7, 3, 0, outcomes);
  Engine child(*shared, 8, 4, 4), childs_branches(*shared, 8, 4, 4, outcomes);
  std::mt19937_64 random(3);
  const auto branches = [&random](int n) {
    std::vector<std::uint32_t> words;
    for (int i = 0; i < n; ++i) {
      words.push_back(tally::models::outcome_of(0x1000 + random() % 50, random() % 8 == 0));
      if (i % 10 != 0) continue;
      words.push_back(tally::models::indirect_outcome_of(0x2000));
      words.push_back(static_cast<std::uint32_t>(0x3000 + random() % 2));
    }
    return words;
  };
  const auto before = branches(3000), after = branches(2000);
  childs_branches.publish(after);
  child.publish(line);
  parents_branches.publish(before);
  parents_branches.publish(nothing, 4);
  parent.publish(line);
  parent.publish(nothing, 4);
  workers.finish();
  auto tage = std::make_unique<tally::models::Tage>();
  tage->reset();
  const auto expect = [&tage](const Engine& branches, const std::vector<std::uint32_t>& words) {
    const auto wrong = tage->play(words.data(), static_cast<std::uint32_t>(words.size()));
    EXPECT_EQ(branches.counts().values.conditional_misses, wrong.conditional);
    EXPECT_EQ(branches.counts().values.indirect_misses, wrong.indirect);
    EXPECT_GT(wrong.indirect, 50u);
  };
  expect(parents_branches, before);
  expect(childs_branches, after);
  EXPECT_EQ(parent.counts().values.dtlb.load_misses, 1u);
  EXPECT_EQ(child.counts().values.dtlb.load_misses, 0u);
}

TEST(ModelWorkers, threads_of_a_process_share_its_last_level_and_no_other) {
  auto shared = Channel::make();
  ASSERT_TRUE(shared);
  ModelWorkers workers(*shared, models(), 1);
  Engine one(*shared, 7, 3), two(*shared, 8, 3), other(*shared, 9, 5);
  one.publish(line);
  one.wait_for(1);
  two.publish(line);
  other.publish(line);
  workers.finish();
  EXPECT_EQ(one.counts().values.llc.load_misses, 1u);
  EXPECT_EQ(two.counts().values.llc.loads, 1u);
  EXPECT_EQ(two.counts().values.llc.load_misses, 0u);
  EXPECT_EQ(other.counts().values.llc.load_misses, 1u);
}

TEST(ModelWorkers, a_last_level_lives_as_long_as_its_process) {
  auto shared = Channel::make();
  ASSERT_TRUE(shared);
  shared->records.process(3).state = channel::State::running;
  ModelWorkers workers(*shared, models(), 1);
  Engine first(*shared, 7, 3);
  first.publish(line);
  first.publish(nothing, 0, 1);
  first.wait_for(2);
  Engine second(*shared, 8, 3);
  second.publish(line);
  workers.finish();
  EXPECT_EQ(second.counts().values.llc.loads, 1u);
  EXPECT_EQ(second.counts().values.llc.load_misses, 0u);
}

TEST(ModelWorkers, the_end_does_not_wait_for_parents_that_publish_nothing) {
  auto shared = Channel::make();
  ASSERT_TRUE(shared);
  ModelWorkers workers(*shared, models(), 4);
  Engine one(*shared, 7, 3, 3), two(*shared, 8, 4, 4);
  for (Engine* child : {&one, &two}) child->publish(line);
  workers.finish();
  EXPECT_EQ(one.counts().values.l1d.load_misses, 1u);
  EXPECT_EQ(two.counts().values.l1d.load_misses, 1u);
}

TEST(ModelWorkers, the_end_waits_for_a_parents_late_notes) {
  for (int round = 0; round < 20; ++round) {
    auto shared = Channel::make();
    ASSERT_TRUE(shared);
    ModelWorkers workers(*shared, models(), 2);
    Engine parent(*shared, 7, 3), child(*shared, 8, 4, 4);
    child.publish(line);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it has been served in vain many times
    parent.publish(line, 4);
    workers.finish();
    ASSERT_EQ(child.counts().values.l1d.load_misses, 0u) << round;
  }
}

TEST(ModelWorkers, the_end_waits_for_parents_that_wait_for_theirs) {
  constexpr std::uint32_t generations = 6;
  for (int round = 0; round < 40; ++round) {
    auto shared = Channel::make();
    ASSERT_TRUE(shared);
    ModelWorkers workers(*shared, models(), 4);
    std::vector<Engine> chain;
    for (std::uint32_t i = 0; i < generations; ++i) chain.emplace_back(*shared, 7 + i, 3 + i, i == 0 ? 0 : 3 + i);
    for (std::uint32_t i = generations; i-- > 0;) chain[i].publish(line, i + 1 == generations ? 0 : 4 + i);
    workers.finish();
    EXPECT_EQ(chain[0].counts().values.l1d.load_misses, 1u) << round;
    for (std::uint32_t i = 1; i < generations; ++i)
      EXPECT_EQ(chain[i].counts().values.l1d.load_misses, 0u) << round << ' ' << i;
  }
}

TEST(ModelWorkers, a_thread_that_reuses_a_record_begins_with_empty_models) {
  auto shared = Channel::make();
  ASSERT_TRUE(shared);
  ModelWorkers workers(*shared, models(), 2);
  std::uint32_t taken = 0;
  for (int i = 0; i < 3; ++i) {
    Engine engine(*shared, 7, 3);
    engine.publish(line);
    engine.publish(nothing, 0, 1);
    taken += 2;
    engine.wait_for(taken);
  }
  workers.finish();
  Engine last(*shared, 7, 3);
  EXPECT_EQ(last.counts().values.l1d.load_misses, 3u);
}

TEST(ModelWorkers, an_overwritten_ring_is_reported_and_blocks_nothing) {
  auto shared = Channel::make();
  ASSERT_TRUE(shared);
  ModelWorkers workers(*shared, models(), 1);
  Engine broken(*shared, 7, 3), sound(*shared, 8, 3);
  broken.ring().published = 1'000'000;
  broken.ring_bell();
  sound.publish(line);
  workers.finish();
  EXPECT_EQ(broken.counts().without & on, on);
  EXPECT_EQ(sound.counts().values.l1d.load_misses, 1u);
  EXPECT_EQ(sound.counts().without, 0u);
}

TEST(ModelWorkers, the_wakeup_is_closed_at_the_end) {
  auto shared = Channel::make();
  ASSERT_TRUE(shared);
  { const ModelWorkers workers(*shared, models(), 2); }
  EXPECT_EQ(shared->records.header().wakeup.closed, 1u);
}

TEST(EngineModels, delays_that_cycles_lack_are_named_from_one_in_a_hundred_on) {
  channel::CoreValues core{.cycles = {}, .instructions = 100'000, .unknown = 0, .aliases = 999};
  channel::ModelValues values{};
  values.l1d_across.loads = 600;
  values.l1d_across.stores = 399;
  EXPECT_EQ(describe_cycles(core, values, {}).find("lacks"), std::string::npos);
  values.l1d_across.stores = 400;
  EXPECT_NE(describe_cycles(core, values, {}).find("; it lacks the delays of 1,000 accesses across lines"),
            std::string::npos);
  core.aliases = 2000;
  EXPECT_NE(describe_cycles(core, values, {}).find("and 2,000 loads 4 KiB away from a pending store"),
            std::string::npos);
}

}  // namespace
}  // namespace tally::backend::engine
