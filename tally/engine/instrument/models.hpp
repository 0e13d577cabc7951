/// The simulated machine inside the engine: what a thread keeps for it, and how generated code asks it.
///
/// Nothing of it exists where nothing is simulated. Generated code looks for the most recent line of a set, and at a
/// counter of a predictor, by itself; what that does not settle goes to enter_model with one word about it. First
/// levels are kept exactly; what they miss is noted down and handed to the levels behind them later (see sim::fast).
#pragma once
#include "tally/engine/models/access_log.hpp"
#include "tally/engine/records.hpp"

namespace tally::engine::instrument {

/// What a call of the model is about: the low byte of its word; above it the bytes of an access, the number of a line
/// of code, or what a repeated string instruction accesses. The first four are those of sim::Access.
enum class Ask : u32 {
  load,
  store,
  modify,
  fetch,
  noted,       // the notes are full
  repeat,      // a string instruction has run
  access_log,  // the tape is full
  pieces,      // an instruction whose accesses its registers tell is about to run
  outcomes,    // the outcomes of branches are full
};
constexpr u32 word_of(Ask what, u32 bytes = 0) { return static_cast<u32>(what) | bytes << 8; }
constexpr u32 bytes_of(u32 word) { return word >> 8 & 0xffff; }

constexpr u32 word_of(const models::Repeat& repeat) { return word_of(Ask::repeat, static_cast<u32>(repeat.bits())); }

/// Offset of a thread's share, which begins where the low 12 bits of an address are in nobody's way (place_segments).
inline constexpr u32 models_at = 0x1080;

struct ModelThread {
  u64 spill[3];       // 0x1080: of generated code: two registers, and rax for a moment
  u64 argument;       // 0x1098
  u64 word;           // 0x10a0
  u64 back;           // 0x10a8: where generated code goes on
  u64 active;         // 0x10b0: the thread is in the model
  u64 history;        // 0x10b8: of conditional branches; the last 14 count
  u64 top;            // 0x10c0: of the return stack: a byte, 16 for an entry
  u64 spill_note;     // 0x10c8: of the register that has next_note
  u64 repeat_word;    // 0x10d0
  u64 repeat[2];      // 0x10d8: rcx and rsi before a string instruction
  u64* record;        // 0x10e8: where the next record of the tape begins (ModelPlan::each)
  u64 stack;          // 0x10f0: the program's stack pointer
  u64 flags;          // 0x10f8
  u64 saved[9];       // 0x1100: rcx rdx rsi rdi r8 r9 r10 r11 rax
  u64 whole_flags;    // 0x1148: for the direction flag
  u64 repeat_rdi;     // 0x1150: before a string instruction
  u64* next_note;     // 0x1158: after the last note; in a register where one is borrowed for it
  u64 spilled_flags;  // 0x1160: the program's, as lahf and seto leave them in rax
  u32* next_outcome;  // 0x1168: after the last one (ModelPlan::outcomes)
  u64 spill_page;     // 0x1170: of the register for a page's set
  u64 site;           // 0x1178: with ModelPlan::notes_sites: of the instruction that asks
  // 0x1180: vectors, masks and registers that an instruction's accesses depend on. In their place: the program may
  // check alignment.
  alignas(64) u8 kept[2][64];
};

enum ModelOffset : u32 {
  o_model_a = models_at,
  o_model_b = models_at + 8,
  o_model_rax = models_at + 0x10,
  o_model_argument = models_at + 0x18,
  o_model_word = models_at + 0x20,
  o_model_back = models_at + 0x28,
  o_model_history = models_at + 0x38,
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
  o_model_site = models_at + 0xf8,
  o_model_kept = models_at + 0x100,
  o_model_kept_2 = models_at + 0x140,
};
static_assert(offsetof(ModelThread, argument) == 0x18 && offsetof(ModelThread, active) == 0x30 &&
              offsetof(ModelThread, spill_note) == 0x48 && offsetof(ModelThread, repeat_word) == 0x50 &&
              offsetof(ModelThread, repeat) == 0x58 && offsetof(ModelThread, record) == 0x68 &&
              offsetof(ModelThread, stack) == 0x70 && offsetof(ModelThread, saved) == 0x80 &&
              offsetof(ModelThread, repeat_rdi) == 0xd0 && offsetof(ModelThread, next_note) == 0xd8 &&
              offsetof(ModelThread, site) == 0xf8 && offsetof(ModelThread, spilled_flags) == 0xe0 &&
              offsetof(ModelThread, next_outcome) == 0xe8 && offsetof(ModelThread, spill_page) == 0xf0 &&
              offsetof(ModelThread, kept) == 0x100 && models_at + sizeof(ModelThread) <= 0x1200);

/// Tables that generated code looks into: offsets from the GS base, between the thread's record and its jump table.
enum ModelLayout : u32 {
  return_stack_at = 0x1200,   // 16 entries of 16 bytes: negated addresses
  code_pages_at = 0x1300,     // of each set of the iTLB the number of the page that was executed last, a dword
  data_pages_at = 0x1400,     // of each set of the dTLB the line that was accessed last, and page_stride bytes apart
  indirect_at = 0x2000,       // sim::IndirectTargets
  gshare_at = 0x3000,         // the counters of sim::Gshare
  l1d_at = 0x8000,            // of each set the line that was used last, as many bytes apart as a line has
  l1i_at = 0xc000,            // of each set the number of the line of code that was fetched last
  sites_at = 0xd1000,         // how often each site jumped: dwords
  model_counts_at = 0xf0000,  // mapped from the channel: channel::ModelCounts
};
inline constexpr u32 first_level_bytes = 0x4000;
/// Entries for sets of the dTLB lie so far apart.
inline constexpr u32 page_stride_bits = 4;
static_assert(data_pages_at + (models::page_sets << page_stride_bits) <= 0x1ff8);
static_assert(code_pages_at + models::page_sets * sizeof(u32) <= data_pages_at);
static_assert(l1i_at + first_level_bytes == jump_table_at);
/// No line's address, and in no line: not the most recent one of any set.
inline constexpr u64 no_line = u64{1} << 63 | 1;
/// Notes of a thread, and room after them. Generated code looks once a trace, or at each note, whether it stands
/// after them, by the low bits of an address: ModelPlan::notes_full.
inline constexpr u64 notes_room = channel::note_block_bytes;
/// As many as are handed on at a time, and as many as are looked up here, in bytes; of outcomes too.
inline constexpr u64 notes_handed_on = channel::notes_limit * sizeof(u64), notes_kept = 512 * sizeof(u64);
static_assert(channel::outcomes_limit * sizeof(u32) == notes_handed_on);
/// The tape of a thread, which is looked at in the same way.
inline constexpr u64 access_log_bytes = 16384, access_log_room = 131072;
/// Lines of code that are told apart: 64 MB of code.
inline constexpr u32 line_limit = 1u << 20;

inline ModelThread* model_thread(Thread* t) {
  return reinterpret_cast<ModelThread*>(reinterpret_cast<u64>(t) + models_at);
}
inline channel::ModelCounts* model_counts(Thread* t) {
  return reinterpret_cast<channel::ModelCounts*>(reinterpret_cast<u64>(t) + model_counts_at);
}

/// What is simulated, as generated code needs it. All zero where nothing is.
struct ModelPlan {
  bool branches, l1i, l1d;  // looked at in generated code
  bool pages;               // noted too is what is not to the most recent page of its set
  bool outcomes;            // conditional branches are predicted after the program; ends where that is taken back
  bool goes_by_sites;       // who nearly always finds the most recent line looks by a jump: sites.hpp
  bool each;                // everything goes onto the tape, for the plain models
  bool each_branch;         // branches too
  bool notes_sites;         // after each note stands the address of its instruction
  u32 line_bytes;           // of a page where there is no cache
  u32 page_bits, data_page_sets, code_page_sets;
  u32 l1d_mask;  // of an address: where the set is, from l1d_at
  u32 l1i_sets;
  u32 notes_full;  // bits of an address that say so, of notes and outcomes
  bool code() const { return l1i || pages; }
  bool data() const { return l1d || pages; }
  bool any() const { return branches || code() || data() || each; }
};
extern ModelPlan model_plan;
/// Of a note with what stands after it.
inline s32 note_bytes() { return model_plan.notes_sites ? sizeof(models::PlacedNote) : sizeof(models::Note); }
/// What stands on tapes: the steps of ways. Want cache_lock held to be written.
extern Growing<models::LogPath> log_paths;
extern Growing<models::Op> log_ops;

/// Another number for each way of weaving a machine into code; 0 where nothing is.
u64 models_key();
/// Whether code that it is woven into depends on nothing but the program, the machine and where they are.
bool models_can_be_kept();
/// Where the number of the page of the set of this one that was executed last is, from the GS base.
inline u32 code_page_entry(u64 address) {
  return code_pages_at +
         (static_cast<u32>(address >> model_plan.page_bits) & (model_plan.code_page_sets - 1)) * u32{sizeof(u32)};
}
/// The number of a line of code, 0 where there are too many. Wants cache_lock held.
u32 line_number(u64 line);

/// Whether what must be known of one more trace has a place; else the cache is thrown away, and that with it.
bool models_have_room();
void models_forget_code();
/// Reserves what threads share. Called once, when the settings are known.
void models_init();
/// Translation calls the models from now on, where there are any. Once, after models_init().
void instrument_with_models();
/// A thread that has its record: empty tables, and its page of the channel. `goes_on`: it is the child of a fork, and
/// its tables are what they were. False without memory.
bool models_attach(Thread* t, bool goes_on);
/// Everything that was noted down is on its way: once the process has ended its counts are final. The thread is
/// outside, or calls it itself.
void models_drain(Thread* t);
/// The same, and the counts are what they are at this moment.
void models_settle(Thread* t);
/// A child is forked, of which this is the record: its levels are what they are at this moment.
void models_before_fork(Thread* t, u32 process);
/// A second thread is about to run beside the one that does: generated code is to ask gshare itself from now on, for
/// two that are busy leave the command no processor. False where it does; else all code must be thrown away before any
/// runs again.
bool models_take_back();
/// The thread notes nothing more, after models_drain().
void models_close(Thread* t);
/// A record is left in the middle, having gone `way`: it is played, and all before it.
void models_play_partial(Thread* t, const models::LogPath& way);
/// In the child of a fork.
void models_after_fork();
/// One access, by the models that generated code looks into.
void models_access(Thread* t, u64 address, u64 bytes, Ask what);
/// What the instruction that `number` describes is about to access: see element_accesses.cpp.
void model_element_accesses(Thread* t, u32 number);
/// A string instruction was left in the middle, by a fault or a signal: what it did is accounted for.
void models_repeat(Thread* t, u64 rcx, u64 rsi, u64 rdi);

extern "C" {
/// From generated code, by a jump: argument, word and back are set; every register but those comes back as it was.
void enter_model();
/// The same for looks at first levels; it leaves the flags as they come.
void enter_lookup();
/// Loads the program's registers and goes back; to model_pad where something waits. Restartable at any instruction.
extern const char model_leave_begin[], model_leave_end[], lookup_leave_begin[], lookup_leave_end[], model_pad[];
}

}  // namespace tally::engine::instrument
