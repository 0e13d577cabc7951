// Runs a command as a container does: with the rules of a seccomp profile, another root directory, another user.
//
// usage: contain [--profile FILE] [--last-syscall N] [--read-only] [--keep DIRECTORY] [--root DIRECTORY] [--user ID]
//                COMMAND [ARGUMENT...]
//
//   --profile FILE     refuse the system calls of FILE (docker.txt explains the format)
//   --last-syscall N   system calls with a number above N fail with ENOSYS, as on a kernel that does not have them
//   --read-only        the root directory cannot be written to, and there is no /tmp and no HOME; needs root
//   --keep DIRECTORY   with --read-only: everybody can read this directory, wherever it is
//   --root DIRECTORY   the command's root directory; needs root
//   --user ID          the command's user and group, without other groups; needs root
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include <grp.h>

namespace {

constexpr int last_syscall_number = 511;

[[noreturn]] void fail(const std::string& what, int error) {
  std::fprintf(stderr, "contain: %s: %s\n", what.c_str(), std::strerror(error));
  std::exit(120);
}
void check(int result, const std::string& what) {
  if (result < 0) fail(what, result == -1 ? errno : -result);
}

void refuse(scmp_filter_ctx filter, const std::string& name, int error) {
  const int number = seccomp_syscall_resolve_name(name.c_str());
  // A libseccomp that is older than the system call does not know its name.
  if (number != __NR_SCMP_ERROR)
    check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(static_cast<unsigned>(error)), number, 0), name);
}

void add_profile(scmp_filter_ctx filter, const std::string& file) {
  std::ifstream input(file);
  if (!input) fail(file, errno);
  for (std::string line; std::getline(input, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, argument;
    words >> name >> argument;
    if (name == "include")
      add_profile(filter, file.substr(0, file.rfind('/') + 1) + argument);
    else if (!name.empty())
      refuse(filter, name, argument == "ENOSYS" ? ENOSYS : EPERM);
  }
}

// personality(ADDR_NO_RANDOMIZE) is refused; 0xffffffff, which asks for the present one, is not.
void limit_personality(scmp_filter_ctx filter) {
  constexpr unsigned no_randomize = 0x0040000, top = 0x80000000;
  check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(personality), 1,
                         SCMP_A0(SCMP_CMP_MASKED_EQ, no_randomize | top, no_randomize)),
        "personality");
}

void make_read_only(const char* root) {
  check(unshare(CLONE_NEWNS), "unshare");
  check(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "mount /");
  check(mount(root, root, nullptr, MS_BIND | MS_REC, nullptr), root);
  check(mount(nullptr, root, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr), root);
}

constexpr const char* temporary_directories[] = {"/tmp", "/dev/shm", "/var/tmp", "/run"};

bool is_temporary_directory(const std::string& path) {
  return std::find(std::begin(temporary_directories), std::end(temporary_directories), path) !=
         std::end(temporary_directories);
}

bool is_reachable_by_others(const std::string& path) {
  struct stat status {};
  check(stat(path.c_str(), &status), path);
  return (status.st_mode & S_IXOTH) != 0;
}

// The directory may be below one that is hidden, or that is closed to other users, such as /root. There, an empty file
// system is mounted that has nothing but the way to the directory.
void show(int directory, const std::string& path) {
  std::string covered;
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    if (covered.empty() && (is_temporary_directory(part) || !is_reachable_by_others(part))) {
      check(mount("contain", part.c_str(), "tmpfs", 0, "mode=755"), part);
      covered = part;
    } else if (!covered.empty()) {
      check(mkdir(part.c_str(), 0755), part);
    }
  }
  if (covered.empty()) return;
  const std::string source = "/proc/self/fd/" + std::to_string(directory);
  check(mount(source.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr), path);
  for (const std::string& mounted : {path, covered})
    check(mount(nullptr, mounted.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr), mounted);
}

// Nothing can be created in the directories of temporary files, which other file systems are mounted on.
void hide_temporary_directories() {
  for (const char* other : temporary_directories)
    if (mount("/proc/self/fdinfo", other, nullptr, MS_BIND, nullptr) < 0 && errno != ENOENT) fail(other, errno);
  unsetenv("HOME");
  unsetenv("TMPDIR");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("XDG_RUNTIME_DIR");
}

}  // namespace

int main(int argc, char** argv) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (!filter) fail("seccomp_init", ENOMEM);
  bool filtered = false;
  const char* root = nullptr;
  const char* kept = nullptr;
  std::optional<unsigned> user;
  bool read_only = false;
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; ++i) {
    const std::string option = argv[i];
    if (option == "--read-only") {
      read_only = true;
      continue;
    }
    if (i + 1 == argc) fail(option, EINVAL);
    const char* value = argv[++i];
    if (option == "--profile") {
      add_profile(filter, value);
      limit_personality(filter);
      filtered = true;
    } else if (option == "--last-syscall") {
      for (int number = std::atoi(value) + 1; number <= last_syscall_number; ++number)
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), number, 0);
      filtered = true;
    } else if (option == "--keep") {
      kept = value;
    } else if (option == "--root") {
      root = value;
    } else if (option == "--user") {
      user = static_cast<unsigned>(std::atoi(value));
    } else {
      fail(option, EINVAL);
    }
  }
  if (i == argc) fail("command", EINVAL);
  if (read_only) make_read_only(root ? root : "/");
  if (root) {
    check(chroot(root), root);
    check(chdir("/"), "/");
  }
  if (read_only) {
    const int directory = kept ? open(kept, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (kept) check(directory, kept);
    hide_temporary_directories();
    if (kept) show(directory, kept);
  }
  if (user) {
    check(setgroups(0, nullptr), "setgroups");
    check(setresgid(*user, *user, *user), "setresgid");
    check(setresuid(*user, *user, *user), "setresuid");
  }
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
  if (filtered) check(seccomp_load(filter), "seccomp_load");
  execvp(argv[i], argv + i);
  fail(argv[i], errno);
}
