// Opens the events of top-down analysis as Intel's kernel driver has them: a group that `slots` leads.
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { slots = 0x0400, retiring = 0x8000, wrong = 0x8100, front = 0x8200, back = 0x8300, heavy = 0x8400 };

static int open_event(uint32_t type, uint64_t config, int group, uint64_t period) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.type = type;
  attr.size = sizeof attr;
  attr.config = config;
  attr.sample_period = period;
  attr.disabled = group == -1;
  attr.exclude_kernel = 1;
  attr.read_format = PERF_FORMAT_GROUP;
  const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, 0);
  return fd < 0 ? -errno : fd;
}

static void show(const char* what, int result) { printf("%s: %s\n", what, result < 0 ? strerror(-result) : "opened"); }

int main(void) {
  const int leader = open_event(PERF_TYPE_RAW, slots, -1, 0);
  show("slots", leader);
  show("metric alone", open_event(PERF_TYPE_RAW, retiring, -1, 0));
  show("metric of instructions",
       open_event(PERF_TYPE_RAW, retiring, open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1, 0), 0));
  show("sampled metric", open_event(PERF_TYPE_RAW, retiring, leader, 1000));
  show("sampled slots", open_event(PERF_TYPE_RAW, slots, -1, 1000));
  if (leader < 0) return 0;
  const int level_1[] = {retiring, wrong, front, back};
  for (int i = 0; i < 4; i++) open_event(PERF_TYPE_RAW, (uint64_t)level_1[i], leader, 0);
  open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, leader, 0);
  show("heavy operations", open_event(PERF_TYPE_RAW, heavy, leader, 0));
  for (int round = 0; round < 2; round++) {
    ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
    ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
    for (int i = 0; i < 1000000; i++) {
      if (round == 0) asm volatile("imul %%rax, %%rax\n imul %%rax, %%rax\n imul %%rax, %%rax" : : : "rax");
      if (round == 1) asm volatile("nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop");
    }
    ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
    uint64_t values[16] = {0};
    if (read(leader, values, sizeof values) < 8 * 7) return 1;
    const uint64_t *const of = values + 2, all = values[1], most = of[round == 0 ? 3 : 0];
    // Each class is rounded by itself.
    const uint64_t classes = of[0] + of[1] + of[2] + of[3], more = classes > all ? classes - all : all - classes;
    printf("%s: %.2f slots in a cycle, %s of them %s, classes have %s\n", round == 0 ? "chain" : "nops",
           (double)all / (double)of[4], 10 * most > 8 * all ? "most" : "few", round == 0 ? "wait" : "retire",
           more < 50 ? "all" : "not all");
  }
  return 0;
}
