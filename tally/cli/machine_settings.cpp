#include "tally/cli/machine_settings.hpp"

#include "tally/cli/commands.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::cli {

void add_setting_options(Page& page, SettingOptions& options) {
  page.add_flag("--fix-frequency", options.fix_frequency,
                "as root: run all CPUs at their base frequency, without turbo; restored at the end");
  page.add_option("--prefetchers", options.prefetchers,
                  "as root, on Intel: switch the hardware prefetchers off; restored at the end")
      .value_name("off")
      .one_of({"off"});
}

Result<std::optional<settings::ScopedSettings>> apply_settings(const SettingOptions& options, const std::string& root) {
  if (const auto messages = settings::repair(root); !messages.empty()) say(messages);
  const settings::SettingsRequest asked{options.fix_frequency, options.prefetchers == "off"};
  if (!asked.any()) return std::optional<settings::ScopedSettings>{};
  auto held = settings::ScopedSettings::change(asked, root);
  if (!held) return fail(held.error());
  return std::optional<settings::ScopedSettings>(std::move(*held));
}

void restore_settings(std::optional<settings::ScopedSettings>& held) {
  if (!held) return;
  if (const auto messages = held->put_back(); !messages.empty()) say(messages);
  held.reset();
}

}  // namespace tally::cli
