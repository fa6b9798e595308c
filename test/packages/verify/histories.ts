import type { LogProofs } from '../../../packages/verify/statement.ts';
import { logEntry, logTag } from 'computation-management-formats/digests';
import type { LoggedAct } from 'computation-management-formats/vocabulary';
import {
  appendEntries,
  checkpointText,
  formatProof,
  inclusionProof,
  type ReadTile,
  type Tree,
} from 'computation-management-transparency-log';
import { type newTestLog } from './test-log.ts';

type TestLog = ReturnType<typeof newTestLog>;

/** A statement as far as a log has entries of it. */
export interface Logged {
  domain: string;
  computation: string;
  run: { id: string };
  events: Record<'started' | 'last', { hash: string }>;
}

/** A history of a log, in memory: it grows, and a service may begin another one from any place. */
export class History {
  readonly log: TestLog;
  readonly entries: Uint8Array[] = [];
  readonly tiles = new Map<string, Uint8Array>();
  readonly readTile: ReadTile = async (path) => this.tiles.get(path);
  tree: Tree = { size: 0, root: new Uint8Array(32) };

  constructor(log: TestLog) {
    this.log = log;
  }

  async grow(entries: readonly Uint8Array[]): Promise<void> {
    const { tiles, ...tree } = await appendEntries(this.tree.size, entries, this.readTile);
    for (const { path, bytes } of tiles) this.tiles.set(path, bytes);
    this.entries.push(...entries);
    this.tree = tree;
  }

  /** Returns another history that begins with the first entries of this one. */
  async fork(size: number): Promise<History> {
    const other = new History(this.log);
    await other.grow(this.entries.slice(0, size));
    return other;
  }

  /** The signed checkpoint of the present tree. */
  get checkpoint(): string {
    return this.log.noteOf(checkpointText({ origin: this.log.origin, ...this.tree }));
  }

  /** Adds the entries of a run. @returns what proves them in the tree after that */
  async growByRun(statement: Logged, salt: number, between: readonly Uint8Array[] = []): Promise<LogProofs> {
    const { entries, start, end } = entriesOf(statement, salt);
    const first = this.tree.size;
    await this.grow([start, ...between, end]);
    return await this.prove(entries, [first, this.tree.size - 1]);
  }

  async prove(salts: readonly { type: LoggedAct; salt: string }[], indices: readonly number[]): Promise<LogProofs> {
    const entryOf = async ({ type, salt }: { type: LoggedAct; salt: string }, index = 0) => {
      const hashes = await inclusionProof(index, this.tree.size, this.readTile);
      return { type, index, salt, proof: formatProof({ index, hashes, checkpoint: this.checkpoint }) };
    };
    return { entries: await Promise.all(salts.map((each, at) => entryOf(each, indices[at]))) };
  }
}

/** Returns the entries of a run's start and end, and their salts. @param byte the byte that the salts repeat */
function entriesOf({ domain, computation, run, events }: Logged, byte: number) {
  const salt = new Uint8Array(16).fill(byte);
  const entryOf = (type: LoggedAct, event_hash: string) =>
    logEntry({ tag: logTag({ type, domain, computation, run: run.id }), salt, event_hash });
  const [start, end] = [entryOf('run-start', events.started.hash), entryOf('run-end', events.last.hash)];
  const text = Buffer.from(salt).toString('base64');
  return {
    start,
    end,
    entries: [
      { type: 'run-start' as const, salt: text },
      { type: 'run-end' as const, salt: text },
    ],
  };
}
