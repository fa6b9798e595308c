import { ServiceError } from '../../shared/runtime/errors.ts';
import { log } from '../../shared/runtime/log.ts';
import type { LastingReport } from '../../shared/runs/report.ts';
import { isLongestPause, retryPause, type RetryTimings } from './gateway-parts.ts';
import type { ReportResult } from './service.ts';

export interface OutboxOptions {
  /** Sends up to 40 reports. Fails if the service does not take them now. */
  send: (reports: LastingReport[]) => Promise<ReportResult[]>;
  /** Called with the answers to the reports that the service has taken. */
  onTaken: (results: ReportResult[]) => void;
  /** Called for each report that was left out. The reason is a sentence. */
  onDropped: (report: LastingReport, reason: string) => void;
  /** What a line of the log says besides, such as the run. */
  logFields?: Record<string, string>;
  now: () => number;
  timings: RetryTimings;
}

interface Entry {
  report: LastingReport;
  bytes: number;
  isOptional: boolean;
  since: number;
}

const mostEntries = 1_000;
const mostBytes = 8 * 1024 * 1024;
const reportsPerBatch = 40;

/** A report is dropped after so many failures that waiting does not cure. The reports after it are sent then. */
const mostLastingFailures = 5;

/**
 * The reports on one run that the service has not taken yet, in order. Sends them one batch after the other, and repeats a batch
 * until the service takes it: all reports have identifiers, so a repeat changes nothing. Holds up to 1,000 reports and 8 MiB.
 * Above that it leaves out warnings and the like, oldest first, and counts them; what decides the run is never left out. While the
 * service is busy or refuses the credentials, it waits. If it fails otherwise, it sends one report after the other, to find the one
 * that the service cannot take, and leaves that one out after five attempts.
 */
export class Outbox {
  private readonly options: OutboxOptions;
  private entries: Entry[] = [];
  private inFlight = 0;
  private bytes = 0;
  private sending: Promise<void> | undefined;
  private closed = false;
  private wakeUp: (() => void) | undefined;

  constructor(options: OutboxOptions) {
    this.options = options;
  }

  /** Adds a report. Does nothing if one with its identifier is waiting. */
  add(report: LastingReport, { isOptional = false } = {}): void {
    if (this.closed || this.entries.some((entry) => entry.report.id === report.id)) return;
    const entry = { report, bytes: Buffer.byteLength(JSON.stringify(report)), isOptional, since: this.options.now() };
    this.entries.push(entry);
    this.bytes += entry.bytes;
    while (this.entries.length > mostEntries || this.bytes > mostBytes) if (!this.dropOldest()) break;
    this.sending ??= this.sendAll();
  }

  private dropOldest(): boolean {
    const index = this.entries.findIndex((entry, place) => entry.isOptional && place >= this.inFlight);
    const [dropped] = index < 0 ? [] : this.entries.splice(index, 1);
    if (!dropped) return false;
    this.bytes -= dropped.bytes;
    this.options.onDropped(dropped.report, 'Too many reports of the run wait for the service.');
    return true;
  }

  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  /** Whether it contains a report that is never dropped. */
  get holdsLasting(): boolean {
    return this.entries.some(({ isOptional }) => !isOptional);
  }

  /** How long the oldest report has been waiting, in milliseconds. */
  get age(): number {
    const [oldest] = this.entries;
    return oldest ? this.options.now() - oldest.since : 0;
  }

  /** Resolves when the outbox is empty or the time is over. */
  async drained(milliseconds: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const isOver = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
    this.wakeUp?.();
    await Promise.race([this.sending ?? Promise.resolve(), isOver]);
    clearTimeout(timer);
  }

  /** Stops sending. What is still waiting is lost to this gateway; another one finds it out from the agent's state. */
  close(): void {
    this.closed = true;
    this.wakeUp?.();
  }

  private async sendAll(): Promise<void> {
    let failures = 0;
    let most = reportsPerBatch;
    let lastingFailures = 0;
    let hasWarned = false;
    while (this.entries.length > 0 && !this.closed) {
      this.inFlight = Math.min(most, this.entries.length);
      const batch = this.entries.slice(0, this.inFlight);
      const { results, error } = await this.send(batch);
      this.inFlight = 0;
      if (results) {
        this.remove(batch);
        [failures, most, lastingFailures, hasWarned] = [0, reportsPerBatch, 0, false];
        this.options.onTaken(results);
        continue;
      }
      const kind = failureKind(error);
      const [first] = batch;
      if (kind === 'lasting' && first && batch.length === 1 && ++lastingFailures >= mostLastingFailures) {
        const fields = { ...this.options.logFields, id: first.report.id };
        log('ERROR', 'A report of a CVM was left out, because the service cannot take it.', fields, error);
        this.remove(batch);
        this.options.onDropped(first.report, 'The service cannot take it.');
        lastingFailures = 0;
      }
      if (kind === 'lasting') most = 1;
      failures = kind === 'credentials' ? Infinity : failures + 1;
      if (isLongestPause(failures, this.options.timings) && !hasWarned) {
        log('WARN', 'The reports of a run cannot be sent now.', this.options.logFields, error);
        hasWarned = true;
      }
      await this.pause(retryPause(failures, this.options.timings));
    }
    this.sending = undefined; // in the same moment as the loop ends: a report that comes right after it starts another
  }

  private async send(batch: Entry[]): Promise<{ results?: ReportResult[]; error?: unknown }> {
    try {
      return { results: await this.options.send(batch.map(({ report }) => report)) };
    } catch (error) {
      return { error };
    }
  }

  private remove(batch: Entry[]): void {
    this.entries.splice(0, batch.length);
    this.bytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  private async pause(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wakeUp = undefined;
  }
}

/** What can be done about a failed call: wait, wait longer for other credentials, or nothing by a mere repeat. */
type FailureKind = 'busy' | 'credentials' | 'lasting';

const ofCredentials = new Set([
  'AccessDeniedException',
  'CredentialsProviderError',
  'ExpiredTokenException',
  'InvalidSignatureException',
  'MissingAuthenticationTokenException',
  'UnrecognizedClientException',
]);

const ofRequest = new Set(['ItemCollectionSizeLimitExceededException', 'SerializationException', 'ValidationException']);

/** Errors of the code that handles the report: a repeat fails in the same way. With a cause, such as a broken connection, it may not. */
const ofCode = new Set(['RangeError', 'TypeError']);

/**
 * Tells failures apart: refused credentials (401, 403), requests that can never be taken (400, or one that the code fails on), and all
 * others, such as throttling, errors of a server and broken connections (429, 5xx).
 */
function failureKind(error: unknown): FailureKind {
  if (error instanceof ServiceError) return error.code === 'unavailable' ? 'busy' : 'lasting';
  if (!(error instanceof Error)) return 'busy';
  if (ofCredentials.has(error.name)) return 'credentials';
  const isOfCode = ofCode.has(error.name) && error.cause === undefined;
  return ofRequest.has(error.name) || isOfCode ? 'lasting' : 'busy';
}
