import { routes } from '../../shared/endpoints/endpoints.ts';
import { isLimited, type Route } from '../../shared/http/route.ts';
import { tasks, type Task } from '../../shared/tasks/tasks.ts';
import type { Stage } from '../stages/stage.ts';

/** The concurrent executions that are reserved for a scheduled task. Two calls at once would do the same work twice. */
const ofScheduledTask = 1;

/**
 * The concurrent executions that reservations must leave to all other functions of the account. Lambda refuses to leave fewer.
 */
const leastUnreserved = 100;

/**
 * Returns the concurrent executions that a stage reserves for a function, or undefined if the function shares those of the
 * account.
 */
export function reservedFor(row: Route | Task, { reservedConcurrency, waits }: Stage): number | undefined {
  if (reservedConcurrency === 'none') return undefined;
  if ('trigger' in row) {
    if (typeof row.trigger === 'object') return ofScheduledTask;
    return row.trigger === 'upload' || row.trigger === 'token' ? reservedConcurrency.uploads : reservedConcurrency.lifecycleSteps;
  }
  if (row.waits) return waits.concurrency;
  if (row.reserves) return reservedConcurrency[row.reserves];
  return isLimited(row.name, routes) ? reservedConcurrency.changes : undefined;
}

/**
 * Returns a sentence for each fault in the concurrent executions that a stage reserves. @param rows all stages, of which some may
 * be deployed to the same account
 */
export function faultsOfReservations(stage: Stage, rows: readonly Stage[]): string[] {
  return [tooManyReserved(stage, rows), tooFewForWaits(stage)].filter((fault) => fault !== undefined);
}

function tooFewForWaits({ name, waits: { perStage, concurrency } }: Stage): string | undefined {
  if (concurrency === undefined || concurrency > perStage) return undefined;
  return (
    `The stage ${name} reserves ${concurrency} concurrent executions for each function that holds requests, but these may hold ` +
    `${perStage}. Make waits.concurrency of the stage in infra/stages/stages.ts more than waits.perStage.`
  );
}

/**
 * Returns the concurrent executions that are reserved by all stages in the same account and region as a stage. @param rows all
 * stages
 */
export function reservedInAccount(stage: Stage, rows: readonly Stage[]): number {
  return sharingAccount(stage, rows).reduce((sum, each) => sum + reservedBy(each), 0);
}

function sharingAccount(stage: Stage, rows: readonly Stage[]): Stage[] {
  return rows.filter(({ account, region }) => account === stage.account && region === stage.region);
}

function tooManyReserved(stage: Stage, rows: readonly Stage[]): string | undefined {
  const sharing = sharingAccount(stage, rows);
  const reserved = reservedInAccount(stage, rows);
  if (reservedBy(stage) === 0 || reserved + leastUnreserved <= stage.accountConcurrency) return undefined;
  const isAlone = sharing.length === 1;
  const who = isAlone
    ? `The stage ${stage.name} reserves`
    : `The stages of the account ${stage.account} (${sharing.map(({ name }) => name).join(', ')}) together reserve`;
  return (
    `${who} ${reserved} concurrent executions and must leave ${leastUnreserved} to other functions, but ` +
    `${isAlone ? 'its' : 'the'} account has ${stage.accountConcurrency}. Request a higher quota (Service Quotas, Lambda, Concurrent ` +
    `executions) and set accountConcurrency to it, lower reservedConcurrency and waits.concurrency in infra/stages/stages.ts, or set ` +
    `reservedConcurrency to 'none'.${isAlone ? '' : ' If the stages have accounts of their own, give their rows different names of accounts.'}`
  );
}

function reservedBy(stage: Stage): number {
  const rows = new Map<string, Route | Task>([...routes, ...tasks].map((row) => [row.name, row]));
  return [...rows.values()].reduce((sum, row) => sum + (reservedFor(row, stage) ?? 0), 0);
}
