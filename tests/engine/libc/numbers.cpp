// Every number below the limit is available to the program's descriptors, whatever it does with the limit. The argument
// selects how it gets them; it prints the answers. Afterwards a thread, a child and another program start as always.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

namespace {

void limit_to(rlim_t soft, rlim_t hard = 0) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = soft;
  if (hard != 0) limit.rlim_max = hard;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) printf("limit %s\n", strerror(errno));
}

/// From 3 up to the first that is refused.
void all_by_dup2() {
  int n = 3;
  while (dup2(2, n) == n) ++n;
  printf("refused %d: %s\n", n, strerror(errno));
}

/// Opens descriptors until there are no more.
void all_by_opening() {
  int last = 2, gaps = 0;
  while (true) {
    const int fd = open("/dev/null", O_RDONLY);
    if (fd < 0) break;
    gaps += fd != last + 1;
    last = fd;
  }
  printf("last %d, %d gaps: %s\n", last, gaps, strerror(errno));
}

/// All are open: nobody else closed one.
void count(int end) {
  int n = 0;
  for (int i = 0; i < end; ++i) n += fcntl(i, F_GETFD) >= 0;
  printf("%d are open\n", n);
}

void close_all(int end) {
  for (int i = 3; i < end; ++i) close(i);
}

void under_limits(std::initializer_list<int> limits, void (*take_all)()) {
  for (const int limit : limits) {
    limit_to(static_cast<rlim_t>(limit));
    take_all();
    count(limit);
    close_all(limit);
  }
}

int named() {
  under_limits({1024, 5000, 2000, 8000}, all_by_dup2);
  return 0;
}

int opened() {
  under_limits({1024, 5000, 9000}, all_by_opening);
  return 0;
}

/// Pairs, messages and duplicates from a number on.
int others() {
  limit_to(6000);
  int last = 2;
  for (int i = 0; i < 2500; ++i) {
    int two[2] = {-1, -1};
    if ((i % 2 == 0 ? pipe(two) : socketpair(AF_UNIX, SOCK_STREAM, 0, two)) != 0) break;
    if (two[0] != last + 1 || two[1] != last + 2) printf("%d %d after %d\n", two[0], two[1], last);
    last = two[1];
  }
  printf("last %d\n", last);
  close_all(6000);
  for (const int from : {1000, 1024, 1025, 4090, 4091, 4093, 4096, 5990})
    for (int i = 0; i < 12; ++i) {
      const int r = fcntl(2, F_DUPFD, from);
      if (r != from + i) printf("from %d: %d %s\n", from, r, r < 0 ? strerror(errno) : "");
    }
  count(6000);
  return 0;
}

bool send(int to, int fd, int times) {
  alignas(cmsghdr) char room[CMSG_SPACE(250 * sizeof(int))] = {};
  char byte = 0;
  iovec data = {&byte, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = CMSG_SPACE(static_cast<size_t>(times) * sizeof(int));
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(static_cast<size_t>(times) * sizeof(int));
  for (int i = 0; i < times; ++i) memcpy(CMSG_DATA(head) + static_cast<size_t>(i) * sizeof fd, &fd, sizeof fd);
  return sendmsg(to, &message, 0) == 1;
}

int take(int from) {
  alignas(cmsghdr) char room[CMSG_SPACE(250 * sizeof(int))] = {};
  char byte = 0;
  iovec data = {&byte, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  if (recvmsg(from, &message, 0) != 1) return -1;
  int last = -1;
  const cmsghdr* const head = CMSG_FIRSTHDR(&message);
  if (head == nullptr) return -1;
  const size_t n = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  if (n > 0) memcpy(&last, CMSG_DATA(head) + (n - 1) * sizeof last, sizeof last);
  return last;
}

int by_messages() {
  limit_to(6000);
  int two[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, two) != 0) return 1;
  for (int i = 0; i < 23; ++i) {
    if (!send(two[0], 2, 250)) return 1;
    printf("%d\n", take(two[1]));
  }
  return 0;
}

/// A low limit that cannot be raised.
int few() {
  limit_to(64, 64);
  for (const int n : {63, 62, 61, 60, 59, 58, 20, 40}) printf("%d ", dup2(2, n));
  puts("");
  count(64);
  for (const int n : {63, 62, 61, 60, 59, 58, 20, 40}) close(n);
  return 0;
}

/// The child of a vfork has its own descriptor table, but shares the memory.
int in_a_child() {
  limit_to(5000);
  for (int i = 0; i < 3; ++i) {
    const pid_t child = vfork();
    if (child == 0) {
      for (int n = 3; n < 5000; ++n)
        if (dup2(2, n) != n) _exit(3);
      execl("/bin/true", "true", static_cast<char*>(nullptr));
      _exit(4);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d\n", status);
  }
  count(5000);
  return 0;
}

void* nothing(void*) { return nullptr; }

int afterwards() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, nothing, nullptr) != 0 || pthread_join(thread, nullptr) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/echo", "echo", "and another", static_cast<char*>(nullptr));
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  fflush(stdout);
  execl("/bin/sh", "sh", "-c", "ls /proc/self/fd | wc -l; exec echo on", static_cast<char*>(nullptr));
  return 1;
}

struct Case {
  const char* name;
  int (*run)();
};
constexpr Case ways[] = {{"named", named}, {"opened", opened},        {"others", others}, {"by_messages", by_messages},
                         {"few", few},     {"in_a_child", in_a_child}};

}  // namespace

int main(int argc, char** argv) {
  for (const Case& way : ways) {
    if (argc < 2 || strcmp(argv[1], way.name) != 0) continue;
    if (way.run() != 0) return 1;
    close_all(10000);
    fflush(stdout);
    return afterwards();
  }
  return 2;
}
