#include "tally/linux/symbol/other_names.hpp"

#include <gtest/gtest.h>

#include "tally/linux/symbol/names.hpp"

namespace tally::symbol {
namespace {

TEST(OtherNames, procedures_of_fortran_modules) {
  EXPECT_EQ(fortran_name("__m_MOD_fib"), "m::fib");
  EXPECT_EQ(fortran_name("__my_module_MOD_do_it"), "my_module::do_it");
  EXPECT_EQ(fortran_name("__m_MOD_fib.constprop.0"), "m::fib [clone .constprop.0]");
  for (const char* const other : {"__m_MOD_", "__MOD_x", "_m_MOD_fib", "__m_MOD_Fib", "main", ""})
    EXPECT_FALSE(fortran_name(other)) << other;
  EXPECT_EQ(demangled("__m_MOD_fib"), "m::fib");
}

TEST(OtherNames, functions_of_ocaml_modules) {
  EXPECT_EQ(ocaml_name("camlO__deep_84"), "O.deep");
  EXPECT_EQ(ocaml_name("camlStdlib__List__map_1_12"), "Stdlib.List.map_1");
  EXPECT_EQ(ocaml_name("camlO.deep_84"), "O.deep");
  EXPECT_EQ(ocaml_name("camlStdlib__$5e_134"), "Stdlib.^");
  EXPECT_EQ(ocaml_name("camlO__entry"), "O.entry");
  for (const char* const other : {"caml_alloc_small", "camlX", "caml", "camel__x", ""})
    EXPECT_FALSE(ocaml_name(other)) << other;
  EXPECT_EQ(demangled("camlO__deep_84"), "O.deep");
}

TEST(OtherNames, subprograms_of_ada_packages) {
  EXPECT_EQ(ada_name("ada_t__work__2"), "ada_t.work");
  EXPECT_EQ(ada_name("ada_t__work__2.1"), "ada_t.work");
  EXPECT_EQ(ada_name("ada_t__inner.5"), "ada_t.inner");
  EXPECT_EQ(ada_name("a__b__c"), "a.b.c");
  EXPECT_EQ(ada_name("_ada_hello"), "hello");
  EXPECT_EQ(ada_name("pack__workerTKB"), "pack.worker");
  EXPECT_EQ(ada_name("pack___elabb"), "pack'Elab_Body");
  for (const char* const other : {"main", "__gnat_free", "Foo__bar", "work.5", "x___y", ""})
    EXPECT_FALSE(ada_name(other)) << other;
  // Without a sign that the program contains Ada, names of C stay unchanged.
  EXPECT_EQ(demangled("ada_t__work__2"), "ada_t__work__2");
}

}  // namespace
}  // namespace tally::symbol
