#include "tally/report/profile.hpp"

#include "tally/report/in_line.hpp"
#include "tally/report/profile_forms.hpp"

namespace tally::report {

std::span<const ProfileFormat> profile_formats() {
  static constexpr ProfileFormat formats[] = {
      {"table", "a table for people", in_line<profile_table>, false},
      {"callgrind", "callgrind's out-file: KCachegrind, callgrind_annotate", in_line<profile_callgrind>, true, false,
       InlinedCodeIs::lines},
      {"cachegrind", "cachegrind's out-file: cg_annotate, cg_diff", in_line<profile_cachegrind>, true, false,
       InlinedCodeIs::lines},
      {"folded", "a line for each stack, for flame graphs", in_line<profile_folded>, false, true},
      {"speedscope", "for speedscope.app", in_line<profile_speedscope>, false, true},
      {"pprof", "profile.proto, for go tool pprof and pprof", in_line<profile_pprof>, true, false,
       InlinedCodeIs::frames},
      {"autofdo", "LLVM's sample profile, for clang -fprofile-sample-use=", in_line<profile_autofdo>, true, false,
       InlinedCodeIs::frames, true},
      {"html", "a page: stacks, functions, their lines and callers", in_line<profile_html>, true, false},
      {"json", "one JSON object", profile_json, true},
  };
  return formats;
}

}  // namespace tally::report
