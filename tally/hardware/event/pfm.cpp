#include "tally/hardware/event/pfm.hpp"

#include <fmt/format.h>
#include <perfmon/pfmlib.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/deferred_relocations.hpp"

namespace tally::event::pfm {
namespace {

// Control bits that libpfm4 sets in its encodings. The Event or the kernel sets them.
constexpr std::uint64_t usr = 1U << 16;
constexpr std::uint64_t os = 1U << 17;
constexpr std::uint64_t control = usr | os | (1U << 20) | (1U << 22);
// For Arm, libpfm4 sets exclusion bits above the event number (PMEVTYPER<n>_EL0, evtCount 15:0): bit 30 excludes the
// kernel, bit 31 user mode, as its encodings of ":k" and ":u" show. The register has them the other way round.
constexpr std::uint64_t arm_number = 0xFFFF;
constexpr std::uint64_t arm_no_kernel = 1U << 30;
constexpr std::uint64_t arm_no_user = 1U << 31;

template <class Info>
Info sized() {
  Info info{};
  info.size = sizeof info;
  return info;
}

Family family_of(std::string_view name) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (name.starts_with("amd64_fam17h") || name.starts_with("amd64_fam19h") || name.starts_with("amd64_fam1ah"))
    return Family::amd_zen;
  if (name.starts_with("amd64_")) return Family::amd;
  if (is_one_of({"core", "atom"})) return Family::intel_old;
  if (is_one_of({"slm", "glm", "tmt", "knl", "knm", "adl_grt"})) return Family::intel_atom;
  if (is_one_of({"nhm", "nhm_ex", "wsm", "wsm_dp", "snb", "snb_ep", "ivb", "ivb_ep", "hsw", "hsw_ep", "bdw", "bdw_ep",
                 "skl", "skx", "clx"}))
    return Family::intel_core;
  if (is_one_of({"icl", "icx", "spr", "emr", "gnr", "adl_glc"})) return Family::intel_recent;
  if (name.starts_with("arm_")) return Family::arm;
  return Family::none;  // Netburst, Knights Corner, P6 …: other layouts
}

// libpfm4's state, one per process, initialised once. `ids` is parallel to `pmus`.
struct Library {
  std::vector<Pmu> pmus;
  std::vector<pfm_pmu_t> ids;

  Library() {
    linux::make_deferred_relocations();
    // Lets libpfm4 encode for other processors than this one. Programs that tally starts get the user's environment:
    // one more variable changes what they execute.
    constexpr const char* setting = "LIBPFM_ENCODE_INACTIVE";
    const bool is_users = ::secure_getenv(setting) != nullptr;
    if (!is_users) ::setenv(setting, "1", 0);
    const bool is_ready = pfm_initialize() == PFM_SUCCESS;
    if (!is_users) ::unsetenv(setting);
    if (!is_ready) return;
    for (int id = PFM_PMU_NONE; id < PFM_PMU_MAX; ++id) add(static_cast<pfm_pmu_t>(id));
  }

  void add(pfm_pmu_t id) {
    auto info = sized<pfm_pmu_info_t>();
    if (pfm_get_pmu_info(id, &info) != PFM_SUCCESS || info.type != PFM_PMU_TYPE_CORE || info.nevents <= 0) return;
    const Family family = family_of(info.name);
    if (family == Family::none) return;
    // libpfm4's 16 of Ice Lake and later is an upper bound: CPUID.0AH of all of them reports 8.
    const int counters = family == Family::intel_recent ? std::min(info.num_cntrs, 8) : info.num_cntrs;
    pmus.push_back({info.name, info.desc, family, counters, info.num_fixed_cntrs, info.is_present != 0});
    ids.push_back(id);
  }

  int first_event(const Pmu& pmu) const {
    auto info = sized<pfm_pmu_info_t>();
    const auto at = static_cast<std::size_t>(
        std::find_if(pmus.begin(), pmus.end(), [&](const Pmu& one) { return one.name == pmu.name; }) - pmus.begin());
    if (at == pmus.size() || pfm_get_pmu_info(ids[at], &info) != PFM_SUCCESS) return -1;
    return info.first_event;
  }
};

const Library& library() {
  static const Library only;
  return only;
}

// The part of libpfm4's full name that the caller set: "hsw::UOPS_RETIRED:ALL:k=0:u=1:e=0:c=2" →
// "UOPS_RETIRED:ALL:c=2".
std::string short_name(const std::string& full) {
  const std::size_t start = full.find("::");
  std::string name;
  for (const std::string& part : split(full.substr(start == std::string::npos ? 0 : start + 2), ':')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      name += (name.empty() ? "" : ":") + part;
      continue;
    }
    const std::string key = part.substr(0, equals);
    const std::string value = part.substr(equals + 1);
    if (key == "u" || key == "k" || value == "0") continue;
    name += ":" + (value == "1" && key != "c" && key != "ldlat" ? key : part);
  }
  return name;
}

std::vector<pfm_event_attr_info_t> unit_masks(int event, int attributes) {
  std::vector<pfm_event_attr_info_t> masks;
  for (int i = 0; i < attributes; ++i) {
    auto mask = sized<pfm_event_attr_info_t>();
    if (pfm_get_event_attr_info(event, i, PFM_OS_NONE, &mask) == PFM_SUCCESS && mask.type == PFM_ATTR_UMASK) {
      masks.push_back(mask);
    }
  }
  return masks;
}

std::string description(int index, const std::string& name) {
  auto event = sized<pfm_event_info_t>();
  if (pfm_get_event_info(index, PFM_OS_NONE, &event) != PFM_SUCCESS) return {};
  std::string text = event.desc ? trimmed(event.desc) : "";
  const auto parts = split(name, ':');
  for (const pfm_event_attr_info_t& mask : unit_masks(index, event.nattrs)) {
    const bool chosen =
        std::any_of(parts.begin() + 1, parts.end(), [&](const auto& part) { return same_word(part, mask.name); });
    if (chosen && mask.desc) text += ": " + trimmed(mask.desc);
  }
  return text;
}

// Rewrites ":uk" to ":u:k": libpfm4 accepts modes only separately.
std::string with_separate_modes(std::string_view text) {
  std::string joined;
  for (const std::string& part : split(text, ':')) {
    if (!joined.empty()) joined += ':';
    joined += part == "uk" || part == "ku" ? "u:k" : part;
  }
  return joined;
}

// Whether libpfm4 accepts its own full name: some list a default mask that excludes one that was named.
bool accepts(const std::string& full) {
  std::uint64_t codes[4] = {};
  auto argument = sized<pfm_pmu_encode_arg_t>();
  argument.codes = codes;
  argument.count = 4;
  return pfm_get_os_event_encoding(full.c_str(), PFM_PLM3, PFM_OS_NONE, &argument) == PFM_SUCCESS;
}

// "UOPS_RETIRED:ALL:c=2:u" → "UOPS_RETIRED:ALL:c=2".
std::string without_modes(std::string_view text) {
  std::string rest;
  for (const std::string& term : split(text, ':')) {
    if (term == "u" || term == "k" || term.starts_with("u=") || term.starts_with("k=")) continue;
    rest += (rest.empty() ? "" : ":") + term;
  }
  return rest;
}

bool says_mode(std::string_view text) {
  const auto parts = split(text, ':');
  return std::any_of(parts.begin() + 1, parts.end(), [](const std::string& part) {
    return part == "u" || part == "k" || part.starts_with("u=") || part.starts_with("k=");
  });
}

}  // namespace

const std::vector<Pmu>& pmus() { return library().pmus; }

const Pmu* find_pmu(std::string_view name) {
  const auto& all = pmus();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Pmu& pmu) { return same_word(pmu.name, name); });
  return found == all.end() ? nullptr : &*found;
}

std::optional<Result<EncodedEvent>> encode(const Pmu& pmu, std::string_view text) {
  const std::string asked = with_separate_modes(text);
  const std::string full = pmu.name + "::" + asked;
  char* understood = nullptr;
  std::uint64_t codes[4] = {};
  auto argument = sized<pfm_pmu_encode_arg_t>();
  argument.codes = codes;
  argument.count = 4;
  argument.fstr = &understood;
  const int answer = pfm_get_os_event_encoding(full.c_str(), PFM_PLM3, PFM_OS_NONE, &argument);
  const std::string name = understood ? short_name(understood) : "";
  std::free(understood);  // NOLINT(cppcoreguidelines-no-malloc): libpfm4 allocates it with malloc
  if (answer == PFM_ERR_NOTFOUND || answer == PFM_ERR_NOTSUPP) return std::nullopt;
  if (answer != PFM_SUCCESS) {
    return fail(Code::bad_usage, fmt::format("'{}': {} (libpfm4, {})", printable(text), pfm_strerror(answer), pmu.name),
                fmt::format("`tally events --all '{}::{}*'` lists the event's unit masks", pmu.name,
                            split(asked, ':').front()));
  }
  EncodedEvent found;
  found.name = accepts(fmt::format("{}::{}", pmu.name, name)) ? name : without_modes(asked);
  found.what = description(argument.idx, name);
  found.encoding.family = pmu.family;
  found.encoding.pmu = pmu.name;
  found.encoding.config = codes[0] & (is_x86(pmu.family) ? ~control : arm_number);
  if (argument.count > 1) found.encoding.config1 = codes[1];
  if (says_mode(asked)) {
    const bool kernel = is_x86(pmu.family) ? (codes[0] & os) != 0 : (codes[0] & arm_no_kernel) == 0;
    const bool user = is_x86(pmu.family) ? (codes[0] & usr) != 0 : (codes[0] & arm_no_user) == 0;
    found.mode = kernel && user ? Mode::both : kernel ? Mode::kernel : Mode::user;
  }
  return found;
}

std::vector<Name> names(const Pmu& pmu) {
  std::vector<Name> made;
  for (int index = library().first_event(pmu); index != -1; index = pfm_get_event_next(index)) {
    auto event = sized<pfm_event_info_t>();
    if (pfm_get_event_info(index, PFM_OS_NONE, &event) != PFM_SUCCESS) continue;
    const std::string what = event.desc ? trimmed(event.desc) : "";
    const auto masks = unit_masks(index, event.nattrs);
    for (const pfm_event_attr_info_t& mask : masks) {
      made.push_back({fmt::format("{}:{}", event.name, mask.name), mask.desc ? trimmed(mask.desc) : what,
                      static_cast<unsigned>(event.code), static_cast<unsigned>(mask.code)});
    }
    if (masks.empty()) {
      // Intel's events without unit masks keep theirs in the code; AMD's and Arm's codes are longer than a byte.
      const auto code = static_cast<unsigned>(event.code);
      const bool is_long = is_amd(pmu.family) || !is_x86(pmu.family);
      made.push_back({event.name, what, is_long ? code : code & 0xFF, is_long ? 0 : code >> 8});
    }
  }
  return made;
}

}  // namespace tally::event::pfm
