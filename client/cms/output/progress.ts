import cliProgress from 'cli-progress';
import type { Terminal } from '../terminal.ts';
import { fileSize } from './file-size.ts';

/** Shows how far a transfer has come: a bar on a terminal, and otherwise nothing until its end. */
export interface Progress {
  /** Adds bytes. */
  add: (bytes: number) => void;
  /** Sets the number of bytes that are done, for example after a transfer was cut. */
  set: (bytes: number) => void;
  stop: () => void;
}

export function startProgress({ showsProgress }: Terminal, title: string, total: number): Progress {
  if (!showsProgress || total === 0) return { add: () => undefined, set: () => undefined, stop: () => undefined };
  let done = 0;
  const bar = new cliProgress.SingleBar(
    {
      format: `${title} {bar} {percentage}% {value}/{total} {rate} {eta_formatted}`,
      formatValue: (value, options, type) =>
        type === 'value' || type === 'total' ? fileSize(value) : cliProgress.Format.ValueFormat(value, options, type),
      hideCursor: true,
      clearOnComplete: true,
      etaBuffer: 50,
      stream: process.stderr,
    },
    cliProgress.Presets.shades_classic,
  );
  const startedAt = performance.now();
  const rate = () => `${fileSize(Math.round((done * 1_000) / Math.max(1, performance.now() - startedAt)))}/s`;
  bar.start(total, 0, { rate: '' });
  const show = () => bar.update(done, { rate: rate() });
  return {
    add: (bytes) => {
      done += bytes;
      show();
    },
    set: (bytes) => {
      done = bytes;
      show();
    },
    stop: () => bar.stop(),
  };
}
