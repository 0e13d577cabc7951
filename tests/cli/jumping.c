// even() ends by jumping to odd(), and odd() by jumping to even(); each also calls the other.
volatile int s;
__attribute__((noinline)) int odd(int n, int depth);
__attribute__((noinline)) int leaf(int n) {
  for (int i = 0; i < n; i++) s = i;
  return n;
}
__attribute__((noinline)) int even(int n, int depth) {
  for (int i = 0; i < 50; i++) s = i;
  if (depth > 0 && n % 3 == 0) s += odd(n, depth - 1);
  if (n % 5 == 0) leaf(10);
  if (n == 0) return 1;
  return odd(n - 1, depth);
}
int odd(int n, int depth) {
  for (int i = 0; i < 10; i++) s = i;
  if (depth > 0 && n % 4 == 0) s += even(n, depth - 1);
  if (n == 0) return 0;
  return even(n - 1, depth);
}
int main(void) {
  even(60, 3);
  return 0;
}
