// Reads the files in /sys that describe the core's PMU by every system call that takes a path, and prints what differs
// from `type` being 4: one line for each call.
#define _GNU_SOURCE
#include <cpuid.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define DEVICES "/sys/bus/event_source/devices"
#define TYPE DEVICES "/cpu/type"

static void print_type(const char* call, int fd) {
  char text[8] = "";
  const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  printf("%s: %s", call, n < 0 ? strerror(errno) : text);
  if (n < 0) printf("\n");
  if (fd >= 0) close(fd);
}

static void print_kind(const char* call, long r, const unsigned* mode) {
  printf("%s: %s\n", call, r < 0 ? strerror(errno) : S_ISREG(*mode) ? "file" : S_ISLNK(*mode) ? "link" : "other");
}

static void print_result(const char* call, long r) { printf("%s: %s\n", call, r < 0 ? strerror(errno) : "0"); }

static void print_link(const char* call, long n, const char* text) {
  printf("%s: %.*s\n", call, n < 0 ? 0 : (int)n, text);
}

static void print_list(const char* call, DIR* directory) {
  int found = 0, others = 0;
  for (struct dirent* entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
    found += strcmp(entry->d_name, "cpu") == 0;
    others += strcmp(entry->d_name, "software") == 0;
  }
  printf("%s: %d cpu, %d software\n", call, found, others);
  if (directory != NULL) closedir(directory);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "cpuid") == 0) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    __cpuid(0xa, a, b, c, d);
    printf("version %u, %u counters, missing %x, fixed %u\n", a & 255, a >> 8 & 255, b, d & 31);
    return 0;
  }
  const int sys = open("/sys", O_PATH | O_DIRECTORY), bus = open("/sys/bus", O_RDONLY | O_DIRECTORY);
  const int devices = openat(bus, "event_source/devices", O_RDONLY | O_DIRECTORY);
  struct open_how how = {.flags = O_RDONLY};
  print_type("open", (int)syscall(SYS_open, TYPE, O_RDONLY));
  print_type("openat", openat(sys, "./bus//event_source/devices/cpu/type", O_RDONLY));
  print_type("openat2", (int)syscall(SYS_openat2, devices, "cpu/type", &how, sizeof how));
  print_type("device", open("/sys/devices/cpu/type", O_RDONLY));
  print_type("none", open(DEVICES "/cpu/none", O_RDONLY));
  print_type("other", open(DEVICES "/cpux/type", O_RDONLY));
  struct stat s;
  struct statx x;
  print_kind("stat", syscall(SYS_stat, TYPE, &s), &s.st_mode);
  print_kind("lstat", syscall(SYS_lstat, DEVICES "/cpu", &s), &s.st_mode);
  print_kind("newfstatat", fstatat(bus, "event_source/devices/cpu/type", &s, 0), &s.st_mode);
  const int r = statx(devices, "cpu", AT_SYMLINK_NOFOLLOW, STATX_MODE, &x);
  s.st_mode = x.stx_mode;
  print_kind("statx", r, &s.st_mode);
  print_result("access", syscall(SYS_access, TYPE, R_OK));
  print_result("faccessat", syscall(SYS_faccessat, bus, "event_source/devices/cpu/type", R_OK));
  print_result("faccessat2", syscall(SYS_faccessat2, AT_FDCWD, TYPE, R_OK, 0));
  char text[256];
  print_link("readlink", syscall(SYS_readlink, DEVICES "/cpu", text, sizeof text), text);
  print_link("readlinkat", readlinkat(devices, "cpu", text, sizeof text), text);
  struct statfs f;
  print_result("statfs", statfs(TYPE, &f));
  print_result("listxattr", listxattr(TYPE, NULL, 0) < 0);
  print_list("getdents", opendir(DEVICES));
  print_list("of a descriptor", fdopendir(devices));
  print_result("chdir", chdir("/sys/bus"));
  print_type("current", open("event_source/devices/cpu/type", O_RDONLY));
  print_result("chdir", chdir("event_source/devices/cpu"));
  print_type("current", open("type", O_RDONLY));
}
