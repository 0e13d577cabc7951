/* Arithmetic that the compiler alone decides: a product of matrices. */
#include <stdio.h>

enum { n = 96 };
static double a[n][n], b[n][n], c[n][n];

int main(void) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) a[i][k] = i + 2 * k, b[i][k] = i - k;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];
  double trace = 0;
  for (int i = 0; i < n; i++) trace += c[i][i];
  printf("%.0f\n", trace);
  return 0;
}
