// Memory that is a file: shared with processes that inherit its descriptor.
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

/// A mapped range. Moves, never copies.
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

/// Bytes of a file.
struct FileRange {
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
};

/// Maps ranges of a memory file one behind the other, to read and write; each begins and ends with a page. The same
/// bytes may be mapped many times. Errors: cannot_measure.
Result<Mapping> map_ranges(int fd, const std::vector<FileRange>& ranges);

/// Opens a file to read it. Errors: cannot_measure, the message ends with the system's words.
Result<Descriptor> open_file(const std::string& path, const std::string& what);

/// Whether there is a file of this name.
bool exists(const std::string& path);

/// Reads a range of a file; false where it is shorter or cannot be read.
bool read_at(int fd, std::uint64_t offset, void* to, std::size_t bytes);

/// Writes to a place in a file; false where that fails.
bool write_at(int fd, std::uint64_t offset, std::string_view bytes);

/// The number of an open file in its file system.
std::uint64_t inode_of(int fd);
/// Whether a file was changed after another one; false where either is not there.
bool is_newer(const std::string& path, const std::string& than);
/// The number of the file with this name; nothing where there is none.
std::optional<std::uint64_t> inode_of(const std::string& path);

/// Duplicates of `from` at consecutive numbers that programs do not use: above the soft RLIMIT_NOFILE where the hard
/// one leaves room (programs get no such numbers from the kernel), else the highest that are unused. Closed by every
/// execve unless told otherwise. Errors: cannot_measure.
Result<std::vector<Descriptor>> duplicate_high(const std::vector<int>& from);

/// The folder of the running program.
std::string own_folder();

/// Wakes everybody who waits on a futex word of a shared mapping.
void wake_all(const std::uint32_t& word);

/// Waits for a wake of a futex word of a shared mapping, unless it is something else than `value` already. May end
/// early.
void sleep_while(const std::uint32_t& word, std::uint32_t value);

/// The end of the last page in a range of a memory file that something was written to; `begin` where there is none, and
/// `end` where the kernel does not say.
std::uint64_t data_end(int fd, std::uint64_t begin, std::uint64_t end);

/// A range of a file.
struct DataRange {
  std::uint64_t begin = 0, end = 0;
};

/// The first pages from `begin` on that something was written to, as far as they follow each other; empty at `end`
/// where there are none; all of it where the kernel does not say.
DataRange next_data(int fd, std::uint64_t begin, std::uint64_t end);

/// What stands in a range of a memory file becomes zeroes, which take no memory.
void discard(int fd, std::uint64_t offset, std::uint64_t bytes);

/// Waits in a forked child until the word is no longer `value`, at most ten seconds. Async-signal-safe.
void wait_while(const std::uint32_t& word, std::uint32_t value) noexcept;

/// Whether execve keeps a descriptor open. Async-signal-safe.
void keep_over_exec(int fd, bool keep) noexcept;

/// Executes a breakpoint: the tracer sees a stop. Async-signal-safe.
void trap() noexcept;

/// Whether a process with this number is alive: exists and is no zombie.
bool is_alive(pid_t process);

/// Whether an execve of this file changes user, group or capabilities of who executes it.
bool changes_rights(const std::string& path);

/// Whether this process may read the file.
bool is_readable(const std::string& path);

/// The limits on memory that this process has, as a shell sets them: "`ulimit -v`", "`ulimit -d`" or both. Where there
/// is none a program may have set one for itself: then both, too.
std::string limits_on_memory();

}  // namespace tally::linux
