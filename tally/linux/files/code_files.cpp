#include "tally/linux/files/code_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tally/core/base/text.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {

namespace {

std::uint64_t number(const std::string& digits, int base) { return std::strtoull(digits.c_str(), nullptr, base); }

}  // namespace

std::vector<CodeMapping> code_mappings(pid_t process) {
  std::vector<CodeMapping> found;
  std::ifstream file(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(file, line);) {
    // "start-end rwxp offset device inode path"; the path may contain spaces.
    std::istringstream fields(line);
    std::string range, permissions, offset, device, inode, path;
    fields >> range >> permissions >> offset >> device >> inode >> std::ws;
    std::getline(fields, path);
    const std::size_t to = range.find('-'), minor = device.find(':');
    if (permissions.size() < 3 || permissions[2] != 'x' || to == std::string::npos || minor == std::string::npos)
      continue;
    CodeMapping mapping{number(range, 16), number(range.substr(to + 1), 16), number(offset, 16), path};
    mapping.inode = number(inode, 10);
    mapping.path = listed_path(mapping.path, mapping.inode);
    mapping.device_major = static_cast<std::uint32_t>(number(device, 16));
    mapping.device_minor = static_cast<std::uint32_t>(number(device.substr(minor + 1), 16));
    found.push_back(std::move(mapping));
  }
  return found;
}

std::string listed_path(const std::string& listed, std::uint64_t inode) {
  constexpr std::string_view line_break = "\\012";
  if (inode == 0 || listed.find(line_break) == std::string::npos) return listed;
  std::string path;
  for (std::size_t at = 0; at < listed.size();) {
    const bool is_break = std::string_view(listed).substr(at).starts_with(line_break);
    path += is_break ? '\n' : listed[at];
    at += is_break ? line_break.size() : 1;
  }
  // The kernel does not escape backslashes, so a name may really contain "\012".
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && status.st_ino == inode ? path : listed;
}

Descriptor open_mapped(pid_t process, const std::string& path, std::uint64_t inode) {
  const auto open_file = [](const std::string& at, std::uint64_t expected_inode) {
    constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;  // does not wait for the writer of a pipe
    Descriptor file(open(at.c_str(), flags));
    struct stat status {};
    const bool is_expected = file && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                             (expected_inode == 0 || status.st_ino == expected_inode);
    return is_expected ? std::move(file) : Descriptor();
  };
  for (const CodeMapping& mapping : code_mappings(process)) {
    if (inode != 0 ? mapping.inode != inode : without_deleted(mapping.path) != path) continue;
    // Overlay file systems have other inode numbers in lists of mappings than in stat(2).
    Descriptor file = open_file(fmt::format("/proc/{}/map_files/{:x}-{:x}", process, mapping.start, mapping.end), 0);
    if (!file) file = open_file(fmt::format("/proc/{}/root{}", process, path), mapping.inode);
    if (!file) file = open_file(fmt::format("/proc/{}/exe", process), mapping.inode);
    return file;
  }
  return {};
}

std::string without_deleted(std::string path) {
  constexpr std::string_view deleted = " (deleted)";
  if (path.ends_with(deleted)) path.resize(path.size() - deleted.size());
  return path;
}

std::string program_of(pid_t process) {
  std::array<char, 4096> path{};
  const ssize_t n = readlink(fmt::format("/proc/{}/exe", process).c_str(), path.data(), path.size());
  return {path.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
}

std::string whole_path(const std::string& path) {
  std::error_code error;
  const auto whole = std::filesystem::canonical(path, error);
  return error ? path : whole.string();
}

Result<FileBytes> FileBytes::of(const std::string& path, pid_t process) {
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;  // does not wait for the writer of a pipe
  Descriptor file;
  if (process != 0) file = Descriptor(open(fmt::format("/proc/{}/root{}", process, path).c_str(), flags));
  if (!file) file = Descriptor(open(path.c_str(), flags));
  struct stat s {};
  if (!file || fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode)) {
    return system_failure(Code::cannot_measure, fmt::format("cannot read '{}'", printable(path)));
  }
  FileBytes made;
  made.size_ = static_cast<std::size_t>(s.st_size);
  if (made.size_ == 0) return made;
  void* const at = mmap(nullptr, made.size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (at == MAP_FAILED) {
    return system_failure(Code::cannot_measure, fmt::format("cannot map '{}'", printable(path)));
  }
  made.data_ = std::shared_ptr<void>(at, [n = made.size_](void* p) { munmap(p, n); });
  return made;
}

}  // namespace tally::linux
