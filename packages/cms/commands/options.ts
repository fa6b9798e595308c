import { type Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { Schemas } from 'computation-management-client';
import type { algorithmTypes } from 'computation-management-formats/source';
import { approvalLevels, type AssetType, assetTypes, logAccesses, logLevels } from 'computation-management-formats/vocabulary';
import { durationOf, timeOf } from 'computation-management-formats/timestamps';
import { computationId } from '../context/computation-reference.ts';
import { asked, type Context, type Session, type WrapAction } from '../context/context.ts';
import { identified } from '../context/find-by-name.ts';
import { usualUse } from '../files/transfers.ts';
import { UsageError } from '../terminal/cms-error.ts';

/** The options that say which agent is the right one, and what verifies its evidence, as a command gets them. */
export const agentOptionNames = [
  ...['agent', 'agentFingerprint', 'agentCertificate', 'clientCertificate', 'clientKey', 'approved', 'unbound'],
  ...['collateral', 'certificate', 'root'],
];

/** A command of `cms`, with methods that add the options which several commands share. Its subcommands are of the same class. */
export class CmsCommand extends Command {
  readonly #wrapAction: WrapAction;

  constructor(name: string | undefined, wrapAction: WrapAction) {
    super(name);
    this.#wrapAction = wrapAction;
  }

  override createCommand(name?: string): CmsCommand {
    return new CmsCommand(name, this.#wrapAction);
  }

  /** Adds a subcommand, and returns the subcommand. @param description what the subcommand does, for its help */
  subcommand(name: string, description: string): CmsCommand {
    return this.command(name).description(description);
  }

  /** Adds an option that may be given several times. */
  repeatable(flags: string, description: string, parse = collect): this {
    return this.option(flags, `${description} (repeatable)`, parse);
  }

  /** Adds an option that takes one of some values. */
  choice(flags: string, description: string, values: readonly string[]): this {
    return this.addOption(new Option(flags, description).choices(values));
  }

  /** Adds an option that does not go with other options, which are named as the command gets them, such as `dryRun`. */
  excluding(flags: string, description: string, others: string | string[]): this {
    return this.addOption(new Option(flags, description).conflicts(others));
  }

  /** Sets the action of the command: a function of the context, then the arguments and the options of the command. */
  does(action: (context: Context, ...given: never[]) => Promise<void>): this {
    return this.action(this.#wrapAction(action) as (...given: unknown[]) => Promise<void>);
  }

  /** Sets the action of the command as `does`, and connects before: an action that looks at what was typed first connects itself. */
  connected(action: (session: Session, ...given: never[]) => Promise<void>): this {
    return this.does(async (context, ...given) => action(await context.connect(), ...given));
  }

  /** Makes the command take a computation, and sets its action, which gets the identifier of the computation. */
  onComputation(action: (session: Session, id: string, options: never) => Promise<void>, place = '[COMPUTATION]'): this {
    return this.argument(place, 'its identifier or name').connected(
      async (session, reference: string | undefined, options: never) => {
        await action(session, await computationId(session, reference), options);
      },
    );
  }

  /** Makes the command take an asset, and sets its action, which gets the identifier of the asset. */
  onAsset(action: (session: Session, id: string, options: never) => Promise<void>): this {
    return this.argument('<ASSET>', 'its file name or identifier').connected(
      async (session, reference: string, options: never) => {
        await action(session, await identified(session, 'asset', reference), options);
      },
    );
  }

  /** Adds the options that every command that makes an asset takes. @param defaultName the default of `--name`, in words */
  assetOptions(defaultName = 'that of the file'): this {
    return this.choice('--type <TYPE>', 'the type of the asset', assetTypes)
      .option('--computation <COMPUTATION>', 'link the asset to this computation')
      .option('--name <NAME>', `the name in the manifest (default: ${defaultName})`)
      .option('--description <TEXT>', 'what it contains')
      .choice('--use <USE>', 'whether a run needs your approval to use it (default: of a dataset)', ['open', 'approval']);
  }

  /** Adds the options of every command that encrypts a file. */
  encryptOptions(): this {
    return this.option('--output <FILE>', 'the encrypted file (default: FILE.enc)')
      .option('--key <FILE>', 'the file of the key, which is made if it is missing (default: FILE.key)')
      .option('--copy <FILE>', 'a second copy of the key, on another disk');
  }

  /** Adds the options that name certificates for the verification of attestation evidence. */
  materialOptions(): this {
    return this.repeatable('--certificate <FILE>', 'a certificate of AMD that the evidence lacks').repeatable(
      '--root <FILE>',
      'trust this certificate in place of the roots of AMD and Intel, for tests',
    );
  }

  /** Adds the options that say where the agent of a run is, and by what the right agent is recognized. */
  agentOptions(): this {
    return this.repeatable('--collateral <FILE>', 'documents of Intel, for TDX')
      .option('--agent <HOST:PORT>', 'the address of the agent (default: agent_url of the CVM)')
      .option('--agent-fingerprint <SHA256>', 'the SHA-256 of the certificate of the agent')
      .option('--agent-certificate <FILE>', 'the certificate of the agent')
      .option('--client-certificate <FILE>', 'your certificate, for an agent that demands one')
      .option('--client-key <FILE>', 'its private key')
      .repeatable('--approved <DIGEST>', 'a digest that you approved elsewhere: of the manifest, and of the configuration')
      .option('--unbound', 'accept any agent at the address')
      .materialOptions();
  }

  /** Adds the options that every command that sends files to an agent takes. */
  sendOptions(): this {
    return this.agentOptions()
      .choice('--type <TYPE>', 'the type of the algorithm', ['bin', 'python', 'wasm', 'docker'])
      .repeatable('--arg <TEXT>', 'an argument of the algorithm', collectArguments)
      .option('--requirements <FILE>', 'the requirements.txt of an algorithm in Python')
      .option('--decompress', 'let the agent unpack the datasets')
      .option('--yes', 'do not ask, if this machine has no record of your approval');
  }

  /** Adds the options that every command that creates or changes a computation takes. */
  computationOptions(): this {
    return this.option('--description <TEXT>', 'what it computes')
      .option('--owner <USER>', 'the owner; only administrators can name another user')
      .choice('--approval <LEVEL>', 'whose approval a run needs', approvalLevels)
      .repeatable('--consumer <USER>', 'a result consumer; only these and the owner get the results')
      .repeatable('--reviewer <USER>', 'a reviewer, who decides whether a result is released')
      .option('--needed <COUNT>', 'how many of them must release it (default: all)', wholeNumber(1))
      .repeatable('--provider <USER>', 'a provider; only these, the owner and administrators may link their own assets')
      .option('--attestation-policy <FILE>', 'which CVMs may run it: a file with an attestation_policy, in YAML or JSON')
      .choice('--log-access <WHO>', 'who may read the logs of runs', logAccesses)
      .choice('--log-level <LEVEL>', 'the log level of the agent', logLevels);
  }

  /** Adds the options that every command that prints a list takes: the range of entries, and CSV. */
  listOptions(): this {
    return this.option('--limit <COUNT>', 'how many to list', wholeNumber(1), 20)
      .option('--offset <COUNT>', 'how many to skip', wholeNumber(0))
      .option('--all', 'list all')
      .excluding('--csv', 'print CSV, with a column for each field of --json', 'json');
  }
}

/** Returns an object without its fields that are undefined, because no option of the command gives them. */
export function given<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };
}

/**
 * Returns the identifier of the computation that the option `--computation` names, to which a new asset is linked. Undefined without the
 * option.
 */
export async function chosenComputation(context: Session, computation: string | undefined) {
  return computation === undefined ? undefined : await computationId(context, computation);
}

/** The options of commands that make an asset. */
export interface AssetOptions extends Pick<Schemas['AssetInputFields'], 'description' | 'use' | 'decompress'> {
  type?: AssetType;
  name?: string;
  computation?: string;
  algoType?: (typeof algorithmTypes)[number];
  algoArg?: string[];
}

/** Returns the fields of a new asset that the options of a command give. */
export const fieldsOf = (
  { description, use, decompress, algoType: algo_type, algoArg: algo_args }: AssetOptions,
  asset_type: AssetType,
) => ({ asset_type, ...given({ description, use: use ?? usualUse(asset_type), decompress, algo_type, algo_args }) });

/** Returns the type of an asset that the name of its file suggests. */
export const likelyType = (file: string): AssetType =>
  /(?:^|\/)[^./]+$|\.(?:py|wasm|sh|js|ts|r|jl|jar|bin|exe|so|tar)$/i.test(file) ? 'algorithm' : 'dataset';

/**
 * Returns the type of an asset that an option names, or asks the user for the type.
 * @throws CmsError if nobody can answer. The command to type next has the type that the name of the file suggests
 */
export async function chosenType(context: Context, given: AssetType | undefined, file: string): Promise<AssetType> {
  const answer = given ?? (await asked(context, 'Its type, algorithm or dataset'));
  const type = assetTypes.find((each) => each === answer);
  if (type !== undefined) return type;
  const message = 'Choose the type of the asset: --type algorithm or --type dataset.';
  throw new UsageError(message, `${context.typed} --type ${likelyType(file)}`);
}

/** Returns a parser of option values that are whole numbers. The parser refuses numbers below `least`. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && Number.isSafeInteger(number)) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${least}.`);
  };
}

/**
 * Makes an option or argument refuse an empty value, which would match nothing, or everything: scripts give it where a variable is not set.
 * An option with a parser of its own refuses the empty value itself, and a TEXT may be empty.
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
 * Collects the values of an option that may be given several times. A variadic option (`<VALUE...>`) would also take the argument behind
 * it, such as the computation: the command would then act on the default computation.
 */
export function collect(text: string, before: string[] = []): string[] {
  return [...before, notEmpty(text)];
}

/**
 * A function that returns a time in the future as RFC 3339. Its argument is the time by the clock of the service, in milliseconds since
 * 1970.
 * @throws CmsError if the returned time has passed
 */
export type LaterTime = (now: number) => string;

/** Parses a time in the future: RFC 3339, or a length of time from now such as 12h or 7d. @throws InvalidArgumentError for another text */
export function laterTime(text: string): LaterTime {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text); // means its beginning
  const [given, seconds] = [timeOf(isDate ? `${text}T00:00:00Z` : text), durationOf(text)];
  if (Number.isNaN(given) && Number.isNaN(seconds)) {
    throw new InvalidArgumentError(
      'Expected a moment such as 2026-12-31T12:00:00Z or 2026-12-31, or a time from now such as 12h or 7d.',
    );
  }
  return (now) => {
    const at = Number.isNaN(seconds) ? given : now + seconds * 1_000;
    if (at > now) return new Date(at).toISOString();
    const message = `${text} has passed by the clock of the service, where it is ${new Date(now).toISOString()}.`;
    throw new UsageError(message);
  };
}

/** The most bytes of all arguments of an algorithm together: they go to the agent as headers, which have 64 KiB. */
const longestArguments = 50_000;

/**
 * Collects the values of an option that are arguments of the algorithm.
 * @throws InvalidArgumentError for control characters, which no header can have, and too many bytes
 */
function collectArguments(text: string, before: string[] = []): string[] {
  if (/(?!\t)\p{Cc}/u.test(text)) {
    throw new InvalidArgumentError('Expected a text without line breaks or other control characters.');
  }
  const all = [...before, text];
  const size = all.reduce((sum, each) => sum + Buffer.byteLength(each) + 32, 0);
  if (size <= longestArguments) return all;
  throw new InvalidArgumentError(`Expected at most ${longestArguments} bytes, with 32 for each argument.`);
}
