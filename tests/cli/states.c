// Makes the system call of a name, whose result may be the state of the kernel, and prints random bytes that it read.
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

static uint64_t bytes[2];
static struct iovec parts[2] = {{bytes, 5}, {(char*)bytes + 5, 11}};
static struct stat file;

static int random_file(void) { return open("/dev/urandom", O_RDONLY); }

static int pread_random(void) { return (int)pread(random_file(), bytes, sizeof bytes, 0); }
static int readv_random(void) { return (int)readv(random_file(), parts, 2); }
static int preadv_random(void) { return (int)preadv(random_file(), parts, 2, 0); }
static int preadv2_random(void) { return (int)preadv2(random_file(), parts, 2, 0, 0); }

static int memory_file(void) { return memfd_create("states", 0); }

static int sendfile_random(void) { return (int)sendfile(memory_file(), random_file(), NULL, 8); }
static int splice_random(void) {
  int ends[2];
  return pipe(ends) == 0 ? (int)splice(random_file(), NULL, ends[1], NULL, 8, 0) : -1;
}
static int fstat_new(void) { return fstat(memory_file(), &file); }
static int stat_new(void) {
  char name[] = "/tmp/tally-states-XXXXXX";
  close(mkstemp(name));
  const int result = stat(name, &file);
  unlink(name);
  return result;
}
static int statx_new(void) {
  struct statx metadata;
  return statx(memory_file(), "", AT_EMPTY_PATH, STATX_ALL, &metadata);
}
static int fstat_pipe(void) {
  int ends[2];
  return pipe(ends) == 0 ? fstat(ends[0], &file) : -1;
}
static int port(void) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t size = sizeof address;
  const int socket_number = socket(AF_INET, SOCK_STREAM, 0);
  bind(socket_number, (struct sockaddr*)&address, size);
  return getsockname(socket_number, (struct sockaddr*)&address, &size);
}
static int cookie(void) {
  socklen_t size = 8;
  return getsockopt(socket(AF_UNIX, SOCK_STREAM, 0), SOL_SOCKET, 57, bytes, &size) == 0 ? (int)(bytes[0] = 0) : -1;
}
static int queue(void) { return msgctl(msgget(IPC_PRIVATE, 0600), IPC_RMID, NULL); }
static int segment(void) { return shmctl(shmget(IPC_PRIVATE, 4096, 0600), IPC_RMID, NULL); }
static int free_blocks(void) {
  struct statvfs system;
  return statvfs("/tmp", &system);
}
static int resident(void) {
  unsigned char present = 0;
  return mincore(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open("/bin/sh", O_RDONLY), 0), 4096, &present);
}
static int expirations(void) {
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  const struct itimerspec soon = {{0, 1000}, {0, 1000}};
  timerfd_settime(timer, 0, &soon, NULL);
  const int result = (int)read(timer, bytes, 8);
  bytes[0] = 0;
  return result;
}
static int no_event(void) {
  struct epoll_event event;
  return epoll_wait(epoll_create1(0), &event, 1, 1);
}
static int would_block(void) {
  int ends[2];
  char byte;
  return pipe2(ends, O_NONBLOCK) == 0 && read(ends[0], &byte, 1) < 0 ? 0 : -1;
}

static int fstat_old(void) { return fstat(open("/bin/sh", O_RDONLY), &file); }
static int statx_old(void) {
  struct statx metadata;
  return statx(AT_FDCWD, "/bin/sh", 0, STATX_ALL, &metadata);
}
static int stat_directory(void) { return stat("/tmp", &file); }
static int stdio(void) {
  FILE* const written = tmpfile();
  return fputs("text", written) < 0 ? -1 : fclose(written);
}
static int poll_nothing(void) {
  struct pollfd streams[3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  return poll(streams, 3, 0) < 0 ? -1 : 0;
}

static const struct {
  const char* name;
  int (*call)(void);
} calls[] = {{"pread", pread_random},
             {"readv", readv_random},
             {"preadv", preadv_random},
             {"preadv2", preadv2_random},
             {"sendfile", sendfile_random},
             {"splice", splice_random},
             {"fstat_new", fstat_new},
             {"stat_new", stat_new},
             {"statx_new", statx_new},
             {"fstat_pipe", fstat_pipe},
             {"port", port},
             {"cookie", cookie},
             {"queue", queue},
             {"segment", segment},
             {"free_blocks", free_blocks},
             {"resident", resident},
             {"expirations", expirations},
             {"no_event", no_event},
             {"would_block", would_block},
             {"fstat_old", fstat_old},
             {"statx_old", statx_old},
             {"directory", stat_directory},
             {"stdio", stdio},
             {"poll_nothing", poll_nothing}};

int main(int count, char** arguments) {
  for (unsigned i = 0; count > 1 && i < sizeof calls / sizeof calls[0]; i++)
    if (strcmp(calls[i].name, arguments[1]) == 0 && calls[i].call() < 0) return 1;
  char text[64];
  const int length = snprintf(text, sizeof text, "%lx %lx\n", (unsigned long)bytes[0], (unsigned long)bytes[1]);
  return write(1, text, (size_t)length) == length ? 0 : 1;
}
