#include "tally/cli/window_vectors.hpp"

#include <fmt/format.h>

#include <utility>

#include "tally/base/text.hpp"

namespace tally::cli {

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
  file->text += 'T';
  for (const result::BlockCount& one : window.vector)
    fmt::format_to(std::back_inserter(file->text), ":{}:{} ", one.block, one.instructions);
  file->text += '\n';
  constexpr std::size_t piece = 1 << 16;
  if (file->text.size() >= piece) flush(*file);
}

void WindowVectors::flush(File& file) {
  if (written_) written_ = file.output.add(file.text);
  file.text.clear();
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
