import { type Argument, InvalidArgumentError, Option } from 'commander';
import { approvalLevels, assetTypes, logLevels } from 'computation-management-formats/vocabulary';
import { isWebAddress } from '../context/target.ts';

export const approvalOption = () => new Option('--approval <LEVEL>', 'whose approval a run needs').choices(approvalLevels);

export const logLevelOption = () => new Option('--log-level <LEVEL>', 'the log level of the agent').choices(logLevels);

export const statusOption = (statuses: readonly string[]) =>
  new Option('--status <STATUS>', 'only those with this status').choices(statuses);

export const assetTypeOption = () => new Option('--type <TYPE>', 'the type of the asset').choices(assetTypes);

/** Returns a parser of whole numbers that are not below the least. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && Number.isSafeInteger(number)) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${least}.`);
  };
}

/** Parses the address of a server, with https or http. */
export function webAddress(text: string): string {
  if (isWebAddress(text)) return text;
  throw new InvalidArgumentError('Expected an address such as https://example.com.');
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

const secondsPer: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** RFC 3339, or its date alone. `Date.parse` takes much more: `7` is a day in July 2001. */
const timestamp = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Parses a moment that is still to come: RFC 3339, or a time from now such as 12h or 7d. Returns RFC 3339. */
export function laterMoment(text: string): string {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const factor = secondsPer[unit ?? ''];
  const given = timestamp.test(text) ? Date.parse(text) : NaN;
  const at = factor === undefined ? given : Date.now() + Number(amount) * factor * 1_000;
  if (!Number.isFinite(at)) {
    throw new InvalidArgumentError('Expected a moment such as 2026-12-31T12:00:00Z, or a time from now such as 12h or 7d.');
  }
  if (at <= Date.now()) throw new InvalidArgumentError(`${new Date(at).toISOString()} has passed.`);
  return new Date(at).toISOString();
}

export const useOption = () =>
  new Option('--use <USE>', 'whether a run needs your approval to use it').choices(['open', 'approval']);

export const contentAccessOption = () =>
  new Option('--content-access <WHO>', 'who gets the content: only you, or every member of the domain').choices([
    'creator',
    'domain',
  ]);
