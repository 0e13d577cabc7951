#include "programs/linux/run_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "tally/linux/files/files.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

constexpr const char* lock_name = "/lock";
constexpr const char* note_name = "/note";
constexpr int most_tries = 1000;  // each fails only if another command has just removed the directory

}  // namespace

Result<RunFolder> RunFolder::enter(const std::string& path) {
  const std::string lock_path = path + lock_name;
  for (int tries = 0; tries < most_tries; ++tries) {
    if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
      return system_failure(Code::cannot_measure, "cannot create the directory " + path);
    }
    // For root alone: others could hold the lock forever.
    Descriptor lock(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock && errno == ENOENT) continue;  // the previous owner has just removed it
    if (!lock || retry([&] { return flock(lock.get(), LOCK_EX); }) != 0) {
      return system_failure(Code::cannot_measure, "cannot lock " + lock_path);
    }
    struct stat file {};
    if (fstat(lock.get(), &file) != 0 || file.st_nlink == 0) continue;
    // Whatever the umask is: everybody may read the note.
    (void)chmod(path.c_str(), 0755);
    return RunFolder(path, std::move(lock));
  }
  return fail(Code::cannot_measure, "the directory " + path + " is removed repeatedly");
}

RunFolder::~RunFolder() {
  if (!lock_ || access((path_ + note_name).c_str(), F_OK) == 0) return;
  unlink((path_ + lock_name).c_str());
  rmdir(path_.c_str());
}

std::string run_note(const std::string& folder) { return content(folder + note_name); }

Result<void> write_run_note(const std::string& folder, const std::string& text) {
  const std::string path = folder + note_name;
  const std::string made = path + ".new";
  Descriptor file(open(made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (file) (void)fchmod(file.get(), 0644);
  const auto written = file ? retry([&] { return write(file.get(), text.data(), text.size()); }) : -1;
  if (written != static_cast<ssize_t>(text.size()) || rename(made.c_str(), path.c_str()) != 0) {
    return system_failure(Code::cannot_measure, "cannot write " + path);
  }
  return {};
}

void remove_run_note(const std::string& folder) { unlink((folder + note_name).c_str()); }

}  // namespace tally::linux
