/// The simulated machine inside the engine: its data for each thread, and its entries for generated code.
///
/// Nothing of it exists if nothing is simulated. Generated code itself probes the most recent line of a cache set and
/// the return stack; it passes what these do not resolve to enter_model, described by one word. First levels
/// are exact. Accesses that may miss them are recorded, and processed later by all levels (models::FirstLevels).
#pragma once
#include "tally/engine/models/access_log.hpp"
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// Why the model is called: the low byte of its word. Above it are the bytes of an access, the number of a line of
/// code, or the accesses of a repeated string instruction. The first seven values are those of models::Access.
enum class Ask : u32 {
  load,
  store,
  modify,
  fetch,
  chase,
  chase_store,
  chase_modify,
  noted,             // the access records are full
  repeat,            // a string instruction has run
  access_log,        // the access log is full
  element_accesses,  // an instruction is about to run whose accesses depend on its registers
  outcomes,          // the outcomes of branches are full
  busy_load = 16,
  updated_load = 20,
  deciding_load = 32,
};
constexpr u32 word_of(Ask what, u32 bytes = 0) { return static_cast<u32>(what) | bytes << 8; }
constexpr u32 bytes_of(u32 word) { return word >> 8 & 0xffff; }

constexpr u32 word_of(const models::Repeat& repeat) { return word_of(Ask::repeat, static_cast<u32>(repeat.bits())); }

/// Offset of a thread's model data. It begins where nothing else uses the low 12 bits of an address (place_segments).
inline constexpr u32 models_at = 0x1080;

struct ModelThread {
  u64 spill[3];       // 0x1080: two registers of generated code, and rax for a moment
  u64 argument;       // 0x1098
  u64 word;           // 0x10a0
  u64 back;           // 0x10a8: where generated code continues
  u64 active;         // 0x10b0: the thread is in the model
  u64 site;           // 0x10b8: with ModelPlan::notes_sites: of the instruction that calls
  u64 top;            // 0x10c0: of the return stack: one byte; an entry has 16 bytes
  u64 spill_note;     // 0x10c8: of the register that holds next_note
  u64 repeat_word;    // 0x10d0
  u64 repeat[2];      // 0x10d8: rcx and rsi before a string instruction
  u64* record;        // 0x10e8: where the next record of the access log begins (ModelPlan::each)
  u64 stack;          // 0x10f0: the program's stack pointer
  u64 flags;          // 0x10f8
  u64 saved[9];       // 0x1100: rcx rdx rsi rdi r8 r9 r10 r11 rax
  u64 whole_flags;    // 0x1148: for the direction flag
  u64 repeat_rdi;     // 0x1150: before a string instruction
  u64* next_note;     // 0x1158: after the last access record; in a register if one is borrowed for it
  u64 spilled_flags;  // 0x1160: the program's flags, as lahf and seto leave them in rax
  u32* next_outcome;  // 0x1168: after the last outcome
  u64 spill_page;     // 0x1170: of the register for a page's set
  // 0x1180: vectors, masks and registers that an instruction's accesses depend on. Aligned, because the program may
  // enable alignment checks.
  alignas(64) u8 kept[2][64];
};

enum ModelOffset : u32 {
  o_model_a = models_at,
  o_model_b = models_at + 8,
  o_model_rax = models_at + 0x10,
  o_model_argument = models_at + 0x18,
  o_model_word = models_at + 0x20,
  o_model_back = models_at + 0x28,
  o_model_site = models_at + 0x38,
  o_model_top = models_at + 0x40,
  o_model_spill_note = models_at + 0x48,
  o_model_repeat_word = models_at + 0x50,
  o_model_repeat = models_at + 0x58,
  o_model_record = models_at + 0x68,
  o_model_repeat_rdi = models_at + 0xd0,
  o_model_note = models_at + 0xd8,
  o_model_flags = models_at + 0xe0,
  o_model_outcome = models_at + 0xe8,
  o_model_spill_page = models_at + 0xf0,
  o_model_kept = models_at + 0x100,
  o_model_kept_2 = models_at + 0x140,
};
static_assert(offsetof(ModelThread, argument) == 0x18 && offsetof(ModelThread, active) == 0x30 &&
              offsetof(ModelThread, spill_note) == 0x48 && offsetof(ModelThread, repeat_word) == 0x50 &&
              offsetof(ModelThread, repeat) == 0x58 && offsetof(ModelThread, record) == 0x68 &&
              offsetof(ModelThread, stack) == 0x70 && offsetof(ModelThread, saved) == 0x80 &&
              offsetof(ModelThread, repeat_rdi) == 0xd0 && offsetof(ModelThread, next_note) == 0xd8 &&
              offsetof(ModelThread, site) == 0x38 && offsetof(ModelThread, spilled_flags) == 0xe0 &&
              offsetof(ModelThread, next_outcome) == 0xe8 && offsetof(ModelThread, spill_page) == 0xf0 &&
              offsetof(ModelThread, kept) == 0x100 && models_at + sizeof(ModelThread) <= 0x1200);

/// Tables that generated code probes: offsets from the GS base, between the thread's record and its jump table.
enum ModelLayout : u32 {
  return_stack_at = 0x1200,   // models::ReturnStack::entries of 8 bytes: negated
  code_pages_at = 0x1300,     // per set of the iTLB, the number of the page that was executed last, a dword
  data_pages_at = 0x1400,     // per set of the dTLB, the line that was accessed last; 1 << page_stride_bits bytes apart
  l1d_at = 0x8000,            // per set, the line that was used last; one line's length apart
  l1i_at = 0xc000,            // per set, the number of the line of code that was fetched last
  sites_at = 0xd1000,         // how often each site jumped: dwords
  model_counts_at = 0xf0000,  // mapped from the channel: channel::ModelCounts
};
inline constexpr u32 first_level_bytes = 0x4000;
/// log2 of the distance in bytes between entries for sets of the dTLB.
inline constexpr u32 page_stride_bits = 4;
static_assert(data_pages_at + (models::page_sets << page_stride_bits) <= 0x1ff8);
static_assert(code_pages_at + models::page_sets * sizeof(u32) <= data_pages_at);
static_assert(l1i_at + first_level_bytes == jump_table_at);
/// An address in no line, so never the most recent line of a set.
inline constexpr u64 no_line = u64{1} << 63 | 1;
/// Size of a thread's access records, with the room after them. Once per trace, or at each record, generated code tests
/// the low bits of the next record's address to see whether it is in that room: ModelPlan::notes_full.
inline constexpr u64 notes_room = channel::note_block_bytes;
/// Bytes of access records, or of outcomes, that are published at a time, and that the engine processes at a time.
inline constexpr u64 notes_offloaded = channel::notes_limit * sizeof(u64), notes_kept = 512 * sizeof(u64);
static_assert(channel::outcomes_limit * sizeof(u32) == notes_offloaded);
/// Size of a thread's access log, with the room after it, which is checked in the same way.
inline constexpr u64 access_log_bytes = 16384, access_log_room = 131072;
/// Most lines of code that are distinguished: 64 MB of code.
inline constexpr u32 line_limit = 1u << 20;

inline ModelThread* model_thread(Thread* t) {
  return reinterpret_cast<ModelThread*>(reinterpret_cast<u64>(t) + models_at);
}
inline channel::ModelCounts* model_counts(Thread* t) {
  return reinterpret_cast<channel::ModelCounts*>(reinterpret_cast<u64>(t) + model_counts_at);
}

/// The simulated machine as generated code needs it. All zero if nothing is simulated.
struct ModelPlan {
  bool branches;       // outcomes of branches are recorded and predicted later; generated code probes the return stack
  bool l1i, l1d;       // generated code probes them
  bool pages;          // accesses outside the most recent page of their set are recorded, too
  bool goes_by_sites;  // stable sites are probed with a jump: sites.hpp
  bool each;           // everything goes to the access log, for the plain models
  bool each_branch;    // branches, too
  bool chases;         // records of chased loads differ from those of others
  bool notes_sites;    // each access record is followed by the site of its instruction
  bool notes_returns;  // outcomes include wrong predictions of returns
  u32 line_bytes;      // of a page if there is no cache
  u32 page_bits, data_page_sets, code_page_sets;
  u32 l1d_mask;  // the bits of an address that select the set, from l1d_at
  u32 l1i_sets;
  u32 notes_full;  // address bits that show that access records or outcomes are full
  bool code() const { return l1i || pages; }
  bool data() const { return l1d || pages; }
  bool any() const { return branches || code() || data() || each; }
};
extern ModelPlan model_plan;
/// Size of an access record with its site.
inline s32 note_bytes() { return model_plan.notes_sites ? sizeof(models::PlacedNote) : sizeof(models::Note); }
/// The paths in access logs, and their operations. To add some, the caller holds cache_lock.
extern Growing<models::LogPath> log_paths;
extern Growing<models::Op> log_ops;

/// Returns a number that identifies how a machine is simulated; 0 if none is.
u64 models_key();
/// Whether instrumented code depends only on the program, the machine, and the addresses of both.
bool models_can_be_kept();
/// Returns the offset, from the GS base, of the number of the last executed page in the set of this page.
inline u32 code_page_entry(u64 address) {
  return code_pages_at +
         (static_cast<u32>(address >> model_plan.page_bits) & (model_plan.code_page_sets - 1)) * u32{sizeof(u32)};
}
/// Returns the number of a line of code; 0 if there are too many. The caller holds cache_lock.
u32 line_number(u64 line);

/// Whether there is room for the data of one more trace; otherwise the code cache and that data are discarded.
bool models_have_room();
void models_forget_code();
/// Reserves what threads share. Called once, when the settings are known.
void models_init();
/// Makes translation call the models if there are any. Called once, after models_init().
void instrument_with_models();
/// Prepares a thread that has its channel record: empty tables, and its page of the channel. `goes_on`: it is the child
/// of a fork and keeps its tables. False without memory.
bool models_attach(Thread* t, bool goes_on);
/// Publishes all access records and outcomes: once the process has ended its counts are final. The thread is outside
/// (go_out()), or is the caller.
void models_drain(Thread* t);
/// Does the same, and waits until the counts are up to date.
void models_settle(Thread* t);
/// Records that a child is forked, whose process record is `process`: its levels begin with the current state.
void models_before_fork(Thread* t, u32 process);
/// Closes the thread's rings, after models_drain().
void models_close(Thread* t);
/// Processes the access log, and at its end a record that was left in the middle, after `path`.
void models_play_partial(Thread* t, const models::LogPath& path);
/// Called in the child of a fork.
void models_after_fork();
/// Processes one access by the models that generated code probes.
void models_access(Thread* t, u64 address, u64 bytes, Ask what);
/// Processes the accesses of the instruction that `number` describes, which is about to run: see element_accesses.cpp.
void model_element_accesses(Thread* t, u32 number);
/// Accounts for what a string instruction did that a fault or a signal interrupted.
void models_repeat(Thread* t, u64 rcx, u64 rsi, u64 rdi);

extern "C" {
/// Entered from generated code by a jump, with argument, word and back set. Restores every register.
void enter_model();
/// The same for probes of first levels, but the flags are lost.
void enter_lookup();
/// Loads the program's registers and returns to generated code, or to model_pad if Thread::pad is set. Restartable at
/// any instruction.
extern const char model_leave_begin[], model_leave_end[], lookup_leave_begin[], lookup_leave_end[], model_pad[];
}

}  // namespace tally::engine::instrument
