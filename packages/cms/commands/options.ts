import { type Argument, InvalidArgumentError, Option } from 'commander';
import { approvalLevels, type AssetType, assetTypes, logAccesses, logLevels } from 'computation-management-formats/vocabulary';
import { durationOf, timeOf } from 'computation-management-formats/timestamps';
import { asked, type Context } from '../context/context.ts';
import { CmsError, exitCodes } from '../terminal/cms-error.ts';

export const approvalOption = () => new Option('--approval <LEVEL>', 'whose approval a run needs').choices(approvalLevels);

export const logAccessOption = () => new Option('--log-access <WHO>', 'who may read the logs of runs').choices(logAccesses);

export const logLevelOption = () => new Option('--log-level <LEVEL>', 'the log level of the agent').choices(logLevels);

export const statusOption = (statuses: readonly string[]) =>
  new Option('--status <STATUS>', 'only those with this status').choices(statuses);

export const assetTypeOption = () => new Option('--type <TYPE>', 'the type of the asset').choices(assetTypes);

/** Returns the type that an option names, or asks for it. @throws CmsError if nobody can answer */
export async function chosenType(context: Context, given: AssetType | undefined): Promise<AssetType> {
  const answer = given ?? (await asked(context, 'Its type, algorithm or dataset'));
  const type = assetTypes.find((each) => each === answer);
  if (type !== undefined) return type;
  throw new CmsError('Say whether it is an algorithm or a dataset: --type algorithm, or --type dataset.', {
    next: `${context.typed} --type dataset`,
    exitCode: exitCodes.usage,
  });
}

/** Returns a parser of whole numbers that are not below the least. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && Number.isSafeInteger(number)) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${least}.`);
  };
}

/**
 * Makes an option or argument refuse an empty value, which would match nothing, or everything: scripts give it where a variable is not
 * set. Those with a parser of their own refuse it themselves, and a TEXT may be empty.
 */
export function refuseEmpty(taking: Option | Argument): void {
  if (taking.parseArg !== undefined) return;
  if (taking.variadic) taking.argParser(collect);
  else if (!(taking instanceof Option)) taking.argParser(notEmpty);
  else if (taking.required && !taking.flags.endsWith('<TEXT>')) taking.argParser(notEmpty);
}

function notEmpty(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Expected a text that is not empty.');
}

/**
 * Collects the values of an option that may be given several times. A variadic option (`<VALUE...>`) would also take the argument
 * behind it, such as the computation: the command would then act on the default one.
 */
export function collect(text: string, before: string[] = []): string[] {
  return [...before, notEmpty(text)];
}

/** A time that is still to come, by the clock of the service. It returns RFC 3339. @throws CmsError if it has passed */
export type LaterTime = (now: number) => string;

/** Parses a time as the service takes it, or one from now such as 12h or 7d. */
export function laterTime(text: string): LaterTime {
  const [given, seconds] = [timeOf(text), durationOf(text)];
  if (Number.isNaN(given) && Number.isNaN(seconds)) {
    throw new InvalidArgumentError('Expected a moment such as 2026-12-31T12:00:00Z, or a time from now such as 12h or 7d.');
  }
  return (now) => {
    const at = Number.isNaN(seconds) ? given : now + seconds * 1_000;
    if (at > now) return new Date(at).toISOString();
    const message = `${text} has passed by the clock of the service, where it is ${new Date(now).toISOString()}.`;
    throw new CmsError(message, { exitCode: exitCodes.usage });
  };
}

export const useOption = () =>
  new Option('--use <USE>', 'whether a run needs your approval to use it').choices(['open', 'approval']);

export const contentAccessOption = () =>
  new Option('--content-access <WHO>', 'who gets the content: only you, or every member of the domain').choices([
    'creator',
    'domain',
  ]);
