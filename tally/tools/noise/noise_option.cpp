#include "tally/tools/noise/noise_option.hpp"

#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/option_groups.hpp"

namespace tally::verify {

void add_noise_option(command::Page& page, std::string& text) {
  page.add_option("--noise", text,
                  "add noise to the engine's counts: seed=1,irq=0.25,fault=1,skid=hpctool; irq: interrupts per million "
                  "instructions, fault: instructions added per page fault or interrupt, skid: windows end late")
      .value_name("NOISE")
      .in(command::models_group);
}

Result<std::optional<Noise>> noise_of(const std::string& text, const backend::Backend& backend) {
  if (text.empty()) return std::optional<Noise>{};
  const auto noise = parse_noise(text);
  if (!noise) return fail(noise.error());
  if (!backend.traits().is_engine)
    return fail(Code::bad_usage, "--noise adds noise to the engine's counts only", "add `--backend engine`");
  return std::optional(*noise);
}

}  // namespace tally::verify
