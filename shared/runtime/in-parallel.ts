/**
 * Calls `work` for each item, for up to `atOnce` of them at a time. After a failure it begins no further item, and waits for
 * those that are under way.
 * @throws the first failure
 */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>, atOnce = 8): Promise<void> {
  const waiting = [...items].reverse();
  let failure: { error: unknown } | undefined;
  const worker = async () => {
    for (let item = waiting.pop(); item !== undefined && !failure; item = waiting.pop()) {
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (failure) throw failure.error;
}
