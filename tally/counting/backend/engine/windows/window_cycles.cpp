#include "tally/counting/backend/engine/windows/window_cycles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "tally/counting/backend/engine/engine_models.hpp"

namespace tally::backend::engine {
namespace {

// The format of a row in the spool: this header, the program's name, the counts, the vector, and the words by log.
struct RowHeader {
  result::Window window;  // its views are invalid, and set again after reading
  std::uint32_t process;
  std::uint32_t name_bytes, counts, blocks, logs;
};
static_assert(std::is_trivially_copyable_v<RowHeader>);

struct WordsHeader {
  std::uint32_t log, words;
};

template <class T>
void append(linux::Spool& spool, std::span<const T> values) {
  spool.add(values.data(), values.size_bytes());
}

template <class T>
bool read(linux::Spool& spool, std::vector<T>& values, std::size_t count) {
  values.resize(count);
  return spool.read(values.data(), count * sizeof(T));
}

}  // namespace

struct WindowCycles::Row {
  RowHeader head;
  std::vector<char> name;
  std::vector<std::int64_t> counts;
  std::vector<result::BlockCount> vector;
  std::vector<LoggedWords> executed;
};

WindowCycles::WindowCycles(const Channel& shared, const Modelling& modelling, CodeBlocks& blocks, CyclePlaces places,
                           bool whole)
    : modelling_(modelling), places_(std::move(places)), costs_(shared, blocks, whole) {}

void WindowCycles::keep(const result::Window& window, std::uint32_t process, std::span<const LoggedWords> executed) {
  costs_.add(process, executed);
  ++processes_[process].rows_left;
  ++rows_;
  const RowHeader head{window,
                       process,
                       static_cast<std::uint32_t>(window.program.size()),
                       static_cast<std::uint32_t>(window.counts.size()),
                       static_cast<std::uint32_t>(window.vector.size()),
                       static_cast<std::uint32_t>(executed.size())};
  append(spool_, std::span(&head, 1));
  append(spool_, std::span(window.program));
  append(spool_, window.counts);
  append(spool_, window.vector);
  for (const LoggedWords& logged_words : executed) {
    const WordsHeader words{logged_words.log, static_cast<std::uint32_t>(logged_words.words.size())};
    append(spool_, std::span(&words, 1));
    append(spool_, std::span<const std::uint64_t>(logged_words.words));
  }
}

bool WindowCycles::read(Row& row) {
  if (!spool_.read(&row.head, sizeof row.head) || !engine::read(spool_, row.name, row.head.name_bytes) ||
      !engine::read(spool_, row.counts, row.head.counts) || !engine::read(spool_, row.vector, row.head.blocks))
    return false;
  row.executed.resize(row.head.logs);
  for (LoggedWords& logged_words : row.executed) {
    WordsHeader words{};
    if (!spool_.read(&words, sizeof words) || !engine::read(spool_, logged_words.words, words.words)) return false;
    logged_words.log = words.log;
  }
  return true;
}

std::int64_t WindowCycles::cycles_of(const Row& row) {
  Progress& process = processes_[row.head.process];
  const std::uint64_t all = costs_.all_cycles(row.head.process);
  process.cycles += costs_.cycles_of(row.head.process, row.executed);
  const auto so_far = static_cast<std::uint64_t>(std::max(0.0, std::floor(process.cycles + 0.5)));
  // The last row gets the remainder of rounding.
  const std::uint64_t reported =
      --process.rows_left == 0 ? all : std::clamp(so_far, process.reported, std::max(all, process.reported));
  channel::CoreValues core{};
  core.cycles[0] = reported - process.reported;  // the cause is unknown, and the sum is what counts
  process.reported = reported;
  std::array<std::uint64_t, sizeof(channel::ModelValues) / sizeof(std::uint64_t)> statistics{};
  for (const auto& [figure, place] : places_.statistics)
    statistics[figure] = static_cast<std::uint64_t>(row.counts[place]);
  return engine::cycles_of(event::Id::cycles, core, std::bit_cast<channel::ModelValues>(statistics),
                           *modelling_.simulation);
}

std::uint64_t WindowCycles::emit_all(const std::function<void(const result::Window&)>& on_window) {
  costs_.settle();
  spool_.rewind();
  Row row;
  for (; rows_ != 0 && read(row); --rows_) {
    result::Window& window = row.head.window;
    row.counts[places_.cycles] = cycles_of(row);
    // The model never reported on a process that was killed.
    window.partial = window.partial || costs_.is_partial(row.head.process);
    window.program = {row.name.data(), row.name.size()};
    window.counts = row.counts;
    window.vector = row.vector;
    on_window(window);
  }
  return rows_;
}

}  // namespace tally::backend::engine
