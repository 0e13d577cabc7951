#include "tally/core/base/clone_name.hpp"

#include <gtest/gtest.h>

namespace tally {
namespace {

void expect_split(std::string_view name, std::string_view function, std::string_view distinct, CloneKind kind) {
  SCOPED_TRACE(name);
  const CloneName split = clone_name(name);
  EXPECT_EQ(split.function, function);
  EXPECT_EQ(split.distinct, distinct);
  EXPECT_EQ(split.kind, kind);
}

TEST(CloneName, suffixes_of_gcc_and_clang_and_combinations) {
  expect_split("helper", "helper", "helper", CloneKind::none);
  expect_split("helper.constprop.0", "helper", "helper", CloneKind::copy);
  expect_split("helper.isra.0.constprop.12", "helper", "helper", CloneKind::copy);
  expect_split("helper.part.0", "helper", "helper", CloneKind::part);
  expect_split("helper.cold", "helper", "helper", CloneKind::fragment);
  expect_split("helper.constprop.0.cold.3", "helper", "helper", CloneKind::fragment);
  expect_split("classify.__part.2", "classify", "classify", CloneKind::fragment);
  expect_split("helper.llvm.123456.cold", "helper", "helper.llvm.123456", CloneKind::fragment);
  expect_split("helper.__uniq.5.llvm.6", "helper", "helper.__uniq.5.llvm.6", CloneKind::copy);
  expect_split("_ZN2ns1fEi.part.0", "_ZN2ns1fEi", "_ZN2ns1fEi", CloneKind::part);
}

TEST(CloneName, demangled_names) {
  expect_split("ns::f(int) [clone .isra.0]", "ns::f(int)", "ns::f(int)", CloneKind::copy);
  expect_split("ns::f(int) [clone .isra.0] [clone .cold]", "ns::f(int)", "ns::f(int)", CloneKind::fragment);
  expect_split("ns::f(int) [clone .isra.0.cold]", "ns::f(int)", "ns::f(int)", CloneKind::fragment);
  expect_split("f() [clone .llvm.12]", "f()", "f().llvm.12", CloneKind::copy);
}

TEST(CloneName, other_names_stay) {
  for (const char* const name :
       {"", ".cold", "cold", "main.part", "lambda.0", "main._omp_fn.0", "f.constprop.x", "a.b.constprop",
        "f() [clone .resolver]", " [clone .cold]", "operator[]", "main.func1", "f() [clone ]", "f() [clone .0]"})
    expect_split(name, name, name, CloneKind::none);
}

}  // namespace
}  // namespace tally
