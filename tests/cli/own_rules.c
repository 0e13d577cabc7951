// own_rules hardware|software: what calls on the descriptors of counters answer, one line for each rule.
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int is_hardware;

static struct perf_event_attr attributes(void) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = is_hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
  attr.config = is_hardware ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_SW_PAGE_FAULTS;
  attr.sample_period = 1000000;
  attr.exclude_kernel = attr.exclude_hv = 1;
  return attr;
}

static int open_at(const struct perf_event_attr* attr, int pid, int cpu, int group, unsigned long flags) {
  return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
}
static int open_event(void) {
  const struct perf_event_attr attr = attributes();
  return open_at(&attr, 0, -1, -1, 0);
}

static void show(const char* rule, long result) {
  printf("%s: ", rule);
  if (result < 0)
    printf("%s\n", strerrorname_np(errno));
  else
    printf("%ld\n", result);
}
// Without the number of a new descriptor.
static int show_open(const char* rule, int fd) {
  show(rule, fd < 0 ? -1 : 0);
  return fd;
}

static void open_members(void) {
  struct perf_event_attr attr = attributes();
  const int leader = open_event(), null = open("/dev/null", O_RDONLY);
  show_open("member", open_at(&attr, 0, -1, leader, 0));
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  show_open("member with a clock", open_at(&attr, 0, -1, leader, 0));
  const int monotonic = show_open("leader with a clock", open_at(&attr, 0, -1, -1, 0));
  show_open("member with the same clock", open_at(&attr, 0, -1, monotonic, 0));
  attr.clockid = CLOCK_REALTIME;
  show_open("member with another clock", open_at(&attr, 0, -1, monotonic, 0));
  attr.clockid = CLOCK_TAI;
  show_open("leader with CLOCK_TAI", open_at(&attr, 0, -1, -1, 0));
  attr.clockid = CLOCK_PROCESS_CPUTIME_ID;
  show_open("leader with a clock of the process", open_at(&attr, 0, -1, -1, 0));
  attr = attributes();
  show_open("member of another processor", open_at(&attr, 0, 0, leader, 0));
  show_open("processor that is missing", open_at(&attr, 0, 100000, -1, 0));
  show_open("negative processor", open_at(&attr, 0, -2, -1, 0));
  show_open("negative pid", open_at(&attr, -2, -1, -1, 0));
  show_open("pid that is missing", open_at(&attr, 999999999, -1, -1, 0));
  show_open("unknown flag", open_at(&attr, 0, -1, -1, 1 << 10));
  show_open("member of a file", open_at(&attr, 0, -1, null, 0));
  show_open("member of a closed descriptor", open_at(&attr, 0, -1, 900, 0));
  show_open("member of a negative group", open_at(&attr, 0, -1, -5, 0));
  const int member = open_at(&attr, 0, -1, leader, 0);
  show_open("member of a member", open_at(&attr, 0, -1, member, 0));
  attr.pinned = 1;
  show_open("pinned member", open_at(&attr, 0, -1, leader, 0));
  show_open("pinned leader", open_at(&attr, 0, -1, -1, 0));
  attr = attributes();
  attr.exclusive = 1;
  show_open("exclusive member", open_at(&attr, 0, -1, leader, 0));
  attr = attributes();
  attr.inherit = 1;
  show_open("member that inherits", open_at(&attr, 0, -1, leader, 0));
  attr.read_format = PERF_FORMAT_GROUP;
  show_open("inherits with group reads", open_at(&attr, 0, -1, -1, 0));
  attr.sample_type = PERF_SAMPLE_READ;
  show_open("inherits with sampled group reads", open_at(&attr, 0, -1, -1, 0));
  attr = attributes();
  attr.sample_type = PERF_SAMPLE_REGS_USER;
  attr.sample_regs_user = ~0ull;
  show_open("unknown registers", open_at(&attr, 0, -1, -1, 0));
  attr = attributes();
  attr.sample_type = PERF_SAMPLE_STACK_USER;
  attr.sample_stack_user = 12;
  show_open("stack of 12 bytes", open_at(&attr, 0, -1, -1, 0));
  attr = attributes();
  attr.freq = 1;
  attr.sample_freq = 100000000;
  show_open("frequency that is too high", open_at(&attr, 0, -1, -1, 0));
  attr = attributes();
  attr.sample_max_stack = 60000;
  attr.sample_type = PERF_SAMPLE_CALLCHAIN;
  show_open("stack that is too deep", open_at(&attr, 0, -1, -1, 0));
}

static void use_as_file(int samples) {
  struct perf_event_attr attr = attributes();
  attr.sample_period *= (unsigned)samples;
  const int fd = open_at(&attr, 0, -1, -1, 0);
  char text[256] = "/proc/self/fd/", *const end = text + strlen(text), link[64] = {0};
  struct iovec part = {text, 4};
  struct stat s;
  int number = 0;
  show("write", write(fd, "abc", 3));
  show("write nothing", write(fd, "abc", 0));
  show("writev", writev(fd, &part, 1));
  show("pwrite", pwrite(fd, "abc", 3, 0));
  show("lseek", lseek(fd, 0, SEEK_SET));
  show("pread", pread(fd, link, 8, 0));
  show("preadv", preadv(fd, &part, 1, 0));
  show("read of one byte", read(fd, link, 1));
  show("read to nowhere", syscall(SYS_read, fd, 8, 8));
  show("ftruncate", ftruncate(fd, 0));
  show("fallocate", fallocate(fd, 0, 0, 1));
  show("fsync", fsync(fd));
  show("fdatasync", fdatasync(fd));
  show("getdents", syscall(SYS_getdents64, fd, link, sizeof link));
  show("fchdir", fchdir(fd));
  show("FIONREAD", ioctl(fd, 0x541b, &number));
  show("TCGETS", ioctl(fd, 0x5401, link));
  number = 1;
  show("FIONBIO", ioctl(fd, 0x5421, &number));
  show("FIOCLEX", ioctl(fd, 0x5451));
  show("closes on exec", fcntl(fd, F_GETFD));
  show("FIONCLEX", ioctl(fd, 0x5450));
  show("SIOCGIFCONF", ioctl(fd, 0x8912, link));
  show("unknown request", ioctl(fd, 0x2470, 0));
  show("open mode", fcntl(fd, F_GETFL));
  show("getsockname", getsockname(fd, (struct sockaddr*)link, &(socklen_t){sizeof link}));
  show("getsockopt", getsockopt(fd, SOL_SOCKET, SO_TYPE, link, &(socklen_t){4}));
  show("setsockopt", setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &(int){4096}, 4));
  show("shutdown", shutdown(fd, SHUT_RDWR));
  show("send", send(fd, "a", 1, 0));
  show("recv", recv(fd, link, 1, MSG_DONTWAIT));
  show("listen", listen(fd, 1));
  const struct sockaddr nobody = {AF_UNSPEC, ""};
  show("connect", connect(fd, &nobody, sizeof nobody));
  show("accept", accept(fd, NULL, NULL));
  show("fstat", fstat(fd, &s));
  struct statfs system;
  show("fstatfs", fstatfs(fd, &system));
  printf("kind of file system %lx\n", (long)system.f_type);
  struct msghdr message = {.msg_name = NULL};
  show("sendmsg", sendmsg(fd, &message, 0));
  show("recvmsg", recvmsg(fd, &message, MSG_DONTWAIT));
  show("type of the file", s.st_mode & S_IFMT);
  show("mode of the file", s.st_mode & 07777);
  show("size of the file", s.st_size);
  sprintf(end, "%d", fd);
  show("readlink", readlink(text, link, sizeof link - 1));
  printf("link: %s\n", link);
  memset(link, 0, sizeof link);
  show("readlinkat", readlinkat(AT_FDCWD, text, link, sizeof link - 1));
  printf("link: %s\n", link);
  show("readlink of 4 bytes", readlink(text, link, 4));
  show("stat of the link", stat(text, &s));
  show("lstat of the link", lstat(text, &s));
  show("size of the link", s.st_size);
  show("open of the link", open(text, O_RDONLY));
  show("mmap private", mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ? -1 : 0);
  show("mmap at a page", mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096) == MAP_FAILED ? -1 : 0);
  show("mmap of nothing", mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
  show("mmap of four pages", mmap(NULL, 4 * 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
}

static void control(void) {
  struct perf_event_attr attr = attributes();
  const int fd = open_event(), other = open_event(), null = open("/dev/null", O_RDWR);
  unsigned long long value = 0;
  show("SET_OUTPUT to a closed descriptor", ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, 900));
  show("SET_OUTPUT to a file", ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, null));
  show("SET_OUTPUT to itself", ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, fd));
  show("SET_OUTPUT to none", ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, -1L));
  show("SET_OUTPUT to another", ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, other));
  show("ID to nowhere", ioctl(fd, PERF_EVENT_IOC_ID, NULL));
  show("PERIOD from nowhere", ioctl(fd, PERF_EVENT_IOC_PERIOD, NULL));
  show("PERIOD of 0", ioctl(fd, PERF_EVENT_IOC_PERIOD, &value));
  value = 1ull << 63;
  show("PERIOD of 2^63", ioctl(fd, PERF_EVENT_IOC_PERIOD, &value));
  show("PAUSE_OUTPUT without pages", ioctl(other, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
  show("REFRESH", ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
  show("REFRESH of 0", ioctl(fd, PERF_EVENT_IOC_REFRESH, 0));
  show("SET_FILTER", ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "a"));
  show("SET_BPF of a file", ioctl(fd, PERF_EVENT_IOC_SET_BPF, null));
  show("QUERY_BPF", ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, &(int[4]){0}));
  show("ENABLE with unknown flags", ioctl(fd, PERF_EVENT_IOC_ENABLE, 6));
  show("RESET", ioctl(fd, PERF_EVENT_IOC_RESET, 0));
  attr.inherit = 1;
  const int inherits = open_at(&attr, 0, -1, -1, 0);
  show("REFRESH of one that inherits", ioctl(inherits, PERF_EVENT_IOC_REFRESH, 1));
  attr = attributes();
  attr.sample_period = 0;
  const int counts = open_at(&attr, 0, -1, -1, 0);
  value = 1000;
  show("REFRESH without a period", ioctl(counts, PERF_EVENT_IOC_REFRESH, 1));
  show("PERIOD without a period", ioctl(counts, PERF_EVENT_IOC_PERIOD, &value));
  attr = attributes();
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  const int monotonic = open_at(&attr, 0, -1, -1, 0);
  show("SET_OUTPUT of another clock", ioctl(monotonic, PERF_EVENT_IOC_SET_OUTPUT, other));
  attr = attributes();
  attr.freq = 1;
  attr.sample_freq = 1000;
  const int freq = open_at(&attr, 0, -1, -1, 0);
  value = 100000000;
  show("PERIOD that is too frequent", ioctl(freq, PERF_EVENT_IOC_PERIOD, &value));
  value = 2000;
  show("PERIOD of a frequency", ioctl(freq, PERF_EVENT_IOC_PERIOD, &value));
}

// Executes a command for which the kernel refuses all events.
static int execute_refused(char** command) {
  struct sock_filter code[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
                               {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_perf_event_open},
                               {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EACCES},
                               {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const struct sock_fprog program = {sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
    execv(command[0], command);
  perror(command[0]);
  return 1;
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "refuse") == 0) return execute_refused(argv + 2);
  is_hardware = argc > 1 && strcmp(argv[1], "hardware") == 0;
  if (open_event() < 0) return 77;
  open_members();
  use_as_file(0);
  use_as_file(1);
  control();
  return 0;
}
