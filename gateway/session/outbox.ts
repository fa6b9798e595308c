import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../../shared/runtime/errors.ts';
import { log } from '../../shared/runtime/log.ts';
import type { LastingReport } from '../../shared/cvms/index.ts';
import { isLongestPause, retryPause, type RetryTimings } from './gateway-parts.ts';
import type { ReportResult } from './service.ts';

interface OutboxOptions {
  /** Sends up to 40 reports of a run to the service. */
  send: (reports: LastingReport[]) => Promise<ReportResult[]>;
  onTaken: (results: ReportResult[]) => void;
  /** Called with each report of a run that is dropped, and the reason as a sentence. */
  onDropped: (report: LastingReport, reason: string) => void;
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

/** The number of failures, of a kind that waiting does not cure, after which a report to the service is dropped. */
const mostLastingFailures = 5;

/**
 * Keeps the reports of a run that wait for the service, and repeats a batch until the service takes it: reports have identifiers.
 * Above 1,000 reports or 8 MiB it drops optional reports such as warnings, oldest first, never those that decide the run. It
 * waits while the service is busy or refuses the credentials. After another failure it sends one report at a time, and drops a
 * report that fails five times.
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

  /** Adds a report of the run to those that wait. Does nothing if a report with its identifier is waiting. */
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

  /** True while a report of the run waits that is never dropped. */
  get holdsLasting(): boolean {
    return this.entries.some(({ isOptional }) => !isOptional);
  }

  get age(): number {
    const [oldest] = this.entries;
    return oldest ? this.options.now() - oldest.since : 0;
  }

  async drained(milliseconds: number): Promise<void> {
    this.wakeUp?.();
    await Promise.race([this.sending, delay(milliseconds, undefined, { ref: false })]);
  }

  /**
   * Stops sending the reports of the run. Reports that still wait are lost. Another gateway infers their events from the agent's
   * state.
   */
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
    const waking = new AbortController();
    this.wakeUp = () => waking.abort();
    await delay(milliseconds, undefined, { signal: waking.signal }).catch(() => undefined);
    this.wakeUp = undefined;
  }
}

const ofCredentials = new Set([
  'AccessDeniedException',
  'CredentialsProviderError',
  'ExpiredTokenException',
  'InvalidSignatureException',
  'MissingAuthenticationTokenException',
  'UnrecognizedClientException',
]);

const ofRequest = new Set(['ItemCollectionSizeLimitExceededException', 'SerializationException', 'ValidationException']);

/**
 * The names of errors in the code that handles a report, which a repeat of the same report causes again. An error of these names
 * with a cause, such as a broken connection, is none of them.
 */
const ofCode = new Set(['RangeError', 'TypeError']);

/**
 * Returns the kind of a failure to send reports: the service is busy, which passes; the credentials are refused; or waiting does not
 * help.
 */
function failureKind(error: unknown): 'busy' | 'credentials' | 'lasting' {
  if (error instanceof ServiceError) return error.code === 'unavailable' ? 'busy' : 'lasting';
  if (!(error instanceof Error)) return 'busy';
  if (ofCredentials.has(error.name)) return 'credentials';
  const isOfCode = ofCode.has(error.name) && error.cause === undefined;
  return ofRequest.has(error.name) || isOfCode ? 'lasting' : 'busy';
}
