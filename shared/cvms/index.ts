/**
 * The interface of `shared/cvms`, which registers CVMs, delivers commands to them and records their reports. Code outside of this
 * folder, except for the handlers of CVMs, imports only these names.
 */

export { listCommands, openWork } from './list-commands.ts';
export { recordReports, readManifestBefore, recordRefusal } from './record-reports.ts';
export { type LastingReport, longestReason, type Report, reportSchema, stateEventIdPrefix } from './report.ts';
