// Functions that differ in their parameters or template arguments, for the tests of `tally profile`.
volatile int s;
__attribute__((noinline)) void f(int n) {
  for (int i = 0; i < n; i++) s = s + i;
}
__attribute__((noinline)) void f(bool b) {
  for (int i = 0; i < 300; i++) s = s ^ static_cast<int>(b);
}
template <class T>
__attribute__((noinline)) T convert(T x) {
  for (int i = 0; i < 400; i++) {
    s = i;
    x = x * 3 + 1;
  }
  return x;
}
namespace {
template <class... T>
struct A_class_that_has_a_very_long_name_as_those_of_libraries_with_many_templates_have_them {
  __attribute__((noinline)) static void run(T... t) { s = (static_cast<int>(t) + ...); }
};
}  // namespace
int main() {
  f(1000);
  f(true);
  s = convert<int>(1);
  s = static_cast<int>(convert<double>(1));
  A_class_that_has_a_very_long_name_as_those_of_libraries_with_many_templates_have_them<int, long, short, char>::run(
      1, 2, 3, 4);
}
