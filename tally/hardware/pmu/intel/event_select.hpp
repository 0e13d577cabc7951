// IA32_PERFEVTSELn: the event and conditions of a general-purpose counter of an Intel processor.
#pragma once

#include <cstdint>
#include <span>

#include "tally/hardware/pmu/register.hpp"

namespace tally::pmu::intel {

/// The fields of IA32_PERFEVTSELn, lowest bit first.
/// Source: Intel SDM vol. 3B, "Architectural Performance Monitoring"; version 6: the same, "Version 6".
std::span<const Field> event_select_fields();

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
