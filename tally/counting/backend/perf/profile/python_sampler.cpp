#include "tally/counting/backend/perf/profile/python_sampler.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "tally/core/base/text.hpp"
#include "tally/engine/channel/python_layout.hpp"
#include "tally/linux/files/code_files.hpp"
#include "tally/linux/process/other_process.hpp"
#include "tally/linux/symbol/elf_functions.hpp"

namespace tally::backend::perf {
namespace {

namespace python = channel::python;

constexpr int interval_ms = 9;  // not a divisor of a second, as the rounds of many programs are

struct OtherMemory {
  std::int32_t process;

  bool read(void* to, std::uint64_t from, std::uint64_t bytes) const {
    return linux::read_memory(process, from, to, bytes);
  }
};

/// The address of the interpreter's state in a process; 0: it is no CPython 3.11.
std::uint64_t runtime_of(std::int32_t process) {
  for (const linux::CodeMapping& mapping : linux::code_mappings(process)) {
    if (mapping.path.find("python3.11", mapping.path.rfind('/')) == std::string::npos) continue;
    const auto file = linux::FileBytes::of(mapping.path, process);
    if (!file) continue;
    const auto elf = symbol::read_elf(file->bytes());
    const auto runtime = symbol::find_exported(file->bytes(), "_PyRuntime");
    if (!elf || !runtime) continue;
    if (const auto bias = symbol::bias_of(*elf, mapping.offset, mapping.start)) return *bias + runtime->address;
  }
  return 0;
}

}  // namespace

/// What is known of one interpreter.
class PythonProcess {
 public:
  using Key = std::tuple<std::string, std::string, std::uint32_t>;  // name, file, line
  struct Times {
    std::int64_t self = 0, inclusive = 0;
  };

  PythonProcess(std::int32_t process, std::uint64_t runtime)
      : memory_{process}, runtime_(runtime), used_(linux::cpu_time_of(process)) {}

  std::int32_t process() const { return memory_.process; }
  bool is_readable() const {
    std::uint64_t word = 0;
    return memory_.read(&word, runtime_, sizeof word);
  }
  int samples() const { return samples_; }
  const std::map<Key, Times>& functions() const { return functions_; }

  void sample() {
    const std::int64_t now = linux::cpu_time_of(memory_.process), more = now - used_;
    if (more <= 0) return;
    used_ = now;
    ++samples_;
    constexpr int most_frames = 1000;
    const std::uint64_t holder = word(runtime_ + python::holder_in_runtime);
    const std::uint64_t cframe = holder == 0 ? 0 : word(holder + python::cframe_in_state);
    std::uint64_t frame = cframe == 0 ? 0 : word(cframe + python::frame_in_cframe);
    std::set<Times*> active;
    for (int i = 0; frame != 0 && i < most_frames; ++i, frame = word(frame + python::previous_in_frame)) {
      Times* const function = function_of(word(frame + python::code_in_frame));
      if (function == nullptr) break;  // the thread changed its frames meanwhile
      if (i == 0) function->self += more;
      if (active.insert(function).second) function->inclusive += more;
    }
  }

 private:
  std::uint64_t word(std::uint64_t address) const { return python::read_as<std::uint64_t>(memory_, address); }

  Times* function_of(std::uint64_t code) {
    const python::CodeObject object = python::read_code_object(memory_, code);
    if (!object.is_valid) return nullptr;
    // Another code object may be at the same address later.
    auto& function = known_[{code, object.name, object.file}];
    if (function == nullptr) {
      std::array<char, 256> name, file;
      python::read_text(memory_, object.name, name.data(), name.size(), false);
      python::read_text(memory_, object.file, file.data(), file.size(), true);
      if (name[0] == '\0') return nullptr;
      function = &functions_[{printable(valid_utf8(name.data())), printable(valid_utf8(file.data())), object.line}];
    }
    return function;
  }

  OtherMemory memory_;
  std::uint64_t runtime_;
  std::int64_t used_;
  int samples_ = 0;
  std::map<Key, Times> functions_;
  std::map<std::array<std::uint64_t, 3>, Times*> known_;
};

PythonSampler::PythonSampler(const std::vector<std::int32_t>& processes) {
  for (const std::int32_t process : processes)
    if (const std::uint64_t runtime = runtime_of(process); runtime != 0)
      processes_.push_back(std::make_unique<PythonProcess>(process, runtime));
  if (processes_.empty()) return;
  auto reader = WindowReader::start(
      {},
      [this] {
        for (const auto& process : processes_) process->sample();
      },
      interval_ms);
  if (reader) reader_ = std::move(*reader);
}

PythonSampler::~PythonSampler() = default;

void PythonSampler::finish(result::CodeCounts& code, std::vector<std::string>& notices) {
  if (reader_) reader_->finish();
  std::map<PythonProcess::Key, PythonProcess::Times> sums;
  int samples = 0;
  for (const auto& process : processes_) {
    samples += process->samples();
    for (const auto& [key, times] : process->functions()) {
      sums[key].self += times.self;
      sums[key].inclusive += times.inclusive;
    }
    if (process->functions().empty() && !process->is_readable())
      notices.push_back(fmt::format(
          "the Python functions of process {} are unknown: its memory cannot be read (it has ended, or ptrace is not "
          "allowed: kernel.yama.ptrace_scope)",
          process->process()));
  }
  // The event may count less than CPU time: only user mode, or only some of the time.
  std::int64_t all = 0;
  for (const auto& sum : sums) all += sum.second.self;
  const std::int64_t total = code.events.front().count.value.value_or(0);
  const double scale = all > total ? static_cast<double>(total) / static_cast<double>(all) : 1;
  const auto scaled = [&](std::int64_t time) { return static_cast<std::int64_t>(scale * static_cast<double>(time)); };
  for (const auto& [key, times] : sums)
    code.python.push_back(
        {std::get<0>(key), std::get<1>(key), std::get<2>(key), {}, {scaled(times.self)}, {scaled(times.inclusive)}});
  if (!sums.empty())
    notices.push_back(fmt::format(
        "Python functions: {}, each with the CPU time since the one before; the 95 % interval of a share is at most "
        "± {:.1f} percentage points",
        plural(samples, "sample", "samples"), 98 / std::sqrt(samples)));
}

}  // namespace tally::backend::perf
