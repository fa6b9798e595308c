interface Row {
  id: string;
}

interface Rows<R extends Row> {
  items: R[];
  total: number;
}

const pageSize = 100;

/**
 * Finds rows of a list by their identifiers, which the list has in descending order. Each identifier takes about as many pages as
 * halving the list does: one for a row among the newest 100, ten among 100,000. Rows that are not in the list are left out.
 */
export async function findRows<R extends Row>(
  ids: readonly string[],
  load: (range: { offset: number; limit: number }) => Promise<Rows<R>>,
): Promise<Map<string, R>> {
  const found = new Map<string, R>();
  if (ids.length === 0) return found;
  const known = new Map<number, Promise<Rows<R>>>();
  const page = (offset: number) => {
    const loading = known.get(offset) ?? load({ offset, limit: pageSize });
    known.set(offset, loading);
    return loading;
  };
  const { total } = await page(0);
  for (const id of ids) {
    const row = await search(id, pagesOf(total), page);
    if (row) found.set(id, row);
  }
  return found;
}

function pagesOf(total: number): number {
  return Math.max(1, Math.ceil(total / pageSize));
}

async function search<R extends Row>(
  id: string,
  pages: number,
  page: (offset: number) => Promise<Rows<R>>,
): Promise<R | undefined> {
  let [from, to, at] = [0, pages, 0]; // the newest page first, since most rows that are asked for are new
  while (from < to) {
    const { items } = await page(at * pageSize);
    const row = items.find((item) => item.id === id);
    const [first, last] = [items[0], items.at(-1)];
    if (row || !first || !last) return row;
    if (id > first.id) to = at;
    else if (id < last.id) from = at + 1;
    else return undefined;
    at = Math.floor((from + to) / 2);
  }
  return undefined;
}
