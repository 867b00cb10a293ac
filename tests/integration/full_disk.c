/* Preloaded into a program: its database cannot be written while the file MUSTER_TEST_FULL_DISK
 * exists. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static ssize_t write_at(int file, const void* bytes, size_t count, off_t offset) {
  const char* const name = getenv("MUSTER_TEST_FULL_DISK");
  if (name && access(name, F_OK) == 0) {
    errno = ENOSPC;
    return -1;
  }
  return syscall(SYS_pwrite64, file, bytes, count, offset);
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  return write_at(file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  return write_at(file, bytes, count, offset);
}
