// Loops that reach the highest rates of a processor: independent floating-point operations, and a triad.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tally::memory {

/// Floating-point operations of one precision and width.
struct PeakKernel {
  std::string_view precision;  ///< as Ceiling::of: "single", "x87"
  int bits = 0;                ///< of the registers; 0 for scalar instructions
  bool (*present)();           ///< whether the processor supports it, and no other kernel of this width is faster
  int operations = 0;          ///< of one round: a multiply-add is two
  void (*run)(std::uint64_t rounds);
};

/// The kernels of this architecture, by precision and rising width.
std::span<const PeakKernel> peak_kernels();

/// Registers of one width. run(): a = b + 0.5·c for `bytes` bytes of doubles, which loads twice as many bytes, and
/// stores as many. The addresses are multiples of 64, and `bytes` is one of 256.
struct TriadKernel {
  bool (*present)();
  void (*run)(std::byte* a, const std::byte* b, const std::byte* c, std::uint64_t bytes);
};

/// The kernels of this architecture: the widest is not the fastest on every processor.
std::span<const TriadKernel> triad_kernels();

}  // namespace tally::memory
