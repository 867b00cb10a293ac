/* Preloaded into a program: its wall clock is MUSTER_TEST_SKEW seconds ahead. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* into) {
  const long result = syscall(SYS_clock_gettime, clock, into);
  const char* const skew = getenv("MUSTER_TEST_SKEW");
  if (result == 0 && skew && clock == CLOCK_REALTIME) into->tv_sec += atol(skew);
  return (int)result;
}
