// The kernel writes into a page from which code was run, by each of the system calls that do so. Many of them consume
// what they return: it is available once. The argument selects the call; exit code 0 means that everything was
// received, and that the code next to it still runs.
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace {

using Byte = unsigned char;
constexpr size_t page = 4096;

/// A page with code at its start, which has just been executed, and room after it.
struct Page {
  Byte* code;

  Page() {
    void* at = mmap(nullptr, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) exit(90);
    code = static_cast<Byte*>(at);
    const Byte text[] = {0xb8, 42, 0, 0, 0, 0xc3};  // mov $42, %eax; ret
    memcpy(code, text, sizeof text);
  }
  bool runs() const { return reinterpret_cast<int (*)()>(code)() == 42; }
  /// Clears the bytes after the code, and then executes it.
  template <class T>
  T* room(size_t at = 2048) const {
    memset(code + at, 0, page - at < 1024 ? page - at : 1024);
    if (!runs()) exit(91);
    return reinterpret_cast<T*>(code + at);
  }
};

pid_t child_that_exits(int code) {
  const pid_t child = fork();
  if (child == 0) _exit(code);
  return child;
}

int waits() {
  const Page p;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = child_that_exits(7);
    int* status = p.room<int>();
    if (waitpid(child, status, 0) != child || WEXITSTATUS(*status) != 7 || !p.runs()) return 1;
  }
  const Page q;
  const pid_t child = child_that_exits(8);
  auto* info = q.room<siginfo_t>();
  if (waitid(P_PID, static_cast<id_t>(child), info, WEXITED) != 0 || info->si_pid != child || info->si_status != 8)
    return 2;
  const Page r;
  const pid_t other = child_that_exits(9);
  auto* usage = r.room<rusage>();
  if (wait4(other, nullptr, 0, usage) != other || usage->ru_minflt == 0) return 3;
  return !q.runs() || !r.runs();
}

int reads() {
  const Page p;
  const int event = eventfd(5, EFD_NONBLOCK);
  auto* count = p.room<unsigned long>();
  if (read(event, count, 8) != 8 || *count != 5) return 1;

  const Page q;
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], "some words", 10) != 10) return 2;
  auto* text = q.room<char>();
  const iovec parts[] = {{text, 4}, {text + 100, 6}};
  if (readv(ends[0], parts, 2) != 10 || memcmp(text, "some", 4) != 0 || memcmp(text + 100, " words", 6) != 0) return 3;

  const Page r;
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  const itimerspec soon = {{0, 0}, {0, 1}};
  if (timerfd_settime(timer, 0, &soon, nullptr) != 0) return 4;
  auto* ticks = r.room<unsigned long>();
  if (read(timer, ticks, 8) != 8 || *ticks != 1) return 5;

  const Page s;
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  sigprocmask(SIG_BLOCK, &mask, nullptr);
  const int signals = signalfd(-1, &mask, SFD_NONBLOCK);
  raise(SIGUSR1);
  auto* info = s.room<signalfd_siginfo>();
  if (read(signals, info, sizeof *info) != sizeof *info || info->ssi_signo != SIGUSR1) return 6;
  raise(SIGUSR1);
  const Page u;
  auto* waited = u.room<siginfo_t>();
  if (sigwaitinfo(&mask, waited) != SIGUSR1 || waited->si_signo != SIGUSR1) return 7;
  return 0;
}

int receives() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return 1;
  for (int i = 0; i < 5; ++i)
    if (send(ends[0], "hello", 5, 0) != 5) return 2;
  const Page p;
  auto* text = p.room<char>();
  if (recv(ends[1], text, 64, MSG_DONTWAIT) != 5 || memcmp(text, "hello", 5) != 0) return 3;
  const Page q;
  auto* from = q.room<sockaddr_un>();
  auto* length = q.room<socklen_t>(3072);
  *length = sizeof *from;
  char own[64];
  if (!q.runs() || recvfrom(ends[1], own, 64, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(from), length) != 5) return 4;
  const Page r;
  auto* message = r.room<msghdr>();
  auto* part = r.room<iovec>(1024);
  *part = {r.room<char>(3072), 64};
  message->msg_iov = part;
  message->msg_iovlen = 1;
  if (!r.runs() || recvmsg(ends[1], message, MSG_DONTWAIT) != 5 || memcmp(part->iov_base, "hello", 5) != 0) return 5;
  const Page s;
  auto* messages = s.room<mmsghdr>();
  auto* parts = s.room<iovec>(1024);
  for (int i = 0; i < 2; ++i) {
    parts[i] = {s.code + 3072 + 64 * i, 64};
    messages[i].msg_hdr.msg_iov = parts + i;
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  if (!s.runs() || recvmmsg(ends[1], messages, 2, MSG_DONTWAIT, nullptr) != 2 || messages[1].msg_len != 5) return 6;
  return 0;
}

/// A descriptor is received with the message.
int receives_descriptor() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  const int event = eventfd(3, 0);
  char byte = 'x';
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part = {&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(head), &event, sizeof event);
  if (sendmsg(ends[0], &message, 0) != 1) return 2;
  const Page p;
  msghdr received{};
  received.msg_iov = &part;
  received.msg_iovlen = 1;
  received.msg_control = p.room<char>();
  received.msg_controllen = sizeof control;
  if (recvmsg(ends[1], &received, 0) != 1) return 3;
  head = CMSG_FIRSTHDR(&received);
  int got = -1;
  if (head == nullptr) return 4;
  memcpy(&got, CMSG_DATA(head), sizeof got);
  unsigned long count = 0;
  return read(got, &count, 8) != 8 || count != 3;
}

int accepts() {
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), other = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name = {AF_UNIX, {}};
  snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "tally-kernel-writes-%d", getpid());
  if (bind(listening, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0 || listen(listening, 5) != 0 ||
      connect(other, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0)
    return 1;
  const Page p;
  auto* from = p.room<sockaddr_un>();
  auto* length = p.room<socklen_t>(3072);
  *length = sizeof *from;
  if (!p.runs() || accept4(listening, reinterpret_cast<sockaddr*>(from), length, 0) < 0 || *length == sizeof *from)
    return 2;
  const Page q;
  auto* kind = q.room<int>();
  auto* bytes = q.room<socklen_t>(3072);
  *bytes = sizeof *kind;
  if (!q.runs() || getsockopt(listening, SOL_SOCKET, SO_TYPE, kind, bytes) != 0 || *kind != SOCK_STREAM) return 3;
  const Page r;
  auto* both = r.room<int>();
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, both) != 0 || both[1] == 0) return 4;
  const Page s;
  auto* ends = s.room<int>();
  return pipe(ends) != 0 || ends[1] == 0;
}

int asks() {
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], "abc", 3) != 3) return 1;
  const Page p;
  auto* polled = p.room<pollfd>();
  *polled = {ends[0], POLLIN, 0};
  if (!p.runs() || poll(polled, 1, 0) != 1 || polled->revents != POLLIN) return 2;
  const Page q;
  auto* set = q.room<fd_set>();
  FD_SET(ends[0], set);
  if (!q.runs() || select(ends[0] + 1, set, nullptr, nullptr, nullptr) != 1 || !FD_ISSET(ends[0], set)) return 3;
  const Page r;
  const int group = epoll_create1(0);
  epoll_event interest = {EPOLLIN | EPOLLET, {.u64 = 77}};  // reported once
  epoll_ctl(group, EPOLL_CTL_ADD, ends[0], &interest);
  auto* event = r.room<epoll_event>();
  if (epoll_wait(group, event, 1, 0) != 1 || event->data.u64 != 77) return 4;
  const Page s;
  auto* left = s.room<int>();
  if (ioctl(ends[0], FIONREAD, left) != 0 || *left != 3) return 5;
  const Page u;
  auto* name = u.room<char>();
  if (prctl(PR_GET_NAME, name) != 0 || name[0] == 0) return 6;
  const Page v;
  auto* system = v.room<utsname>();
  if (uname(system) != 0 || strcmp(system->sysname, "Linux") != 0) return 7;
  const Page w;
  auto* about = w.room<struct stat>();
  if (fstat(ends[0], about) != 0 || !S_ISFIFO(about->st_mode)) return 8;
  const Page x;
  auto* processors = x.room<cpu_set_t>();
  if (sched_getaffinity(0, sizeof *processors, processors) != 0 || CPU_COUNT(processors) == 0) return 9;
  const Page y;
  auto* random = y.room<unsigned long>();
  if (syscall(SYS_getrandom, random, 512, 0) != 512 || random[63] == 0) return 10;
  const Page z;
  auto* directory = z.room<char>();
  if (getcwd(directory, 512) == nullptr || directory[0] != '/') return 11;
  return 0;
}

/// The remaining time of a timer is reported once.
int timers() {
  const Page p;
  const itimerval set = {{0, 0}, {1000, 0}}, none{};
  setitimer(ITIMER_REAL, &set, nullptr);
  auto* old = p.room<itimerval>();
  if (setitimer(ITIMER_REAL, &none, old) != 0 || old->it_value.tv_sec < 990) return 1;
  const Page q;
  timer_t timer;
  sigevent quiet{};
  quiet.sigev_notify = SIGEV_NONE;
  timer_create(CLOCK_MONOTONIC, &quiet, &timer);
  const itimerspec long_time = {{0, 0}, {1000, 0}}, stop{};
  timer_settime(timer, 0, &long_time, nullptr);
  auto* before = q.room<itimerspec>();
  return timer_settime(timer, 0, &stop, before) != 0 || before->it_value.tv_sec < 990;
}

int queues() {
  const int queue = msgget(IPC_PRIVATE, 0600);
  struct {
    long kind;
    char text[8];
  } message = {5, "message"};
  if (msgsnd(queue, &message, sizeof message.text, 0) != 0) return 1;
  const Page p;
  auto* got = p.room<decltype(message)>();
  const ssize_t n = msgrcv(queue, got, sizeof got->text, 0, IPC_NOWAIT);
  msgctl(queue, IPC_RMID, nullptr);
  if (n != sizeof got->text || got->kind != 5 || strcmp(got->text, "message") != 0) return 2;
  return 0;
}

/// From the own memory and back.
int copies() {
  const Page p;
  char words[] = "words";
  auto* to = p.room<char>();
  iovec here = {to, 6}, there = {words, 6};
  if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 6 || strcmp(to, "words") != 0) return 1;
  const Page q;
  auto* at = q.room<char>();
  here = {words, 6};
  there = {at, 6};
  return process_vm_writev(getpid(), &here, 1, &there, 1, 0) != 6 || strcmp(at, "words") != 0;
}

/// The call had begun when the code ran for the first time.
const Page* shared;
int shared_end;
pid_t reader;
void* read_into_page(void*) {
  __atomic_store_n(&reader, static_cast<pid_t>(syscall(SYS_gettid)), __ATOMIC_RELEASE);
  return reinterpret_cast<void*>(read(shared_end, shared->code + 2048, 5));
}

/// Whether the thread sleeps: the field after its name says so.
bool sleeps(pid_t tid) {
  char path[64], text[512] = {};
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  const int file = open(path, O_RDONLY);
  const bool known = file >= 0 && read(file, text, sizeof text - 1) > 0;
  close(file);
  return known && strrchr(text, ')')[2] == 'S';
}

int waits_meanwhile() {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  for (int i = 0; i < 20; ++i) {
    const Page p;
    shared = &p;
    shared_end = ends[0];
    reader = 0;
    pthread_t thread;
    pthread_create(&thread, nullptr, read_into_page, nullptr);
    while (__atomic_load_n(&reader, __ATOMIC_ACQUIRE) == 0 || !sleeps(reader)) sched_yield();
    if (!p.runs() || !p.runs()) return 2;
    if (write(ends[1], "hello", 5) != 5) return 3;
    void* got = nullptr;
    pthread_join(thread, &got);
    if (reinterpret_cast<ssize_t>(got) != 5 || memcmp(p.code + 2048, "hello", 5) != 0 || !p.runs()) return 4;
  }
  return 0;
}

/// Threads whose stacks, and the words that the kernel clears when they end, are in pages with code.
void* run_on_stack(void* stack) {
  return reinterpret_cast<void*>(static_cast<long>(reinterpret_cast<int (*)()>(stack)()));
}
int ends() {
  constexpr size_t bytes = 16 * page;
  for (int i = 0; i < 20; ++i) {
    auto* stack = static_cast<Byte*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const Page p;
    // All of the highest page except what the thread needs of it holds code.
    Byte* code = stack + bytes - page;
    memcpy(code, p.code, 6);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, bytes);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, run_on_stack, code) != 0) return 1;
    void* result = nullptr;
    pthread_join(thread, &result);
    if (result != reinterpret_cast<void*>(42)) return 2;
    munmap(stack, bytes);
  }
  return 0;
}

/// The kernel passes on a mutex whose owner ended.
pthread_mutex_t* robust;
const Page* shared_page;
void* lock_and_end(void*) {
  pthread_mutex_lock(robust);
  return reinterpret_cast<void*>(static_cast<long>(shared_page->runs()));
}
int ends_with_mutex() {
  const Page p;
  shared_page = &p;
  robust = p.room<pthread_mutex_t>();
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(robust, &attributes);
  pthread_t thread;
  pthread_create(&thread, nullptr, lock_and_end, nullptr);
  pthread_join(thread, nullptr);
  return pthread_mutex_lock(robust) != EOWNERDEAD;
}

int starts() {
  const Page p;
  auto* tid = p.room<int>();
  const long child = syscall(SYS_clone, CLONE_PARENT_SETTID | SIGCHLD, nullptr, tid, nullptr, 0);
  if (child == 0) _exit(0);
  waitpid(static_cast<pid_t>(child), nullptr, 0);
  return *tid != child || !p.runs();
}

/// Asynchronous input, without a library.
int asynchronous() {
  const int file = memfd_create("words", 0);
  if (write(file, "some text", 9) != 9) return 1;
  aio_context_t context = 0;
  const Page p;
  if (syscall(SYS_io_setup, 4, &context) != 0) return errno == ENOSYS || errno == EPERM ? 77 : 2;
  for (int i = 0; i < 20; ++i) {
    iocb request{};
    request.aio_lio_opcode = IOCB_CMD_PREAD;
    request.aio_fildes = static_cast<unsigned>(file);
    request.aio_buf = reinterpret_cast<unsigned long>(p.room<char>());
    request.aio_nbytes = 9;
    iocb* requests[] = {&request};
    io_event event{};
    if (syscall(SYS_io_submit, context, 1, requests) != 1) return 3;
    if (syscall(SYS_io_getevents, context, 1, 1, &event, nullptr) != 1 || event.res != 9) return 4;
    if (memcmp(p.code + 2048, "some text", 9) != 0 || !p.runs()) return 5;
  }
  return 0;
}

/// io_uring without a library: one request at a time.
struct Ring {
  int file = -1;
  unsigned *tail = nullptr, *array = nullptr, *head = nullptr, *done = nullptr, mask = 0, done_mask = 0;
  io_uring_sqe* requests = nullptr;
  io_uring_cqe* results = nullptr;

  int open() {
    io_uring_params p{};
    file = static_cast<int>(syscall(SYS_io_uring_setup, 4, &p));
    if (file < 0) return errno;
    const auto map = [&](size_t bytes, off_t offset) {
      return static_cast<Byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, offset));
    };
    Byte* s = map(p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    Byte* c = map(p.cq_off.cqes + p.cq_entries * sizeof(io_uring_cqe), IORING_OFF_CQ_RING);
    requests = reinterpret_cast<io_uring_sqe*>(map(p.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
    tail = reinterpret_cast<unsigned*>(s + p.sq_off.tail);
    array = reinterpret_cast<unsigned*>(s + p.sq_off.array);
    mask = *reinterpret_cast<unsigned*>(s + p.sq_off.ring_mask);
    head = reinterpret_cast<unsigned*>(c + p.cq_off.head);
    done = reinterpret_cast<unsigned*>(c + p.cq_off.tail);
    done_mask = *reinterpret_cast<unsigned*>(c + p.cq_off.ring_mask);
    results = reinterpret_cast<io_uring_cqe*>(c + p.cq_off.cqes);
    return 0;
  }
  int read(int from, void* to, unsigned bytes) {
    const unsigned i = *tail & mask;
    requests[i] = {};
    requests[i].opcode = IORING_OP_READ;
    requests[i].fd = from;
    requests[i].addr = reinterpret_cast<unsigned long>(to);
    requests[i].len = bytes;
    array[i] = i;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    syscall(SYS_io_uring_enter, file, 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0);
    while (*head == __atomic_load_n(done, __ATOMIC_ACQUIRE)) sched_yield();
    const int result = results[*head & done_mask].res;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return result;
  }
};

/// Data next to code, and the code itself, are received by a ring.
int ring() {
  Ring ring;
  const Page p;
  if (!p.runs()) return 1;
  if (const int refused = ring.open(); refused != 0) return refused == ENOSYS || refused == EPERM ? 77 : 2;
  const int file = memfd_create("words", 0);
  for (int i = 0; i < 300; ++i) {
    Byte text[] = {0xb8, 0, 0, 0, 0, 0xc3};
    memcpy(text + 1, &i, sizeof i);
    if (pwrite(file, text, 6, 0) != 6) return 3;
    if (i % 3 == 0 && ring.read(file, p.code + 2048, 6) != 6) return 4;
    if (ring.read(file, p.code + 64, 6) != 6) return 5;
    if (reinterpret_cast<int (*)()>(p.code + 64)() != i || !p.runs()) return 6;
  }
  return 0;
}

struct Case {
  const char* name;
  int (*run)();
};

const Case cases[] = {{"waits", waits},       {"reads", reads},
                      {"receives", receives}, {"receives_descriptor", receives_descriptor},
                      {"accepts", accepts},   {"asks", asks},
                      {"timers", timers},     {"queues", queues},
                      {"copies", copies},     {"waits_meanwhile", waits_meanwhile},
                      {"ends", ends},         {"ends_with_mutex", ends_with_mutex},
                      {"starts", starts},     {"asynchronous", asynchronous},
                      {"ring", ring}};

}  // namespace

int main(int argc, char** argv) {
  for (const Case& one : cases) {
    if (argc > 1 && strcmp(argv[1], one.name) == 0) return one.run();
  }
  if (argc == 1) {
    for (const Case& one : cases) printf("%s\n", one.name);
  }
  return argc == 1 ? 0 : 99;
}
