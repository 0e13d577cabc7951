#include "tally/linux/files/spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tally/linux/files/memory_file.hpp"

namespace tally::linux {
namespace {

constexpr std::size_t chunk_bytes = 1 << 20;

Descriptor open_nameless() {
  const char* const named = secure_getenv("TMPDIR");
  const std::string folder = named != nullptr && *named != '\0' ? named : "/tmp";
  Descriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  // Some file systems cannot make unnamed files.
  std::string path = folder + "/tally-XXXXXX";
  Descriptor named_file(mkostemp(path.data(), O_CLOEXEC));
  if (named_file) unlink(path.c_str());
  return named_file;
}

}  // namespace

Spool::Spool() : file_(open_nameless()) {}

void Spool::add(const void* bytes, std::size_t count) {
  held_.append(static_cast<const char*>(bytes), count);
  if (held_.size() >= chunk_bytes) empty_into_file();
}

void Spool::empty_into_file() {
  if (!file_ || full_) return;
  // If writing a chunk fails, its bytes in the file are ignored, and nothing more is written.
  if (write_at(file_.get(), in_file_, held_)) {
    in_file_ += held_.size();
    held_.clear();
  } else {
    full_ = true;
  }
}

void Spool::rewind() {
  at_ = chunk_at_ = 0;
  chunk_.clear();
}

bool Spool::read(void* to, std::size_t count) {
  auto* bytes = static_cast<char*>(to);
  if (count > in_file_ + held_.size() - at_) return false;
  while (count != 0) {
    if (at_ >= in_file_) {
      std::memcpy(bytes, held_.data() + (at_ - in_file_), count);
      at_ += count;
      return true;
    }
    if (at_ >= chunk_at_ + chunk_.size()) {
      chunk_at_ = at_;
      chunk_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(chunk_bytes, in_file_ - at_)));
      if (!read_at(file_.get(), at_, chunk_.data(), chunk_.size())) {
        chunk_.clear();
        return false;
      }
    }
    const std::size_t n = std::min(count, static_cast<std::size_t>(chunk_at_ + chunk_.size() - at_));
    std::memcpy(bytes, chunk_.data() + (at_ - chunk_at_), n);
    bytes += n;
    at_ += n;
    count -= n;
  }
  return true;
}

}  // namespace tally::linux
