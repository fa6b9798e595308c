/** Waits. Rejects with the signal's reason as soon as it aborts. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
