// IA32_PERFEVTSELn: the event and conditions of a general-purpose counter of an Intel processor.
#pragma once

#include <cstdint>

#include "tally/hardware/pmu/register.hpp"

namespace tally::pmu::intel {

/// The fields of IA32_PERFEVTSELn, lowest bit first.
/// Source: Intel SDM vol. 3B, "Architectural Performance Monitoring", diagrams of IA32_PERFEVTSELx in versions 1, 3 and
/// 6. Bits 34 and 35: "Adaptive PEBS" and "Branch event logging". Sources differ on PC and ANY: see the reference page
/// of the registers.
inline constexpr Field event_select_fields[] = {
    bits(7, 0, "event", "event select"),
    bits(15, 8, "umask", "unit mask: which of the event's conditions"),
    flag(16, "USR", "counts at CPL 1 to 3 (user mode)"),
    flag(17, "OS", "counts at CPL 0 (kernel mode)"),
    flag(18, "E", "edge detect: counts how often the condition begins"),
    flag(19, "PC", "pin control; reserved since Sandy Bridge, without effect"),
    flag(20, "INT", "interrupt (PMI) at overflow"),
    flag(21, "ANY", "counts the other threads of the core as well").from(3).upto(4).needing(Feature::any_thread),
    flag(22, "EN", "the counter may count"),
    flag(23, "INV", "inverts the comparison with CMASK"),
    bits(31, 24, "CMASK", "counts cycles with at least this many events; 0 counts events").as(Show::number),
    flag(32, "IN_TX", "counts only inside transactions (TSX)").needing(Feature::transactions).from(3),
    flag(33, "IN_TXCP", "excludes aborted transactions (TSX; counter 2 only)").needing(Feature::transactions).from(3),
    flag(34, "ADAPTIVE", "writes an adaptive PEBS record").needing(Feature::adaptive_pebs).from(5),
    flag(35, "BR_CNTR", "logs the event in the branch records").needing(Feature::branch_events).from(6),
    flag(36, "EQ", "counts where events equal CMASK").from(6),
    flag(37, "RDPMC_USER_DISABLE", "refuses RDPMC in user mode").from(6),
    bits(47, 40, "UMASK2", "second unit mask").from(6),
};

/// The fields of IA32_PERFEVTSELn. encode(decode(x)) is x for every x.
struct EventSelect {
  std::uint8_t event = 0;           ///< bits 7:0
  std::uint8_t umask = 0;           ///< bits 15:8
  bool usr = false;                 ///< bit 16: counts at CPL 1 to 3
  bool os = false;                  ///< bit 17: counts at CPL 0
  bool edge = false;                ///< bit 18, E: counts the rising edges of the condition
  bool pin_control = false;         ///< bit 19, PC: reserved since Sandy Bridge
  bool interrupt = false;           ///< bit 20, INT: interrupt at overflow
  bool any_thread = false;          ///< bit 21, ANY: versions 3 and 4 only
  bool enable = false;              ///< bit 22, EN
  bool invert = false;              ///< bit 23, INV: counts cycles with fewer than `cmask` events
  std::uint8_t cmask = 0;           ///< bits 31:24: counts cycles with at least this many events; 0 counts events
  bool in_tx = false;               ///< bit 32: only inside transactions (TSX)
  bool in_tx_checkpointed = false;  ///< bit 33, IN_TXCP: excludes aborted transactions; counter 2 only
  bool adaptive = false;            ///< bit 34: adaptive PEBS record
  bool branch_counter = false;      ///< bit 35, BR_CNTR: event logged in the branch records
  bool equal = false;               ///< bit 36, EQ: version 6; counts where events equal `cmask`
  bool rdpmc_user_disable = false;  ///< bit 37: version 6; disables user-mode RDPMC for this counter
  std::uint8_t umask2 = 0;          ///< bits 47:40: version 6
  std::uint64_t reserved = 0;       ///< set bits outside of the fields, at their positions
  bool operator==(const EventSelect&) const = default;
};

/// Decodes a register value.
EventSelect decode_event_select(std::uint64_t value);

/// Encodes the fields.
std::uint64_t encode(const EventSelect& select);

}  // namespace tally::pmu::intel
