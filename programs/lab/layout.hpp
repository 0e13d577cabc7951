// Memory layout of the emulated machine.
#pragma once

#include <cstdint>

namespace tally::lab::layout {

inline constexpr std::uint64_t gdt = 0x500;
inline constexpr std::uint64_t idt = 0x1000;  ///< 256 gates of at most 16 bytes
inline constexpr std::uint64_t tss = 0x2000;

// The lab's own few instructions. They are not counted.
inline constexpr std::uint64_t rom = 0x3000;
inline constexpr std::uint64_t boot = 0x3000;
inline constexpr std::uint64_t leave = 0x3100;             ///< return address of the program; a return here ends it
inline constexpr std::uint64_t interrupt_return = 0x3200;  ///< an IRET that enters a handler
inline constexpr std::uint64_t rom_end = 0x4000;

inline constexpr std::uint64_t boot_information = 0x4000;  ///< of multiboot
inline constexpr std::uint64_t command_line = 0x4100;

inline constexpr std::uint64_t user_stack = 0x6'0000;       ///< stacks grow down from here
inline constexpr std::uint64_t interrupt_stack = 0x7'0000;  ///< for interrupts at CPL 3
inline constexpr std::uint64_t stack = 0x8'0000;

inline constexpr std::uint64_t apic = 0xFEE0'0000;
inline constexpr std::uint64_t apic_size = 0x1000;

inline constexpr std::uint16_t kernel_code = 0x08;
inline constexpr std::uint16_t kernel_data = 0x10;
inline constexpr std::uint16_t tss_selector = 0x28;
inline constexpr std::uint16_t narrow_code = 0x38;  ///< 32 bits in a 64-bit processor

}  // namespace tally::lab::layout
