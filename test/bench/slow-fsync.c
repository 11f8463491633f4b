/* Preloaded into a server: each flush to the disk takes SLOW_MS milliseconds longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void wait_first(void) {
  const char *text = getenv("SLOW_MS");
  long ms = text ? atol(text) : 0;
  struct timespec time = {ms / 1000, (ms % 1000) * 1000000L};
  nanosleep(&time, 0);
}

int fsync(int fd) {
  static int (*original)(int);
  if (!original) original = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_first();
  return original(fd);
}

int fdatasync(int fd) {
  static int (*original)(int);
  if (!original) original = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_first();
  return original(fd);
}
