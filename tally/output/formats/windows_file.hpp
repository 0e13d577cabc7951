// The compact file of windows: docs/reference/windows-file.md has its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/windows.hpp"

namespace tally::result {

/// What such a file begins with.
inline constexpr std::string_view windows_file_magic = "TALLYWIN";

/// Makes the bytes of a file, which are added to the end of a text. Keeps some thousand rows back: those of a thread go
/// into the file together.
class WindowsEncoder {
 public:
  void begin(const WindowsHead& head, std::string& to);
  void row(const Window& window, std::string& to);
  /// A file without this is one that was cut off.
  void end(std::string& to);

 private:
  struct Waiting {
    std::string program;
    std::int64_t pid = 0, tid = 0;
    std::vector<std::vector<std::int64_t>> columns;
  };
  void write(std::uint32_t series, const Waiting& rows, std::string& to);
  void write_all(std::string& to);

  std::size_t counts_ = 0;
  std::map<std::uint32_t, Waiting> waiting_;  // by series
  std::size_t waiting_rows_ = 0;
  std::uint64_t rows_ = 0;
};

/// Fills a part of a buffer with the next bytes: how many; 0 at the end. Errors are handed on.
using ByteSource = std::function<Result<std::size_t>(std::span<char>)>;

/// Reads such a file, in bounded memory.
class WindowsDecoder {
 public:
  /// Reads the head. Errors: bad_usage for a file that is none of these, or of a later version, or damaged, with the
  /// place in bytes; what the source fails with.
  static Result<WindowsDecoder> open(ByteSource source, const std::string& name);

  const WindowsHead& head() const { return head_; }

  /// Visits all rows: those of a thread in their order. Errors: the same; rows before the place were visited.
  Result<void> read(const std::function<void(const Window&)>& visit);

 private:
  WindowsDecoder(ByteSource source, std::string name) : source_(std::move(source)), name_(std::move(name)) {}
  Result<bool> take(std::size_t bytes, std::vector<char>& to);
  Result<void> read_head();
  Result<std::uint64_t> read_block(std::span<const char> body, const std::function<void(const Window&)>& visit);
  tl::unexpected<Error> damaged(const std::string& what, std::uint64_t offset) const;

  ByteSource source_;
  std::string name_;
  WindowsHead head_;
  std::size_t counts_ = 0;
  std::uint64_t offset_ = 0;  // of what is read next
  std::vector<std::int64_t> values_;
};

}  // namespace tally::result
