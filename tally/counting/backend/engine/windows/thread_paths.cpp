#include "tally/counting/backend/engine/windows/thread_paths.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tally::backend::engine {

Order ThreadPaths::windows(const Order& order) {
  Order::Windows windows;
  windows.triggers = {{*event::parse("instructions"), settings_.every, 0}};
  windows.path = settings_;
  windows.places = settings_.recording != nullptr;
  windows.sink.on_window = [this](const result::Window& window) { add(window); };
  if (settings_.recording != nullptr) windows.sink.on_read = [this](const WindowRead& read) { add_read(read); };
  Order made = order;
  made.instrument = std::move(windows);
  return made;
}

void ThreadPaths::add(const result::Window& window) {
  auto found = threads_.upper_bound(window.series);
  const bool is_known = found != threads_.begin() && std::prev(found)->first == window.series && window.number != 1;
  if (is_known) {
    --found;
  } else {
    found = threads_.emplace(window.series, Collected{});
    result::ThreadPath& path = found->second.path;
    path.program = window.program;
    path.pid = window.pid;
    path.tid = window.tid;
    path.interval = settings_.every;
    found->second.process = window.process;
  }
  auto& [path, process, windows] = found->second;
  path.instructions += static_cast<std::uint64_t>(window.length);
  path.end = window.path;
  path.complete = path.complete && !window.partial;
  ++windows;
  if (settings_.recording != nullptr) return record(window, windows);
  if (!window.trigger || path.instructions % path.interval != 0) return;
  path.hashes.push_back(window.path);
  if (path.hashes.size() <= path_hash_limit) return;
  // The interval's multiples that remain are the even ones; the last one is odd.
  std::vector<std::uint64_t> kept;
  for (std::size_t i = 1; i < path.hashes.size(); i += 2) kept.push_back(path.hashes[i]);
  path.hashes = std::move(kept);
  path.interval *= 2;
}

void ThreadPaths::record(const result::Window& window, std::uint64_t number) {
  RecordedPath& recorded = settings_.recording->threads[window.series];
  const std::uint64_t before = settings_.first != 0 ? 1 : 0;
  if (settings_.most != 0 && number > before + settings_.most) return;
  recorded.hashes.push_back(window.path);
  if (settings_.every != 1 || number <= before) return;
  RecordedPath::Step step{RecordedPath::no_file, window.address};
  if (window.file != nullptr) step = {number_of(*window.file), window.offset};
  recorded.steps.push_back(step);
}

void ThreadPaths::add_read(const WindowRead& read) {
  settings_.recording->threads[read.series].reads.push_back(
      {read.source, read.instructions, read.value, step_at(read.where), step_at(read.caller)});
}

RecordedPath::Step ThreadPaths::step_at(const std::optional<WindowRead::Location>& place) {
  return place ? RecordedPath::Step{number_of(place->file), place->offset}
               : RecordedPath::Step{RecordedPath::no_file, 0};
}

std::uint32_t ThreadPaths::number_of(const result::CodeFile& file) {
  std::vector<result::CodeFile>& files = settings_.recording->files;
  const auto is_same = [&](const result::CodeFile& code_file) {
    return code_file.inode == file.inode && code_file.path == file.path;
  };
  if (last_file_ < files.size() && is_same(files[last_file_])) return last_file_;
  const auto found = std::find_if(files.begin(), files.end(), is_same);
  last_file_ = static_cast<std::uint32_t>(found - files.begin());
  if (found == files.end()) files.push_back(file);
  return last_file_;
}

void ThreadPaths::take(Outcome& outcome) {
  std::map<std::string, std::vector<std::uint32_t>> processes;  // of each program
  std::map<std::uint32_t, int> threads;                         // of each process
  for (auto& [series, one] : threads_) {
    auto& known = processes[one.path.program];
    auto place = std::find(known.begin(), known.end(), one.process);
    if (place == known.end()) place = known.insert(known.end(), one.process);
    one.path.process = static_cast<int>(place - known.begin()) + 1;
    one.path.thread = ++threads[one.process];
    one.path.series = series;
    outcome.paths.push_back(std::move(one.path));
  }
  threads_.clear();
}

}  // namespace tally::backend::engine
