#include "tally/tools/why/path_experiment.hpp"

#include <algorithm>
#include <thread>

namespace tally::why {
namespace {

using backend::PathRecording;
using backend::RecordedPath;
using Step = RecordedPath::Step;

/// Windows that are recorded of a longer part.
constexpr std::uint64_t window_limit = 1024;

/// Code without a file may be anywhere: its offset in its page remains.
bool is_same(const Step& a, const PathRecording& of_a, const Step& b, const PathRecording& of_b) {
  constexpr std::uint64_t in_page = 0xfff;
  const bool has_files = a.file < of_a.files.size() && b.file < of_b.files.size();
  if (!has_files) return (a.offset & in_page) == (b.offset & in_page);
  return a.offset == b.offset && of_a.files[a.file].path == of_b.files[b.file].path;
}

/// Compares steps of two recordings quickly: most are of the same two files as the ones before them.
class SameSteps {
 public:
  SameSteps(const RecordedRun& a, const RecordedRun& b) : a_(*a.parts), b_(*b.parts) {}
  bool operator()(const Step& a, const Step& b) {
    if (a.file == file_a_ && b.file == file_b_) return a.offset == b.offset;
    if (!is_same(a, a_, b, b_)) return false;
    if (a.file == RecordedPath::no_file || b.file == RecordedPath::no_file) return true;
    file_a_ = a.file;
    file_b_ = b.file;
    return true;
  }

 private:
  const PathRecording& a_;
  const PathRecording& b_;
  std::uint32_t file_a_ = RecordedPath::no_file, file_b_ = RecordedPath::no_file;
};

Parting earlier() {
  Parting found;
  found.is_earlier = true;
  return found;
}

std::optional<Step> step_at(const RecordedPath& path, std::size_t index) {
  return index < path.steps.size() ? std::optional(path.steps[index]) : std::nullopt;
}

}  // namespace

Result<RecordedRun> record(const Rerun& rerun, const PathPart& part, linux::Signals& signals) {
  RecordedRun made{.parts = std::make_unique<PathRecording>()};
  auto run =
      rerun.run({.every = part.every, .first = part.from, .most = part.most, .recording = made.parts.get()}, signals);
  if (!run) return fail(run.error());
  const result::ThreadPath& wanted = part.thread;
  for (const result::ThreadPath& one : run->paths) {
    if (one.program != wanted.program || one.process != wanted.process) continue;
    ++made.threads;
    if (one.thread == wanted.thread) made.path = &made.parts->threads[one.series];
  }
  return made;
}

std::optional<Parting> parting(const RecordedRun& before, const RecordedRun& after, const PathPart& part) {
  if (before.path == nullptr || after.path == nullptr) return std::nullopt;
  const RecordedPath& a = *before.path;
  const RecordedPath& b = *after.path;
  const auto hash_of = [&](const RecordedPath& path) { return path.hashes.empty() ? 0 : path.hashes.front(); };
  if (part.from != 0 && hash_of(a) != hash_of(b)) return earlier();
  if (part.every != 1) {
    const auto [first, second] = std::mismatch(a.hashes.begin(), a.hashes.end(), b.hashes.begin(), b.hashes.end());
    if (first == a.hashes.end() && second == b.hashes.end()) return std::nullopt;
    const auto equal = static_cast<std::uint64_t>(first - a.hashes.begin());
    Parting found;
    found.instructions = part.from != 0 ? part.from + (equal - 1) * part.every : equal * part.every;
    return found;
  }
  SameSteps same(before, after);
  std::size_t equal = 0;
  const std::size_t both = std::min(a.steps.size(), b.steps.size());
  while (equal < both && same(a.steps[equal], b.steps[equal])) ++equal;
  if (equal == a.steps.size() && equal == b.steps.size()) return std::nullopt;
  Parting found;
  found.steps = equal;
  found.instructions = part.from + equal;
  found.before = step_at(a, equal);
  found.after = step_at(b, equal);
  if (equal != 0) found.last = a.steps[equal - 1];
  return found;
}

Result<std::optional<PartedRuns>> find_parting(const Rerun& before, const Rerun& after, PathPart& part,
                                               std::uint64_t to, std::chrono::milliseconds between,
                                               linux::Signals& signals) {
  while (true) {
    const std::uint64_t length = to - part.from;
    part.every = length <= recorded_step_limit ? 1 : (length + window_limit - 1) / window_limit;
    part.most = (length + part.every - 1) / part.every;
    auto first = record(before, part, signals);
    if (!first) return fail(first.error());
    std::this_thread::sleep_for(between);
    auto second = record(after, part, signals);
    if (!second) return fail(second.error());
    const auto found = parting(*first, *second, part);
    if (!found) return std::optional<PartedRuns>();
    if (part.every == 1 || found->is_earlier)
      return std::optional(PartedRuns{*std::move(first), *std::move(second), *found});
    part.from = found->instructions;
    to = part.from + part.every;
  }
}

std::vector<std::size_t> differing_reads(const RecordedRun& before, const RecordedRun& after,
                                         std::uint64_t instructions) {
  std::vector<std::size_t> found;
  if (before.path == nullptr || after.path == nullptr) return found;
  const auto& a = before.path->reads;
  const auto& b = after.path->reads;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const auto limit = static_cast<std::int64_t>(instructions);
    if (a[i].instructions > limit || b[i].instructions > limit) break;
    if (a[i].source != b[i].source || !is_same(a[i].where, *before.parts, b[i].where, *after.parts)) break;
    if (a[i].value != b[i].value || a[i].value == 0) found.push_back(i);
  }
  return found;
}

bool is_of_linker(const RecordedRun& run, const backend::RecordedPath::Read& read) {
  if (read.where.file >= run.parts->files.size()) return false;
  const std::string& path = run.parts->files[read.where.file].path;
  return path.substr(path.rfind('/') + 1).starts_with("ld-");
}

bool is_random(const std::string& source) {
  return source == "rdrand" || source == "getrandom" || source == "/dev/urandom";
}

}  // namespace tally::why
