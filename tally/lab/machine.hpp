// The emulated computer: a processor, 16 MiB of memory, a local APIC, a serial port and a port that ends the program. The
// processor is Unicorn's, its PMU ours: instructions that touch it are executed here, not there.
#pragma once

#include <unicorn/unicorn.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tally/base/result.hpp"
#include "tally/lab/decode.hpp"
#include "tally/lab/image.hpp"
#include "tally/lab/journal.hpp"
#include "tally/pmu/emulated/intel_pmu.hpp"

namespace tally::lab {

struct Settings {
  const pmu::emulated::Profile* profile = &pmu::emulated::profiles().front();
  pmu::emulated::Behaviour behaviour = {};
  std::uint64_t max_instructions = 100'000'000;
  bool steps = false;                      ///< an entry for each instruction
  bool reads = false;                      ///< an entry for each RDMSR of a register of the PMU
  std::vector<std::uint64_t> breakpoints;  ///< entries where the program stands before them
};

class Machine {
 public:
  /// Errors: cannot_measure where the emulator does not start; bad_usage where the image does not fit.
  static Result<std::unique_ptr<Machine>> make(const Image& image, const Settings& settings, Listener listener);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Runs to the end.
  End run();

  pmu::emulated::IntelPmu& pmu() { return pmu_; }
  const pmu::emulated::IntelPmu& pmu() const { return pmu_; }
  const Image& image() const { return image_; }
  std::uint64_t instructions() const { return instructions_; }
  int cpl() const { return cpl_; }
  bool interrupts_enabled() const;

  /// General registers by name, for people: "RAX" to "R15", "RIP", "RFLAGS", as the mode has them.
  std::vector<std::pair<std::string, std::uint64_t>> registers() const;
  /// The instruction at an address, as text.
  std::string instruction_text(std::uint64_t address) const;

  static constexpr std::uint64_t memory_size = 16 << 20;

 private:
  Machine(const Image& image, const Settings& settings, Listener listener);

  // An exception or interrupt on its way in.
  struct Arrival {
    int vector = 0;
    std::optional<std::uint32_t> error;
    std::uint64_t back = 0;  // where it returns to
    std::string why;         // for whoever has no handler
  };
  struct Gate {
    bool present = false;
    std::uint16_t selector = 0;
    std::uint64_t handler = 0;
    bool clears_interrupts = true;
    int stack = 0;  // IST
  };

  // boot.cpp
  Result<bool> start();
  void lay_out_tables();
  void add_hooks();

  // machine.cpp
  static void on_code(uc_engine* uc, std::uint64_t address, std::uint32_t size, void* machine);
  static void on_interrupt(uc_engine* uc, std::uint32_t vector, void* machine);
  static bool on_invalid(uc_engine* uc, void* machine);
  static bool on_hole(uc_engine* uc, uc_mem_type type, std::uint64_t address, int size, std::int64_t value, void* machine);
  static void on_access(uc_engine* uc, uc_mem_type type, std::uint64_t address, int size, std::int64_t value, void* machine);
  void before(std::uint64_t address);
  void finish(std::uint64_t next);
  bool interrupted(std::uint64_t address);
  bool in_rom(std::uint64_t address);
  void look_around(const Instruction& instruction);
  void end(End::Reason reason, std::uint64_t address, std::string message, std::string hint = {});
  End limit_reached(std::uint64_t address) const;
  const Instruction& decoded(std::uint64_t address);

  // intercept.cpp
  void intercept(const Instruction& instruction);
  void read_msr(const Instruction& instruction);
  void write_msr(const Instruction& instruction);
  void read_counter(const Instruction& instruction);
  void identify();
  void halt(const Instruction& instruction);
  pmu::emulated::Answer other_msr(std::uint32_t index) const;

  // entry.cpp
  void arrive(const Arrival& arrival);
  void enter(const Arrival& arrival, const Gate& gate, bool from_user);
  Gate gate_of(int vector) const;
  void push(std::uint64_t value);
  void unhandled(const Arrival& arrival);

  // devices.cpp
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
  Settings settings_;
  Listener listener_;
  pmu::emulated::IntelPmu pmu_;
  uc_engine* uc_ = nullptr;
  std::uint8_t* memory_ = nullptr;

  std::unordered_map<std::uint64_t, Instruction> instructions_seen_;
  std::optional<Instruction> running_;  // the emulator executes it: it retires at the next instruction
  int cpl_ = 0;
  bool is_shadowed_ = false;       // behind STI or MOV SS: no interrupt before the next instruction
  std::optional<Arrival> arrival_;  // waits for the processor to have come to CPL 0
  std::optional<Arrival> fault_;    // met outside of a place where it can be delivered
  std::optional<End> end_;
  std::uint64_t instructions_ = 0;
  std::uint64_t at_ = 0;  // address of the instruction that is looked at
  std::array<std::uint64_t, 64> recent_{};
  std::string output_;
  std::vector<std::uint64_t> tags_;  // the line-tag cache
  std::unordered_map<std::uint64_t, std::uint8_t> directions_;  // of conditional branches
  std::uint32_t references_ = 0;     // of the running instruction
  std::uint32_t misses_ = 0;
  std::vector<std::uint64_t> last_counters_;
  std::uint32_t spurious_ = 0x1FF;  // APIC: spurious vector register
};

/// Numbers of the counters of a profile, general-purpose first.
std::vector<int> counter_numbers(const pmu::emulated::Profile& profile);

}  // namespace tally::lab
