// Which hypervisor or provider a virtual machine runs on, and what switches its PMU on there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/output/result/doctor.hpp"
#include "tally/tools/doctor/facts.hpp"

namespace tally::doctor {

/// A host that was recognised.
struct Host {
  std::string name;                    ///< "VMware"
  std::string evidence;                ///< what it was recognised by
  std::vector<result::Step> switches;  ///< what to do there; a host without a switch says so
};

/// Whether this is a virtual machine; nothing where neither the processor nor the firmware tells.
std::optional<bool> is_virtual(const Facts& facts);

/// The host. Nothing where it is not recognised: no advice is given then.
std::optional<Host> recognise_host(const Facts& facts);

}  // namespace tally::doctor
