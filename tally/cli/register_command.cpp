#include <fmt/format.h>

#include <utility>

#include "tally/cli/command.hpp"
#include "tally/cli/page.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/pmu/spec.hpp"
#include "tally/linux/machine/cpuid.hpp"
#include "tally/linux/machine/msr.hpp"
#include "tally/output/formats/register_text.hpp"

namespace tally::cli {
namespace {

struct Options {
  std::vector<std::string> requests;
  std::string model;
  std::string version;
  bool list = false;
  bool json = false;
  bool ascii = false;
  bool value_only = false;
  bool reference = false;
  std::optional<int> processor;
  std::string root = "/";
};

constexpr const char* text =
    "A request is a register, by name or number, and what to do with it:\n"
    "\n"
    "  REGISTER                   its layout\n"
    "  REGISTER=VALUE             decodes the value\n"
    "  REGISTER:FIELD=N,FIELD,... makes a value of fields; a field without a number is set\n"
    "  REGISTER=VALUE:FIELD=N,... changes fields of a value\n"
    "  CPUID.0AH                  a leaf of CPUID of this machine\n"
    "  CPUID.0AH=EAX,EBX,ECX,EDX  a leaf of another one\n"
    "\n"
    "Numbers are written 0x38D, 38DH or 909; _ may stand between digits; -1000 is what is 1000 below a counter's "
    "overflow.\n"
    "A field is named as layouts show it, EN7..0=0xff too. Case does not matter, and neither does IA32_ in front or "
    "_EL0\n"
    "behind a name. Nothing is read from a register of this machine but CPUID, unless --cpu asks for it; nothing is\n"
    "ever written. --cpu N takes root and the kernel's driver of such registers (modprobe msr).\n"
    "\n"
    "Examples:\n"
    "  tally register 0x38D=0x22A\n"
    "  tally register PMCR0_EL1=0x3003400ff4ff\n"
    "  tally register 'IA32_PERFEVTSEL0:event=0xc4,usr,en'\n"
    "  tally register --list cpuid\n"
    "  sudo tally register 0x38D --cpu 0\n";

void describe(Page& page, Options& options) {
  page.head("A register of a PMU: a value decoded, made of fields, drawn bit by bit, and checked.",
            "tally register [options] REQUEST...");
  page.add_option("REQUEST", options.requests, "registers and values, as below");
  page.add_flag("--list", options.list,
                "lists registers: all, those of a model, or those whose name, address or text holds a word or fits a "
                "pattern with "
                "* and ?");
  page.add_option("--model", options.model, "only registers of intel, amd, x86, arm or apple").value_name("NAME");
  page.add_option("--version", options.version,
                  "the fields of this version of the PMU; without it those of all versions")
      .value_name("VERSION");
  page.add_option("--cpu", options.processor, "reads the register of this processor, and explains what it holds: x86")
      .value_name("CPU")
      .check(whole_number(0, 65535));
  page.add_option("--root", options.root, "where dev/ lies").value_name("FOLDER").hidden();
  page.add_flag("--value", options.value_only, "prints only the value, in hexadecimal");
  page.add_flag("--json", options.json, "for programs");
  page.add_flag("--ascii", options.ascii, "draws with + - |");
  page.add_flag("--reference", options.reference, "all tables in Markdown").hidden();
  page.footer(text);
}

Result<pmu::Choice> choice_of(const Options& options) {
  pmu::Choice choice;
  if (options.model.empty()) return choice;
  choice.model = pmu::model_of(options.model);
  if (choice.model) return choice;
  std::vector<std::string> names;
  for (const pmu::Model* model : pmu::models()) names.emplace_back(model->name);
  return fail(Code::bad_usage, fmt::format("unknown model '{}'", printable(options.model)),
              "the models are: " + join(names, ", "));
}

// A version is one of the register's model, which is known once the register is found.
Result<pmu::Request> request_of(const std::string& word, const Options& options, pmu::Choice choice) {
  if (options.version.empty()) return pmu::parse_request(word, choice);
  const auto place = pmu::register_named(word, choice);
  if (!place) return fail(place.error());
  const auto version = pmu::version_of(*place->model, options.version);
  if (!version) return fail(version.error());
  choice.version = *version;
  return pmu::parse_request(word, choice);
}

Result<pmu::Request> with_this_machine(pmu::Request request) {
  const auto leaf = static_cast<std::uint32_t>(*request.leaf >> 32);
  const auto subleaf = static_cast<std::uint32_t>(*request.leaf >> 8 & 0xFFFFFF);
  const auto highest = linux::cpuid(leaf & 0x8000'0000);
  const auto outputs = linux::cpuid(leaf, subleaf);
  if (!highest || !outputs) {
    return fail(Code::cannot_measure, "this processor has no CPUID instruction", "give the values of another machine");
  }
  if (leaf > highest->eax) {
    return fail(Code::cannot_measure,
                fmt::format("this processor has no leaf {:#x}; its highest is {:#x}", leaf, highest->eax),
                "the values of another machine are given as =EAX,EBX,ECX,EDX");
  }
  return pmu::with_leaf(std::move(request), {outputs->eax, outputs->ebx, outputs->ecx, outputs->edx});
}

// Its value on a processor of this machine.
Result<pmu::Request> with_live_value(pmu::Request request, const Options& options) {
  for (pmu::Value& value : request.values) {
    const pmu::Register& reg = *value.place.reg;
    if (reg.space != pmu::Space::msr || request.leaf) {
      return fail(Code::bad_usage,
                  fmt::format("--cpu reads model-specific registers (MSR), and this is {}", pmu::address(value.place)),
                  "`tally register --list --model intel` lists some");
    }
    const std::uint64_t number =
        reg.number + static_cast<std::uint64_t>(value.place.index) * static_cast<std::uint64_t>(reg.stride);
    const auto held = linux::read_msr(*options.processor, static_cast<std::uint32_t>(number), options.root);
    if (!held) return fail(held.error());
    value.bits = *held;
  }
  request.has_value = true;
  return request;
}

int list(const Options& options, const pmu::Choice& choice) {
  std::vector<std::string> patterns = options.requests;
  if (patterns.empty()) patterns.emplace_back();
  std::vector<pmu::Place> places;
  for (const std::string& pattern : patterns) {
    const auto some = pmu::matching(pattern, choice.model);
    if (some.empty()) {
      return report_error({Code::bad_usage, fmt::format("no register matches '{}'", printable(pattern)),
                           "`tally register --list` lists all", 0});
    }
    places.insert(places.end(), some.begin(), some.end());
  }
  if (!options.json) return print(report::register_list(places));
  std::vector<report::ShownRegister> shown;
  for (const pmu::Place& place : places) shown.push_back({{place, 0, std::nullopt}, false});
  return print(report::register_json(shown));
}

std::string answer(const std::vector<report::ShownRegister>& shown, const Options& options) {
  const auto lines = options.ascii ? pmu::Lines::ascii : pmu::Lines::unicode;
  std::string all;
  for (const report::ShownRegister& one : shown) {
    if (!all.empty() && !options.value_only) all += "\n";
    all += options.value_only ? fmt::format("{:#x}\n", one.value.bits) : report::register_text(one, lines);
  }
  return all;
}

}  // namespace

void describe_register(Page& page) {
  static Options unused;
  describe(page, unused);
}

int run_register(const std::vector<std::string>& arguments) {
  Options options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (options.reference) return print(report::register_reference());

  const auto choice = choice_of(options);
  if (!choice) return report_error(choice.error());
  if (options.list) return list(options, *choice);
  if (options.requests.empty()) {
    return report_error({Code::bad_usage, "there is no register to explain",
                         "for example: tally register 0x38D=0x22A; `tally register --list` lists all", 0});
  }

  std::vector<report::ShownRegister> shown;
  for (const std::string& word : options.requests) {
    auto request = request_of(word, options, *choice);
    if (request && request->leaf && !request->has_value && !options.processor)
      request = with_this_machine(std::move(*request));
    if (request && options.processor && request->has_value) {
      return report_error({Code::bad_usage, fmt::format("'{}' has a value already", printable(word)),
                           "--cpu reads one: leave the value out", 0});
    }
    if (request && options.processor) request = with_live_value(std::move(*request), options);
    if (!request) return report_error(request.error());
    if (options.value_only && !request->has_value) {
      return report_error({Code::bad_usage, fmt::format("'{}' has no value to print", printable(word)),
                           "--value goes with REGISTER=VALUE or REGISTER:FIELD,...", 0});
    }
    for (const pmu::Value& value : request->values) shown.push_back({value, request->has_value});
  }
  return print(options.json ? report::register_json(shown) : answer(shown, options));
}

}  // namespace tally::cli
