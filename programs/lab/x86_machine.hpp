// The emulated x86 computer: a processor, 16 MiB of memory, a local APIC, a serial port and a port that ends the
// program. Unicorn emulates the processor, and the lab its PMU: it executes the instructions that use the PMU.
#pragma once

#include <unicorn/unicorn.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "programs/lab/checkpoint.hpp"
#include "programs/lab/computer.hpp"
#include "programs/lab/line_tags.hpp"
#include "programs/lab/pmu/intel_pmu.hpp"
#include "programs/lab/x86_decode.hpp"
#include "programs/lab/x86_lint.hpp"
#include "tally/core/base/result.hpp"
#include "tally/linux/files/memory_file.hpp"

namespace tally::lab {

struct Settings : RunSettings {
  const pmu::emulated::Profile* profile = &pmu::emulated::profiles().front();
  pmu::emulated::Behaviour behaviour = {};
  bool blocks = true;  ///< run whole blocks if no event can occur in them
  int width = 1;       ///< instructions that retire per cycle
};

class LabX86 : public Computer {
 public:
  /// Errors: cannot_measure if the emulator does not start; bad_usage if the image does not fit.
  static Result<std::unique_ptr<LabX86>> make(const Image& image, const Settings& settings, Listener listener);
  ~LabX86() override;

  End run() override;

  pmu::emulated::IntelPmu& pmu() { return pmu_; }
  const pmu::emulated::IntelPmu& pmu() const { return pmu_; }
  const Image& image() const override { return image_; }
  std::uint64_t instructions() const override { return instructions_; }
  std::uint64_t time_stamp() const override { return pmu_.time_stamp(); }
  /// Returns how often the run switched from whole blocks to single instructions.
  std::uint64_t switches() const { return switches_; }
  int cpl() const { return cpl_; }
  bool interrupts_enabled() const;

  /// Returns "RAX" to "R15", "RIP", "RFLAGS", with the names of the current mode.
  std::vector<std::pair<std::string, std::uint64_t>> registers() const override;
  std::string instruction_text(std::uint64_t address) const override;

  // words.cpp
  std::vector<CounterState> counters() const override;
  std::string_view model() const override { return pmu_.profile().name; }
  std::string headline() const override;
  std::string register_name(std::uint32_t number) const override;
  std::string counter_name(std::uint32_t number) const override;
  std::optional<pmu::Value> value(const Entry& entry) const override;
  std::string meaning(const Entry& entry) const override;
  std::string words(const Entry& entry) const override;
  std::string_view refusal() const override { return "#GP(0)"; }
  std::string handler_words(const Entry& entry) const override;
  std::string drawings() const override;
  std::vector<pmu::Remark> lint(Entry& entry) override { return linter_.check(entry, pmu_); }
  std::vector<pmu::Remark> lint_at_end() const override { return linter_.at_end(pmu_, interrupts_enabled()); }

  /// Reads program memory, up to 8 bytes.
  std::uint64_t memory(std::uint64_t address, int size) const { return peek(address, size); }

  /// Returns the size in bytes. A multiboot program expects more memory than the lab's own programs.
  std::uint64_t memory_size() const { return image_.is_multiboot ? 128 << 20 : 16 << 20; }

 private:
  LabX86(const Image& image, const Settings& settings, Listener listener);

  // An exception or interrupt that is about to enter its handler.
  struct Arrival {
    int vector = 0;
    std::optional<std::uint32_t> error;
    std::uint64_t back = 0;                      // return address
    std::string why;                             // message if there is no handler
    bool is_software = false;                    // INT n
    bool is_emulated = false;                    // an exception that the emulator raised
    bool is_perfmon = false;                     // an interrupt of the counters
    std::optional<std::uint64_t> accessed = {};  // CR2 of a page fault of the delivery
    std::uint64_t from = 0;                      // address of the INT
  };
  struct Gate {
    bool is_valid = false;  // within the table, and of a type that enters a handler
    bool is_present = false;
    std::uint16_t selector = 0;
    std::uint64_t handler = 0;
    bool clears_interrupts = true;
    int stack = 0;  // IST
    int level = 0;  // DPL
  };
  struct Stack {
    std::uint64_t segment = 0;
    std::uint64_t pointer = 0;
  };
  // The mode of the processor decides the form of its tables and frames: real, protected, or long mode.
  enum class Mode : std::uint8_t { real, narrow, wide };

  // How a run of whole blocks ended.
  enum class Leave : std::uint8_t {
    astray,     // inside a block, at an unknown instruction
    at_block,   // before the block at leave_at_
    may_go_on,  // the same, and the budget may be larger after settle()
  };

  // A block of instructions. `times`: executions since settle().
  struct Block {
    std::uint64_t address = 0;
    std::uint32_t size = 0;
    std::uint32_t instructions = 0;
    std::uint64_t times = 0;
    pmu::emulated::Work work;
  };

  // Memory pages mapped at other addresses: see paging.cpp.
  struct Alias {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
    linux::Mapping host;
    std::vector<std::uint64_t> places;  // of its pages, in the memory
  };

  // The APIC's timer: raises an interrupt when the time stamp counter reaches `deadline`.
  struct Timer {
    std::uint32_t vector = 1U << 16;
    std::uint32_t divide = 0;
    std::uint64_t count = 0;  // ticks of the time stamp counter
    std::uint64_t deadline = 0;
    bool is_running() const { return deadline != 0; }
  };

  // boot.cpp
  Result<bool> start();
  static void run_without_end(uc_engine* uc);
  void lay_out_tables();
  std::uint64_t lay_out_boot_information(std::uint64_t at);
  void add_hooks();

  // machine.cpp
  static void on_code(uc_engine* uc, std::uint64_t address, std::uint32_t size, void* machine);
  static void on_interrupt(uc_engine* uc, std::uint32_t vector, void* machine);
  static bool on_invalid(uc_engine* uc, void* machine);
  static bool on_hole(uc_engine* uc, uc_mem_type type, std::uint64_t address, int size, std::int64_t value,
                      void* machine);
  static void on_access(uc_engine* uc, uc_mem_type type, std::uint64_t address, int size, std::int64_t value,
                        void* machine);
  static void on_slow_block(uc_engine* uc, std::uint64_t address, std::uint32_t size, void* machine);
  void before(std::uint64_t address);
  bool is_begun_again(std::uint64_t address) const;
  void note_invalid();
  void note_completed(int vector);
  std::optional<std::uint32_t> error_code(int vector);
  void finish();
  bool interrupted(std::uint64_t address);
  bool in_rom(std::uint64_t address);
  bool is_past_end(std::uint64_t address, bool falls_through) const;
  bool is_after_code(std::uint64_t address) const { return address >= code_end_ && address < code_end_ + 16; }
  void check_surroundings(const Instruction& instruction);
  void end(End::Reason reason, std::uint64_t address, std::string message, std::string hint = {});
  End limit_reached(std::uint64_t address) const;

  pmu::emulated::Work work_of(const Instruction& instruction);
  std::uint64_t start_base() const;
  void jump_to(std::uint64_t address) { set(UC_X86_REG_RIP, address - code_base_); }

  // pebs.cpp
  void store_record(std::uint64_t next);

  // fast.cpp
  bool may_run_fast() const;
  std::uint64_t budget() const;
  Result<bool> start_fast();
  void run_fast();
  Leave run_blocks(std::uint64_t from, std::uint64_t budget);
  std::uint64_t go_back(std::uint64_t from);
  void roll_back();
  void go_astray();
  static void on_block(uc_engine* uc, std::uint64_t address, std::uint32_t size, void* machine);
  static void on_fast_interrupt(uc_engine* uc, std::uint32_t vector, void* machine);
  static bool on_fast_invalid(uc_engine* uc, void* machine);
  static bool on_fast_hole(uc_engine* uc, uc_mem_type type, std::uint64_t address, int size, std::int64_t value,
                           void* machine);
  static void on_fast_write(uc_engine* uc, uc_mem_type type, std::uint64_t address, int size, std::int64_t value,
                            void* machine);
  [[gnu::noinline]] void begin_block(std::uint64_t address, std::uint32_t size);
  Block* block_at(std::uint64_t address, std::uint32_t size);
  void settle();

  // code.cpp
  const Instruction& decoded(std::uint64_t address);
  void mark_code(std::uint64_t address, std::uint64_t size);
  bool is_code(std::uint64_t place, std::uint64_t size) const;
  void written(std::uint64_t place, std::uint64_t size);
  void forget_code();
  void forget_blocks();
  void remove_translations(uc_engine* uc) const;

  // intercept.cpp
  void intercept(const Instruction& instruction);
  const std::vector<pmu::Remark>& remarks_of(std::uint32_t index, std::uint64_t value);
  void read_msr(const Instruction& instruction);
  void write_msr(const Instruction& instruction);
  void read_counter(const Instruction& instruction);
  void identify();
  void halt(const Instruction& instruction);
  void return_far(const Instruction& instruction);
  std::string refused_control(const Instruction& instruction) const;
  pmu::emulated::Answer other_msr(std::uint32_t index);
  bool write_apic(std::uint32_t index, std::uint64_t value);

  // entry.cpp
  Mode mode() const;
  std::uint64_t descriptor(std::uint64_t selector) const;
  std::uint64_t segment_base(std::uint64_t selector) const;
  int code_bits_of(std::uint64_t selector) const;
  void note_segment();
  void arrive(const Arrival& first);
  std::optional<Arrival> refusal_of(const Arrival& arrival, const Gate& gate) const;
  void enter(const Arrival& arrival);
  void enter_code(std::uint16_t selector, std::uint64_t offset);
  void restore(uc_context* state);
  Gate gate_of(int vector) const;
  Stack stack_of(const Gate& gate) const;
  std::optional<std::uint64_t> hole_in(const Stack& stack) const;
  void push(std::uint64_t value, int bytes);
  void shut_down(const Arrival& arrival, const std::string& reason);

  // paging.cpp
  bool is_paging() const;
  std::optional<std::uint64_t> physical(std::uint64_t address) const;
  std::optional<std::uint64_t> hidden_page(std::uint64_t address) const;
  bool reveal(std::uint64_t address);
  std::optional<std::uint64_t> memory_place(std::uint64_t address) const;
  void repage();
  static void forget_pages(uc_engine* uc);

  // devices.cpp
  std::uint8_t read_firmware();
  void start_timer(std::uint64_t ticks);
  void ring_timer();
  static std::uint64_t on_apic_read(uc_engine* uc, std::uint64_t offset, unsigned size, void* machine);
  static void on_apic_write(uc_engine* uc, std::uint64_t offset, unsigned size, std::uint64_t value, void* machine);
  static std::uint32_t on_in(uc_engine* uc, std::uint32_t port, int size, void* machine);
  static void on_out(uc_engine* uc, std::uint32_t port, int size, std::uint32_t value, void* machine);
  void flush_output();

  std::uint64_t get(int reg) const;
  void set(int reg, std::uint64_t value);
  int named(int reg) const;
  int word_bytes() const { return image_.bits / 8; }
  std::uint64_t peek(std::uint64_t address, int size) const;
  void poke(std::uint64_t address, std::uint64_t value, int size);
  Entry entry(Entry::Kind kind) const;
  void note(const Entry& what) const {
    if (listener_) listener_(what);
  }

  Image image_;
  std::uint64_t code_end_ = 0;
  Settings settings_;
  Listener listener_;
  pmu::emulated::IntelPmu pmu_;
  Linter linter_;
  uc_engine* uc_ = nullptr;
  std::uint8_t* memory_ = nullptr;
  int code_bits_ = 64;            // of the code segment
  std::uint64_t code_base_ = 0;   // of the code segment: RIP plus this is the address
  uc_context* kernel_ = nullptr;  // the state of the processor before it last left CPL 0
  uc_context* system_ = nullptr;  // and after it last changed more than general registers
  linux::Descriptor memory_file_;
  linux::Mapping memory_mapping_;
  std::vector<Alias> aliases_;
  bool repages_ = false;
  bool restarts_ = false;  // restart the emulator: after an aborted access it reports none (Unicorn 2.0.1)
  bool had_round_ = false;

  std::unordered_map<std::uint64_t, Instruction> instructions_seen_;
  std::optional<Instruction> running_;  // the emulator executes it; it retires at the next instruction
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<pmu::Remark>> remarks_;
  int cpl_ = 0;
  bool is_shadowed_ = false;        // after STI or MOV SS: no interrupt before the next instruction
  std::optional<Arrival> arrival_;  // waits until the emulator stops, to leave CPL 3
  bool is_entering_ = true;         // instructions of the lab execute, which change segments
  std::bitset<256> entered_;        // vectors that were entered since the last instruction
  std::optional<Arrival> fault_;    // occurred where it cannot be delivered
  std::optional<End> end_;
  std::uint64_t instructions_ = 0;
  std::uint64_t at_ = 0;                   // address of the current instruction
  std::uint64_t loaded_ = 0, stored_ = 0;  // addresses of the last accesses of the instruction; 0: none
  std::array<std::uint64_t, 64> recent_{};
  std::string output_;
  LineTags tags_;
  std::unordered_map<std::uint64_t, std::uint8_t> directions_;         // of conditional branches
  std::vector<std::pair<std::string, std::uint64_t>> last_registers_;  // at the last step
  std::uint32_t spurious_ = 0x1FF;                                     // APIC: spurious vector register
  Timer timer_;
  std::uint64_t apic_base_ = 0xFEE0'0000 | 1U << 11 | 1U << 8;  // IA32_APIC_BASE: enabled, boot processor
  std::uint8_t line_control_ = 0;                               // of the serial port
  std::uint32_t test_register_ = 0;                             // of four ports that return what was written
  std::uint16_t firmware_item_ = 0;                             // fw_cfg: the selected item, and the read offset
  std::uint32_t firmware_at_ = 0;
  std::uint64_t issued_ = 0;  // in quarters of a cycle, if several instructions retire per cycle: see work_of()
  std::uint64_t retired_ = 0;
  std::uint64_t product_ready_ = 0;

  uc_engine* fast_ = nullptr;  // for whole blocks, over the same memory
  uc_context* context_ = nullptr;
  static constexpr std::size_t table_size = 4096;
  std::unordered_map<std::uint64_t, std::unique_ptr<Block>> blocks_;
  std::vector<std::unique_ptr<Block>> replaced_;  // until settle()
  std::array<Block*, table_size> table_{};        // the last block seen at each address, indexed by the low bits
  std::vector<Block*> touched_;
  Block* last_block_ = nullptr;
  Checkpoint checkpoint_;
  std::uint64_t granted_ = 0;  // instructions that may run from the checkpoint on
  std::uint64_t budget_ = 0;   // instructions of them that are left
  std::uint64_t whole_ = 0;    // instructions of the blocks before the one that did not complete
  Leave leave_ = Leave::astray;
  bool is_astray_ = false;  // a block did not complete, and this was noticed
  bool is_repeat_ = false;  // repeats the blocks from the checkpoint to the one that did not complete
  std::uint64_t leave_at_ = 0;
  std::uint64_t single_until_ = 0;  // number of instructions; no whole blocks before that
  std::uint64_t calm_ = 0;          // instructions since the last event
  std::uint64_t switches_ = 0;
  bool goes_fast_ = false;
  bool fast_pages_changed_ = false;
  std::vector<bool> code_bytes_;  // by byte of memory: decoded, or part of a translated block
  bool forgets_ = false;          // some of these bytes were written
  std::uint64_t first_dirty_ = ~0ULL;
  std::uint64_t last_dirty_ = 0;
  std::uint64_t stack_before_ = 0;  // of a call that is executing
  std::uint64_t count_before_ = 0;  // RCX before an instruction with REP
};

inline constexpr std::uint64_t page_bytes = 4096;
inline constexpr std::uint64_t interrupt_flag = 1U << 9;  ///< RFLAGS.IF

/// The machine whose hook the emulator calls.
inline LabX86& machine_of(void* machine) { return *static_cast<LabX86*>(machine); }

/// Returns the MSR of that number; nothing if the tables do not have it.
std::optional<pmu::RegisterInstance> find_msr(std::uint32_t index);

/// Returns the numbers of a profile's counters, general-purpose ones first.
std::vector<int> counter_numbers(const pmu::emulated::Profile& profile);

}  // namespace tally::lab
