#include "tally/tools/windows/window_vectors.hpp"

#include <fmt/format.h>

#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/output/data/simpoint.hpp"

namespace tally::windows {

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
    auto other = linux::Output::open_derived(fmt::format("{}.{}", path_, files_.size() + 1));
    if (!other) {
      written_ = fail(other.error());
      return nullptr;
    }
    first_.emplace(*std::move(other));
  }
  File made{*std::move(first_), output::simpoint_head(window)};
  first_.reset();
  return &files_.emplace(window.series, std::move(made)).first->second;
}

void WindowVectors::row(const result::Window& window) {
  File* const file = file_of(window);
  if (file == nullptr) return;
  const std::size_t bytes = output::add_simpoint_line(window, file->text);
  if (bytes >= output::simpoint_line_bytes && too_long_++ == 0)
    first_too_long_ = fmt::format("window {} of {}, thread {}, executed {} blocks: {} bytes", window.number,
                                  printable(std::string(window.program)), window.tid,
                                  thousands(static_cast<std::int64_t>(window.vector.size())),
                                  thousands(static_cast<std::int64_t>(bytes)));
  constexpr std::size_t block_bytes = 1 << 16;
  if (file->text.size() >= block_bytes) flush(*file);
}

void WindowVectors::flush(File& file) {
  if (written_) written_ = file.output.add(file.text);
  file.text.clear();
}

std::string WindowVectors::too_long() const {
  if (too_long_ == 0) return "";
  return fmt::format(
      "{}: SimPoint 3.2 cannot read lines of {} bytes or more, and {} {} longer ({}); use shorter windows (--every), "
      "or tally report --bbv, which reads lines of any length",
      printable(path_), thousands(output::simpoint_line_bytes), thousands(static_cast<std::int64_t>(too_long_)),
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

}  // namespace tally::windows
