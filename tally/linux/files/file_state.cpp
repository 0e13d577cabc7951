#include "tally/linux/files/file_state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

std::optional<FileState> state_in(const struct stat& s) {
  if (!S_ISREG(s.st_mode)) return std::nullopt;
  return FileState{s.st_dev, s.st_ino, static_cast<std::uint64_t>(s.st_size), s.st_mtim.tv_sec,
                   static_cast<std::uint32_t>(s.st_mtim.tv_nsec)};
}

std::optional<std::uint64_t> mount_of(int folder, const char* path, int flags) {
  struct statx s {};
  if (statx(folder, path, flags, STATX_MNT_ID, &s) != 0 || (s.stx_mask & STATX_MNT_ID) == 0) return std::nullopt;
  return s.stx_mnt_id;
}

}  // namespace

std::optional<FileState> file_state(int fd) {
  struct stat s {};
  return fstat(fd, &s) == 0 ? state_in(s) : std::nullopt;
}

std::optional<FileState> file_state(const std::string& path) {
  struct stat s {};
  return stat(path.c_str(), &s) == 0 ? state_in(s) : std::nullopt;
}

std::optional<std::uint64_t> generation_of(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  // The kernel writes 32 bits, whatever the type in the request number is.
  std::uint32_t generation[2] = {};
  if (!file || ioctl(file.get(), FS_IOC_GETVERSION, generation) != 0) return std::nullopt;
  return generation[0];
}

std::optional<std::uint64_t> mount_of(int fd) { return mount_of(fd, "", AT_EMPTY_PATH); }

std::optional<std::uint64_t> mount_of(const std::string& path) { return mount_of(AT_FDCWD, path.c_str(), 0); }

bool may_wait_for_others(int fd) {
  // Magic numbers in linux/magic.h and in fs/ of the kernel: FUSE, NFS, CIFS, SMB2, 9P, Ceph, AFS, Coda.
  constexpr std::array<std::uint32_t, 8> others{0x65735546, 0x6969,     0xff534d42, 0xfe534d42,
                                                0x01021997, 0x00c36400, 0x5346414f, 0x73757245};
  struct statfs s {};
  if (fstatfs(fd, &s) != 0) return true;
  return std::find(others.begin(), others.end(), static_cast<std::uint32_t>(s.f_type)) != others.end();
}

Descriptor copy_to_memory(int fd, std::uint64_t bytes) {
  auto copy = make_memory_file("file with code", bytes);
  if (!copy) return {};
  off_t at = 0;
  while (static_cast<std::uint64_t>(at) < bytes) {
    const ssize_t n = retry([&] { return sendfile(copy->get(), fd, &at, bytes - static_cast<std::uint64_t>(at)); });
    if (n <= 0) return {};
  }
  return *std::move(copy);
}

Descriptor open_directory(const std::string& path) {
  return Descriptor(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

std::string path_of_descriptor(int fd) { return fmt::format("/proc/{}/fd/{}", getpid(), fd); }

std::uint64_t descriptor_limit() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace tally::linux
