/* Preloaded into a server, makes every flush to the disk take a millisecond longer, as on common cloud disks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static int flush_slowly(const char *name, int file) {
  struct timespec pause = {0, 1000000};
  nanosleep(&pause, 0);
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return flush_slowly("fsync", file); }
int fdatasync(int file) { return flush_slowly("fdatasync", file); }
