#include "tally/linux/files/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "tally/linux/interruption.hpp"
#include "tally/linux/size_limit.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {

void reserve_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    // The lowest free number is this one. Read-only: a write must fail, not be lost.
    if (open("/dev/null", O_RDONLY | O_CLOEXEC) != fd) return;
  }
}

namespace {

namespace fs = std::filesystem;

bool are_one(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// Whether a path names an open descriptor: then tally writes to that file and does not replace it.
bool names_a_descriptor(const std::string& path) {
  for (const char* begin : {"/dev/fd/", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc/"})
    if (path.starts_with(begin)) return true;
  return false;
}

bool is_standard_stream(const struct stat& file) {
  for (int fd = 0; fd <= 2; ++fd) {
    struct stat stream {};
    if (fstat(fd, &stream) == 0 && are_one(stream, file)) return true;
  }
  return false;
}

/// Makes a new file for `target`, a path without links; nothing if that is impossible.
std::optional<NewFile> new_file_at(const fs::path& target, mode_t mode) {
  if (target.filename().empty()) return std::nullopt;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return std::nullopt;
  auto made = NewFile::make(opened.get(), target.filename().string(), mode);
  if (!made) return std::nullopt;
  return *std::move(made);
}

/// Makes the replacement of the regular file that is open as `fd`; nothing if that file must be overwritten.
std::optional<NewFile> replacement_of(const std::string& path, int fd) {
  struct stat old {
  }, named{};
  if (fstat(fd, &old) != 0 || !S_ISREG(old.st_mode) || old.st_nlink > 1) return std::nullopt;
  if (names_a_descriptor(path) || is_standard_stream(old)) return std::nullopt;
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  if (error || lstat(target.c_str(), &named) != 0 || !are_one(old, named)) return std::nullopt;
  auto made = new_file_at(target, 0600);
  // The new file has the owner and mode of the old one.
  if (!made || (old.st_uid != geteuid() && fchown(made->fd(), old.st_uid, old.st_gid) != 0) ||
      (old.st_uid == geteuid() && old.st_gid != getegid() && fchown(made->fd(), -1, old.st_gid) != 0) ||
      fchmod(made->fd(), old.st_mode & 0777) != 0)
    return std::nullopt;
  return made;
}

fs::path whole_path_of(const std::string& path) {
  std::error_code error;
  return fs::weakly_canonical(path, error);
}

}  // namespace

bool same_file(const std::string& one, const std::string& other) {
  struct stat a {};
  struct stat b {};
  if (stat(one.c_str(), &a) != 0 && stat(other.c_str(), &b) != 0) return whole_path_of(one) == whole_path_of(other);
  return stat(one.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 && S_ISREG(a.st_mode) && are_one(a, b);
}

Result<Output> Output::open_file(const std::string& path) { return open(path, false); }

Result<Output> Output::open_to_append(const std::string& path) { return open(path, true); }

Result<Output> Output::open_derived(const std::string& path, bool append) { return open(path, append, true); }

Result<Output> Output::open(const std::string& path, bool append, bool derived) {
  struct stat status {};
  const bool exists = lstat(path.c_str(), &status) == 0, is_new = !exists && errno == ENOENT;
  const bool is_other_file = exists && (S_ISLNK(status.st_mode) || (S_ISREG(status.st_mode) && status.st_nlink > 1));
  if ((is_new || (derived && is_other_file)) && !append) {
    if (auto made = new_file_at(path, 0666)) {
      Output output(made->fd(), "'" + path + "'");
      output.path_ = path;
      output.is_first_ = true;
      output.new_file_.emplace(*std::move(made));
      return output;
    }
  }
  auto output = open_in_place(path, append, derived);
  if (!output || append || output->remove_unless_written_) return output;
  if (auto made = replacement_of(path, output->fd_)) {
    output->is_first_ = fstat(output->fd_, &status) == 0 && status.st_size == 0;
    output->fd_ = made->fd();
    output->owned_.reset();
    output->new_file_.emplace(*std::move(made));
  }
  return output;
}

Result<Output> Output::open_in_place(const std::string& path, bool append, bool derived) {
  // When appending, tally reads the file first: the new rows must have the same format.
  const int flags =
      (append ? O_RDWR | O_APPEND : O_WRONLY) | O_CREAT | O_CLOEXEC | O_NOCTTY | (derived ? O_NOFOLLOW : 0);
  constexpr mode_t mode = 0666;
  bool created = true;
  int fd = retry([&] { return ::open(path.c_str(), flags | O_EXCL, mode); });
  if (fd < 0 && errno == EEXIST) {
    created = false;
    fd = retry([&] { return ::open(path.c_str(), flags, mode); });
  }
  if (fd < 0) return system_failure(Code::cannot_write, fmt::format("cannot write the results to '{}'", path));
  Output output(fd, "'" + path + "'");
  output.owned_ = Descriptor(fd);
  output.append_ = append;
  output.path_ = path;
  output.remove_unless_written_ = created;
  return output;
}

Result<Output> Output::open_file_or_stream(const std::string& path) {
  return path.empty() ? Result<Output>(standard_error()) : path == "-" ? standard_output() : open_file(path);
}

Output Output::standard_output() { return {STDOUT_FILENO, "standard output"}; }

Output Output::standard_error() { return {STDERR_FILENO, "standard error"}; }

Output::Output(Output&& other) noexcept
    : owned_(std::move(other.owned_)),
      new_file_(std::move(other.new_file_)),
      fd_(other.fd_),
      name_(std::move(other.name_)),
      append_(other.append_),
      path_(std::move(other.path_)),
      remove_unless_written_(std::exchange(other.remove_unless_written_, false)),
      is_first_(other.is_first_),
      begun_(other.begun_) {
  other.new_file_.reset();
}

Output::~Output() {
  if (remove_unless_written_) unlink(path_.c_str());
}

bool Output::is_terminal() const { return fd_ >= 0 && isatty(fd_) == 1; }

bool Output::is_file() const {
  struct stat status {};
  return (owned_ || new_file_) && fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
}

tl::unexpected<Error> Output::failure() const {
  return system_failure(Code::cannot_write, fmt::format("cannot write the results to {}", name_));
}

Result<void> Output::lock() const {
  constexpr int wait_ms = 20;
  if (!is_file()) return {};
  while (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return {};  // a file system without locks
    if (is_interrupted()) {
      return fail(Code::cannot_write,
                  fmt::format("cannot write the results to {}: another process keeps it locked", name_));
    }
    poll(nullptr, 0, wait_ms);
  }
  return {};
}

Result<std::string> Output::existing() const {
  std::string text;
  if (!append_ || !is_file()) return text;
  std::vector<char> buffer(1 << 16);
  while (true) {
    const ssize_t size =
        retry([&] { return pread(fd_, buffer.data(), buffer.size(), static_cast<off_t>(text.size())); });
    if (size < 0) return system_failure(Code::cannot_write, fmt::format("cannot read {} to append to it", name_));
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

Result<void> Output::cut(std::size_t bytes) {
  return !is_file() || ftruncate(fd_, static_cast<off_t>(bytes)) == 0 ? Result<void>{} : failure();
}

Result<void> Output::show() {
  const auto published = new_file_->publish();
  if (published) return {};
  errno = published.error().os_errno;
  return failure();
}

// The file's directory was removed meanwhile, perhaps by the measured program, and one of that name exists again.
Result<void> Output::make_again(std::string_view text) {
  auto made = new_file_at(path_, 0666);
  if (!made)
    return system_failure(Code::cannot_write,
                          fmt::format("cannot write the results to {}, which was removed meanwhile", name_));
  fd_ = made->fd();
  new_file_.emplace(*std::move(made));
  if (auto written = write_all(text); !written) return written;
  return show();
}

// Before overwriting a file, reserves space beyond its end, so that nothing is lost if the disk is full.
Result<void> Output::overwrite(std::string_view text) {
  const auto bytes = static_cast<off_t>(text.size());
  if (bytes > 0 && retry([&] { return fallocate(fd_, FALLOC_FL_KEEP_SIZE, 0, bytes); }) != 0 && errno != EOPNOTSUPP &&
      errno != ENOSYS)
    return failure();
  if (auto written = write_all(text); !written) return written;
  return ftruncate(fd_, bytes) == 0 && put_on_disk(fd_) ? Result<void>{} : failure();
}

Result<void> Output::write(std::string_view text) {
  remove_unless_written_ = false;
  const WithoutSizeSignal without;
  struct stat status {};
  const bool is_regular = is_file() && fstat(fd_, &status) == 0;
  if (new_file_) {
    if (const auto written = write_all(text); !written) return written;
    const auto published = new_file_->publish();
    if (published) return close();
    errno = published.error().os_errno;
    return errno == ENOENT ? make_again(text) : Result<void>(failure());
  }
  if (is_regular && append_ && status.st_nlink == 0) {
    // Appended rows are useless without the earlier ones.
    return fail(Code::cannot_write, fmt::format("cannot write the results to {}, which was removed meanwhile", name_));
  }
  const auto written = is_regular && !append_ ? overwrite(text) : write_all(text);
  if (!written) {
    // Half a row would spoil the rows before it.
    if (is_regular && append_) (void)!ftruncate(fd_, status.st_size);
    return fail(written.error());
  }
  if (is_regular && !put_on_disk(fd_)) return failure();
  return close();
}

Result<void> Output::close() {
  new_file_.reset();
  // Some file systems report a full disk only here.
  if (owned_ && ::close(owned_.release()) != 0) return failure();
  return {};
}

Result<void> Output::add(std::string_view text) {
  if (!begun_) {
    begun_ = true;
    remove_unless_written_ = false;
    if (owned_ && is_file() && !append_ && ftruncate(fd_, 0) != 0) return failure();
    if (new_file_ && is_first_) {
      if (auto shown = show(); !shown) return shown;
    }
  }
  const WithoutSizeSignal without;
  return write_all(text);
}

Result<void> Output::publish() {
  if (auto begun = add(""); !begun) return begun;
  return new_file_ && !new_file_->is_published() ? show() : Result<void>{};
}

Result<void> Output::finish() {
  if (auto begun = add(""); !begun) return begun;
  if (auto shown = new_file_ ? show() : Result<void>{}; !shown) return shown;
  return close();
}

Result<void> Output::write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(fd_, text.data(), text.size());
    if (size >= 0) {
      text.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno == EAGAIN) {
      // A program that shares the terminal or pipe may have made it non-blocking.
      pollfd ready{fd_, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return failure();
    }
  }
  return {};
}

}  // namespace tally::linux
