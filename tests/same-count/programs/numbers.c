/* Numbers to text and back, and functions of the mathematical library, which chooses their code by processor. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  double sum = 0;
  for (int i = 1; i < 3000; i++) {
    char text[64];
    snprintf(text, sizeof text, "%.12g %d %x", sqrt(i) * 1000, i * i, i);
    sum += strtod(text, NULL) + sin(i) + exp(1.0 / i) + log(i) + pow(i, 0.3) + floor(i / 7.0);
  }
  printf("%.9g\n", sum);
  return 0;
}
