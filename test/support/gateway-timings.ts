import type { GatewayTimings } from '../../gateway/session/gateway-parts.ts';

/** Short waits, so that tests need not wait for the facts of minutes. */
export const testTimings: Partial<GatewayTimings> = {
  commands: 100,
  stateOfBusy: 300,
  stateOfIdle: 300,
  answer: 2_000,
  attestation: 200,
  spent: 500,
  command: 100,
  stop: 1_000,
  lateEvent: 1_500,
  lateEventWithoutForwarder: 200,
  record: 50,
  presence: 300,
  messages: 100,
  firstRetry: 50,
  longestRetry: 500,
  drain: 60_000, // a busy machine needs its time
};
