#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/engine/cpus/cpu_model.hpp"

namespace tally::cpus {
namespace {

constexpr FeatureSet features(FeatureSet base, std::initializer_list<Feature> more) {
  for (const Feature feature : more) base = base.with(feature);
  return base;
}

// The features of the levels of the x86-64 psABI.
constexpr FeatureSet level_1{};
constexpr FeatureSet level_2 = features(level_1, {Feature::cx16, Feature::lahf, Feature::popcnt, Feature::sse3,
                                                  Feature::sse4_1, Feature::sse4_2, Feature::ssse3});
constexpr FeatureSet level_3 =
    features(level_2, {Feature::avx, Feature::avx2, Feature::bmi1, Feature::bmi2, Feature::f16c, Feature::fma,
                       Feature::lzcnt, Feature::movbe, Feature::xsave});
constexpr FeatureSet level_4 =
    features(level_3, {Feature::avx512bw, Feature::avx512cd, Feature::avx512dq, Feature::avx512f, Feature::avx512vl});

constexpr auto data = Cache::Content::data, code = Cache::Content::code, both = Cache::Content::both;

constexpr CpuModel all_models[] = {
#include "cpu_models.inc"
};

}  // namespace

std::span<const CpuModel> models() { return all_models; }

Result<const CpuModel*> named(std::string_view name) {
  std::vector<std::string> names{"host"};
  for (const CpuModel& model : all_models) {
    if (model.name == name) return &model;
    names.emplace_back(model.name);
  }
  std::sort(names.begin() + 1, names.end());
  return fail(Code::bad_usage, fmt::format("there is no CPU model '{}'", printable(name)),
              "the CPU models are: " + join(names, ", "));
}

}  // namespace tally::cpus
