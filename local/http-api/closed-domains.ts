/** Refuses the changes of domains that are being removed. */
export class DomainGate {
  private readonly closed = new Set<string>();
  private readonly inProgress = new Map<string, Set<Promise<void>>>();

  /** @returns what to call after the change; undefined if the domain is closed */
  enter(domain: string): (() => void) | undefined {
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

  /** Lets no further change in, and waits for those in progress. */
  async close(domain: string): Promise<void> {
    this.closed.add(domain);
    await Promise.all(this.inProgress.get(domain) ?? new Set<Promise<void>>());
  }

  open(domain: string): void {
    this.closed.delete(domain);
  }
}
