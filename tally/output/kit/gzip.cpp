#include "tally/output/kit/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace tally::output {
namespace {

constexpr int gzip_window_bits = 15 + 16;  // the largest window; 16 selects gzip's header and trailer
constexpr int memory_level = 8;            // zlib's default
constexpr std::size_t block_bytes = 1 << 16;

uInt one_call(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

/// Lets zlib read the next bytes.
void feed(z_stream& stream, std::string_view& bytes) {
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads it
  stream.avail_in = one_call(bytes.size());
  bytes.remove_prefix(stream.avail_in);
}

}  // namespace

GzipWriter::GzipWriter() : stream_(new z_stream{}) {
  if (deflateInit2(stream_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window_bits, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
}

void GzipWriter::Free::operator()(z_stream_s* stream) const {
  deflateEnd(stream);
  delete stream;
}

void GzipWriter::deflate_all(std::string_view bytes, bool is_last, std::string& to) {
  char block[block_bytes];
  do {
    if (stream_->avail_in == 0) feed(*stream_, bytes);
    stream_->next_out = reinterpret_cast<Bytef*>(block);
    stream_->avail_out = sizeof block;
    deflate(stream_.get(), is_last && bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    to.append(block, sizeof block - stream_->avail_out);
  } while (stream_->avail_in != 0 || !bytes.empty() || stream_->avail_out == 0);
}

void GzipWriter::add(std::string_view bytes, std::string& to) {
  if (!bytes.empty()) deflate_all(bytes, false, to);
}

void GzipWriter::end(std::string& to) { deflate_all({}, true, to); }

std::string gzipped(std::string_view bytes) {
  std::string file;
  GzipWriter writer;
  writer.add(bytes, file);
  writer.end(file);
  return file;
}

bool is_gzip(std::string_view file) { return file.starts_with("\x1f\x8b\x08"); }

bool gunzip(std::string_view file, std::size_t most_bytes, std::string& to) {
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window_bits) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> freed(&stream, inflateEnd);
  char block[block_bytes];
  const std::size_t end = to.size() + std::min(most_bytes, to.max_size() - to.size());
  while (true) {
    if (stream.avail_in == 0) feed(stream, file);
    stream.next_out = reinterpret_cast<Bytef*>(block);
    stream.avail_out = one_call(std::min(sizeof block, end - to.size()));
    const uInt room = stream.avail_out;
    const int status = inflate(&stream, Z_NO_FLUSH);
    to.append(block, room - stream.avail_out);
    const bool is_read = stream.avail_in == 0 && file.empty();
    if (status == Z_STREAM_END) {
      if (is_read) return true;
      inflateReset(&stream);  // the next member (RFC 1952, 2.2)
    } else if (status != Z_OK || to.size() == end) {
      return false;
    }
  }
}

}  // namespace tally::output
