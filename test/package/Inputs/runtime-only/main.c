/* Prints the library's version. */
#include "kron/Runtime/Runtime.h"

#include <stdio.h>

int main(void) {
  printf("kron %s\n", kronGetVersion());
  return 0;
}
