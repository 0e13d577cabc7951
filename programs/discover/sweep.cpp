#include "programs/discover/sweep.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "programs/discovery/analysis/steps.hpp"
#include "tally/core/stats/portable_random.hpp"

namespace tally::discover {
namespace {

using Key = std::tuple<int, std::size_t, std::size_t, int, std::size_t>;

Key key_of(const Run& run) { return {static_cast<int>(run.stage), run.payload, run.size, run.repeat, run.batch}; }

// Finds a path that assigns a counter to `event`, moving other events to other counters.
bool give(std::size_t event, const std::vector<std::vector<int>>& allowed, std::vector<int>& owner,
          std::vector<bool>& seen) {
  for (const int counter : allowed[event]) {
    const auto place = static_cast<std::size_t>(counter);
    if (seen[place]) continue;
    seen[place] = true;
    if (owner[place] >= 0 && !give(static_cast<std::size_t>(owner[place]), allowed, owner, seen)) continue;
    owner[place] = static_cast<int>(event);
    return true;
  }
  return false;
}

// A run that is not made yet.
struct PlannedRun {
  Run run;
  const std::vector<Slot>* slots;
};

Result<bool> make(Target& target, Record& record, const std::vector<PlannedRun>& all, const Watch& watch,
                  std::string_view stage) {
  std::set<Key> there;
  for (const Run& run : record.runs) there.insert(key_of(run));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (watch.interrupted && watch.interrupted()) return false;
    if (there.contains(key_of(all[i].run))) continue;
    Run run = all[i].run;
    if (watch.progress) {
      const double share = static_cast<double>(i) / static_cast<double>(all.size());
      watch.progress(stage, record.payloads[run.payload].name, share);
    }
    if (auto done = target.run(record.sizes[run.size], *all[i].slots, run); !done) return fail(done.error());
    if (watch.made) {
      if (auto kept = watch.made(run); !kept) return fail(kept.error());
    }
    record.runs.push_back(std::move(run));
  }
  return true;
}

// Every event on every counter at once; if counters cannot be selected, as many events as fit.
std::vector<std::vector<Slot>> screening(const Target& target, const Record& record) {
  std::vector<std::vector<Slot>> all;
  for (std::size_t event = 0; event < record.events.size(); ++event) {
    if (target.counters() > 0) {
      all.emplace_back();
      for (int counter = 0; counter < target.counters(); ++counter) {
        const bool used =
            record.used.empty() || std::find(record.used.begin(), record.used.end(), counter) != record.used.end();
        if (!used) continue;
        all.back().push_back({event, record.events[event], counter});
      }
      continue;
    }
    if (all.empty() || all.back().size() >= target.at_once()) all.emplace_back();
    all.back().push_back({event, record.events[event], -1});
  }
  return all;
}

// Returns the payloads in random order, different for each repeat.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, int repeat) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed, {0x51, static_cast<std::uint64_t>(repeat)});
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace

std::vector<std::vector<Slot>> batches(const std::vector<Slot>& events, const std::vector<std::vector<int>>& allowed,
                                       int counters, std::size_t at_once) {
  std::vector<std::vector<Slot>> all;
  if (counters == 0) {
    for (const Slot& event : events) {
      if (all.empty() || all.back().size() >= at_once) all.emplace_back();
      all.back().push_back(event);
    }
    return all;
  }
  std::vector<std::size_t> left(events.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  std::stable_sort(left.begin(), left.end(),
                   [&](std::size_t a, std::size_t b) { return allowed[a].size() < allowed[b].size(); });
  while (!left.empty()) {
    std::vector<int> owner(static_cast<std::size_t>(counters), -1);
    std::vector<std::size_t> later;
    for (const std::size_t event : left) {
      std::vector<bool> seen(static_cast<std::size_t>(counters), false);
      if (!give(event, allowed, owner, seen)) later.push_back(event);
    }
    if (later.size() == left.size()) break;  // no counter can count them
    all.emplace_back();
    for (std::size_t counter = 0; counter < owner.size(); ++counter) {
      if (owner[counter] < 0) continue;
      Slot slot = events[static_cast<std::size_t>(owner[counter])];
      slot.counter = static_cast<int>(counter);
      all.back().push_back(slot);
    }
    left = std::move(later);
  }
  return all;
}

Result<bool> sweep(Target& target, Record& record, const Watch& watch) {
  record.counters = target.counters();
  const std::vector<std::vector<Slot>> first = screening(target, record);
  std::vector<PlannedRun> planned;
  for (std::size_t batch = 0; batch < first.size(); ++batch) {
    for (std::size_t payload = 0; payload < record.payloads.size(); ++payload) {
      Run run;
      run.payload = payload;
      run.size = record.sizes.size() - 1;
      run.batch = batch;
      planned.push_back({run, &first[batch]});
    }
  }
  auto made = make(target, record, planned, watch, "1 of 2, live events");
  if (!made || !*made) return made;

  std::vector<Slot> alive;
  std::vector<std::vector<int>> allowed;
  const std::vector<Affinity> where = affinities(record);
  std::vector<int> without;
  for (const Liar& liar : liars(record, where)) without.push_back(liar.counter);
  for (std::size_t event = 0; event < where.size(); ++event) {
    if (!where[event].alive) continue;
    alive.push_back({event, record.events[event], -1});
    allowed.push_back(where[event].counters);
    std::erase_if(allowed.back(),
                  [&](int one) { return std::find(without.begin(), without.end(), one) != without.end(); });
  }
  const std::vector<std::vector<Slot>> second = batches(alive, allowed, target.counters(), target.at_once());
  planned.clear();
  for (int repeat = 0; repeat < record.repeats; ++repeat) {
    for (const std::size_t payload : shuffled(record.payloads.size(), record.seed, repeat)) {
      for (std::size_t batch = 0; batch < second.size(); ++batch) {
        for (std::size_t i = 0; i < record.sizes.size(); ++i) {
          Run run;
          run.stage = Run::Stage::slopes;
          run.payload = payload;
          // Ascending in one repeat, descending in the next, so that drift does not appear as a slope.
          run.size = repeat % 2 == 0 ? i : record.sizes.size() - 1 - i;
          run.repeat = repeat;
          run.batch = batch;
          planned.push_back({run, &second[batch]});
        }
      }
    }
  }
  return make(target, record, planned, watch, "2 of 2, slopes");
}

}  // namespace tally::discover
