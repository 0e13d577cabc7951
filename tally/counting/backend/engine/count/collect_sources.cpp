#include "tally/counting/backend/engine/count/collect_sources.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/engine/sound.hpp"
#include "tally/linux/files/code_files.hpp"
#include "tally/linux/symbol/elf_functions.hpp"
#include "tally/linux/symbol/names.hpp"

namespace tally::backend::engine {
namespace {

using Reads = std::array<std::uint64_t, channel::source_count>;

/// The names of channel::Source, in its order.
constexpr std::array<const char*, channel::source_count> source_names{
    "cpuid",        "xgetbv",      "rdtsc",  "rdrand", "getrandom",   "/dev/urandom", "clock",       "pid",
    "file listing", "thread race", "signal", "host",   "transaction", "/proc",        "system state"};

template <std::size_t N>
std::string text_of(const char (&text)[N]) {
  return printable(std::string(text, ::strnlen(text, N)));
}

result::CodeFunction function_at(const channel::SourceLocation& location) {
  const std::string path(location.file, ::strnlen(location.file, sizeof location.file));
  result::CodeFunction made{printable(path), "", location.offset};
  if (!path.starts_with('/')) return made;
  if (const auto file = linux::FileBytes::of(path))
    if (const auto function = symbol::function_at(file->bytes(), location.offset))
      made.function = printable(symbol::demangled(function->name));
  return made;
}

/// Returns the reads of threads that have not ended: they were killed, or continue to run.
Reads reads_of_living(const Channel& shared) {
  Reads sums{};
  const std::uint32_t threads = claimed_threads(shared);
  for (std::uint32_t i = 1; i <= threads; ++i) {
    const channel::Thread& thread = shared.records.thread(i);
    const std::uint32_t area = __atomic_load_n(&thread.area, __ATOMIC_RELAXED);
    if (thread.state != channel::State::running || area == 0 || area >= channel::area_limit) continue;
    Reads reads{};
    if (!linux::read_at(shared.file.get(), channel::area_offset(area) + std::uint64_t{channel::first_source} * 8,
                        reads.data(), sizeof reads))
      continue;
    for (std::size_t k = 0; k < reads.size(); ++k) sums[k] += reads[k];
  }
  return sums;
}

/// A program may have written any value.
std::int64_t clamped(std::uint64_t count) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::int64_t>::max()));
}

/// What programs got instead of the real answer; empty if they got that.
std::string answer_of(std::size_t source, const Conditions& conditions) {
  switch (static_cast<channel::Source>(source)) {
    case channel::source_cpuid:
    case channel::source_xgetbv: return conditions.presents_cpu() ? "CPU model" : "";
    case channel::source_time_stamp:
    case channel::source_clock: return conditions.counts_clock() ? "instruction count" : "";
    case channel::source_random_instruction:
    case channel::source_random_call:
    case channel::source_random_file: return conditions.presents_machine() ? "fixed seed" : "";
    case channel::source_host: return conditions.presents_machine() ? "fixed machine" : "";
    case channel::source_transaction: return "fallback";
    default: return "";
  }
}

std::string name_of(std::uint32_t process, const Channel& shared) {
  return process < channel::process_limit ? text_of(shared.records.process(process).name) : "";
}

}  // namespace

std::string source_name(std::size_t source) { return source_names.at(source); }

std::vector<result::ReadSource> read_sources(const Channel& shared, const Conditions& conditions) {
  const channel::Header& header = shared.records.header();
  const Reads living = reads_of_living(shared);
  std::vector<result::ReadSource> sources;
  for (std::size_t i = 0; i < source_names.size(); ++i) {
    const channel::SourceRecord record = header.sources[i];
    const std::uint64_t count = record.count + living[i];
    if (count == 0) continue;
    result::ReadSource one{source_names[i], clamped(count), "", {}, {}, answer_of(i, conditions)};
    if (record.state == 2) {
      one.program = name_of(record.process, shared);
      one.first = function_at(record.first);
      one.caller = function_at(record.caller);
    }
    sources.push_back(std::move(one));
  }
  if (header.environment_bytes != 0)
    sources.push_back({"environment", clamped(header.environment_bytes), name_of(1, shared), {}, {}, ""});
  return sources;
}

}  // namespace tally::backend::engine
