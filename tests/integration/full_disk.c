/* Preloaded into a program: no file can be written while the file MUSTER_TEST_FULL_DISK exists, and
 * none can grow while the file MUSTER_TEST_NO_ROOM exists. What the program writes to pipes and
 * sockets goes on. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int is_there(const char* variable) {
  const char* const name = getenv(variable);
  return name && access(name, F_OK) == 0;
}

static int is_full(int file, off_t end) {
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  return is_there("MUSTER_TEST_FULL_DISK") ||
         (end > status.st_size && is_there("MUSTER_TEST_NO_ROOM"));
}

static ssize_t write_at(int file, const void* bytes, size_t count, off_t offset) {
  if (!is_full(file, offset + (off_t)count))
    return syscall(SYS_pwrite64, file, bytes, count, offset);
  errno = ENOSPC;
  return -1;
}

ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  return write_at(file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  return write_at(file, bytes, count, offset);
}

ssize_t write(int file, const void* bytes, size_t count) {
  if (!is_full(file, lseek(file, 0, SEEK_CUR) + (off_t)count))
    return syscall(SYS_write, file, bytes, count);
  errno = ENOSPC;
  return -1;
}

static int allocate(int file, off_t offset, off_t size) {
  if (is_full(file, offset + size)) return ENOSPC;
  return syscall(SYS_fallocate, file, 0, offset, size) == 0 ? 0 : errno;
}

int posix_fallocate(int file, off_t offset, off_t size) {
  return allocate(file, offset, size);
}

int posix_fallocate64(int file, off64_t offset, off64_t size) {
  return allocate(file, offset, size);
}
