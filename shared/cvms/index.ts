export { listCommands, openWork } from './list-commands.ts';
export { recordRefusal } from './record-refusal.ts';
export { recordReports } from './record-reports.ts';
export { type LastingReport, longestReason, type Report, reportSchema, stateEventIdPrefix } from './report.ts';
