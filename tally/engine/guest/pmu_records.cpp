#include "tally/engine/guest/pmu_records.hpp"

#include <asm/perf_regs.h>

#include "tally/engine/clock.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/pmu_branches.hpp"
#include "tally/engine/guest/pmu_values.hpp"
#include "tally/engine/instrument/window_records.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 record_limit = 65528;  // the size of a record has 16 bits
LARGE union {
  perf_event_header header;
  u64 word[record_limit / 8];
} memory;

/// Writes a record into `memory`.
class Record {
 public:
  Record(u32 type, u16 misc) { memory.header = {type, misc, 0}; }
  void add(u64 value) { memory.word[count_++] = value; }
  u64* next() { return memory.word + count_; }
  void skip(u64 n) { count_ += n; }
  u64 bytes() const { return count_ * 8; }
  const perf_event_header& end() {
    memory.header.size = static_cast<u16>(bytes());
    return memory.header;
  }

 private:
  u64 count_ = 1;
};

/// As the kernel writes it for events that do not know where data came from.
constexpr u64 no_data_source =
    PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA) | PERF_MEM_S(LOCK, NA) | PERF_MEM_S(TLB, NA);

u64 process_and_thread() { return static_cast<u64>(kernel(SYS_getpid)) | static_cast<u64>(kernel(SYS_gettid)) << 32; }

void add_callers(Record& record, const Thread* t, const PmuOpenEvent& e, u64 last) {
  constexpr u32 usual = 127;
  u64* const count = record.next();
  record.skip(1);
  *count = 0;
  if (has_flag(e, Flag::exclude_callers_of_user)) return;
  constexpr u32 limit = 4096;  // the kernel may not have checked it
  const u32 wanted = e.sampling.most_callers != 0 ? e.sampling.most_callers : usual,
            most = wanted < limit ? wanted : limit;
  record.add(PERF_CONTEXT_USER);
  record.add(last);
  *count = 2;
  struct {
    u64 next, address;
  } frame;
  for (u64 at = t->gpr[rbp]; *count < most + 1 && get(&frame, at, sizeof frame) == 0; at = frame.next) {
    record.add(frame.address);
    ++*count;
  }
}

void add_branches(Record& record, const Thread* t, u64 filter) {
  constexpr u64 no_index = ~u64{0};
  static perf_branch_entry branch[branch_limit];
  const u32 n = last_branches(t, filter, branch);
  record.add(n);
  if (filter & PERF_SAMPLE_BRANCH_HW_INDEX) record.add(no_index);
  copy(record.next(), branch, n * sizeof branch[0]);
  record.skip(n * sizeof branch[0] / sizeof(u64));
}

u64 register_of(const Thread* t, u32 number) {
  constexpr u64 user_code = 0x33, user_stack = 0x2b;
  static const u8 general[] = {rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp};
  if (number <= PERF_REG_X86_SP) return t->gpr[general[number]];
  if (number >= PERF_REG_X86_R8 && number <= PERF_REG_X86_R15) return t->gpr[r8 + number - PERF_REG_X86_R8];
  switch (number) {
    case PERF_REG_X86_IP: return t->pc;
    case PERF_REG_X86_FLAGS: return t->flags;
    case PERF_REG_X86_CS: return user_code;
    case PERF_REG_X86_SS: return user_stack;
    default: return 0;
  }
}

void add_registers(Record& record, const Thread* t, u64 mask) {
  record.add(PERF_SAMPLE_REGS_ABI_64);
  for (u32 i = 0; i < 64; i++)
    if (mask >> i & 1) record.add(register_of(t, i));
}

/// As many bytes above the stack pointer as can be read.
void add_stack(Record& record, const Thread* t, u64 bytes) {
  // Its own two values, and what follows: six values and registers.
  constexpr u64 others = 16 + 8 * 6 + 8 * (1 + 64);
  const u64 room = record_limit - record.bytes() - others;
  bytes = (bytes < room ? bytes : room) & ~7ull;
  record.add(bytes);
  if (bytes == 0) return;
  u8* const to = reinterpret_cast<u8*>(record.next());
  u64 n = 0;
  for (u64 from = t->gpr[rsp]; n < bytes;) {
    u64 most = page_up(from + n + 1) - from - n;
    if (most > bytes - n) most = bytes - n;
    if (get(to + n, from + n, most) != 0) break;
    n += most;
  }
  clear(to + n, bytes - n);
  record.skip(bytes / 8);
  record.add(n);
}

}  // namespace

u64 time_of(const PmuOpenEvent& e) {
  return has_flag(e, Flag::use_clock) ? read_clock(static_cast<u64>(s64{e.sampling.clock})) : clock_ns();
}

void add_sample_id(const PmuOpenEvent& e, perf_event_header& record) {
  if (!has_flag(e, Flag::sample_id_all)) return;
  const auto add = [&](u64 content, u64 value) {
    if (!(e.sampling.content & content)) return;
    copy(reinterpret_cast<u8*>(&record) + record.size, &value, sizeof value);
    record.size += sizeof value;
  };
  add(PERF_SAMPLE_TID, process_and_thread());
  add(PERF_SAMPLE_TIME, time_of(e));
  add(PERF_SAMPLE_ID, e.id);
  add(PERF_SAMPLE_STREAM_ID, e.id);
  add(PERF_SAMPLE_CPU, instrument::this_cpu());
  add(PERF_SAMPLE_IDENTIFIER, e.id);
}

const perf_event_header* make_sample(const Thread* t, u32 event, u64 last, u64 period) {
  const PmuOpenEvent& e = pmu_event(event);
  const bool is_precise = has_flag(e, Flag::precise) || has_flag(e, Flag::more_precise);
  Record record(PERF_RECORD_SAMPLE,
                static_cast<u16>(PERF_RECORD_MISC_USER | (is_precise ? PERF_RECORD_MISC_EXACT_IP : 0)));
  const u64 content = e.sampling.content;
  const auto add = [&](u64 what, u64 value) {
    if (content & what) record.add(value);
  };
  add(PERF_SAMPLE_IDENTIFIER, e.id);
  add(PERF_SAMPLE_IP, last);
  add(PERF_SAMPLE_TID, process_and_thread());
  add(PERF_SAMPLE_TIME, time_of(e));
  add(PERF_SAMPLE_ADDR, 0);
  add(PERF_SAMPLE_ID, e.id);
  add(PERF_SAMPLE_STREAM_ID, e.id);
  add(PERF_SAMPLE_CPU, instrument::this_cpu());
  add(PERF_SAMPLE_PERIOD, period);
  if (content & PERF_SAMPLE_READ) {
    const s64 bytes = values_of(event, record.next(), value_limit * sizeof(u64), true);
    if (bytes <= 0) return nullptr;
    record.skip(static_cast<u64>(bytes) / 8);
  }
  if (content & PERF_SAMPLE_CALLCHAIN) add_callers(record, t, e, last);
  add(PERF_SAMPLE_RAW, sizeof(u32));  // and four bytes of nothing
  if (content & PERF_SAMPLE_BRANCH_STACK) add_branches(record, t, e.sampling.branches);
  if (content & PERF_SAMPLE_REGS_USER) add_registers(record, t, e.sampling.user_registers);
  if (content & PERF_SAMPLE_STACK_USER) add_stack(record, t, e.sampling.stack_bytes);
  add(PERF_SAMPLE_WEIGHT_TYPE, 0);
  add(PERF_SAMPLE_DATA_SRC, no_data_source);
  add(PERF_SAMPLE_TRANSACTION, 0);
  if (content & PERF_SAMPLE_REGS_INTR) add_registers(record, t, e.sampling.registers);
  add(PERF_SAMPLE_PHYS_ADDR, 0);
  add(PERF_SAMPLE_DATA_PAGE_SIZE, 0);
  return &record.end();
}

}  // namespace tally::engine::guest
