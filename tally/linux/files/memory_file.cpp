#include "tally/linux/files/memory_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_, size_);
}

Result<Descriptor> make_memory_file(const char* name, std::uint64_t bytes) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC));
  if (!file) return system_failure(Code::cannot_measure, "cannot create the engine's shared memory (memfd_create)");
  // A limit on the size of files applies to this file too: without this, SIGXFSZ would end tally.
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &before);
  const int sized = ftruncate(file.get(), static_cast<off_t>(bytes));
  const int why = errno;
  sigaction(SIGXFSZ, &before, nullptr);
  errno = why;
  if (sized != 0) {
    return system_failure(Code::cannot_measure, "cannot resize the engine's shared memory (ftruncate)",
                          "a limit on the size of files (`ulimit -f`) also limits this: set it inside, `tally stat -- "
                          "sh -c \"ulimit -f …; …\"`");
  }
  return file;
}

Result<Mapping> map_shared(int fd, std::uint64_t offset, std::size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, static_cast<off_t>(offset));
  if (at == MAP_FAILED) {
    return system_failure(Code::cannot_measure, "cannot map the engine's shared memory (mmap)",
                          "a limit on address space (`ulimit -v`) must leave 2 GB");
  }
  (void)madvise(at, bytes, MADV_RANDOM);  // a sparse file on disk: do not allocate the pages around each one
  return Mapping(static_cast<std::uint8_t*>(at), bytes);
}

bool never_overcommits() { return content("/proc/sys/vm/overcommit_memory").starts_with('2'); }

std::string limits_on_memory() {
  const auto is_limited = [](__rlimit_resource resource) {
    rlimit limit{};
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  };
  const bool space = is_limited(RLIMIT_AS), data = is_limited(RLIMIT_DATA);
  if (never_overcommits() && !space && !data) return "`vm.overcommit_memory`, which is 2";
  const std::string more = never_overcommits() ? ", and `vm.overcommit_memory`, which is 2" : "";
  if (space == data) return "`ulimit -v` and `ulimit -d`" + more;
  return (space ? "`ulimit -v`" : "`ulimit -d`") + more;
}

Result<Descriptor> open_file(const std::string& path, const std::string& what) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return system_failure(Code::cannot_measure, fmt::format("cannot open {} '{}'", what, printable(path)),
                          "build or install tally again");
  }
  return file;
}

bool exists(const std::string& path) {
  struct stat file {};
  return stat(path.c_str(), &file) == 0;
}

bool write_at(int fd, std::uint64_t offset, std::string_view bytes) {
  return pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes.size());
}

bool read_at(int fd, std::uint64_t offset, void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t n = retry([&] { return pread(fd, at, bytes, static_cast<off_t>(offset)); });
    if (n <= 0) return false;
    at += n;
    offset += static_cast<std::uint64_t>(n);
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

std::uint64_t inode_of(int fd) {
  struct stat file {};
  return fstat(fd, &file) == 0 ? file.st_ino : 0;
}

bool is_newer(const std::string& path, const std::string& than) {
  struct stat one {};
  struct stat other {};
  if (stat(path.c_str(), &one) != 0 || stat(than.c_str(), &other) != 0) return false;
  return std::pair(one.st_mtim.tv_sec, one.st_mtim.tv_nsec) > std::pair(other.st_mtim.tv_sec, other.st_mtim.tv_nsec);
}

std::optional<std::uint64_t> inode_of(const std::string& path) {
  struct stat file {};
  return stat(path.c_str(), &file) == 0 ? std::optional<std::uint64_t>(file.st_ino) : std::nullopt;
}

namespace {

bool are_unused(int first, int count) {
  for (int fd = first; fd < first + count; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) return false;
  }
  return true;
}

Result<std::vector<Descriptor>> duplicate_at(const std::vector<int>& from, int first) {
  std::vector<Descriptor> made;
  for (const int fd : from) {
    made.emplace_back(dup3(fd, first + static_cast<int>(made.size()), O_CLOEXEC));
    if (!made.back())
      return system_failure(Code::cannot_measure, "cannot pass a file descriptor to the program (dup3)");
  }
  return made;
}

}  // namespace

Result<std::vector<Descriptor>> duplicate_high(const std::vector<int>& from) {
  const int count = static_cast<int>(from.size());
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  // A descriptor above the limit can only be made while the limit is raised. It stays open afterwards.
  constexpr rlim_t most = 1 << 12;  // each fork copies a table as long as the highest number
  if (limit.rlim_cur < most && limit.rlim_max >= limit.rlim_cur + static_cast<rlim_t>(count)) {
    const rlimit raised{limit.rlim_cur + static_cast<rlim_t>(count), limit.rlim_max};
    const int first = static_cast<int>(limit.rlim_cur);
    if (are_unused(first, count) && setrlimit(RLIMIT_NOFILE, &raised) == 0) {
      auto made = duplicate_at(from, first);
      setrlimit(RLIMIT_NOFILE, &limit);
      if (made) return made;
    }
  }
  for (int first = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, most)) - count; first > 2; --first) {
    if (!are_unused(first, count)) continue;
    // Under another tally some look unused but belong to it: try the next lower ones.
    if (auto made = duplicate_at(from, first); made || errno != EBADF) return made;
  }
  return fail(Code::cannot_measure, "there are not enough unused file descriptors for the engine", "raise `ulimit -n`");
}

std::string own_folder() {
  std::array<char, 4096> path{};
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  const std::string whole(path.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return whole.substr(0, whole.rfind('/'));
}

void wake_all(const std::uint32_t& word) { syscall(SYS_futex, &word, FUTEX_WAKE, 0x7fffffff, nullptr, nullptr, 0); }

void sleep_while(const std::uint32_t& word, std::uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT, value, nullptr, nullptr, 0);
}

void discard(int fd, std::uint64_t offset, std::uint64_t bytes) {
  (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(bytes));
}

std::uint64_t data_end(int fd, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t last = begin;
  while (last < end) {
    const off_t data = lseek(fd, static_cast<off_t>(last), SEEK_DATA);
    if (data < 0) return errno == ENXIO ? last : end;
    if (static_cast<std::uint64_t>(data) >= end) return last;
    const off_t hole = lseek(fd, data, SEEK_HOLE);
    if (hole < 0) return end;
    last = static_cast<std::uint64_t>(hole);
  }
  return end;
}

DataRange next_data(int fd, std::uint64_t begin, std::uint64_t end) {
  const off_t data = lseek(fd, static_cast<off_t>(begin), SEEK_DATA);
  if (data < 0) return errno == ENXIO ? DataRange{end, end} : DataRange{begin, end};
  if (static_cast<std::uint64_t>(data) >= end) return {end, end};
  const off_t hole = lseek(fd, data, SEEK_HOLE);
  return {static_cast<std::uint64_t>(data), hole < 0 ? end : std::min(static_cast<std::uint64_t>(hole), end)};
}

void wait_while(const std::uint32_t& word, std::uint32_t value) noexcept {
  const timespec limit{10, 0};
  while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == value) {
    if (syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0) != 0 && errno == ETIMEDOUT) return;
  }
}

void keep_over_exec(int fd, bool keep) noexcept { fcntl(fd, F_SETFD, keep ? 0 : FD_CLOEXEC); }

void trap() noexcept {
#if defined(__x86_64__)
  asm volatile("int3");  // raise() fails if SIGTRAP is blocked
#else
  raise(SIGTRAP);
#endif
}

bool is_alive(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  if (!std::getline(file, text)) return false;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
  const char state = text[name_end + 2];
  return state != 'Z' && state != 'X';
}

bool changes_rights(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return false;
  if ((file.st_mode & S_ISUID) && file.st_uid != geteuid()) return true;
  if ((file.st_mode & S_ISGID) && (file.st_mode & S_IXGRP) && file.st_gid != getegid()) return true;
  return geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

bool is_readable(const std::string& path) { return faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0; }

}  // namespace tally::linux
