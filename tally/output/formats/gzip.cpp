#include "tally/output/formats/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace tally::report {
namespace {

constexpr int gzip_window_bits = 15 + 16;  // the largest window; 16 selects gzip's header and trailer
constexpr int memory_level = 8;            // zlib's default

/// A deflate stream of zlib. Throws std::bad_alloc if zlib has no memory.
class Compressor {
 public:
  Compressor() {
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window_bits, memory_level, Z_DEFAULT_STRATEGY) !=
        Z_OK)
      throw std::bad_alloc();
  }
  ~Compressor() { deflateEnd(&stream_); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  std::string compress(std::string_view bytes) {
    std::string file(deflateBound(&stream_, bytes.size()), '\0');
    std::size_t written = 0;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
      if (stream_.avail_in == 0) {
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads it
        stream_.avail_in = one_call(bytes.size());
        bytes.remove_prefix(stream_.avail_in);
      }
      stream_.next_out = reinterpret_cast<Bytef*>(file.data() + written);
      stream_.avail_out = one_call(file.size() - written);
      const uInt room = stream_.avail_out;
      status = deflate(&stream_, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
      written += room - stream_.avail_out;
    }
    file.resize(written);
    return file;
  }

 private:
  static uInt one_call(std::size_t bytes) {
    return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
  }

  z_stream stream_{};
};

}  // namespace

std::string gzipped(std::string_view bytes) { return Compressor().compress(bytes); }

}  // namespace tally::report
