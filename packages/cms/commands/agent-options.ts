import { type Command, InvalidArgumentError, Option } from 'commander';
import { collect } from './options.ts';

export const keyOption = () =>
  new Option('--key <FILE>', 'your private key, whose public key is in the manifest').makeOptionMandatory();

/** In bytes, of all together: they go to the agent as headers, which have 64 KiB. */
const longestArguments = 50_000;

/** One with a line break would be left out of the headers. */
function collectArguments(text: string, before: string[] = []): string[] {
  if (/(?!\t)\p{Cc}/u.test(text)) {
    throw new InvalidArgumentError('Expected a text without line breaks or other control characters.');
  }
  const all = [...before, text];
  const size = all.reduce((sum, each) => sum + Buffer.byteLength(each) + 32, 0);
  if (size <= longestArguments) return all;
  throw new InvalidArgumentError(`Expected at most ${longestArguments} bytes, with 32 for each argument.`);
}

export function addMaterialOptions(command: Command): Command {
  return command
    .option('--certificate <FILE>', 'a certificate of AMD that the evidence lacks (repeatable)', collect)
    .option('--root <FILE>', 'trust this certificate in place of the roots of AMD and Intel, for tests (repeatable)', collect);
}

/** The options that say which agent is the right one. */
export function addAgentOptions(command: Command): Command {
  return addMaterialOptions(
    command
      .option('--collateral <FILE>', 'documents of Intel, for TDX (repeatable)', collect)
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
      .option('--unbound', 'accept any agent at the address'),
  );
}

export function addSendOptions(command: Command): Command {
  return addAgentOptions(command)
    .addOption(new Option('--type <TYPE>', 'the type of the algorithm').choices(['bin', 'python', 'wasm', 'docker']))
    .option('--arg <TEXT>', 'an argument of the algorithm (repeatable)', collectArguments)
    .option('--requirements <FILE>', 'the requirements.txt of an algorithm in Python')
    .option('--decompress', 'let the agent unpack the datasets')
    .option('--yes', 'do not ask, if this machine has no record of your approval');
}
