/* Stands in for the driver of /dev/sev-guest in a program with LD_PRELOAD: its reports come from a socket, as stand-in-attestation.ts makes them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { data_size = 64, report_size = 0x4a0, header_size = 32 };
struct request { uint32_t version; uint64_t asked, answered, error; };
static const unsigned long get_ext_report = _IOWR('S', 2, struct request);
static int device = -1;

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = va_arg(more, mode_t);
  va_end(more);
  int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
  if (strcmp(path, "/dev/sev-guest") != 0) return next(path, flags, mode);
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/run/sev-guest.sock"};
  device = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return connect(device, (struct sockaddr *)&address, sizeof address) == 0 ? device : -1;
}

int ioctl(int file, unsigned long command, ...) {
  va_list more;
  va_start(more, command);
  void *argument = va_arg(more, void *);
  va_end(more);
  int (*next)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
  if (file != device || command != get_ext_report) return next(file, command, argument);
  struct request *request = argument;
  char *answered = (char *)(uintptr_t)request->answered;
  ((uint32_t *)answered)[1] = report_size;
  if (send(device, (void *)(uintptr_t)request->asked, data_size, 0) != data_size) return -1;
  return recv(device, answered + header_size, report_size, MSG_WAITALL) == report_size ? 0 : -1;
}
