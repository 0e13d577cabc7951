// Programs that give up rights, and programs that set rights to what they are. The argument selects one; exit code 0
// means that the engine's translations are mapped as they should be.
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// The process does not see the engine's mappings in its own list, but another process does.
int writable_translations() {
  char command[64];
  snprintf(command, sizeof command, "cat /proc/%d/maps", getpid());
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // after a change of the user, the other process may read it, too
  FILE* const maps = popen(command, "r");
  int found = 0;
  for (char line[512]; maps != nullptr && fgets(line, sizeof line, maps) != nullptr;)
    found += strstr(line, " rw-s ") != nullptr && strstr(line, "tally-translations") != nullptr;
  // An empty list would say nothing.
  return pclose(maps) == 0 ? found : 100;
}

/// A program that gives up rights, in each of these ways, keeps no means to write what more trusted programs execute.
/// The programs that it executes have none, either.
int trusted_less() {
  int (*const ways[])() = {[] { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }, [] { return setuid(65534); },
                           [] { return setgid(65534); }, [] { return chroot("/"); }};
  for (const auto way : ways) {
    if (way != ways[0] && geteuid() != 0) continue;  // the others need root
    const pid_t child = fork();
    if (child == 0) {
      if (way() != 0) _exit(2);
      if (writable_translations() != 0) _exit(1);
      execl("/bin/sh", "sh", "-c", "! grep -q 'rw-s .*tally-translations' /proc/$$/maps", nullptr);
      _exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) return 1;
  }
  return 0;
}

/// A child that shares the memory, or the descriptors, gave up rights before.
int trusted_less_later() {
  const unsigned long kinds[] = {CLONE_VM | CLONE_VFORK, CLONE_FILES};
  for (const unsigned long shared : kinds) {
    const pid_t child = fork();
    if (child == 0) {
      const long other = shared == CLONE_FILES ? syscall(SYS_clone, shared | SIGCHLD, 0, 0, 0, 0) : vfork();
      if (other == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        _exit(0);
      }
      int status = 0;
      waitpid(static_cast<pid_t>(other), &status, 0);
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      if (writable_translations() != 0) _exit(1);
      execl("/bin/sh", "sh", "-c", "! grep -q 'rw-s .*tally-translations' /proc/$$/maps", nullptr);
      _exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) return 1;
  }
  return 0;
}

/// Calls that set rights to what they are. The raw calls, because glibc's may not get to the kernel.
int set_user() { return static_cast<int>(syscall(SYS_setuid, getuid())); }
int set_group() { return static_cast<int>(syscall(SYS_setgid, getgid())); }
int set_users() { return static_cast<int>(syscall(SYS_setresuid, -1, geteuid(), -1)); }
int set_groups() { return static_cast<int>(syscall(SYS_setresgid, getgid(), getegid(), -1)); }
int set_two_users() { return static_cast<int>(syscall(SYS_setreuid, -1, geteuid())); }
int set_two_groups() { return static_cast<int>(syscall(SYS_setregid, -1, getegid())); }
int set_file_user() { return setfsuid(geteuid()) < 0; }
int set_file_group() { return setfsgid(getegid()) < 0; }
int set_more_groups() {
  gid_t groups[64];
  const int n = getgroups(64, groups);
  if (n < 0) return 1;
  setgroups(static_cast<size_t>(n), groups);  // refused without rights
  return 0;
}
int set_capabilities() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2];
  return static_cast<int>(syscall(SYS_capget, &head, data) | syscall(SYS_capset, &head, data));
}
int set_bits() {
  prctl(PR_SET_SECUREBITS, prctl(PR_GET_SECUREBITS));  // refused without rights
  return 0;
}
int read_ambient() { return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 0, 0, 0) < 0; }
int unshare_files() { return unshare(CLONE_FS | CLONE_FILES); }
/// As GNU make starts programs: the child sets its effective IDs to the real ones, in this memory.
int spawn() {
  char name[] = "true";
  char* const words[] = {name, nullptr};
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_RESETIDS);
  pid_t child = 0;
  int status = 1;
  if (posix_spawn(&child, "/bin/true", nullptr, &attributes, words, nullptr) != 0) return 1;
  waitpid(child, &status, 0);
  return status;
}

/// They keep the translations. Natively there are none.
int trusted_as_before() {
  int (*const ways[])() = {set_user,      set_group,      set_users,        set_groups, set_two_users, set_two_groups,
                           set_file_user, set_file_group, set_capabilities, set_bits,   read_ambient,  set_more_groups,
                           unshare_files, spawn};
  const int before = writable_translations();
  for (const auto way : ways) {
    if (way() != 0) return 1;
    if (writable_translations() != before) return 2;
  }
  return 0;
}

/// The real user stays, but not the saved one, which a call without it also sets.
int trusted_less_by_saved_user() {
  if (geteuid() != 0) return 0;
  if (syscall(SYS_setresuid, -1, -1, 65534) != 0) return 1;
  if (writable_translations() != 0) return 2;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  struct {
    const char* name;
    int (*run)();
  } const programs[] = {{"trusted_less", trusted_less},
                        {"trusted_less_later", trusted_less_later},
                        {"trusted_less_by_saved_user", trusted_less_by_saved_user},
                        {"trusted_as_before", trusted_as_before}};
  for (const auto& program : programs) {
    if (argc > 1 && strcmp(argv[1], program.name) == 0) return program.run();
  }
  return 99;
}
