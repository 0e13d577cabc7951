#include "tally/tools/why/missing_feature_report.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/counting/profile/code_names.hpp"
#include "tally/counting/profile/function_of.hpp"
#include "tally/output/kit/presented_machine_text.hpp"

namespace tally::why {
namespace {

void name_function(result::UnaskedCode& code) {
  if (!code.file.starts_with('/')) return;
  const auto names = profile::CodeNames::open(code.file);
  if (!names) return;
  const auto address = (*names)->address_of(code.address);
  if (!address) return;
  code.address = *address;
  if (const profile::NamedCode* const function = profile::function_of(**names, *address))
    code.function = printable(function->name);
}

}  // namespace

void report_unasked(result::Stat& stat) {
  for (result::UnaskedCode& code : stat.unasked) {
    name_function(code);
    const std::string file = code.file.empty() ? "code without a file" : printable(code.file);
    stat.notices.push_back(
        fmt::format("the program executed {} without asking, although {} lacks it: {}, first {} at "
                    "{:#x}{} of {}",
                    code.feature, stat.cpu_model, plural(code.count, "time", "times"), code.instruction, code.address,
                    code.function.empty() ? "" : " in " + code.function, file));
  }
}

void report_models(result::Stat& stat) {
  if (const auto words = output::presented_machine(stat); !words.empty()) stat.notices.push_back(join(words, " · "));
}

}  // namespace tally::why
