// The compact file of windows: its bytes are documented in docs/reference/windows-file.md.
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

/// The first bytes of such a file.
inline constexpr std::string_view windows_file_magic = "TALLYWIN";

/// Encodes windows; appends the bytes to a text. Buffers some thousand rows, to store the rows of a thread together.
class WindowsEncoder {
 public:
  void begin(const WindowsHead& head, std::string& to);
  void row(const Window& window, std::string& to);
  /// Writes the end marker. A file without it is incomplete.
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

/// Fills a part of a buffer with the next bytes and returns their number; 0 at the end. Errors are passed on.
using ByteSource = std::function<Result<std::size_t>(std::span<char>)>;

/// Reads such a file with bounded memory.
class WindowsDecoder {
 public:
  /// Reads the head. Errors: bad_usage with the byte offset for another, damaged or later format; errors of the source.
  static Result<WindowsDecoder> open(ByteSource source, const std::string& name);

  const WindowsHead& head() const { return head_; }

  /// Visits all rows; those of a thread are in order. Errors: the same, after visiting the rows before the offset.
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
  std::uint64_t offset_ = 0;  // of the next read
  std::vector<std::int64_t> values_;
};

}  // namespace tally::result
