#include "tally/linux/symbol/rust_names.hpp"

#include <gtest/gtest.h>

#include "tally/linux/symbol/names.hpp"

namespace tally::symbol {
namespace {

/// Names that rustc wrote.
TEST(RustNames, are_those_of_the_source) {
  const std::pair<const char*, const char*> names[] = {
      {"_ZN1r4main17h086b0cfd890a8ea9E", "r::main"},
      {"_ZN89_$LT$core..ops..range..Range$LT$T$GT$$u20$as$u20$core..iter..range..RangeIteratorImpl$GT$9spec_"
       "next17h9171970"
       "db682b2d1E",
       "<core::ops::range::Range<T> as core::iter::range::RangeIteratorImpl>::spec_next"},
      {"_ZN4core3ptr7mut_ptr31_$LT$impl$u20$$BP$mut$u20$T$GT$3add17h11b50cd6ba7852d8E",
       "core::ptr::mut_ptr::<impl *mut T>::add"},
      {"_RNvMs6_NtCsgEmfK2I1SDS_4core3numm12wrapping_mul", "<u32>::wrapping_mul"},
      {"_RNvXs10_NtNtCsgEmfK2I1SDS_4core3cmp5implsmNtB8_10PartialOrd2lt", "<u32 as core::cmp::PartialOrd>::lt"},
      {"_RNvMsa_NtCsgEmfK2I1SDS_4core3fmtNtB5_9Formatter12pad_integral", "<core::fmt::Formatter>::pad_integral"},
      {"_RNvXNvNtCsjrHSEGnQ3l9_3std2io17default_write_fmtINtB2_7AdapterNtNtB4_5stdio10StdoutLockENtNtCsgEmfK2I1SDS_"
       "4core"
       "3fmt5Write9write_strB6_",
       "<std::io::default_write_fmt::Adapter<std::io::stdio::StdoutLock> as core::fmt::Write>::write_str"},
      {"_RNvNtCsgEmfK2I1SDS_4core3fmt5write", "core::fmt::write"},
      {"_RNCNvCs1_1a1f0", "a::f::{closure#0}"},
      {"_RNCNvCs1_1a1fs_0", "a::f::{closure#1}"},
      {"_RINvCs1_1a1fAhj4_TmReEE", "a::f::<[u8; 4], (u32, &str)>"},
      {"_RINvCs1_1a1fDNtB2_1TEL_E", "a::f::<dyn a::T>"},
  };
  for (const auto& [mangled, name] : names) {
    EXPECT_EQ(rust_name(mangled).value_or("none"), name);
    EXPECT_EQ(demangled(mangled), name);
  }
}

TEST(RustNames, leave_others_alone) {
  for (const char* name : {"main", "_Z1fv", "_ZN1a1fEv", "_ZN1a1f3barE", "_R", "_RNv", "_RB_", "_RNvB_1f", "_ZN1",
                           "_ZN99999999999999999999aE", "_RIC1aIC1aIC1a", "_RNvC99999999999999999999a1f"}) {
    EXPECT_FALSE(rust_name(name)) << name;
    EXPECT_FALSE(demangled(name).empty());
  }
  EXPECT_EQ(demangled("_ZN1a1fEv"), "a::f()");
}

// A truncated name is refused; a damaged one is refused or short.
TEST(RustNames, that_are_cut_or_damaged_are_refused_or_short) {
  const std::string whole =
      "RNvXNvNtCsjrHSEGnQ3l9_3std2io17default_write_fmtINtB2_7AdapterNtNtB4_5stdio10StdoutLockENtNtCsgE_4core3fmt5W";
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_FALSE(rust_name("_" + whole.substr(0, i))) << i;
    for (const char letter : {'B', 'E', 'I', '_', '9', 'T', 'X'}) {
      std::string other = "_" + whole;
      other[i + 1] = letter;
      const auto name = rust_name(other);
      EXPECT_TRUE(!name || (!name->empty() && name->size() < 1000)) << other;
      EXPECT_FALSE(demangled(other).empty()) << other;
    }
  }
}

}  // namespace
}  // namespace tally::symbol
