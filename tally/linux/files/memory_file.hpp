// Memory files, shared with processes that inherit their descriptors; and other operations on files and processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// A mapped range. Can be moved, not copied.
class Mapping {
 public:
  Mapping() = default;
  Mapping(std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A new sparse memory file of this size. Errors: cannot_measure.
Result<Descriptor> make_memory_file(const char* name, std::uint64_t bytes);

/// Maps a range of a file, to read and write. Errors: cannot_measure.
Result<Mapping> map_shared(int fd, std::uint64_t offset, std::size_t bytes);

/// Opens a file to read it. `what`: its kind, for the message. Errors: cannot_measure; the message ends with the
/// system's words.
Result<Descriptor> open_file(const std::string& path, const std::string& what);

/// Whether a file of this name exists.
bool exists(const std::string& path);

/// Reads a range of a file. Returns false if it is shorter or cannot be read.
bool read_at(int fd, std::uint64_t offset, void* to, std::size_t bytes);

/// Writes to a file at an offset. Returns false on failure.
bool write_at(int fd, std::uint64_t offset, std::string_view bytes);

/// Returns the inode number of an open file.
std::uint64_t inode_of(int fd);
/// Whether a file was changed after another one; false if either is missing.
bool is_newer(const std::string& path, const std::string& than);
/// Returns the inode number of the file with this name; nothing if it is missing.
std::optional<std::uint64_t> inode_of(const std::string& path);

/// Duplicates `from` at consecutive numbers that programs do not use: above the soft RLIMIT_NOFILE if the hard one
/// allows (the kernel gives programs no such numbers), else the highest unused ones. execve closes them unless
/// keep_over_exec() says otherwise. Errors: cannot_measure.
Result<std::vector<Descriptor>> duplicate_high(const std::vector<int>& from);

/// Returns the directory of the running program.
std::string own_folder();

/// Wakes all who wait on a futex word of a shared mapping.
void wake_all(const std::uint32_t& word);

/// Waits for a wake of a futex word of a shared mapping, unless it already differs from `value`. May return early.
void sleep_while(const std::uint32_t& word, std::uint32_t value);

/// Returns the end of the last written page in a range of a memory file; `begin` if there is none, `end` if the kernel
/// does not report it.
std::uint64_t data_end(int fd, std::uint64_t begin, std::uint64_t end);

/// A range of a file.
struct DataRange {
  std::uint64_t begin = 0, end = 0;
};

/// Returns the first consecutive written pages from `begin` on; empty at `end` if there are none; the whole range if
/// the kernel does not report it.
DataRange next_data(int fd, std::uint64_t begin, std::uint64_t end);

/// Replaces a range of a memory file by zeros, which take no memory.
void discard(int fd, std::uint64_t offset, std::uint64_t bytes);

/// Waits in a forked child until the word is no longer `value`, at most ten seconds. Async-signal-safe.
void wait_while(const std::uint32_t& word, std::uint32_t value) noexcept;

/// Sets whether execve keeps a descriptor open. Async-signal-safe.
void keep_over_exec(int fd, bool keep) noexcept;

/// Executes a breakpoint: the tracer sees a stop. Async-signal-safe.
void trap() noexcept;

/// Whether a process exists and is not a zombie.
bool is_alive(pid_t process);

/// Whether executing this file changes the user, group or capabilities of the process.
bool changes_rights(const std::string& path);

/// Whether this process may read the file.
bool is_readable(const std::string& path);

/// Whether the kernel counts memory as used once it is writable: `vm.overcommit_memory` is 2.
bool never_overcommits();

/// Returns what limits the memory of this process: "`ulimit -v`", "`ulimit -d`", or both, and `vm.overcommit_memory` if
/// it is 2. Both of the former, too, if there is none: a program may have set one for itself.
std::string limits_on_memory();

}  // namespace tally::linux
