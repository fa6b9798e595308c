/**
 * The interface of `shared/results`, which hands in the results of runs, decides on them and states what was decided. Code outside
 * of this folder, except for the handlers of results, imports only this name: the schema of a signed statement about a result.
 */

export { resultEvidenceSchema } from './result-statement.ts';
