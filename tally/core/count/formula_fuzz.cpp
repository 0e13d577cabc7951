// The libFuzzer target for formulas; run it with ./dev fuzz.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "tally/core/count/formula.hpp"

namespace {

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 400) return 0;  // longer texts test nothing more
  const auto formula = tally::Formula::parse({reinterpret_cast<const char*>(data), size});
  if (!formula) {
    must(formula.error().code == tally::Code::bad_usage && !formula.error().message.empty(), "an error has a message");
    return 0;
  }
  const auto again = tally::Formula::parse(formula->text());
  must(again && *again == *formula, "a formula's text parses to the same formula");
  const std::vector<tally::Count> ones(formula->names().size(), tally::exact(1, tally::Source::engine));
  const tally::Ratio ratio = formula->evaluate(ones);
  must(ratio.value.has_value() == ratio.reason.empty(), "a ratio has a value or a reason");
  const std::vector<tally::Count> none(ones.size(), tally::absent("none"));
  must(none.empty() || !formula->evaluate(none).value, "absent counts have no value");
  return 0;
}
