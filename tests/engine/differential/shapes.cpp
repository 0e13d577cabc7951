// Random code with a shape: branches of every kind, loops, calls, strings, the stack, the flags. It always ends: jumps
// lead forward, except for loops that count in memory of their own.
#include <cstring>

#include "tests/engine/differential/instructions.hpp"

namespace tally::differential {
namespace {

class SequenceMaker {
 public:
  SequenceMaker(uint64_t seed, int length) : random_(seed) {
    made_.seed = seed;
    made_.layout = seed & 1 ? low_layout : high_layout;
    choose_registers();
    sequence(length);
    group_ = 0;
    Item& out = add({0xff, 0x25, 0, 0, 0, 0});  // jmp [exit]
    relative(out, 2, address(exit_at));
    made_.start = random_.percent(30) ? static_cast<uint32_t>(page_bytes) - random_.below(200) : random_.below(2048);
    choose_state();
  }

  Sequence take() { return std::move(made_); }

 private:
  uint64_t address(uint64_t offset) const { return made_.layout.data + offset; }
  bool is_fixed(int reg) const { return made_.fixed.has(reg); }

  void choose_registers() {
    int* const all[] = {&made_.fixed.data, &made_.fixed.edge, &made_.fixed.index, &made_.fixed.bad};
    int chosen[4];
    for (int i = 0; i < 4; ++i) {
      bool taken = true;
      while (taken) {
        chosen[i] = static_cast<int>(random_.below(16));
        taken = chosen[i] == rsp;
        for (int k = 0; k < i; ++k) taken |= chosen[k] == chosen[i];
      }
      *all[i] = chosen[i];
    }
  }

  void choose_state() {
    Descriptor& state = made_.state;
    for (uint64_t& reg : state.registers) {
      reg = random_.next();
      if (random_.percent(30)) reg >>= random_.below(64);
    }
    const FixedRegisters& fixed = made_.fixed;
    state.registers[rsp] = address(stack_pointer_at);
    state.registers[fixed.data] =
        address(data_at + 0x1000) + uint64_t{random_.below(256)} * (random_.percent(50) ? 8 : 1);
    state.registers[fixed.edge] = address(second_guard_at) - random_.below(600) / (random_.percent(50) ? 1 : 8);
    state.registers[fixed.index] = static_cast<uint64_t>(random_.below(32)) - 16;
    state.registers[fixed.bad] = random_.one_of<uint64_t>({0, (0x8000 | random_.next()) << 48, address(guard_at) + 64,
                                                           address(constants_at) + 512, made_.layout.code,
                                                           0x0000900000000000, address(second_guard_at) - 1});
    state.flags = 0x202 | (random_.next() & arithmetic_flags);
    state.memory = random_.below(0x8000) & ~7u;
    state.vectors = random_.below(0x8000) & ~7u;
    state.mxcsr = 0x1f80 | (random_.below(4) << 13) | (random_.percent(20) ? 0x8040 : 0);
    if (random_.percent(8)) state.mxcsr &= ~(random_.below(64) << 7);
    state.x87_control = 0x40 | 0x3f | random_.below(16) << 8;
    if (random_.percent(8)) state.x87_control &= ~random_.below(64);
    state.x87_full = random_.percent(50) ? 0xff : random_.byte();
  }

  // --- items ---

  Item& add(std::vector<uint8_t> bytes) {
    Item item;
    item.bytes = std::move(bytes);
    item.group = group_;
    made_.items.push_back(std::move(item));
    return made_.items.back();
  }
  static void relative(Item& item, int at, uint64_t target) {
    item.relative_at = at;
    item.target = target;
  }
  int here() const { return static_cast<int>(made_.items.size()); }
  /// A branch that ends with its displacement; its label is set later. Returns its index.
  int branch(std::vector<uint8_t> opcode, int bytes) {
    const int at = static_cast<int>(opcode.size());
    opcode.resize(opcode.size() + static_cast<size_t>(bytes));
    Item& item = add(std::move(opcode));
    item.relative_at = at;
    item.relative_bytes = bytes;
    return here() - 1;
  }
  void set_label(int item, int label) { made_.items[static_cast<size_t>(item)].label = label; }

  /// Runs `make` for items that are only removed together.
  template <typename Make>
  void together(Make make) {
    const int before = group_;
    group_ = ++groups_;
    make();
    group_ = before;
  }

  int free_register() {
    for (;;) {
      const int reg = static_cast<int>(random_.below(16));
      if (!is_fixed(reg)) return reg;
    }
  }
  /// OPCODE with a register in its low bits.
  std::vector<uint8_t> with_register(uint8_t opcode, int reg) const {
    std::vector<uint8_t> bytes;
    if (reg > 7) bytes.push_back(0x41);
    bytes.push_back(static_cast<uint8_t>(opcode | (reg & 7)));
    return bytes;
  }
  /// OP reg, [rip + …] or similar, 64 bits wide.
  Item& access(uint8_t opcode, int reg, uint64_t target) {
    Item& item = add(
        {static_cast<uint8_t>(0x48 | (reg >> 3) << 2), opcode, static_cast<uint8_t>((reg & 7) << 3 | 5), 0, 0, 0, 0});
    relative(item, 3, target);
    return item;
  }
  void load_word(int reg, uint32_t value) {
    auto bytes = with_register(0xb8, reg);
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(value >> 8 * i));
    add(std::move(bytes));
  }
  uint64_t private_slot() { return address(private_at) + 8 * uint64_t{random_.below(64)}; }

  // --- shapes ---

  void sequence(int instructions) {
    while (instructions > 0) {
      const uint32_t kind = random_.below(1000);
      const int inside = 1 + static_cast<int>(random_.below(6));
      int used = 3 + inside;
      group_ = 0;
      if (kind < 700) {
        used = 1;
        plain(1);
      } else if (kind < 860) {
        jump(kind, inside);
      } else if (kind < 900) {
        call(inside);
      } else if (kind < 930) {
        loop(inside);
      } else if (kind < 960) {
        string();
      } else {
        add_rare_form(kind, inside);
      }
      instructions -= used;
    }
  }

  void plain(int count) {
    for (int i = 0; i < count; ++i) {
      const int before = group_;
      group_ = ++groups_;
      Rules rules{made_.layout, made_.fixed, in_call_ == 0};
      for (Item& item : random_instruction(random_, rules)) add(item.bytes) = with_group(item);
      group_ = before;
    }
  }
  Item with_group(Item item) const {
    item.group = group_;
    return item;
  }

  std::vector<uint8_t> hint() {
    return random_.percent(12) ? std::vector<uint8_t>{random_.one_of<uint8_t>({0x2e, 0x3e, 0xf2, 0x48, 0x36})}
                               : std::vector<uint8_t>{};
  }

  void jump(uint32_t kind, int inside) {
    group_ = ++groups_;
    const int group = group_;
    auto opcode = hint();
    int jumps = 0;
    if (kind < 770) {  // jcc, long or short
      const auto condition = static_cast<uint8_t>(random_.below(16));
      if (random_.percent(50)) {
        opcode.push_back(0x0f);
        opcode.push_back(0x80 | condition);
        jumps = branch(opcode, 4);
      } else {
        opcode.push_back(0x70 | condition);
        jumps = branch(opcode, 1);
      }
    } else if (kind < 800) {  // loop, loope, loopne, jrcxz
      if (is_fixed(rcx) && random_.percent(75)) return;
      opcode.clear();
      if (random_.percent(25)) opcode.push_back(0x67);
      const auto which = static_cast<uint8_t>(0xe0 | random_.below(4));
      if (is_fixed(rcx) && which != 0xe3) return;
      opcode.push_back(which);
      jumps = branch(opcode, 1);
    } else if (kind < 815) {  // jmp, long or short
      const bool is_short = random_.percent(50);
      opcode.push_back(is_short ? 0xeb : 0xe9);
      jumps = branch(opcode, is_short ? 1 : 4);
    } else {
      indirect_jump(inside);
      return;
    }
    plain(inside);
    group_ = group;
    set_label(jumps, here());
  }

  /// Loads the address of a label into a register.
  int address_of_label(int reg) {
    Item& item = access(0x8d, reg, 0);
    (void)item;
    return here() - 1;
  }

  void indirect_jump(int inside) {
    const int group = group_;
    const int reg = free_register();
    const int label = address_of_label(reg);
    const uint64_t slot = private_slot();
    switch (random_.below(5)) {
      case 0: add(with_modrm(hint(), reg, 4)); break;  // jmp reg
      case 1:
        access(0x89, reg, slot);
        relative(add({0xff, 0x25, 0, 0, 0, 0}), 2, slot);
        break;
      case 2:
        add(with_register(0x50, reg));
        add({0xc3});
        break;
      case 3:  // jmp [rsp], which stays on the stack
        add(with_register(0x50, reg));
        add({0xff, 0x24, 0x24});
        break;
      default:
        if (made_.layout.low()) {
          access(0x89, reg, slot);
          Item& item = add({0xff, 0x24, 0x25, 0, 0, 0, 0});
          const auto low = static_cast<uint32_t>(slot);
          std::memcpy(&item.bytes[3], &low, 4);
        } else {
          add(with_modrm({}, reg, 4));
        }
    }
    const int last = here() - 1;
    const bool pushed = made_.items[static_cast<size_t>(last)].bytes == std::vector<uint8_t>{0xff, 0x24, 0x24};
    plain(inside);
    group_ = group;
    set_label(label, here());
    if (pushed) add(with_register(0x58, free_register()));
  }

  std::vector<uint8_t> with_modrm(std::vector<uint8_t> bytes, int reg, int operation) const {
    if (!bytes.empty() && bytes.back() == 0x48) bytes.clear();
    if (reg > 7) bytes.push_back(0x41);
    bytes.push_back(0xff);
    bytes.push_back(static_cast<uint8_t>(0xc0 | operation << 3 | (reg & 7)));
    return bytes;
  }

  /// A call of a function that is placed after a jump over it; nothing in it moves the stack.
  void call(int inside) {
    group_ = ++groups_;
    const int group = group_;
    const auto extra = static_cast<uint8_t>(random_.percent(30) ? 8 * random_.below(4) : 0);
    for (int i = 0; i < extra / 8; ++i) add(with_register(0x50, static_cast<int>(random_.below(16))));
    int calls = 0;
    const uint32_t form = random_.below(4);
    if (form < 2) {
      auto opcode = hint();
      opcode.push_back(0xe8);
      calls = branch(opcode, 4);
    } else {
      const int reg = free_register();
      calls = address_of_label(reg);
      if (form == 2) {
        add(with_modrm(hint(), reg, 2));
      } else {
        const uint64_t slot = private_slot();
        access(0x89, reg, slot);
        relative(add({0xff, 0x15, 0, 0, 0, 0}), 2, slot);
      }
    }
    plain(inside / 2);
    group_ = group;
    const int over = branch({0xe9}, 4);
    set_label(calls, here());
    ++in_call_;
    plain(inside);
    --in_call_;
    group_ = group;
    std::vector<uint8_t> returns;
    if (random_.percent(25)) returns.push_back(random_.one_of<uint8_t>({0xf3, 0xf2, 0x48}));
    if (extra != 0) {
      returns.insert(returns.end(), {0xc2, extra, 0});
    } else {
      returns.push_back(0xc3);
    }
    add(returns);
    set_label(over, here());
  }

  void loop(int inside) {
    if (depth_ == 2) return;
    group_ = ++groups_;
    const int group = group_;
    const uint64_t counter = address(private_at) + 0x800 + 8 * static_cast<uint64_t>(groups_);
    Item& set = add({0xc7, 0x05, 0, 0, 0, 0, static_cast<uint8_t>(1 + random_.below(6)), 0, 0, 0});
    relative(set, 2, counter);
    const int top = here();
    ++depth_;
    plain(inside);
    --depth_;
    group_ = group;
    relative(add({0xff, 0x0d, 0, 0, 0, 0}), 2, counter);
    set_label(branch({0x0f, 0x85}, 4), top);
  }

  void string() {
    if (is_fixed(rsi) || is_fixed(rdi) || is_fixed(rcx)) return;
    group_ = ++groups_;
    const bool down = random_.percent(25), fails = random_.percent(15);
    access(0x8d, rsi, address(data_at) + 0x400 + random_.below(0x800));
    access(0x8d, rdi,
           fails ? address(second_guard_at) - random_.below(100) : address(data_at) + 0x800 + random_.below(0x800));
    load_word(rcx, random_.below(20));
    if (down) add({0xfd});
    std::vector<uint8_t> bytes;
    const uint32_t form = random_.below(4);
    if (random_.percent(15) && made_.layout.low()) bytes.push_back(0x67);
    if (random_.percent(10)) bytes.push_back(random_.one_of<uint8_t>({0x64, 0x2e}));
    if (form != 0) bytes.push_back(form == 1 ? 0xf2 : 0xf3);
    if (random_.percent(25)) bytes.push_back(0x66);
    if (random_.percent(30)) bytes.push_back(static_cast<uint8_t>(0x40 | random_.below(16)));
    bytes.push_back(random_.one_of<uint8_t>({0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf}));
    if ((bytes.back() == 0xac || bytes.back() == 0xad || bytes.back() >= 0xae) && is_fixed(rax)) bytes.back() = 0xa4;
    add(bytes);
    if (down) add({0xfc});
  }

  void add_rare_form(uint32_t kind, int inside) {
    if (in_call_ != 0) return;
    group_ = ++groups_;
    const int group = group_;
    if (kind < 966) {  // the flags to a register
      add({0x9c});
      add(with_register(0x58, free_register()));
    } else if (kind < 972) {  // flags from a constant; the direction is restored
      const uint32_t flags = (random_.byte() & 0xd5u) | (random_.percent(50) ? 0x800u : 0) |
                             (random_.percent(30) ? 0x400u : 0) | (random_.percent(20) ? 0x200000u : 0);
      std::vector<uint8_t> push = {0x68};
      for (int i = 0; i < 4; ++i) push.push_back(static_cast<uint8_t>(flags >> 8 * i));
      add(push);
      add({0x9d});
      plain(1);
      group_ = group;
      add({0xfc});
    } else if (kind < 976) {  // alignment checks
      add({0x9c});
      add({0x81, 0x0c, 0x24, 0, 0, 4, 0});  // or dword [rsp], AC
      add({0x9d});
      for (int i = 0; i < inside; ++i) {
        ++in_call_;
        plain(1);
        --in_call_;
      }
      group_ = group;
      add({0x9c});
      add({0x81, 0x24, 0x24, 0xff, 0xff, 0xfb, 0xff});
      add({0x9d}).steppable = false;  // the stepper misses its fault on an unaligned stack
    } else if (kind < 980) {
      frame();
    } else if (kind < 984) {  // retfq to the next instruction
      if (is_fixed(rax)) return;
      add({0x6a, 0x33});
      const int label = address_of_label(rax);
      add({0x50});
      add({0x48, 0xcb});
      plain(inside);
      group_ = group;
      set_label(label, here());
    } else if (kind < 988) {
      interrupt_return(inside);
    } else if (kind < 992) {  // aborts, or is no instruction here
      if (is_fixed(rax)) return;
      const int begins = branch({0xc7, 0xf8}, 4);
      set_label(begins, here());
    } else if (kind < 996) {
      relative(add({0xd9, 0x35, 0, 0, 0, 0}), 2, address(private_at) + 0xe00);  // fnstenv, whose result is not read
      add({0x9b});
    } else {
      save_x87();
    }
  }

  /// enter, which reads frame pointers, and leave.
  void frame() {
    if (is_fixed(rbp)) return;
    add({0x48, 0x89, 0xe5});
    add({0xc8, static_cast<uint8_t>(8 * random_.below(8)), 0, static_cast<uint8_t>(random_.below(4))});
    add({0xc9});
  }

  void interrupt_return(int inside) {
    if (is_fixed(rax)) return;
    const int group = group_;
    add({0x48, 0x89, 0xe0});  // mov rax, rsp
    add({0x6a, 0x2b});
    add({0x50});
    add({0x9c});
    add({0x6a, 0x33});
    const int label = address_of_label(rax);
    add({0x50});
    add({0x48, 0xcf});
    plain(inside);
    group_ = group;
    set_label(label, here());
  }

  /// fxsave64 with the address of the last x87 instruction cleared.
  void save_x87() {
    const uint64_t at = address(private_at) + 0xc00;
    const std::vector<uint8_t> save = {0x48, 0x0f, 0xae, 0x05, 0, 0, 0, 0};
    relative(add(save), 4, at);
    relative(add({0x48, 0x0f, 0xae, 0x0d, 0, 0, 0, 0}), 4, at);  // and back
  }

  Random random_;
  Sequence made_;
  int group_ = 0, groups_ = 0;
  int depth_ = 0, in_call_ = 0;
};

}  // namespace

Sequence make_sequence(uint64_t seed, int length) { return SequenceMaker(seed, length).take(); }

}  // namespace tally::differential
