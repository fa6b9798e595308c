/** Calls `work` for all items, some at a time. Begins with no further item after a failure. @throws the first failure */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>, atOnce = 8): Promise<void> {
  const waiting = [...items].reverse();
  let hasFailed = false;
  const worker = async () => {
    for (let item = waiting.pop(); item !== undefined && !hasFailed; item = waiting.pop()) {
      try {
        await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
