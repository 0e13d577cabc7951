// Compression in the gzip format (RFC 1952).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace tally::output {

/// Compresses a stream with zlib, without name and time in its header, so the result is deterministic. Throws
/// std::bad_alloc if zlib has no memory.
class GzipWriter {
 public:
  GzipWriter();
  /// Appends what is compressed so far to `to`; zlib buffers the rest.
  void add(std::string_view bytes, std::string& to);
  /// Appends the rest and the end of the file.
  void end(std::string& to);

 private:
  struct Free {
    void operator()(z_stream_s* stream) const;
  };
  void deflate_all(std::string_view bytes, bool is_last, std::string& to);

  std::unique_ptr<z_stream_s, Free> stream_;
};

/// The bytes as a file of gzip. Pure.
std::string gzipped(std::string_view bytes);

/// Whether these are the first bytes of a file of gzip.
bool is_gzip(std::string_view file);

/// Appends the content of a file of gzip to `to`, at most `most_bytes`. Returns false if the file is damaged, ends
/// early or holds more; what is before that is appended.
bool gunzip(std::string_view file, std::size_t most_bytes, std::string& to);

}  // namespace tally::output
