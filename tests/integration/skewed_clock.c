/* Preloaded into a program: its wall clock is MUSTER_TEST_SKEW seconds ahead, or as many as the
 * file MUSTER_TEST_SKEW_FILE says at the moment. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long seconds_ahead(void) {
  const char* const name = getenv("MUSTER_TEST_SKEW_FILE");
  if (!name) {
    const char* const skew = getenv("MUSTER_TEST_SKEW");
    return skew ? atol(skew) : 0;
  }
  char text[32] = "";
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  return got > 0 ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec* into) {
  const long result = syscall(SYS_clock_gettime, clock, into);
  if (result == 0 && clock == CLOCK_REALTIME) into->tv_sec += seconds_ahead();
  return (int)result;
}
