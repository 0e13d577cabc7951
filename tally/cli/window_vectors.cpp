#include "tally/cli/window_vectors.hpp"

#include <fmt/format.h>

#include <utility>

#include "tally/base/text.hpp"

namespace tally::cli {
namespace {

/// SimPoint 3.2 ends at a line of so many bytes or more (its Utilities.h: MAX_LINE_LENGTH, with the line's end).
constexpr std::size_t simpoint_line_bytes = 1'048'575;

}  // namespace

Result<WindowVectors> WindowVectors::open(const std::string& path) {
  auto first = linux::Output::open_file(path);
  if (!first) return fail(first.error());
  return WindowVectors(path, *std::move(first));
}

WindowVectors::File* WindowVectors::file_of(const result::Window& window) {
  const auto known = files_.find(window.series);
  if (known != files_.end()) return &known->second;
  if (!written_) return nullptr;
  if (!first_) {
    auto other = linux::Output::open_file(fmt::format("{}.{}", path_, files_.size() + 1));
    if (!other) {
      written_ = fail(other.error());
      return nullptr;
    }
    first_.emplace(*std::move(other));
  }
  File made{*std::move(first_), fmt::format("# {}: process {}, thread {}\n", printable(std::string(window.program)),
                                            window.pid, window.tid)};
  first_.reset();
  return &files_.emplace(window.series, std::move(made)).first->second;
}

void WindowVectors::row(const result::Window& window) {
  File* const file = file_of(window);
  if (file == nullptr) return;
  const std::size_t begin = file->text.size();
  file->text += 'T';
  for (const result::BlockCount& one : window.vector)
    fmt::format_to(std::back_inserter(file->text), ":{}:{} ", one.block, one.instructions);
  if (const std::size_t bytes = file->text.size() - begin; bytes >= simpoint_line_bytes && too_long_++ == 0)
    first_too_long_ = fmt::format("window {} of {}, thread {}, ran {} blocks: {} bytes", window.number,
                                  printable(std::string(window.program)), window.tid,
                                  thousands(static_cast<std::int64_t>(window.vector.size())),
                                  thousands(static_cast<std::int64_t>(bytes)));
  file->text += '\n';
  constexpr std::size_t piece = 1 << 16;
  if (file->text.size() >= piece) flush(*file);
}

void WindowVectors::flush(File& file) {
  if (written_) written_ = file.output.add(file.text);
  file.text.clear();
}

std::string WindowVectors::too_long() const {
  if (too_long_ == 0) return "";
  return fmt::format(
      "{}: SimPoint 3.2 ends at lines of {} bytes and more, and {} {} longer ({}); shorter windows "
      "(--every) run fewer blocks, and tally report --bbv reads lines of any length",
      printable(path_), thousands(simpoint_line_bytes), thousands(static_cast<std::int64_t>(too_long_)),
      too_long_ == 1 ? "is" : "are", first_too_long_);
}

Result<void> WindowVectors::finish() {
  for (auto& [series, file] : files_) {
    flush(file);
    const auto closed = file.output.finish();
    if (written_) written_ = closed;
  }
  if (first_ && written_) written_ = first_->write("");
  return written_;
}

}  // namespace tally::cli
