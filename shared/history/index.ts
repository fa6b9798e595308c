/**
 * The interface of `shared/history`, which keeps the append-only log of the stage. Code outside of this folder, except for the
 * handlers of history, imports only these names: the integration of entries, the bucket of the log, and proofs for evidence.
 */

export { integrateChanged, integrateEntries, isWaitingEntry, reportWaiting, type StageLog } from './integrate-entries.ts';
export { openLogStore } from './log-store.ts';
export { type ProvenEntry, proveEntries, readLogIdentity } from './published-log.ts';
export { type Witness, witnessesOfStage, witnessSchema } from './witnesses.ts';
