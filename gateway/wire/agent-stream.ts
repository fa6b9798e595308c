import { randomUUID } from 'node:crypto';
import { type AgentState, isAgentState, type RunResponse, type ServerMessage } from './messages.ts';

export interface Call {
  write: (message: ServerMessage) => boolean;
  end: () => void;
  writableLength: number;
}

interface AgentStreamOptions {
  fingerprint: string;
  answerInMilliseconds: number;
  /** The time in milliseconds at which the stream of an agent was opened. */
  now: number;
}

/** The number of messages that an agent has not read at which its stream takes no more. */
const mostUnread = 16;

/** The stream of an agent, through which the gateway asks for the agent's state and sends commands. */
export class AgentStream {
  readonly id = randomUUID();
  readonly fingerprint: string;
  readonly openedAt: number;
  /** The SHA-256, in hex, of each attestation that the agent sent over the stream. */
  readonly attestations = new Set<string>();
  /** The time in milliseconds at which the agent last sent an attestation token over the stream. -Infinity if it sent none. */
  attestedAt = -Infinity;
  private readonly call: Call;
  private readonly answerInMilliseconds: number;
  private readonly waiting = new Map<string, (state: AgentState | undefined) => void>();
  private lastRequest = 0;
  private onRunResponse: ((response: RunResponse | undefined) => void) | undefined;
  private asking: Promise<AgentState | undefined> | undefined;
  private closed = false;

  constructor(call: Call, { fingerprint, answerInMilliseconds, now }: AgentStreamOptions) {
    this.call = call;
    this.fingerprint = fingerprint;
    this.answerInMilliseconds = answerInMilliseconds;
    this.openedAt = now;
  }

  get isOpen(): boolean {
    return !this.closed;
  }

  /** True if the stream of the agent is open and the agent reads what it is sent. */
  get takesMessages(): boolean {
    return !this.closed && this.call.writableLength < mostUnread;
  }

  /** Sends a message to the agent on its stream. @returns false if the agent does not read what was sent before */
  send(message: ServerMessage): boolean {
    if (!this.takesMessages) return false;
    this.call.write(message);
    return true;
  }

  /**
   * Asks the agent on the stream for its state. Returns undefined if the agent does not answer in time, or with an unknown state.
   */
  state(): Promise<AgentState | undefined> {
    this.asking ??= this.ask().finally(() => (this.asking = undefined));
    return this.asking;
  }

  /**
   * Asks the agent on the stream for its state, with a question of after the call. The answer to an earlier one may have been under way
   * when the agent ended, so it does not show that the agent and a second one are there at once.
   */
  async stateNow(): Promise<AgentState | undefined> {
    return this.asking && (await this.asking) === undefined ? undefined : await this.state();
  }

  private async ask(): Promise<AgentState | undefined> {
    const id = String(++this.lastRequest);
    if (!this.send({ agentStateReq: { id } })) return undefined;
    const { promise, resolve } = this.answerInTime<AgentState>();
    this.waiting.set(id, resolve);
    return await promise.finally(() => this.waiting.delete(id));
  }

  /** Returns a promise of an answer of the agent, undefined if none comes in time, and the function that takes the answer. */
  private answerInTime<Answer>() {
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const timer = setTimeout(() => resolve(undefined), this.answerInMilliseconds);
    return { promise: promise.finally(() => clearTimeout(timer)), resolve };
  }

  /** Passes an answer of the agent to the question about its state that waits for it. Ignores answers to no question. */
  answer({ id, state }: { id: string; state: string }): void {
    this.waiting.get(id)?.(isAgentState(state) ? state : undefined);
  }

  /**
   * Sends the request to start a run to the agent on the stream.
   * @returns the agent's answer; undefined if none comes in time, which says nothing: an agent does not answer to a run that it
   * has
   */
  async run(chunks: { data: Uint8Array; id: string }): Promise<RunResponse | undefined> {
    const { promise, resolve } = this.answerInTime<RunResponse>();
    this.onRunResponse = resolve;
    // One message: pieces of an attempt that broke off would be put before those of the next one.
    if (!this.send({ runReqChunks: { ...chunks, is_last: true } })) resolve(undefined);
    return await promise.finally(() => (this.onRunResponse = undefined));
  }

  answerRun(response: RunResponse): boolean {
    if (!this.onRunResponse) return false;
    this.onRunResponse(response);
    return true;
  }

  close(): void {
    if (!this.closed) this.call.end();
    this.lost();
  }

  /** Notes that the agent has ended its stream. Questions that wait get no answer. */
  lost(): void {
    this.closed = true;
    for (const resolve of this.waiting.values()) resolve(undefined);
    this.onRunResponse?.(undefined);
  }
}
