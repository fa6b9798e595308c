import { toHex } from 'computation-management-formats/bytes';
import { plainName } from 'computation-management-formats/quoted-name';
import type { ReasonCode } from 'computation-management-formats/vocabulary';
import type { Manifest } from '../../shared/rows/manifest.ts';
import type { AgentLog } from './messages.ts';

/** The reason why a run failed: a sentence of the service, and the kind of the failure if programs can tell it apart. */
interface Failure {
  reason: string;
  reason_code?: ReasonCode;
}

/** The names of the states and events of an agent that show that the algorithm may have begun. */
const withAlgorithm = new Set(['Running', 'AlgorithmRun', 'ConsumingResults', 'Complete']);

/** The beginnings of the agent's texts about a file that it fetches. */
const aboutFile = /^(?:(?:algorithm|dataset .*) hash mismatch: |failed to (?:download and decrypt|unzip) )/;
const aboutExit = /^failed to run computation: algorithm execution error: exit status (\d{1,3})$/;
const longestText = 8 * 1024;

/**
 * Finds in the log of an agent why its run failed. An algorithm can write anything into the log, and everyone reads the reason. So
 * the reason is a sentence of the service: filled, while the agent fetches files, with what the manifest says and with a hash or a
 * status; once the algorithm may have begun, with nothing but its exit code.
 */
export class FailureReason {
  private readonly computation: string;
  private line: { at: string; text: string } | undefined;
  private hasBegun = false;

  /** @param computation the identifier of the computation, which is in each line of the agent and in none of its algorithm's output */
  constructor(computation: string) {
    this.computation = computation;
  }

  /** Notes a state or an event of the agent by its name. Forgets what the log said if the algorithm may have begun by then. */
  note(name: string): void {
    if (this.hasBegun || !withAlgorithm.has(name)) return;
    this.hasBegun = true;
    this.line = undefined;
  }

  /** Reads a line of the log. A line arrives in pieces of up to 500 bytes that have the same time. */
  read({ message, level, timestamp, computation_id }: AgentLog): void {
    if (level !== (this.hasBegun ? 'WARN' : 'ERROR') || computation_id !== this.computation) return;
    const at = timestamp ? `${timestamp.seconds}.${timestamp.nanos}` : '';
    if (this.line?.at === at && at !== '') this.line.text = (this.line.text + message).slice(0, longestText);
    else if ((this.hasBegun ? aboutExit : aboutFile).test(message)) this.line = { at, text: message };
  }

  /** Returns the reason why the run failed. Undefined if the log gave none. Reads the manifest of the run only if it is needed. */
  async find(readManifest: () => Promise<Manifest | undefined>): Promise<Failure | undefined> {
    const { line, hasBegun } = this;
    if (!line) return undefined;
    if (!hasBegun) return failureOfFile(line.text, await readManifest());
    const code = Number(aboutExit.exec(line.text)?.[1]);
    return code <= 255 ? { reason: `The algorithm ended with the exit code ${code}.` } : undefined;
  }
}

/** The agent's texts about a file that it could not fetch, and the sentence for each, with the status that a server answered. */
const fetchFailures: [RegExp, (name: string, status: string) => string][] = [
  [
    /^failed to download resource from \S+: HTTP request returned status (\d{3}): /,
    (name, status) => `The agent could not fetch ${name}: the server answered with the status ${status}.`,
  ],
  [
    /^failed to retrieve decryption key from KBS: failed to fetch key from KBS at \S+: KBS returned status (\d{3})$/,
    (name, status) => `The agent got no key for ${name}: the key broker answered with the status ${status}.`,
  ],
  [/^failed to retrieve decryption key from KBS: /, (name) => `The agent got no key for ${name}.`],
  [/^failed to decrypt resource: /, (name) => `The agent could not decrypt ${name}.`],
  [/^/, (name) => `The agent could not fetch ${name}.`],
];

/** Returns the failure that an agent's text about a fetched file tells. Undefined if the manifest has no such file. */
function failureOfFile(text: string, manifest: Manifest | undefined): Failure | undefined {
  if (!manifest) return undefined;
  const { algorithm, datasets } = manifest;
  const files = [
    ...datasets.map((file) => ({ ...file, said: `dataset ${file.filename}`, name: plainName(file.filename) })),
    { ...algorithm, said: 'algorithm', name: 'the algorithm' },
  ].sort((a, b) => b.said.length - a.said.length); // a name may begin with another one
  for (const { said, name, hash, source } of files) {
    if (!source) continue;
    const approved = toHex(hash);
    const [found] = /^[0-9a-f]{64}$/.exec(after(text, `${said} hash mismatch: expected ${approved}, got `) ?? '') ?? [];
    if (found !== undefined && found !== approved) {
      const reason = `The agent fetched ${name} with the hash ${found}, but ${approved} was approved.`;
      return { reason, reason_code: 'input_changed' };
    }
    if (after(text, `failed to unzip ${said}: `) !== undefined) return { reason: `The agent could not unpack ${name}.` };
    const cause = after(text, `failed to download and decrypt ${said}: `);
    if (cause === undefined) continue;
    for (const [pattern, sentence] of fetchFailures) {
      const match = pattern.exec(cause);
      if (match) return { reason: sentence(name, match[1] ?? '') };
    }
  }
  return undefined;
}

const after = (text: string, beginning: string): string | undefined =>
  text.startsWith(beginning) ? text.slice(beginning.length) : undefined;
