// The emulated computer with a 64-bit Arm core: 16 MiB of memory, a serial port, and an address that ends the program.
// Unicorn emulates the core, and the lab its PMU: it executes MRS and MSR of the PMU's registers. Runs one instruction
// at a time.
#pragma once

#include <unicorn/unicorn.h>

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>

#include "programs/lab/arm/arm_core.hpp"
#include "programs/lab/arm/arm_decode.hpp"
#include "programs/lab/arm/arm_lint.hpp"
#include "programs/lab/computer.hpp"
#include "programs/lab/line_tags.hpp"
#include "tally/core/base/result.hpp"

namespace tally::lab::arm {

/// Memory layout.
namespace layout {
inline constexpr std::uint64_t leave = 0x3100;  ///< return address of the program; a return here ends it
inline constexpr std::uint64_t user_stack = 0x6'0000;
inline constexpr std::uint64_t stack = 0x8'0000;
inline constexpr std::uint64_t program = 0x10'0000;
inline constexpr std::uint64_t serial = 0x0900'0000;  ///< a PL011, as in QEMU's machine virt
inline constexpr std::uint64_t exit = 0x0910'0000;
inline constexpr std::uint64_t device_size = 0x1000;
/// The initial X0, where firmware would pass a device tree; this range is empty.
inline constexpr std::uint64_t device_tree = 0x4000'0000;
inline constexpr std::uint64_t device_tree_size = 0x20'0000;
inline constexpr std::uint64_t memory_size = 16 << 20;
}  // namespace layout

struct Settings : RunSettings {
  const pmu::emulated::ArmProfile* profile = &pmu::emulated::arm_profiles().front();
  bool strict = false;  ///< Apple's control registers take effect at an ISB
};

/// Returns the emulator's ID of a general register, 0 to 30.
int general_id(unsigned number);

class LabArm : public Computer {
 public:
  /// Errors: cannot_measure if the emulator does not start; bad_usage if the image does not fit.
  static Result<std::unique_ptr<LabArm>> make(const Image& image, const Settings& settings, Listener listener);
  ~LabArm() override;

  End run() override;

  const Image& image() const override { return image_; }
  std::uint64_t instructions() const override { return instructions_; }
  std::uint64_t time_stamp() const override { return cycles_; }
  std::vector<std::pair<std::string, std::uint64_t>> registers() const override;
  std::string instruction_text(std::uint64_t address) const override;
  const Core& core() const { return *core_; }

  // words.cpp
  std::vector<CounterState> counters() const override { return core_->counters(); }
  std::string_view model() const override { return core_->profile().name; }
  std::string headline() const override;
  std::string register_name(std::uint32_t number) const override;
  std::string counter_name(std::uint32_t number) const override { return register_name(number); }
  std::optional<pmu::Value> value(const Entry& entry) const override;
  std::string meaning(const Entry& entry) const override;
  std::string words(const Entry& entry) const override;
  std::string_view refusal() const override { return "refused"; }
  std::string handler_words(const Entry& entry) const override;
  std::string drawings() const override;
  std::vector<pmu::Remark> lint(Entry& entry) override { return linter_.check(entry, *core_); }
  std::vector<pmu::Remark> lint_at_end() const override { return linter_.at_end(*core_, masks(core_->line())); }

 private:
  LabArm(const Image& image, const Settings& settings, Listener listener);

  /// The kinds of exceptions: rows in the vector table, in units of 80H.
  enum class Exception : std::uint32_t { synchronous = 0, irq = 1, fiq = 2 };

  Result<bool> start();
  void before(std::uint64_t address);
  void check_surroundings(const Instruction& instruction);
  void finish(std::uint64_t next);
  void retire(const Instruction& instruction, std::uint64_t next = 0);
  void report_overflows(std::uint64_t before);
  bool interrupted(std::uint64_t address);
  const Instruction& decoded(std::uint64_t address);
  void end(End::Reason reason, std::uint64_t address, std::string message, std::string hint = {});
  End limit_reached(std::uint64_t address) const;

  // system.cpp
  bool intercept(const Instruction& instruction);
  bool access(const Instruction& instruction);
  std::optional<std::uint64_t> other_register(std::uint64_t number) const;
  void refuse(const Instruction& instruction, const std::string& why, bool traps);
  void wait(const Instruction& instruction);
  void enter(Exception what, std::uint64_t back, std::uint32_t syndrome, const std::string& why);
  void leave_user();
  bool masks(Line line) const;

  static void on_code(uc_engine* uc, std::uint64_t address, std::uint32_t size, void* machine);
  static void on_interrupt(uc_engine* uc, std::uint32_t number, void* machine);
  static bool on_invalid(uc_engine* uc, void* machine);
  static bool on_hole(uc_engine* uc, uc_mem_type type, std::uint64_t address, int size, std::int64_t value,
                      void* machine);
  static void on_access(uc_engine* uc, uc_mem_type type, std::uint64_t address, int size, std::int64_t value,
                        void* machine);
  static std::uint64_t on_serial_read(uc_engine* uc, std::uint64_t offset, unsigned size, void* machine);
  static void on_serial_write(uc_engine* uc, std::uint64_t offset, unsigned size, std::uint64_t value, void* machine);
  static std::uint64_t on_exit_read(uc_engine* uc, std::uint64_t offset, unsigned size, void* machine);
  static void on_exit_write(uc_engine* uc, std::uint64_t offset, unsigned size, std::uint64_t value, void* machine);
  void flush_output();

  std::uint64_t get(int reg) const;
  void set(int reg, std::uint64_t value);
  std::uint64_t general(unsigned number) const;
  void set_system(std::uint64_t number, std::uint64_t value);
  Entry entry(Entry::Kind kind) const;
  void note(const Entry& what) const {
    if (listener_) listener_(what);
  }

  Image image_;
  Settings settings_;
  Listener listener_;
  std::unique_ptr<Core> core_;
  Linter linter_;
  uc_engine* uc_ = nullptr;
  std::vector<std::uint8_t> memory_;
  uc_context* kernel_ = nullptr;  // the state of the core at the last ERET

  std::uint32_t* words_ = nullptr;  // the memory, from the start of a page
  std::array<Instruction, 4096> seen_{};
  std::optional<Instruction> running_;  // the emulator executes it; it retires at the next instruction
  std::optional<std::string> fault_;    // an invalid instruction
  std::optional<End> end_;
  int level_ = 1;
  bool line_was_up_ = false;
  std::uint64_t instructions_ = 0;
  std::uint64_t cycles_ = 0;
  std::uint64_t at_ = 0;
  std::array<std::uint64_t, 64> recent_{};
  std::string output_;
  LineTags tags_;
  std::unordered_map<std::uint64_t, std::uint8_t> directions_;  // of conditional branches
  std::unordered_map<std::uint64_t, std::uint64_t> targets_;    // of indirect branches: where they went last
  std::vector<std::pair<std::string, std::uint64_t>> last_registers_;
};

}  // namespace tally::lab::arm
