// The answers of CPUID for a CPU model. Sources: Intel SDM volume 2A, CPUID; AMD APM volume 3, appendices D and E.
#include <algorithm>
#include <bit>
#include <cstring>

#include "tally/engine/cpus/cpu_model.hpp"
#include "tally/engine/cpus/cpuid_features.hpp"
#include "tally/linux/machine/execute_cpuid.hpp"

namespace tally::cpus {
namespace {

using channel::CpuidAnswer;

constexpr std::uint32_t line_bytes = 64, extended = 0x80000000;
constexpr std::uint32_t legacy_state_bytes = 576;  // x87, SSE, and the header
constexpr std::uint32_t avx_state_offset = 576;    // on every processor

struct Component {
  std::uint32_t number, bytes;
};
constexpr Component components[] = {{2, 256}, {5, 64}, {6, 512}, {7, 1024}};

constexpr std::uint32_t bit(std::uint32_t n) { return std::uint32_t{1} << n; }
/// The number of bits that number `n` hardware threads.
std::uint32_t id_bits(std::uint32_t n) { return static_cast<std::uint32_t>(std::bit_width(n - 1)); }

std::uint32_t word(std::string_view text, std::size_t at) {
  char letters[4] = {};
  for (std::size_t i = 0; i < 4 && at + i < text.size(); i++) letters[i] = text[at + i];
  std::uint32_t value;
  std::memcpy(&value, letters, sizeof value);
  return value;
}

class Presenter {
 public:
  Presenter(const CpuModel& model, const StateLayout& layout) : model_(model), layout_(layout) {
    components_ = channel::state_x87_sse;
    if (model.features.has(Feature::avx)) components_ |= channel::state_avx;
    if (model.features.has(Feature::avx512f)) components_ |= channel::state_avx512;
  }

  channel::PresentedCpu present() {
    cpu_.returns_highest = model_.vendor == Vendor::intel ? 1 : 0;
    cpu_.components = components_;
    cpu_.state_bytes = state_bytes();
    cpu_.features = model_.features;
    cpu_.key = (model_.features.bits * 0xD6E8FEB86659FD93ull ^ components_) * 0xA0761D6478BD642Full | 1;
    identity();
    features();
    topology();
    caches();
    state();
    extended_identity();
    return cpu_;
  }

 private:
  void add(std::uint32_t leaf, std::uint32_t subleaf, CpuidAnswer answer) {
    const std::uint32_t highest = leaf < extended ? model_.highest_leaf : model_.highest_extended_leaf;
    if (leaf <= highest && cpu_.leaf_count < channel::cpuid_leaf_limit)
      cpu_.leaf[cpu_.leaf_count++] = {leaf, subleaf, answer};
  }
  void add(std::uint32_t leaf, CpuidAnswer answer) { add(leaf, channel::any_subleaf, answer); }

  /// Returns the feature bits of a leaf.
  CpuidAnswer feature_answer(std::uint32_t leaf, std::uint32_t subleaf = 0) const {
    std::uint32_t registers[4] = {};
    for (const FeatureBit& feature_bit : feature_bits())
      if (feature_bit.leaf == leaf && feature_bit.subleaf == subleaf && model_.features.has(feature_bit.feature))
        registers[static_cast<int>(feature_bit.in)] |= bit(feature_bit.bit);
    return {registers[0], registers[1], registers[2], registers[3]};
  }

  bool is_amd() const { return model_.vendor == Vendor::amd; }
  bool has_many_threads() const { return model_.threads > 1; }

  std::uint32_t signature() const {
    const std::uint32_t base = std::min(model_.family, 15u), more = model_.family - base;
    const std::uint32_t high = base == 15 || base == 6 ? model_.model >> 4 : 0;
    return more << 20 | high << 16 | base << 8 | (model_.model & 15) << 4 | model_.stepping;
  }

  CpuidAnswer vendor_answer(std::uint32_t highest) const {
    const std::string_view name = is_amd() ? "AuthenticAMD" : "GenuineIntel";
    return {highest, word(name, 0), word(name, 8), word(name, 4)};
  }

  void identity() {
    add(0, vendor_answer(model_.highest_leaf));
    CpuidAnswer one = feature_answer(1);
    one.eax = signature();
    one.ebx = line_bytes / 8 << 8 | (has_many_threads() ? bit(id_bits(model_.threads)) : 1) << 16;
    constexpr std::uint32_t os_uses_xsave = bit(27), threads_follow = bit(28);
    if (model_.features.has(Feature::xsave)) one.ecx |= os_uses_xsave;
    one.edx = common_features | (has_many_threads() ? threads_follow : 0);
    add(1, one);
    constexpr std::uint32_t always_running_timer = bit(2);
    add(6, {always_running_timer, 0, 0, 0});
  }

  void features() {
    CpuidAnswer seven = feature_answer(7);
    const CpuidAnswer second = feature_answer(7, 1);
    seven.eax = second.eax != 0 ? 1 : 0;
    add(7, 0, seven);
    if (second.eax != 0) add(7, 1, second);
  }

  void topology() {
    constexpr std::uint32_t of_threads = 1u << 8, of_cores = 2u << 8;
    for (const std::uint32_t leaf : {0xbu, 0x1fu}) {
      add(leaf, 0, {id_bits(model_.threads_per_core), model_.threads_per_core, of_threads, 0});
      add(leaf, 1, {id_bits(model_.threads), model_.threads, of_cores | 1, 0});
    }
    if (!is_amd()) return;
    add(0x8000001e, {0, (model_.threads_per_core - 1) << 8, 0, 0});
  }

  /// Leaf 4 of Intel's processors and leaf 8000001DH of AMD's have the same form.
  CpuidAnswer cache_answer(const Cache& cache) const {
    constexpr std::uint32_t self_initializing = bit(8);
    const std::uint32_t cores = is_amd() ? 1 : model_.threads / model_.threads_per_core;
    const std::uint32_t sharing = is_amd() ? cache.threads : bit(id_bits(cache.threads));
    const std::uint32_t sets = cache.kib * 1024 / line_bytes / cache.ways;
    return {static_cast<std::uint32_t>(cache.content) | static_cast<std::uint32_t>(cache.level) << 5 |
                self_initializing | (sharing - 1) << 14 | (bit(id_bits(cores)) - 1) << 26,
            (line_bytes - 1) | (cache.ways - 1) << 22, sets - 1, 0};
  }

  void caches() {
    std::uint32_t n = 0;
    for (const Cache& cache : model_.caches)
      if (cache.level != 0) add(is_amd() ? 0x8000001d : 4, n++, cache_answer(cache));
    constexpr std::uint32_t one_iteration = 1, see_leaf_4 = 0xff << 8, prefetch_64 = 0xf0;
    if (!is_amd()) add(2, {one_iteration | see_leaf_4, prefetch_64, 0, 0});
    old_cache_leaves();
  }

  /// The code of an associativity in leaf 80000006H.
  static std::uint32_t ways_code(std::uint32_t ways) { return ways >= 16 ? 8 : ways >= 8 ? 6 : ways; }

  void old_cache_leaves() {
    constexpr std::uint32_t one_line_per_tag = 1u << 8;
    CpuidAnswer first{}, second{};
    for (const Cache& cache : model_.caches) {
      const std::uint32_t l1 = cache.kib << 24 | cache.ways << 16 | one_line_per_tag | line_bytes;
      if (cache.level == 1) (cache.content == Cache::Content::data ? first.ecx : first.edx) = l1;
      const std::uint32_t outer = ways_code(cache.ways) << 12 | line_bytes;
      if (cache.level == 2) second.ecx = cache.kib << 16 | outer | (is_amd() ? one_line_per_tag : 0);
      if (cache.level == 3 && is_amd()) second.edx = cache.kib / 512 << 18 | outer | one_line_per_tag;
    }
    if (is_amd()) add(0x80000005, first);
    add(0x80000006, second);
  }

  std::uint32_t offset_of(const Component& component) const {
    return component.number == 2 ? avx_state_offset : layout_.offset[component.number];
  }

  /// The size in the standard form. The offsets are the real processor's, which writes there. Intel's and AMD's differ
  /// for AVX-512: the size is Intel's on both, so that it is the same on every machine.
  std::uint32_t state_bytes() const {
    constexpr std::uint32_t most = 2688;
    std::uint32_t bytes = legacy_state_bytes;
    for (const Component& component : components)
      if ((components_ >> component.number & 1) != 0)
        bytes = std::max({bytes, offset_of(component) + component.bytes, component.number == 7 ? most : 0});
    return bytes;
  }

  void state() {
    if (!model_.features.has(Feature::xsave)) return;
    const std::uint32_t bytes = state_bytes();
    add(0xd, 0, {static_cast<std::uint32_t>(components_), bytes, bytes, 0});
    CpuidAnswer one = feature_answer(0xd, 1);
    std::uint32_t compacted = legacy_state_bytes;
    for (const Component& component : components)
      if ((components_ >> component.number & 1) != 0) compacted += component.bytes;
    if (model_.features.has(Feature::xsavec)) one.ebx = compacted;
    add(0xd, 1, one);
    for (const Component& component : components)
      if ((components_ >> component.number & 1) != 0)
        add(0xd, component.number, {component.bytes, offset_of(component), 0, 0});
  }

  void extended_identity() {
    add(extended,
        is_amd() ? vendor_answer(model_.highest_extended_leaf) : CpuidAnswer{model_.highest_extended_leaf, 0, 0, 0});
    CpuidAnswer one = feature_answer(extended + 1);
    constexpr std::uint32_t system_call = bit(11), no_execute = bit(20), long_mode = bit(29);
    one.edx |= system_call | no_execute | long_mode;
    if (is_amd()) {
      constexpr std::uint32_t shared_with_leaf_1 = 0x0183f3ff, more_mmx = bit(22), fast_fxsave = bit(25);
      constexpr std::uint32_t many_cores = bit(1), has_topology = bit(22);
      one.eax = signature();
      one.edx |= (common_features & shared_with_leaf_1) | more_mmx | fast_fxsave;
      one.ecx |= many_cores | has_topology;
    }
    add(extended + 1, one);
    for (std::uint32_t i = 0; i < 3; i++)
      add(extended + 2 + i, {word(model_.brand, 16 * i), word(model_.brand, 16 * i + 4), word(model_.brand, 16 * i + 8),
                             word(model_.brand, 16 * i + 12)});
    constexpr std::uint32_t invariant_tsc = bit(8), address_bits = 48 << 8 | 46;
    add(extended + 7, {0, 0, 0, invariant_tsc});
    CpuidAnswer sizes = feature_answer(extended + 8);
    sizes.eax = address_bits;
    if (is_amd()) sizes.ecx = id_bits(model_.threads) << 12 | (model_.threads - 1);
    add(extended + 8, sizes);
  }

  /// Features of every x86-64 processor in EDX of leaf 1, which is AT_HWCAP too.
  static constexpr std::uint32_t common_features = 0x078bfbff;

  const CpuModel& model_;
  const StateLayout& layout_;
  std::uint64_t components_;
  channel::PresentedCpu cpu_{};
};

}  // namespace

StateLayout host_state_layout() {
  StateLayout layout;
  for (const Component& component : components)
    layout.offset[component.number] = linux::cpuid(0xd, component.number).value_or(linux::CpuidRegisters{}).ebx;
  return layout;
}

channel::PresentedCpu present(const CpuModel& model, const StateLayout& layout) {
  return Presenter(model, layout).present();
}

std::optional<channel::CpuidLeaf> counters_leaf(const CpuModel& model, std::uint32_t missing) {
  constexpr std::uint32_t leaf = 0xa, counter_bits = 48, any_thread_is_deprecated = bit(15);
  const Counters& counters = model.counters;
  if (counters.version == 0) return std::nullopt;
  const bool is_recent = counters.version >= 5;
  const std::uint32_t events = is_recent ? 8 : 7;  // with the slots of top-down analysis
  return channel::CpuidLeaf{leaf,
                            channel::any_subleaf,
                            {counters.version | counters.programmable << 8 | counter_bits << 16 | events << 24,
                             missing & (bit(events) - 1), is_recent ? bit(counters.fixed) - 1 : 0,
                             counters.fixed | counter_bits << 5 | (is_recent ? any_thread_is_deprecated : 0)}};
}

}  // namespace tally::cpus
