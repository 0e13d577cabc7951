// Chooses the format of an output, by the option or by the file name.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/kinds/format.hpp"

namespace tally::output {

/// Checks that the file name of `output` is acceptable for `formats` if no option names one: it selects one of them, or
/// it has no ending, a text ending (.txt, .log, .out), a number or a random ending. Errors: bad_usage with the endings
/// of these formats; `has_option`: the command has the option `--format`.
Result<void> check_ending(std::string_view output, const std::vector<const Format*>& formats, bool has_option = true);

/// Returns the error bad_usage: none of `formats` has this name.
Error unknown_format(std::string_view name, const std::vector<const Format*>& formats);

/// The format called `name`; if that is empty, the one selected by the file name of `output`, else the one called
/// `usual`. Errors: bad_usage for an unknown name; those of check_ending().
template <class F>
Result<const F*> choose_format(std::span<const F> formats, std::string_view name, std::string_view output,
                               std::string_view usual) {
  if (name.empty()) {
    if (const F* const asked = format_of_name(formats, output)) return asked;
    if (auto fits = check_ending(output, common(formats)); !fits) return tl::unexpected(std::move(fits.error()));
    name = usual;
  }
  for (const F& format : formats)
    if (format.name == name) return &format;
  return tl::unexpected(unknown_format(name, common(formats)));
}

}  // namespace tally::output
