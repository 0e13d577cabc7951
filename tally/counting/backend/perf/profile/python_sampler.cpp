#include "tally/counting/backend/perf/profile/python_sampler.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <map>
#include <set>
#include <tuple>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/perf/profile/python_versions.hpp"
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

/// An interpreter in a process.
struct Interpreter {
  std::uint64_t runtime = 0;  ///< the address of its _PyRuntime
  PythonLayout layout = {};
};

/// Nothing if the process is no CPython whose frames are known.
std::optional<Interpreter> interpreter_of(std::int32_t process) {
  const auto read = [memory = OtherMemory{process}](std::uint64_t address) {
    return python::read_as<std::uint64_t>(memory, address);
  };
  for (const linux::CodeMapping& mapping : linux::code_mappings(process)) {
    const std::string name = mapping.path.substr(mapping.path.rfind('/') + 1);
    if (name.find("python3.") == std::string::npos) continue;
    const auto file = linux::FileBytes::of(mapping.path, process);
    if (!file) continue;
    const auto elf = symbol::read_elf(file->bytes());
    const auto runtime = symbol::find_exported(file->bytes(), "_PyRuntime");
    if (!elf || !runtime) continue;
    const auto bias = symbol::bias_of(*elf, mapping.offset, mapping.start);
    if (!bias) continue;
    const std::uint64_t address = *bias + runtime->address;
    if (const auto layout = python_layout(name, address, read)) return Interpreter{address, *layout};
  }
  return std::nullopt;
}

}  // namespace

/// What is known of one interpreter.
class PythonProcess {
 public:
  using Key = std::tuple<std::string, std::string, std::uint32_t>;  // name, file, line
  struct Times {
    std::int64_t self = 0, inclusive = 0;
  };

  PythonProcess(std::int32_t process, const Interpreter& interpreter)
      : memory_{process},
        runtime_(interpreter.runtime),
        layout_(interpreter.layout),
        used_(linux::cpu_time_of(process)) {}

  std::int32_t process() const { return memory_.process; }
  bool is_readable() const {
    std::uint64_t word = 0;
    return memory_.read(&word, runtime_, sizeof word);
  }
  int samples() const { return samples_; }
  double weights() const { return weights_; }  ///< the CPU time of all samples
  double squares() const { return squares_; }  ///< the sum of the squares of their times
  std::int64_t left() const { return left_; }  ///< time that no sample has got
  const std::map<Key, Times>& functions() const { return functions_; }

  void sample() {
    const std::int64_t now = linux::cpu_time_of(memory_.process), more = now - used_;
    if (more <= 0) return;
    left_ = more;
    std::uint64_t state = holder();
    // A process that sleeps has used that time before: the next sample has it.
    if (state == 0 && !is_running(now)) return;
    if (state == 0) state = holder();  // it may have waited for the lock
    constexpr int most_frames = 1000;
    const python::Layout& objects = layout_.objects;
    std::uint64_t frame = state == 0 ? 0 : word(state + objects.frame_in_state);
    if (frame != 0 && objects.frame_in_cframe != python::none) frame = word(frame + objects.frame_in_cframe);
    std::set<Times*> active;
    for (int i = 0; (frame = python::python_frame(memory_, frame, objects)) != 0 && i < most_frames; ++i) {
      Times* const function = function_of(word(frame + objects.code_in_frame));
      if (function == nullptr) break;  // the thread changed its frames meanwhile
      if (active.empty()) function->self += more;
      if (active.insert(function).second) function->inclusive += more;
      frame = word(frame + objects.previous_in_frame);
    }
    if (state != 0 && active.empty()) return;  // the next sample has this time, too
    used_ = now;
    left_ = 0;
    ++samples_;
    weights_ += static_cast<double>(more);
    squares_ += static_cast<double>(more) * static_cast<double>(more);
  }

 private:
  std::uint64_t word(std::uint64_t address) const { return python::read_as<std::uint64_t>(memory_, address); }

  /// Whether it uses the processor now. This waits without sleeping: after a sleep the process may have begun to.
  bool is_running(std::int64_t used) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
    while (std::chrono::steady_clock::now() < end) {
    }
    return linux::cpu_time_of(memory_.process) > used;
  }

  /// The state of the thread that holds the main interpreter's lock; 0: none.
  std::uint64_t holder() const {
    if (layout_.interpreter == 0) return word(runtime_ + layout_.holder);
    constexpr int most_interpreters = 100;
    std::uint64_t interpreter = word(runtime_ + layout_.interpreter);
    for (int i = 0; interpreter != 0 && layout_.next_interpreter != 0 && i < most_interpreters; ++i) {
      const std::uint64_t next = word(interpreter + layout_.next_interpreter);
      if (next == 0) break;
      interpreter = next;
    }
    const std::uint64_t lock = interpreter == 0 ? 0 : word(interpreter + layout_.lock);
    if (lock == 0 || python::read_as<std::int32_t>(memory_, lock + layout_.is_locked) != 1) return 0;
    return word(lock + layout_.holder);
  }

  Times* function_of(std::uint64_t code) {
    const python::CodeObject object = python::read_code_object(memory_, code, layout_.objects);
    if (!object.is_valid) return nullptr;
    // Another code object may be at the same address later.
    auto& function = known_[{code, object.name, object.file}];
    if (function == nullptr) {
      std::array<char, 256> name, file;
      const auto text = [&](std::uint64_t address, auto& to, bool keeps_end) {
        python::read_text(memory_, address, to.data(), static_cast<std::uint32_t>(to.size()), keeps_end,
                          layout_.objects);
      };
      text(object.name, name, false);
      text(object.file, file, true);
      if (name[0] == '\0') return nullptr;
      function = &functions_[{printable(valid_utf8(name.data())), printable(valid_utf8(file.data())), object.line}];
    }
    return function;
  }

  OtherMemory memory_;
  std::uint64_t runtime_;
  PythonLayout layout_;
  std::int64_t used_, left_ = 0;
  int samples_ = 0;
  double weights_ = 0, squares_ = 0;
  std::map<Key, Times> functions_;
  std::map<std::array<std::uint64_t, 3>, Times*> known_;
};

PythonSampler::PythonSampler(const std::vector<std::int32_t>& processes) {
  for (const std::int32_t process : processes)
    if (const auto interpreter = interpreter_of(process))
      processes_.push_back(std::make_unique<PythonProcess>(process, *interpreter));
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
  double weights = 0, squares = 0;
  for (const auto& process : processes_) {
    samples += process->samples();
    weights += process->weights();
    squares += process->squares();
    std::int64_t named = 0;
    for (const auto& function : process->functions()) named += function.second.self;
    const double more = named == 0 ? 1 : 1 + static_cast<double>(process->left()) / static_cast<double>(named);
    for (const auto& [key, times] : process->functions()) {
      sums[key].self += static_cast<std::int64_t>(more * static_cast<double>(times.self));
      sums[key].inclusive += static_cast<std::int64_t>(more * static_cast<double>(times.inclusive));
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
  if (sums.empty()) return;
  code.python_samples = squares > 0 ? weights * weights / squares : 1;
  if (code.python_samples < 100)
    notices.push_back(fmt::format(
        "Python functions: {}, each with the CPU time since the one before; sample longer for narrower intervals",
        plural(samples, "sample", "samples")));
}

}  // namespace tally::backend::perf
