// Recognises the hypervisor or provider of a virtual machine, and how to enable its PMU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "programs/doctor/diagnosis.hpp"
#include "programs/doctor/host_facts.hpp"

namespace tally::doctor {

/// A recognised host.
struct Host {
  std::string name;            ///< "VMware"
  std::string evidence;        ///< the facts that identify it
  std::vector<Step> switches;  ///< what to do there; says so if there is nothing
};

/// Whether this is a virtual machine; empty if neither processor nor firmware reports it.
std::optional<bool> is_virtual(const Facts& facts);

/// The host; empty if it is not recognised. No advice is given then.
std::optional<Host> recognise_host(const Facts& facts);

}  // namespace tally::doctor
