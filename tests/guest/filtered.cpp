// filtered ERRNO PROGRAM [arguments]: runs the program with a system call filter (seccomp), as container runtimes
// install it, which answers perf_event_open with that error.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto answer = static_cast<__u32>(std::atoi(argv[1]));
  // The filter does not check the architecture: nothing here calls by another one's numbers.
  sock_filter code[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_perf_event_open},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | answer},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog program{sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::perror("filtered");
    return 125;
  }
  execvp(argv[2], argv + 2);
  std::perror(argv[2]);
  return 127;
}
