import { setTimeout as delay } from 'node:timers/promises';
import type { ChangeKind } from './busy-service.ts';

interface Made {
  kind: ChangeKind;
  /** From when it was due until it was answered. */
  milliseconds: number;
  hasFailed: boolean;
}

export interface Figures {
  offered: number;
  'a second': number;
  /** Of all, also of those that warm up. */
  failed: number;
  p50: number;
  p95: number;
  p99: number;
  longest: number;
  'p95 of creates': number;
  'p95 of starts': number;
  'p95 of ends': number;
}

export const warmUpInSeconds = 2;

/** Sends each change when it is due, whether or not earlier ones are answered. The first ones warm up and are not measured. */
export async function offer(
  rate: number,
  kinds: readonly ChangeKind[],
  make: Record<ChangeKind, () => Promise<void>>,
): Promise<Figures> {
  const begun = performance.now();
  const all: Promise<Made>[] = [];
  for (const [index, kind] of kinds.entries()) {
    const due = begun + (index * 1_000) / rate;
    const pause = due - performance.now();
    if (pause > 0) await delay(pause);
    const hasFailed = make[kind]().then(
      () => false,
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        return true;
      },
    );
    all.push(hasFailed.then((hasFailed) => ({ kind, milliseconds: performance.now() - due, hasFailed })));
  }
  const made = await Promise.all(all);
  const measured = made.slice(warmUpInSeconds * rate);
  return figuresOf(rate, measured, {
    failed: failuresIn(made),
    milliseconds: performance.now() - begun - warmUpInSeconds * 1_000,
  });
}

function failuresIn(made: readonly Made[]): number {
  return made.filter(({ hasFailed }) => hasFailed).length;
}

function figuresOf(
  offered: number,
  made: readonly Made[],
  { failed, milliseconds }: { failed: number; milliseconds: number },
): Figures {
  const p95Of = (kind: ChangeKind) =>
    percentile(
      made.filter((each) => each.kind === kind),
      0.95,
    );
  return {
    offered,
    'a second': Math.round(((made.length - failuresIn(made)) * 1_000) / milliseconds),
    failed,
    p50: percentile(made, 0.5),
    p95: percentile(made, 0.95),
    p99: percentile(made, 0.99),
    longest: percentile(made, 1),
    'p95 of creates': p95Of('create'),
    'p95 of starts': p95Of('start'),
    'p95 of ends': p95Of('end'),
  };
}

function percentile(made: readonly Made[], share: number): number {
  const times = made.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  return Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0);
}
