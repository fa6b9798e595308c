import { longestReason } from '../../shared/runs/report.ts';
import type { AgentLog } from '../wire/messages.ts';

const cause = /^failed to run computation: /;
const otherCause = /^(failed|error|unable|cannot|could not)\b/i;

/**
 * Finds why an agent failed. The events do not say it; a log line just before them does. Lines arrive in pieces of up to 500
 * bytes with the same time.
 */
export class FailureReason {
  private line: { at: string; text: string; isCause: boolean } | undefined;

  /** Reads a line of the log. */
  read({ message, level, timestamp }: AgentLog): void {
    if (level !== 'WARN' && level !== 'ERROR') return;
    const at = timestamp ? `${timestamp.seconds}.${timestamp.nanos}` : '';
    if (this.line?.at === at && at !== '') {
      this.line.text = (this.line.text + message).slice(0, 2 * longestReason);
      return;
    }
    const isCause = cause.test(message);
    if (isCause || (!this.line?.isCause && otherCause.test(message))) {
      this.line = { at, text: message.slice(0, 2 * longestReason), isCause };
    }
  }

  /** The reason, up to 1,000 characters; undefined if no line told it. */
  get text(): string | undefined {
    const text = this.line?.text.trim();
    return text ? Array.from(text).slice(0, longestReason).join('') : undefined;
  }
}
