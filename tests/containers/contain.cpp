// Runs a command as a container does: with the rules of a seccomp profile, another root directory, another user.
//
// usage: contain [--profile FILE] [--last-syscall N] [--read-only] [--root DIRECTORY] [--user ID] COMMAND [ARGUMENT...]
//
//   --profile FILE     refuse the system calls of FILE (docker.txt explains the format)
//   --last-syscall N   system calls with a number above N fail with ENOSYS, as on a kernel that does not have them
//   --read-only        the root directory cannot be written to, and there is no /tmp and no HOME; needs root
//   --root DIRECTORY   the command's root directory; needs root
//   --user ID          the command's user and group, without other groups; needs root
#include <sched.h>
#include <seccomp.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
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

// Nothing can be created in the directories of temporary files, which other file systems are mounted on.
void hide_temporary_directories() {
  for (const char* other : {"/tmp", "/dev/shm", "/var/tmp", "/run"})
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
  if (read_only) hide_temporary_directories();
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
