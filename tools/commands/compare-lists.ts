import { checkPage, checkTotals } from '../../shared/lists/check-list.ts';
import type { IndexedList } from '../../shared/lists/indexed-list.ts';
import type { Table } from '../../shared/table/table.ts';
import { UsageError } from '../../shared/command-line/usage-error.ts';

/** All lists of one index. */
export type Lists = [IndexedList, ...IndexedList[]];

/** Where a check goes on. */
export interface Place {
  /** The partition of the list's rows. */
  list: string;
  number: number;
}

/** Parses `list` or `list:number`. @throws UsageError */
export function placeOf(text: string): Place {
  const [, list, number = '1'] = /^([^:]+)(?::([1-9]\d{0,14}))?$/.exec(text) ?? [];
  if (list === undefined) throw new UsageError('--from takes a list and a number, as in computations#d1:100001.');
  return { list, number: Number(number) };
}

/** Returns the indexes from the one with the list of the place on. @throws UsageError if none has it */
export function indexesFrom(indexes: Lists[], place: Place | undefined): Lists[] {
  if (!place) return indexes;
  const at = indexes.findIndex((lists) => lists.some(({ rows }) => rows.pk === place.list));
  if (at < 0) throw new UsageError(`--from names ${place.list}, which is none of the lists to check.`);
  return indexes.slice(at);
}

/** Compares lists with their rows, and prints now and then from where another check can go on. */
export class Comparison {
  private readonly table: Table;
  private readonly place: Place | undefined;
  private readonly rowsBetweenPlaces: number;
  private rows = 0;

  /** @param rowsBetweenPlaces Default: 100,000 */
  constructor(table: Table, place?: Place, rowsBetweenPlaces = 100_000) {
    this.table = table;
    this.place = place;
    this.rowsBetweenPlaces = rowsBetweenPlaces;
  }

  /** Prints nothing of what differs. */
  async doDiffer(lists: Lists): Promise<boolean> {
    for (const { list, number } of this.placesIn(lists)) {
      for await (const { mismatches, wrongCounts } of this.pagesOf(list, number)) {
        if (mismatches.length + wrongCounts.length > 0) return true;
      }
      if ((await checkTotals(this.table, list)).length > 0) return true;
    }
    return false;
  }

  /** Prints what differs. @returns whether anything does */
  async print(lists: Lists): Promise<boolean> {
    let isDifferent = false;
    for (const { list, number } of this.placesIn(lists)) isDifferent = (await this.printList(list, number)) || isDifferent;
    return isDifferent;
  }

  private async printList(list: IndexedList, from: number): Promise<boolean> {
    let [checked, wrong] = [0, 0];
    const sentences = new Set<string>();
    for await (const { rows, mismatches, wrongCounts } of this.pagesOf(list, from)) {
      for (const sentence of wrongCounts) sentences.add(sentence);
      for (const { tree, group, number, row, index } of mismatches) {
        print(
          `${list.rows.pk}: number ${number}${group && ` of ${group}`} is in state ${row}, in the tree ${tree} in state ${index}.`,
        );
      }
      checked += rows;
      wrong += mismatches.length;
    }
    for (const sentence of await checkTotals(this.table, list)) sentences.add(sentence);
    for (const sentence of sentences) print(sentence);
    print(
      `${list.rows.pk}: ${checked} rows checked${from > 1 ? ` from number ${from} on` : ''}, ${wrong + sentences.size} differences.`,
    );
    return wrong + sentences.size > 0;
  }

  /** Returns the lists from the place on, with the numbers to begin at. */
  private placesIn(lists: Lists): { list: IndexedList; number: number }[] {
    const { place } = this;
    const at = lists.findIndex(({ rows }) => rows.pk === place?.list);
    return lists.flatMap((list, each) => (each < at ? [] : [{ list, number: place && each === at ? place.number : 1 }]));
  }

  private async *pagesOf(list: IndexedList, first: number) {
    for (let from: number | undefined = first; from !== undefined;) {
      if (this.rows >= this.rowsBetweenPlaces) {
        print(`${this.rows} rows more were checked. To go on from here after an interruption: --from ${list.rows.pk}:${from}`);
        this.rows = 0;
      }
      const page = await checkPage(this.table, list, from);
      this.rows += page.rows;
      yield page;
      from = page.next;
    }
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
