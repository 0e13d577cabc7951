#include "programs/lab/choose.hpp"

#include <fmt/format.h>

#include "programs/lab/arm/arm_assemble.hpp"
#include "programs/lab/arm/arm_machine.hpp"
#include "programs/lab/arm/arm_statements.hpp"
#include "programs/lab/scratch.hpp"
#include "programs/lab/x86_machine.hpp"
#include "tally/core/base/text.hpp"

namespace tally::lab {
namespace {

using pmu::emulated::ArmProfile;

tl::unexpected<Error> no_such_model(const std::string& name) {
  std::vector<std::string> names;
  for (const std::string_view one : pmu::emulated::profile_names()) names.emplace_back(one);
  return fail(Code::bad_usage, fmt::format("unknown model '{}'", printable(name)), "there are " + join(names, ", "));
}

// Returns the Arm core of --model, or the default one for an Arm program.
const ArmProfile* arm_profile(const Options& options, bool is_arm_program) {
  if (!options.model.empty()) return pmu::emulated::arm_profile_of(options.model);
  return is_arm_program ? &pmu::emulated::arm_profiles().front() : nullptr;
}

// Whether the source has `.arch armv8-a`, which x86 assemblers do not support.
bool names_arm(const std::string& text) {
  for (const std::string& line : split(text, '\n')) {
    if (trimmed(line).starts_with(".arch armv")) return true;
  }
  return false;
}

bool uses_system_registers(const std::string& statements) {
  for (const std::string& one : split(statements, ';')) {
    const std::string statement = lower(trimmed(one));
    if (statement.starts_with("msr ") || statement.starts_with("mrs ")) return true;
  }
  return false;
}

// Returns an option that the Arm machine does not support; empty if there is none.
std::string not_for_arm(const Options& options) {
  if (options.skid != 0) return "--skid";
  if (options.base != options.current) return "--clock";
  if (options.width != 1) return "--width";
  if (options.overcount) return "--overcount";
  return options.bits != 0 && options.bits != 64 ? "--bits" : "";
}

bool is_assembly(const std::string& path) {
  const std::string suffix = lower(std::filesystem::path(path).extension().string());
  return suffix == ".s" || suffix == ".asm" || suffix == ".inc";
}

}  // namespace

Result<Image> load_for(const Options& options) {
  const std::string text = is_assembly(options.file) ? read_file(options.file) : std::string();
  const ArmProfile* const arm = arm_profile(options, names_arm(text));
  if (arm && !text.empty()) return arm::assemble(options.file, text, *arm, options.defines);
  return load(options.file, options.bits, options.defines);
}

Result<Script> compile_for(const Options& options, const std::string& text) {
  if (const ArmProfile* const arm = arm_profile(options, uses_system_registers(options.statements))) {
    return arm::compile(text, *arm);
  }
  return compile(text);
}

const pmu::Model& registers_of(const Options& options) {
  const ArmProfile* const arm = arm_profile(options, false);
  return arm ? *arm->model : pmu::intel_model;
}

Result<std::unique_ptr<Computer>> make_computer(const Options& options, const Image& image, const RunSettings& settings,
                                                Listener listener) {
  if (const ArmProfile* const arm = arm_profile(options, image.is_arm)) {
    const bool is_flat = image.symbols.empty() && !image.is_arm && image.lines.empty();
    if (!image.is_arm && !is_flat) {
      return fail(Code::bad_usage,
                  fmt::format("'{}' is a program for x86, and {} is an Arm core", image.name, arm->name),
                  "omit --model, or name an x86 model");
    }
    if (const std::string option = not_for_arm(options); !option.empty()) {
      return fail(Code::bad_usage, fmt::format("{} is for x86, and {} is an Arm core", option, arm->name),
                  "omit it: there interrupts are immediate and each instruction takes one cycle");
    }
    arm::Settings all;
    static_cast<RunSettings&>(all) = settings;
    all.profile = arm;
    all.strict = options.barriers;
    auto made = arm::LabArm::make(image, all, std::move(listener));
    if (!made) return fail(made.error());
    return std::move(*made);
  }
  Settings all;
  static_cast<RunSettings&>(all) = settings;
  if (!options.model.empty()) all.profile = pmu::emulated::profile_of(options.model);
  if (!all.profile) return no_such_model(options.model);
  if (image.is_arm) {
    return fail(Code::bad_usage, fmt::format("'{}' is a program for AArch64, and {} is x86", image.name, options.model),
                "omit --model, or use armv8-pmuv3 or apple-m1");
  }
  all.behaviour.clock = {options.base, options.current};
  all.behaviour.skid = static_cast<int>(options.skid);
  all.behaviour.overcount = options.overcount;
  all.width = static_cast<int>(options.width);
  all.blocks = !options.single;
  auto made = LabX86::make(image, all, std::move(listener));
  if (!made) return fail(made.error());
  return std::move(*made);
}

}  // namespace tally::lab
