// The PEBS records of the x86 machine: the state of its processor, and the access to its memory.
#include "programs/lab/x86_machine.hpp"

namespace tally::lab {

// Stores the record that the last instruction caused, after it has completed. `next`: the address of the next one.
void LabX86::store_record(std::uint64_t next) {
  if (!pmu_.has_record()) return;
  class ProgramMemory : public pmu::emulated::LinearMemory {
   public:
    explicit ProgramMemory(LabX86& machine) : machine_(machine) {}
    std::optional<std::uint64_t> read(std::uint64_t address) const override {
      if (!is_mapped(address)) return std::nullopt;
      return machine_.peek(address, 8);
    }
    bool write(std::uint64_t address, std::uint64_t value) override {
      if (!is_mapped(address)) return false;
      machine_.poke(address, value, 8);
      return true;
    }

   private:
    bool is_mapped(std::uint64_t address) const {
      const auto first = machine_.physical(address), last = machine_.physical(address + 7);
      return first && last && *first < machine_.memory_size() && *last == *first + 7 && *last < machine_.memory_size();
    }
    LabX86& machine_;
  };
  pmu::emulated::PebsState state;
  state.instruction = at_;
  state.next = next;
  state.flags = get(UC_X86_REG_RFLAGS);
  static constexpr int general[] = {UC_X86_REG_RAX, UC_X86_REG_RBX, UC_X86_REG_RCX, UC_X86_REG_RDX,
                                    UC_X86_REG_RSI, UC_X86_REG_RDI, UC_X86_REG_RBP, UC_X86_REG_RSP};
  for (std::size_t i = 0; i < std::size(general); ++i) state.registers[i] = get(general[i]);
  for (int i = 8; image_.bits == 64 && i < 16; ++i) {
    state.registers[static_cast<std::size_t>(i)] = get(UC_X86_REG_R8 + i - 8);
  }
  state.loaded = loaded_;
  state.stored = stored_;
  ProgramMemory memory(*this);
  pmu_.record(state, memory);
}

}  // namespace tally::lab
