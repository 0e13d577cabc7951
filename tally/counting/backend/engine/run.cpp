#include "tally/counting/backend/engine/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <system_error>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/command_run.hpp"
#include "tally/counting/backend/engine/count/openable_events.hpp"
#include "tally/counting/backend/engine/count/pmu_folder.hpp"
#include "tally/counting/backend/engine/count/snapshot.hpp"
#include "tally/counting/backend/engine/failures.hpp"
#include "tally/counting/backend/engine/kept_translations.hpp"
#include "tally/counting/backend/engine/model_workers.hpp"
#include "tally/counting/backend/engine/regions/resolved_marks.hpp"
#include "tally/counting/backend/engine/sound.hpp"
#include "tally/counting/backend/engine/windows/collect_windows.hpp"
#include "tally/counting/backend/lost_counters.hpp"
#include "tally/engine/channel/image_layout.hpp"
#include "tally/engine/channel/limits.hpp"
#include "tally/engine/cpus/cpu_model.hpp"
#include "tally/linux/files/code_files.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/files/library_cache.hpp"
#include "tally/linux/machine/execute_cpuid.hpp"
#include "tally/linux/process/announcements.hpp"
#include "tally/linux/process/injector.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::backend::engine {
namespace {

using channel::Answer;

/// Applies the settings of tests: TALLY_ENGINE_TEST has the words "fail", "steps", "processes=N", "forms=N" and
/// "log=BYTES", separated by commas.
void apply_test_settings(channel::Settings& settings) {
  const char* const words = secure_getenv("TALLY_ENGINE_TEST");
  if (words == nullptr) return;
  for (const std::string_view word : split(words, ',')) {
    const auto limit = [&word](std::string_view name, std::uint32_t& to, std::uint32_t least) {
      if (!word.starts_with(name)) return;
      const auto number = std::strtoul(std::string(word.substr(name.size())).c_str(), nullptr, 10);
      to = std::max(least, static_cast<std::uint32_t>(number));
    };
    if (word == "fail") settings.fails_on_request = 1;
    if (word == "steps") settings.never_overcommits = 1;
    limit("processes=", settings.process_limit, 3);
    limit("forms=", settings.form_limit, 1);
    limit("log=", settings.log_limit, 1);
  }
}

std::string ran_natively(const Channel& shared, const std::string& what, const std::string& why) {
  const bool is_strict = shared.records.header().settings.strict != 0;
  return fmt::format("{} {} natively: {}", what, is_strict ? "would run" : "ran", why);
}

/// Runs in tally's forked child around its execve, as the engine does around every later execve.
struct ChildSide {
  channel::Header* header;
  int first_fd;  // of the inherited descriptors
  bool asks;     // false: the program runs natively
  bool strict;   // it never does

  static void before_exec(void* context) {
    auto& self = *static_cast<ChildSide*>(context);
    if (self.asks) self.ask();
    if (self.strict && !self.granted()) ::_exit(could_not_measure);
  }

  void ask() const {
    std::uint32_t& answer = header->first_answer;
    __atomic_store_n(&answer, static_cast<std::uint32_t>(Answer::asked), __ATOMIC_RELEASE);
    const pid_t pid = linux::own_pid();
    header->first_pid = pid;
    const channel::Announcement announcement{0, 0, 0, pid, pid, channel::request_take_over, first_fd};
    if (!linux::announce(first_fd + static_cast<int>(channel::inherited_socket), &announcement, sizeof announcement))
      return;
    linux::wait_while(answer, static_cast<std::uint32_t>(Answer::asked));
    if (granted()) keep(true);
  }

  static void after_failed_exec(void* context, int) {
    auto& self = *static_cast<ChildSide*>(context);
    if (!self.granted()) return;
    self.keep(false);
    linux::trap();
  }

  bool granted() const {
    return __atomic_load_n(&header->first_answer, __ATOMIC_ACQUIRE) == static_cast<std::uint32_t>(Answer::granted);
  }
  void keep(bool kept) const {
    for (std::uint32_t i = 0; i < channel::inherited_count; ++i)
      linux::keep_over_exec(first_fd + static_cast<int>(i), kept);
  }
};

std::string command_of(pid_t process) {
  const std::string name = linux::content(fmt::format("/proc/{}/comm", process));
  return name.empty() ? fmt::format("process {}", process) : printable(name);
}

/// Why the kernel refuses to let tally trace a program.
std::string why_untraced() {
  const std::string scope = linux::content("/proc/sys/kernel/yama/ptrace_scope");
  const bool forbids = scope.starts_with('2') || scope.starts_with('3');
  return forbids ? fmt::format("it cannot be traced (kernel.yama.ptrace_scope is {})", scope.front())
                 : "it cannot be traced";
}

/// Serves the engines of the whole tree while the command runs. One thread, never a wait for one process alone.
class Server final : public Observer {
 public:
  Server(Channel& shared, linux::Announcements& announcements, linux::Injector injector, Marker& marker,
         ModelWorkers* workers, WindowRows* rows, Execution& execution, std::string program)
      : shared_(shared),
        announcements_(announcements),
        injector_(std::move(injector)),
        marker_(marker),
        workers_(workers),
        rows_(rows),
        execution_(execution),
        program_(std::move(program)) {}

  int requests_fd() const override { return announcements_.open() ? announcements_.fd() : -1; }

  void answer_requests() override {
    channel::Announcement a{};
    linux::Descriptor file;
    while (const auto sender = announcements_.receive(&a, sizeof a, file)) {
      if (a.process >= channel::process_limit || a.thread >= channel::thread_limit) continue;
      const bool granted = a.request == channel::request_keep_file ? keep(std::move(file))
                           : a.request == channel::request_marks   ? write_marks(a, *sender)
                           : a.request == channel::request_adopter ? find_adopter()
                                                                   : take_over(a, *sender);
      channel::Header& header = shared_.records.header();
      std::uint32_t& answer = a.thread == 0 ? header.first_answer : shared_.records.thread(a.thread).answer;
      __atomic_store_n(&answer, static_cast<std::uint32_t>(granted ? Answer::granted : Answer::refused),
                       __ATOMIC_RELEASE);
      linux::wake_all(answer);
    }
  }

  bool takes(const linux::Change& change) override {
    if (change.stopped) {
      stopped(change.process, change.wait_status);
      return true;
    }
    injector_.ended(change.process);
    announced_.erase(change.process);
    return false;
  }

 private:
  bool take_over(const channel::Announcement& a, pid_t sender) {
    if (a.pid != sender) execution_.other_pids.insert(a.pid);
    const auto thread = linux::thread_of(sender, a.pid, a.tid);
    if (thread && injector_.attach(*thread, a.first_inherited)) {
      announced_[sender] = a;
      return true;
    }
    // The command's child still has the command's name.
    note_native((a.process == 0 ? program_ : command_of(sender)) + " (and what it executed)", why_untraced());
    return false;
  }

  bool keep(linux::Descriptor file) {
    if (shared_.records.header().settings.keeps_files == 0 || !file) return false;
    execution_.kept_files.keep(std::move(file));
    return true;
  }

  bool write_marks(const channel::Announcement& a, pid_t sender) {
    const channel::MarkPoints points = marker_.points_of(sender);
    return linux::write_at(shared_.file.get(), channel::mark_points_offset(a.process),
                           {reinterpret_cast<const char*>(&points), sizeof points});
  }

  bool find_adopter() {
    std::int32_t& adopter = shared_.records.header().adopter;
    if (adopter == 0) __atomic_store_n(&adopter, linux::adopter_without_this(), __ATOMIC_RELAXED);
    return adopter != 0;
  }

  void note_native(const std::string& what, const std::string& why) {
    execution_.native.push_back(ran_natively(shared_, what, why));
  }

  void stopped(pid_t process, int status) {
    const auto seen = injector_.stopped(process, status);
    if (seen.what == linux::Injector::StopResult::nothing) return;
    const auto found = announced_.find(process);
    const channel::Announcement a = found == announced_.end() ? channel::Announcement{} : found->second;
    if (seen.what == linux::Injector::StopResult::injected) {
      ++execution_.injected;
      free_areas(a);
    }
    if (seen.what == linux::Injector::StopResult::refused) {
      linux::change_memory_limits(process, channel::limit_of_program);  // it has no engine that needs more
      note_native(command_of(process), seen.reason);
      free_areas(a);
    }
    announced_.erase(process);
  }

  /// The program that announced its execve has been replaced: frees its areas.
  void free_areas(const channel::Announcement& a) {
    if (a.process == 0) return;
    channel::Process& process = shared_.records.process(a.process);
    if (workers_ != nullptr && a.gives_back != 0) workers_->forget(a.process);
    if (rows_ != nullptr) rows_->ended(a.thread);
    if (a.gives_back == 0 || process.state != channel::State::ended) return;
    channel::Thread& thread = shared_.records.thread(a.thread);
    channel::release_area(shared_.records, shared_.records.header().free_counters, thread.area);
    thread.area = 0;
    channel::release_area(shared_.records, shared_.records.header().free_vectors, process.vectors);
    process.vectors = 0;
  }

  Channel& shared_;
  linux::Announcements& announcements_;
  linux::Injector injector_;
  Marker& marker_;
  ModelWorkers* workers_;  // null where there are none
  WindowRows* rows_;       // the same
  Execution& execution_;
  std::string program_;  // the one that the command starts
  std::map<pid_t, channel::Announcement> announced_;
};

Result<channel::ImageHeader> read_header(int fd, const std::string& path) {
  channel::ImageHeader header{};
  if (!linux::read_at(fd, 0, &header, sizeof header) || header.magic != channel::image_magic) {
    return fail(Code::cannot_measure, fmt::format("'{}' is not tally's engine", printable(path)),
                "build or install tally again");
  }
  if (header.layout_version != channel::layout_version) {
    return fail(Code::cannot_measure, fmt::format("'{}' is of another version than this command", printable(path)),
                "build or install tally again");
  }
  return header;
}

/// Sets why the kernel took counters away, if it did. With a delay or a time-out there is no expected time to compare.
void note_lost_counters(const Order& order, Execution& execution) {
  if (order.timing().is_partial() || !execution.ended) return;
  execution.statistics.lost = why_counters_were_lost(longest_enabled(execution.statistics.kernel),
                                                     execution.statistics.usage, order.target.command.front());
}

}  // namespace

Result<Channel> Channel::make() {
  auto file = linux::make_memory_file("tally", channel::file_bytes);
  if (!file) return fail(file.error());
  auto mapping = linux::map_shared(file->get(), 0, channel::records_bytes);
  if (!mapping) return fail(mapping.error());
  Channel created{std::move(*file), std::move(*mapping), {}};
  created.records.base = created.mapping.data();
  created.records.header().magic = channel::magic;
  created.records.header().layout_version = channel::layout_version;
  created.records.header().command_pid = linux::own_pid();
  return created;
}

/// Runs CPUID once, for all programs of the run: in a virtual machine it may take tens of microseconds.
void take_processor(channel::Settings& settings, bool for_other_processors) {
  constexpr std::uint32_t auth = 0x68747541;  // the first letters of AuthenticAMD
  constexpr std::uint32_t bmi2 = 1u << 8, protection_keys_on = 1u << 4;
  const auto maker = linux::cpuid(0), features = linux::cpuid(7);
  if (!maker || !features) return;
  settings.loop_is_fast = !for_other_processors && maker->ebx == auth ? 1 : 0;
  settings.has_bmi2 = !for_other_processors && (features->ebx & bmi2) != 0 ? 1 : 0;
  settings.protection_keys = (features->ecx & protection_keys_on) != 0 ? 1 : 0;
}

/// Returns the most mappings that a process may have, or 0.
std::uint32_t mapping_limit() {
  std::uint32_t limit = 0;
  const std::string text = linux::content("/proc/sys/vm/max_map_count");
  std::from_chars(text.data(), text.data() + text.size(), limit);
  return limit;
}

/// Sets what the program sees of the machine. Returns the directory that has the files of its PMU, if any.
Result<std::optional<linux::ScratchFolder>> present_machine(const Conditions& conditions, const Modelling& modelling,
                                                            channel::Settings& settings) {
  const cpus::CpuModel* model = nullptr;
  if (conditions.presents_cpu()) {
    const auto found = cpus::named(conditions.cpu_model);
    if (!found) return fail(found.error());
    model = *found;
    settings.cpu = cpus::present(*model, cpus::host_state_layout());
  }
  settings.repeatable = conditions.presents_machine() ? 1 : 0;
  settings.hides_vdso = conditions.hides_vdso ? 1 : 0;
  if (conditions.presents_machine())
    settings.files = cpus::machine_files(model, linux::content("/proc/cpuinfo"),
                                         linux::other_libraries(linux::content("/etc/ld.so.cache")));
  settings.counts_clock = conditions.counts_clock() ? 1 : 0;
  if (!conditions.pmu) return std::nullopt;
  settings.pmu = presented_pmu(model, modelling);
  if (const auto leaf = model ? cpus::counters_leaf(*model, missing_architectural_events(settings.pmu)) : std::nullopt)
    settings.cpu.leaf[settings.cpu.leaf_count++] = *leaf;
  return make_pmu_folder(settings.pmu, model);
}

Result<Execution> execute(const Order& order, const std::string& image, Channel& shared, channel::Settings& settings,
                          const Modelling& modelling, Marker& marker, CountedTime& counted_time) {
  const auto image_file = linux::open_file(image, "the engine");
  if (!image_file) return fail(image_file.error());
  const auto header = read_header(image_file->get(), image);
  if (!header) return fail(header.error());
  auto announcements = linux::Announcements::make();
  if (!announcements) return fail(announcements.error());

  // Code that is instrumented with other marks fits this request only, and is not kept.
  Translations translations;
  if (channel::can_keep_code(settings.marks))
    translations =
        Translations::open(header->build, {.only_added = order.conditions.repeatable,
                                           .modelled = settings.models.on != 0 || settings.windows.on != 0 ||
                                                       settings.follows_calls != 0 || settings.marks.python != 0});
  const linux::Descriptor proc = linux::open_directory("/proc");
  // A missing descriptor still needs a number, which stays unused.
  const auto or_any = [&](int fd) { return fd >= 0 ? fd : image_file->get(); };
  auto inherited =
      linux::duplicate_high({shared.file.get(), image_file->get(), announcements->their_fd(),
                             or_any(translations.kept_fd()), or_any(translations.added_fd()), or_any(proc.get())});
  if (!inherited) return fail(inherited.error());
  announcements->close_theirs();
  settings.trace_limit = static_cast<std::uint32_t>(order.conditions.engine.block_size);
  settings.cache_limit = static_cast<std::uint32_t>(order.conditions.engine.cache_limit);
  settings.hot_from = static_cast<std::uint32_t>(order.conditions.engine.hot_from);
  // Blocks of one instruction are for tests: they use the forms for other processors.
  take_processor(settings, order.conditions.engine.block_size == 1);
  settings.mapping_limit = mapping_limit();
  settings.never_overcommits = linux::never_overcommits() ? 1 : 0;
  settings.strict = order.conditions.strict ? 1 : 0;
  const auto pmu_folder = present_machine(order.conditions, modelling, settings);
  if (!pmu_folder) return fail(pmu_folder.error());
  apply_test_settings(settings);
  shared.records.header().settings = settings;

  Execution execution;
  execution.settings = settings_in(shared);
  const auto path = linux::find_program(order.target.command.front(), linux::search_path());
  if (!path) return fail(path.error());
  const int first_fd = inherited->front().get();
  const bool asks = !linux::changes_rights(*path);
  ChildSide side{&shared.records.header(), first_fd, asks, order.conditions.strict};
  if (!asks)
    execution.native.push_back(ran_natively(shared, printable(*path), "it changes user, group or capabilities"));
  std::optional<ModelWorkers> workers;
  std::optional<WindowRows> rows;
  try {
    if (settings.models.worker_count != 0) workers.emplace(shared, settings.models, settings.models.worker_count);
    if (settings.windows.on != 0) rows.emplace(shared, order, modelling, linux::now());
  } catch (const std::system_error& error) {
    return fail(Code::cannot_measure,
                fmt::format("cannot start a worker thread for the machine model: {}", error.code().message()),
                "raise `ulimit -u`, or use `--model-threads 0`");
  }
  CommandRun run(order);
  const KernelCounters counters(order.events);
  FaultLogs fault_logs(order);
  if (auto started = run.start({&side, ChildSide::before_exec, ChildSide::after_failed_exec}); !started)
    return fail(started.error());
  execution.pid = run.pid();
  // Only descendants hold the other end now: an engine that outlives the wait finds nobody to ask, and says so.
  (*inherited)[channel::inherited_socket].reset();
  linux::Injector injector({channel::image_base,
                            header->bytes,
                            static_cast<int>(channel::inherited_image),
                            header->entry,
                            {translations.kept_inode(), translations.added_inode()},
                            order.conditions.strict ? std::optional{could_not_measure} : std::nullopt});
  Server server(shared, *announcements, std::move(injector), marker, workers ? &*workers : nullptr,
                rows ? &*rows : nullptr, execution, printable(order.target.command.front()));
  LiveMeter meter(order, shared, counters);
  std::optional<Conductor> conductor;
  if (order.timing().any()) {
    conductor.emplace(order, meter, Nanoseconds{0}, [&](linux::End how) {
      meter.times_out();
      run.end(how);
    });
    conductor->begin(run.started().time);
  }
  const WaitResult left = run.wait(conductor ? &*conductor : nullptr, &server);
  if (left.ended) {
    if (auto executed = run.executed(); !executed) return fail(executed.error());
  }
  execution.ended = left.ended;
  execution.all_ended = !left.gave_up;
  execution.wait_status = run.wait_status();
  execution.statistics = run.statistics();
  if (workers) workers->finish();
  if (rows) {
    rows->finish();
    execution.windows_started = rows->started();
    execution.windows_stopped = rows->stopped();
    execution.windows_lost = rows->lost();
  }
  execution.lasted = linux::now() - run.started().time;
  translations.keep();
  report_failure(shared, execution);
  execution.statistics.kernel = counters.read();
  note_lost_counters(order, execution);
  execution.faults = fault_logs.finish();
  if (!conductor) return execution;
  (void)conductor->finish(linux::now());
  execution.began = conductor->began();
  execution.statistics.kernel = meter.kernel();
  note_lost_counters(order, execution);
  if (!execution.statistics.lost.empty()) conductor->mark_lost(execution.statistics.lost);
  execution.intervals = conductor->intervals();
  add_control_notices(*conductor, execution.command_notes);
  counted_time = meter.counted_time();
  return execution;
}

}  // namespace tally::backend::engine
