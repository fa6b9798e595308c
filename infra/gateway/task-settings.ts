/** The memory of a gateway's task, which holds 4,000 CVMs (docs/adr/0013-gateway.md). */
export const taskMemoryInMebibytes = 1024;

/**
 * Variables of the environment that keep Node's memory small. The allocator of the C library reuses memory that a TLS handshake has
 * written to for the buffers of connections, 64 KiB of OpenSSL's input and 16 KiB of HTTP/2's output, of which an idle connection
 * fills a few hundred bytes. Larger allocations are therefore mapped, so that they take the pages alone that they fill. A connection
 * takes three such mappings, and Linux allows 65,530 to a process.
 */
export const taskSettings = {
  NODE_OPTIONS: '--max-old-space-size=400 --max-semi-space-size=4',
  MALLOC_MMAP_THRESHOLD_: '16384',
  MALLOC_TOP_PAD_: '0',
  MALLOC_ARENA_MAX: '1',
};
