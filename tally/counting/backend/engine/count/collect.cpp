#include "tally/counting/backend/engine/count/collect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/engine/count/collect_sources.hpp"
#include "tally/counting/backend/engine/count/handed_back.hpp"
#include "tally/counting/backend/engine/count/reasons.hpp"
#include "tally/counting/backend/engine/effort.hpp"
#include "tally/counting/backend/engine/failures.hpp"
#include "tally/counting/backend/engine/regions/marked_regions.hpp"
#include "tally/counting/backend/engine/regions/part_regions.hpp"
#include "tally/counting/backend/engine/sound.hpp"
#include "tally/counting/backend/software.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::backend::engine {
namespace {

constexpr const char* still_running_reason = "it was still running";

void join_tallies(CollectedTotals& to, const CollectedTotals& from) {
  to.totals.add(from.totals);
  add(to.models, from.models);
  to.without |= from.without;
  for (std::uint32_t i = 0; i < channel::core_cause_count; ++i) to.core.cycles[i] += from.core.cycles[i];
  to.core.instructions += from.core.instructions;
  to.core.unknown += from.core.unknown;
  to.core.aliases += from.core.aliases;
  to.unseen.instructions += from.unseen.instructions;
  to.unseen.accesses += from.unseen.accesses;
}

/// A process of the channel with its results so far.
struct Image {
  std::uint32_t index = 0;
  bool first_of_program = false;  // created when an engine started, not by a fork
  bool is_sound = true;           // the process record is valid
  CollectedTotals tally;
  struct Thread {
    const channel::Thread* record;
    std::uint32_t number;
    CollectedTotals tally;
  };
  std::vector<Thread> threads;
  result::Process result;
};

class Collector {
 public:
  Collector(const Order& order, const Execution& execution, const Channel& shared, const Modelling& modelling,
            const CountedTime& counted_time)
      : order_(order),
        execution_(execution),
        shared_(shared),
        modelling_(modelling),
        counted_time_(counted_time),
        records_(shared.records) {
    const std::uint32_t n = claimed_processes(shared);
    images_.resize(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      images_[i].index = i + 1;
      images_[i].is_sound = contradiction_of(records_.process(i + 1), i + 1).empty();
    }
    const std::uint32_t threads = claimed_threads(shared);
    effort_ = Effort(n, threads);
    for (std::uint32_t i = 1; i <= threads; ++i) add_thread(i);
    for (const Image& image : images_) last_of_[records_.process(image.index).pid] = image.index;
    for (Image& image : images_) describe(image);
  }

  std::vector<Image>& images() { return images_; }

  /// Returns the regions of each process that executed one; without any requested one, an empty entry for the first
  /// process.
  std::vector<result::ProgramRegions> regions() const {
    std::vector<result::ProgramRegions> all;
    const PartRecords parts = order_.counts_sections() ? read_parts(shared_) : PartRecords{};
    for (const Image& image : images_) {
      std::vector<RegionResult> regions;
      if (!order_.code_regions().empty()) {
        std::vector<MarkedThread> threads;
        for (const Image::Thread& thread : image.threads) threads.push_back({thread.number, thread.record->tid});
        regions = regions_of(order_, modelling_, shared_, threads, image.tally);
      }
      if (const auto own = parts.find(image.index); own != parts.end())
        for (RegionResult& region : regions_of_parts(order_, modelling_, shared_, own->second, image.tally))
          regions.push_back(std::move(region));
      if (!regions.empty()) all.push_back({image.result.pid, {image.result.command}, "", std::move(regions)});
    }
    if (all.empty() && !order_.code_regions().empty() && !images_.empty())
      all.push_back({images_.front().result.pid, {images_.front().result.command}, "", {}});
    return all;
  }

  bool is_timed() const { return counted_time_.from || counted_time_.until; }

  /// Returns messages about rdpmc of counters that do not exist.
  std::vector<std::string> missing_counters() const {
    std::vector<std::string> texts;
    for (const Image& image : images_) {
      const channel::Process& process = records_.process(image.index);
      if (process.no_counter_read == 0) continue;
      texts.push_back(
          fmt::format("{} ({}) read counter {:#x} with rdpmc: it does not exist, so the program got SIGSEGV",
                      image.result.command, image.result.pid, process.no_counter));
    }
    return texts;
  }

  /// With Models::compared: returns the first value in which the two ways of simulating differ; nothing if they agree.
  const std::optional<std::string>& difference() const { return difference_; }

 private:
  /// Does not check the process of an invalid record, whose ID may be anything. Checks each process once.
  bool has_died(const Image& image, const channel::Process& process) {
    if (process.pid == execution_.pid) return execution_.ended;
    if (!image.is_sound) return true;
    const auto [known, is_new] = alive_.try_emplace(process.pid, false);
    if (is_new) known->second = linux::is_alive(process.pid);
    return !known->second;
  }

  void add_models(std::uint32_t index, CollectedTotals& tally) {
    channel::ModelCounts counts{};
    if (modelling_.settings.on == 0 ||
        !linux::read_at(shared_.file.get(), channel::model_counts_offset(index), &counts, sizeof counts))
      return;
    tally.without = counts.without;
    if (!is_timed() && !is_possible(counts.values, tally.totals)) {
      tally.without |= ~std::uint64_t{channel::model_llc};
      return;
    }
    tally.models = counts.values;
    tally.core = counts.core;
    tally.unseen = counts.unseen;
    // An unfinished thread is ahead in one of both ways.
    if (modelling_.settings.compared != 0 && counts.without == 0 && tally.reason.empty() && !difference_)
      difference_ = engine::difference(counts.values, counts.plain);
  }

  void add_thread(std::uint32_t number) {
    const channel::Thread& thread = records_.thread(number);
    // Read once, because a running program may overwrite it.
    const std::uint32_t of = __atomic_load_n(&thread.process, __ATOMIC_RELAXED);
    if (thread.state == channel::State::free || of == 0 || of > images_.size()) return;
    Image& image = images_[of - 1];
    const channel::Process& process = records_.process(of);
    Image::Thread made{&thread, number, {}};
    const bool whole = thread.state == channel::State::ended && !is_timed();
    made.tally.reason = contradiction_of(thread);
    // A running thread must not share its area.
    if (thread.state == channel::State::running && thread.area != 0 && made.tally.reason.empty() &&
        !areas_.insert(thread.area).second)
      made.tally.reason = shared_area();
    if (made.tally.reason.empty()) {
      made.tally.totals = counted_time_.until ? counted_time_.until->of(number) : totals_of(number, shared_, &effort_);
      if (counted_time_.from) made.tally.totals.add(counted_time_.from->of(number), -1);
      if (effort_.is_spent()) made.tally.reason = too_much();
    }
    if (made.tally.reason.empty()) {
      made.tally.reason = why_impossible(made.tally.totals, execution_.lasted, whole);
      // Impossible totals are not part of a sum.
      if (!made.tally.reason.empty()) made.tally.totals = {};
    }
    // What happens after a time-out is not part of the count.
    if (made.tally.reason.empty() && thread.state != channel::State::ended && !counted_time_.timed_out) {
      // If the engine ended it, the process has that reason.
      if ((process.partial & (channel::partial_engine_failed | channel::partial_strict)) == 0)
        made.tally.reason = has_died(image, process) ? reasons_of(channel::partial_killed) : still_running_reason;
    }
    add_models(number, made.tally);
    join_tallies(image.tally, made.tally);
    if (image.tally.reason.empty()) image.tally.reason = made.tally.reason;
    image.threads.push_back(std::move(made));
  }

  /// Whether a process requested to be taken over at its execve, and no engine started in the new program.
  bool has_no_record_after_exec(const Image& image) const {
    const channel::Process& process = records_.process(image.index);
    const auto last = last_of_.find(process.pid);
    if (records_.header().reused != 0) return false;  // records are in no order; total_of() compares numbers
    return process.end == channel::End::executed && last != last_of_.end() && last->second == image.index;
  }

  void describe(Image& image) {
    const channel::Process& process = records_.process(image.index);
    // An invalid record has no other reasons.
    const std::string contradiction = contradiction_of(process, image.index);
    std::string partial = contradiction.empty() ? reasons_of_process(process) : contradiction;
    if (partial.empty() && has_no_record_after_exec(image)) {
      partial = has_died(image, process)
                    ? "the last program that it executed ran natively, or ended before counting began"
                    : "the last program that it executed was not counted";
    }
    if (partial.empty() && !counted_time_.timed_out && image.threads.empty() &&
        process.state == channel::State::running) {
      partial = has_died(image, process) ? reasons_of(channel::partial_killed) : still_running_reason;
    }
    if (!partial.empty()) image.tally.reason += (image.tally.reason.empty() ? "" : "; ") + partial;
    image.first_of_program = process.forked_from == 0 && process.state != channel::State::free;
    result::Process& made = image.result;
    made.pid = process.pid;
    made.parent_pid = process.parent_pid;
    made.command = printable(std::string(process.name, ::strnlen(process.name, sizeof process.name)));
    if (process.before > 0) made.command += fmt::format(" and {} before it", process.before);
    if (is_reexecution(process)) made.image += images_of_[process.pid];
    images_of_[process.pid]++;
    end_of(image, process, made);
    for (const Image::Thread& thread : image.threads) {
      CollectedTotals tally = thread.tally;
      if (!partial.empty()) tally.reason = image.tally.reason;
      tally.core_is_elsewhere = image.threads.size() > 1;
      result::Thread one;
      one.tid = thread.record->tid;
      one.name =
          printable(std::string(thread.record->name, ::strnlen(thread.record->name, sizeof thread.record->name)));
      one.before = thread.record->before;
      if (one.before > 0) one.name += fmt::format(" and {} before it", one.before);
      one.counts = counts(tally);
      made.threads.push_back(std::move(one));
    }
    made.counts = counts(image.tally);
    made.single_stepped = static_cast<std::int64_t>(process.single_stepped);
    if (process.handed_back_ns != 0) made.native_from = Nanoseconds{static_cast<std::int64_t>(process.handed_back_ns)};
  }

  static bool is_reexecution(const channel::Process& process) { return process.forked_from == 0; }

  void end_of(const Image& image, const channel::Process& process, result::Process& made) {
    if (process.pid == execution_.pid && process.end != channel::End::executed) {
      const linux::Exit exit = linux::exit_of(execution_.wait_status);
      made.end = !execution_.ended ? result::End::running : exit.signal ? result::End::signalled : result::End::exited;
      made.end_code = exit.signal.value_or(exit.code);
      return;
    }
    made.end_code = process.end_code;
    switch (process.end) {
      case channel::End::exited: made.end = result::End::exited; break;
      case channel::End::signalled: made.end = result::End::signalled; break;
      case channel::End::executed: made.end = result::End::executed; break;
      case channel::End::unknown:
        made.end = has_died(image, process) ? result::End::unknown : result::End::running;
        break;
    }
  }

  std::vector<EventCount> counts(const CollectedTotals& tally) const {
    std::vector<EventCount> made;
    for (const event::Event& event : order_.events) {
      const bool hardware = event::has_modes(event::definition(event.id).kind);
      made.push_back(event_count(event, hardware ? count_of(event, tally, simulation())
                                                 : absent("the kernel reports it only for the whole command")));
    }
    return made;
  }

  const Simulation* simulation() const { return modelling_.simulation ? &*modelling_.simulation : nullptr; }

  const Order& order_;
  const Execution& execution_;
  const Channel& shared_;
  const Modelling& modelling_;
  std::optional<std::string> difference_;
  const CountedTime& counted_time_;
  channel::Records records_;
  std::vector<Image> images_;
  std::unordered_map<std::int32_t, std::uint32_t> last_of_;  // process ID → its last image
  std::unordered_map<std::int32_t, int> images_of_;          // process ID → images so far
  std::unordered_map<std::int32_t, bool> alive_;             // by process ID
  std::set<std::uint32_t> areas_;                            // of running threads
  Effort effort_{0, 0};
};

/// Returns the number of processes that were still running when they were read.
std::int64_t running_count(const std::vector<Image>& images) {
  std::set<std::int64_t> pids;
  for (const Image& image : images) {
    if (image.tally.reason == still_running_reason) pids.insert(image.result.pid);
  }
  return static_cast<std::int64_t>(pids.size());
}

/// Returns the most processor time that all of them can have had. wait4(2) may miss some of several processes.
Nanoseconds time_of(const std::vector<Image>& images, const Execution& execution) {
  const auto is_same = [&](const Image& image) { return image.result.pid == images.front().result.pid; };
  if (execution.ended && std::all_of(images.begin(), images.end(), is_same))
    return execution.statistics.usage.user + execution.statistics.usage.system;
  return time_of_all_processors(execution.lasted);
}

/// A reason for processes of one command, and when they continued natively, in their own processor time.
struct Reason {
  std::string words;
  std::vector<Nanoseconds> native_from = {};
};

/// Each reason once.
std::vector<std::string> reasons_of(const std::vector<Image>& images) {
  std::vector<Reason> all;
  for (const Image& image : images) {
    if (image.tally.reason.empty() || image.tally.reason == still_running_reason) continue;
    const std::string text = image.result.command + ": " + image.tally.reason;
    auto place = std::find_if(all.begin(), all.end(), [&](const Reason& reason) { return reason.words == text; });
    if (place == all.end()) place = all.insert(all.end(), {text});
    if (image.result.native_from) place->native_from.push_back(*image.result.native_from);
  }
  std::vector<std::string> texts;
  for (const Reason& one : all) texts.push_back(with_moments(one.words, one.native_from));
  return texts;
}

std::string share_of_native(const std::vector<Image>& images, const Execution& execution, const Channel& shared) {
  if (!execution.ended) return "";
  std::vector<const channel::Process*> processes;
  for (const Image& image : images) processes.push_back(&shared.records.process(image.index));
  return native_share(processes, !execution.native.empty(),
                      execution.statistics.usage.user + execution.statistics.usage.system);
}

/// Returns the counts of the whole command: exact if every part is exact.
CollectedTotals total_of(const std::vector<Image>& images, const Execution& execution, const Channel& shared) {
  CollectedTotals total;
  for (const Image& image : images) join_tallies(total, image.tally);
  std::vector<std::string> reasons = reasons_of(images);
  if (const auto running = running_count(images); running > 0) {
    reasons.push_back(plural(running, "process was", "processes were") + " still running");
  }
  // Every program that the engine was mapped into creates a record, unless the engine failed at its first step.
  const channel::Header& header = shared.records.header();
  const auto started = header.reused != 0 ? std::ptrdiff_t{header.programs}
                                          : std::count_if(images.begin(), images.end(),
                                                          [&](const Image& image) { return image.first_of_program; });
  const bool all_sound = std::all_of(images.begin(), images.end(), [](const Image& image) { return image.is_sound; });
  if (const auto native = execution.injected - started; all_sound && native > 0) {
    const auto forbidden = std::min<std::ptrdiff_t>(native, header.forbidden);
    const auto say = [&](std::ptrdiff_t n, const std::string& why) {
      if (n > 0) reasons.push_back(fmt::format("{} of {} programs ran natively: {}", n, execution.injected, why));
    };
    say(forbidden, "the engine may not map memory for translated code (PR_SET_MDWE; systemd: MemoryDenyWriteExecute)");
    say(native - forbidden, fmt::format("not enough memory for the engine (see {})", linux::limits_on_memory()));
  }
  for (const std::string& native : execution.native) {
    if (std::find(reasons.begin(), reasons.end(), native) == reasons.end()) reasons.push_back(native);
  }
  if (reasons.empty()) {
    for (const std::string& text : {contradiction_in(shared, execution.settings),
                                    why_impossible(total.totals, time_of(images, execution), false)}) {
      if (!text.empty()) reasons.push_back(text);
    }
  }
  constexpr std::size_t most = 4;
  const std::size_t more = reasons.size() > most ? reasons.size() - most : 0;
  if (more > 0) reasons.resize(most);
  total.reason = join(reasons, "; ");
  if (more > 0) total.reason += fmt::format("; and {} more", more);
  if (const std::string share = share_of_native(images, execution, shared); !share.empty())
    total.reason += (total.reason.empty() ? "" : "; ") + share;
  return total;
}

/// Returns the descendants that are still running, each once, for the user.
std::string still_running(const std::vector<Image>& images) {
  std::vector<std::string> living;
  std::unordered_map<std::int64_t, std::uint32_t> last_of;
  for (const Image& image : images) last_of[image.result.pid] = image.index;
  for (const Image& image : images) {
    if (!image.is_sound || last_of.at(image.result.pid) != image.index || image.result.end == result::End::exited ||
        image.result.end == result::End::signalled)
      continue;
    if (linux::is_alive(static_cast<pid_t>(image.result.pid))) {
      living.push_back(fmt::format("{} ({})", image.result.command, image.result.pid));
    }
  }
  return join(living, ", ");
}

// Grades a native count of a program that ran under the engine. `own`: a note about the engine's part, or empty.
Count under_engine(const event::Event& event, const Count& native, const std::string& own = {}) {
  switch (event.id) {
    case event::Id::duration_time:
    case event::Id::tsc:
    case event::Id::task_clock:
    case event::Id::cpu_clock:
    case event::Id::user_time:
    case event::Id::system_time: return downgraded(native, Trust::partial, slower_under_engine);
    default: return downgraded(native, Trust::partial, own.empty() ? "includes the engine's overhead" : own);
  }
}

Count software(const event::Event& event, const Execution& execution, bool counted_anything, bool some_running,
               const std::string& own = {}) {
  Count native = software_count(event, execution.statistics);
  if (!execution.ended) return downgraded(native, Trust::partial, "the program was still running");
  if (some_running) native = downgraded(native, Trust::partial, "without processes that were still running");
  return counted_anything ? under_engine(event, native, own) : native;
}

}  // namespace

Outlook outlook_of(const event::Event& event, const Simulation* simulation) {
  if (event::has_modes(event::definition(event.id).kind)) return backend::outlook_of(count_of(event, {}, simulation));
  Execution successful;
  successful.ended = true;
  successful.statistics = expected_statistics(event);
  return backend::outlook_of(software(event, successful, true, false));
}

Count software_while_running(const event::Event& event, const RunStatistics& statistics) {
  return under_engine(
      event, kernel_event(event.id) ? software_count_so_far(event, statistics) : software_count(event, statistics));
}

std::vector<result::ProgramRegions> collect(const Order& order, const Execution& execution, const Channel& shared,
                                            const Modelling& modelling, const CountedTime& counted_time,
                                            Outcome& outcome) {
  Collector collect(order, execution, shared, modelling, counted_time);
  const Simulation* const simulation = modelling.simulation ? &*modelling.simulation : nullptr;
  std::vector<Image>& images = collect.images();
  std::vector<result::ProgramRegions> regions = collect.regions();
  const CollectedTotals total = total_of(images, execution, shared);
  const bool counted_anything =
      std::any_of(images.begin(), images.end(), [](const Image& image) { return !image.threads.empty(); });
  const std::int64_t running = running_count(images);
  // For a part of the run the addresses of the faults are unknown.
  const auto own_share = [&](const event::Event& event) {
    const auto found = execution.faults.find(event.id);
    if (found == execution.faults.end() || order.timing().any()) return std::string();
    const Count all = software_count(event, execution.statistics);
    return all.value ? share_of_engine(found->second, *all.value, shared.records) : std::string();
  };
  for (const event::Event& event : order.events) {
    const event::Kind kind = event::definition(event.id).kind;
    const bool has_modes = event::has_modes(kind);
    Count count = has_modes ? count_of(event, total, simulation)
                            : software(event, execution, counted_anything, running > 0, own_share(event));
    if (has_modes && !counted_anything && count.trust != Trust::absent)
      count = absent(!total.reason.empty() ? total.reason : "the program ended before the engine started");
    // Models report at the end only.
    const bool is_of_the_time = has_modes ? kind == event::Kind::hardware : count.source == Source::kernel;
    outcome.counts.push_back(event_count(event, timed(std::move(count), order.timing(), is_of_the_time)));
  }
  outcome.code.executed = total.totals.field[channel::instructions];
  if (modelling.needed.any()) outcome.notices.push_back(describe(*simulation, modelling.needed));
  const bool has_threads =
      std::any_of(images.begin(), images.end(), [](const Image& image) { return image.threads.size() > 1; });
  if (modelling.needed.lower && modelling.settings.own_llc == 0 && has_threads)
    outcome.notices.emplace_back(
        "threads share the last-level cache of their process, so its counts vary from run to run (--llc private: one "
        "per thread)");
  if (modelling.needed.l1d && has_threads)
    outcome.notices.push_back(fmt::format("misses of lines that another thread wrote{} are not modelled",
                                          modelling.needed.core ? ", and their cycles," : ""));
  if (std::string text = describe_unmodelled(total.unseen); !text.empty()) outcome.notices.push_back(std::move(text));
  if (modelling.needed.core && total.core.instructions > 0)
    outcome.notices.push_back(describe_cycles(total.core, total.models, *simulation));
  if (modelling.settings.compared != 0) {
    outcome.notices.push_back("the plain models " +
                              (collect.difference() ? "differ: " + *collect.difference() : std::string("agree")));
  }
  outcome.own_counters = describe_lacks(shared.records.header().pmu_lacks, order.conditions, simulation != nullptr);
  if (!outcome.own_counters.empty()) outcome.notices.push_back(outcome.own_counters);
  for (std::string& notice : collect.missing_counters()) outcome.notices.push_back(std::move(notice));
  if (std::string text = why_parts_are_missing(shared); !text.empty()) outcome.notices.push_back(std::move(text));
  if (const std::string living = execution.ended ? still_running(images) : ""; !living.empty())
    outcome.notices.push_back("still running when counting ended: " + living +
                              (order.conditions.wait_all ? "" : " (--wait-all waits for them)"));
  for (Image& image : images)
    if (shared.records.process(image.index).state != channel::State::free)
      outcome.processes.push_back(std::move(image.result));
  outcome.nondeterminism = read_sources(shared, order.conditions);
  for (const std::string& native : execution.native)
    if (execution.failure.find(native) == std::string::npos) outcome.notices.push_back(native);
  outcome.failure = execution.failure;
  const auto is_in_reason = [&](const std::string& text) { return total.reason.find(text) != std::string::npos; };
  const auto texts = all_contradictions();
  if (outcome.failure.empty() && order.conditions.strict && std::any_of(texts.begin(), texts.end(), is_in_reason)) {
    outcome.failure = "--strict: " + total.reason;
    outcome.wait_status = could_not_measure << 8;
  }
  if (!outcome.failure.empty()) outcome.notices.push_back(outcome.failure);
  if (const auto reused = shared.records.header().reused; reused != 0) {
    outcome.notices.push_back(
        fmt::format("{} exceeded the limit of separate counts: the counts of each include those of an ended process",
                    plural(reused, "process", "processes")));
  }
  return regions;
}

}  // namespace tally::backend::engine
