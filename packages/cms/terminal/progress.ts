import cliProgress from 'cli-progress';
import { sizeText } from 'computation-management-client';
import type { Terminal } from './terminal.ts';

/** A bar that shows how far a transfer has come. Nothing is shown if standard error is not a terminal. */
interface Progress {
  show: (title: string, progress: { done: number; total: number }) => void;
  /** Removes the bar. The next report of progress shows the bar again. */
  stop: () => void;
}

/** The size in bytes of the smallest transfer for which a bar is shown. A smaller transfer ends before a bar would help. */
const leastInBytes = 1024 * 1024;

/** Returns the progress bar of a command. The bar appears with the first report of progress. */
export function startProgress({ showsProgress }: Pick<Terminal, 'showsProgress'>): Progress {
  let current: { title: string; bar: cliProgress.SingleBar; startedAt: number; from: number } | undefined;
  const stop = () => {
    current?.bar.stop();
    current = undefined;
  };
  return {
    show: (title, { done, total }) => {
      if (!showsProgress || total < leastInBytes) return;
      if (current?.title !== title) {
        stop();
        const bar = newBar(title);
        bar.start(total, done, { rate: '' });
        current = { title, bar, startedAt: performance.now(), from: done };
      }
      const seconds = (performance.now() - current.startedAt) / 1_000;
      const rate = seconds < 0.5 ? '' : `${sizeText(Math.max(0, Math.round((done - current.from) / seconds)))}/s`;
      current.bar.update(done, { rate });
    },
    stop,
  };
}

function newBar(title: string): cliProgress.SingleBar {
  return new cliProgress.SingleBar(
    {
      format: `${title} {bar} {percentage}% of {total} {rate} {eta_formatted}`,
      formatValue: (value, options, type) =>
        type === 'value' || type === 'total' ? sizeText(value) : cliProgress.Format.ValueFormat(value, options, type),
      hideCursor: true,
      clearOnComplete: true,
      etaBuffer: 50,
      barsize: 30,
      stream: process.stderr,
    },
    cliProgress.Presets.shades_classic,
  );
}

const silenceInMilliseconds = 8_000;

/** Does work. If that takes eight seconds longer than it should, says a text: no command waits in silence. */
export async function noting<Result>(say: (text: string) => void, text: string, work: () => Promise<Result>, seconds = 0) {
  const timer = setTimeout(say, silenceInMilliseconds + seconds * 1_000, text);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
