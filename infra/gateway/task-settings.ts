/** The memory of a gateway's task, enough for 4,000 CVMs (docs/adr/0013-gateway.md). */
export const taskMemoryInMebibytes = 1024;

/**
 * By default, the C library takes the buffers of a connection from memory that TLS handshakes have used, so that all 80 KiB stay
 * in RAM. With these settings it asks the kernel for such buffers one by one. Linux allows 65,530 of these mappings to a process.
 */
export const taskSettings = {
  NODE_OPTIONS: '--max-old-space-size=400 --max-semi-space-size=4',
  GLIBC_TUNABLES: 'glibc.malloc.mmap_threshold=16384:glibc.malloc.top_pad=0:glibc.malloc.arena_max=1',
};
