import { type Argument, Command, InvalidArgumentError, Option } from 'commander';
import { approvalLevels, type AssetType, assetTypes, logAccesses, logLevels } from 'computation-management-formats/vocabulary';
import { durationOf, timeOf } from 'computation-management-formats/timestamps';
import { computationId } from '../context/computation-reference.ts';
import { asked, type Connection, type Context, type WrapAction } from '../context/context.ts';
import { UsageError } from '../terminal/cms-error.ts';

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

  /** Sets the action of the command: a function of the context, then the arguments and the options of the command. */
  does(action: (context: Context, ...given: never[]) => Promise<void>): this {
    return this.action(this.#wrapAction(action) as (...given: unknown[]) => Promise<void>);
  }

  /** Makes the command take a computation, and sets its action, which gets the identifier of the computation. */
  onComputation(
    action: (context: Context, connection: Connection, id: string, options: never) => Promise<void>,
    place = '[COMPUTATION]',
  ): this {
    return this.argument(place, 'its identifier or name').does(async (context, reference: string | undefined, options: never) => {
      const connection = await context.connect();
      await action(context, connection, await computationId(context, connection, reference), options);
    });
  }

  /** Adds the options that every command that makes an asset takes. @param defaultName the default of `--name`, in words */
  assetOptions(defaultName = 'that of the file'): this {
    return this.addOption(assetTypeOption())
      .option('--computation <COMPUTATION>', 'link the asset to this computation')
      .option('--name <NAME>', `the name in the manifest (default: ${defaultName})`)
      .option('--description <TEXT>', 'what it contains')
      .addOption(
        new Option('--use <USE>', 'whether a run needs your approval to use it (default: that of a dataset does)').choices([
          'open',
          'approval',
        ]),
      );
  }

  /** Adds the options that name certificates for the verification of attestation evidence. */
  materialOptions(): this {
    return this.option('--certificate <FILE>', 'a certificate of AMD that the evidence lacks (repeatable)', collect).option(
      '--root <FILE>',
      'trust this certificate in place of the roots of AMD and Intel, for tests (repeatable)',
      collect,
    );
  }

  /** Adds the options that say where the agent of a run is, and by what the right agent is recognized. */
  agentOptions(): this {
    return this.option('--collateral <FILE>', 'documents of Intel, for TDX (repeatable)', collect)
      .option('--agent <HOST:PORT>', 'the address of the agent (default: agent_url of the CVM)')
      .option('--agent-fingerprint <SHA256>', 'the SHA-256 of the certificate of the agent')
      .option('--agent-certificate <FILE>', 'the certificate of the agent')
      .option('--client-certificate <FILE>', 'your certificate, for an agent that demands one')
      .option('--client-key <FILE>', 'its private key')
      .option(
        '--approved <DIGEST>',
        'a digest that you approved elsewhere: of the manifest, and of the configuration (twice)',
        collect,
      )
      .option('--unbound', 'accept any agent at the address')
      .materialOptions();
  }

  /** Adds the options that every command that sends files to an agent takes. */
  sendOptions(): this {
    return this.agentOptions()
      .addOption(new Option('--type <TYPE>', 'the type of the algorithm').choices(['bin', 'python', 'wasm', 'docker']))
      .option('--arg <TEXT>', 'an argument of the algorithm (repeatable)', collectArguments)
      .option('--requirements <FILE>', 'the requirements.txt of an algorithm in Python')
      .option('--decompress', 'let the agent unpack the datasets')
      .option('--yes', 'do not ask, if this machine has no record of your approval');
  }

  /** Adds the options that every command that creates or changes a computation takes. */
  computationOptions(): this {
    return this.option('--description <TEXT>', 'what it computes')
      .option('--owner <USER>', 'the owner; only administrators can name another user')
      .addOption(new Option('--approval <LEVEL>', 'whose approval a run needs').choices(approvalLevels))
      .option('--consumer <USER>', 'a result consumer; only these and the owner get the results (repeatable)', collect)
      .option(
        '--provider <USER>',
        'a provider; only these, the owner and administrators may link their own assets (repeatable)',
        collect,
      )
      .option('--attestation-policy <FILE>', 'which CVMs may run it: a file with an attestation_policy, in YAML or JSON')
      .addOption(new Option('--log-access <WHO>', 'who may read the logs of runs').choices(logAccesses))
      .addOption(new Option('--log-level <LEVEL>', 'the log level of the agent').choices(logLevels));
  }

  /** Adds the options that every command that prints a list takes: the range of entries, and CSV. */
  listOptions(): this {
    return this.option('--limit <COUNT>', 'how many to list', wholeNumber(1), 20)
      .option('--offset <COUNT>', 'how many to skip', wholeNumber(0))
      .option('--all', 'list all')
      .addOption(new Option('--csv', 'print CSV, with a column for each field of --json').conflicts('json'));
  }
}

/** Returns an object without its fields that are undefined, because no option of the command gives them. */
export function given<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };
}

export const statusOption = (statuses: readonly string[]) =>
  new Option('--status <STATUS>', 'only those with this status').choices(statuses);

export const assetTypeOption = () => new Option('--type <TYPE>', 'the type of the asset').choices(assetTypes);

/**
 * Returns the identifier of the computation that the option `--computation` names, to which a new asset is linked. Undefined without the
 * option.
 */
export async function chosenComputation(context: Context, connection: Connection, computation: string | undefined) {
  return computation === undefined ? undefined : await computationId(context, connection, computation);
}

/** The endings of the names of programs. */
const programs = /(?:^|\/)[^./]+$|\.(?:py|wasm|sh|js|ts|r|jl|jar|bin|exe|so|tar)$/i;

/**
 * Returns the type of an asset that an option names, or asks the user for the type.
 * @throws CmsError if nobody can answer. The command to type next has the type that the name of the file suggests
 */
export async function chosenType(context: Context, given: AssetType | undefined, file: string): Promise<AssetType> {
  const answer = given ?? (await asked(context, 'Its type, algorithm or dataset'));
  const type = assetTypes.find((each) => each === answer);
  if (type !== undefined) return type;
  throw new UsageError(
    'Choose the type of the asset: --type algorithm or --type dataset.',
    `${context.typed} --type ${programs.test(file) ? 'algorithm' : 'dataset'}`,
  );
}

/** Says what the default of `--use` means for a new asset. Empty if the option was given, or every run may use it. */
export const useNote = (given: string | undefined, use: string) =>
  given === undefined && use === 'approval'
    ? '  No run uses it without your approval. To open it to every run: --use open\n'
    : '';

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

export const keyOption = () =>
  new Option('--key <FILE>', 'your private key, whose public key is in the manifest').makeOptionMandatory();

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
