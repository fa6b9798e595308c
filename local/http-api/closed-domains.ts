/** The domains that are being removed. They admit no change. */
export class ClosedDomains {
  private readonly closed = new Set<string>();
  private readonly inProgress = new Map<string, Set<Promise<void>>>();

  /** Begins a change. Returns what to call at its end, or undefined if the domain is closed. */
  beginChange(domain: string): (() => void) | undefined {
    if (this.closed.has(domain)) return undefined;
    const changes = this.inProgress.get(domain) ?? new Set();
    this.inProgress.set(domain, changes);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    changes.add(promise);
    return () => {
      resolve(undefined);
      changes.delete(promise);
      if (changes.size === 0) this.inProgress.delete(domain);
    };
  }

  /** Admits no further change, and waits for those in progress. */
  async close(domain: string): Promise<void> {
    this.closed.add(domain);
    await Promise.all(this.inProgress.get(domain) ?? new Set<Promise<void>>());
  }

  open(domain: string): void {
    this.closed.delete(domain);
  }
}
