/** Work that stops after each part, so that other work can take turns with it. It may be left unfinished and begun again later. */
export type InParts<Result = void> = AsyncGenerator<undefined, Result>;

/** Does all parts, one after the other. */
export async function doAllParts<Result>(work: InParts<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = await work.next();
    if (done) return value;
  }
}

/**
 * Does at least one part, and further ones until `isOver`.
 * @returns undefined if parts may be left
 */
export async function doPartsUntil<Result>(
  work: InParts<Result>,
  isOver: () => boolean,
): Promise<{ result: Result } | undefined> {
  do {
    const { done, value } = await work.next();
    if (done) return { result: value };
  } while (!isOver());
  return undefined;
}

/** Calls `act` for `size` items at a time, each a part. */
export async function* inChunks<T>(items: readonly T[], size: number, act: (chunk: T[]) => Promise<void>): InParts {
  for (let start = 0; start < items.length; start += size) {
    await act(items.slice(start, start + size));
    yield;
  }
}
