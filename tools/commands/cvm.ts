import { generateKeyPairSync } from 'node:crypto';
import { join, resolve } from 'node:path';
import { type Client, createClient, isTransient, ServiceProblem } from 'computation-management-client';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import {
  isMain,
  parseOptions,
  portFromEnvironment,
  refuseOptions,
  runCommand,
  stageFrom,
  typed,
  UsageError,
} from '../../shared/command-line/arguments.ts';
import { noService, thisMachine, type EnrolmentTarget } from './this-machine.ts';

/** The text that `npm run cvm -- --help` prints. */
export const usage = `Usage: ${typed('cvm', 'enrol --domain DOMAIN --cvm CVM [--out DIR] [--key ec|rsa] [--stage STAGE]')}
       ${typed('cvm', 'revoke --domain DOMAIN --cvm CVM [--stage STAGE]')}

Lets a real CVM take runs from the service that runs on this machine. Set PORT to its port (default 3000). With --stage, from
a stage on AWS: set TOKEN to a token of an administrator of the domain, and use the credentials of the stage's account.

  enrol     makes a key and a certificate for the CVM, registers the CVM, and prints what to write into the CVM's
            /etc/cocos/environment. Enrol it again to renew its certificate, between two runs: the one before
            is refused then, so copy the new files and restart its programs.
  revoke    removes the certificate from the CVM's registration. Its streams end within a minute.

  --out     with enrol: where to write the key and the certificates (default certificates/CVM)
  --key     with enrol: the kind of key (default ec)
  --stage   a stage of infra/stages/stages.ts with a gateway`;

const hereAlone = `
  Only programs on this machine reach that address, and none in a virtual machine. For others, start the service with
  GATEWAY_HOST=0.0.0.0, and enrol the CVM again.
`;

/**
 * Runs `npm run cvm`, which enrols a real CVM at the service or revokes its certificate. @throws UsageError for a mistake in the
 * arguments
 */
export async function cvmCommand(args: string[]): Promise<void> {
  const [command, ...rest] = args;
  const options = parseOptions(command === '--help' || command === '-h' ? ['--help'] : rest, {
    domain: { type: 'string' },
    cvm: { type: 'string' },
    out: { type: 'string' },
    key: { type: 'string' },
    stage: { type: 'string' },
  });
  const { domain, cvm, key = 'ec' } = options;
  if (command !== 'enrol' && command !== 'revoke') throw new UsageError('Expected enrol or revoke.');
  if (command === 'revoke') refuseOptions('`revoke`', options, ['domain', 'cvm', 'stage']);
  if (!domain || !cvm) throw new UsageError('--domain and --cvm are required.');
  if (key !== 'ec' && key !== 'rsa') throw new UsageError(`--key is ${JSON.stringify(key)}; expected ec or rsa.`);
  const stage = stageFrom(options);
  const target = stage === undefined ? thisMachine(portFromEnvironment()) : await targetOfStage(stage);
  const registration = await readRegistration(target, { domain, cvm });
  if (registration.hasRun) throw new UsageError(`${cvm} has a run. Wait for its end, or stop it.`);
  if (command === 'revoke') {
    if (!registration.isKnown) throw new UsageError(`${cvm} is not registered in the domain ${domain}.`);
    await registration.change(null);
    process.stdout.write(`The certificate of ${cvm} is revoked.\n`);
    return;
  }
  const directory = resolve(options.out ?? join('certificates', cvm));
  process.stdout.write(await enrol(target, registration, { domain, cvm, key, directory }));
}

if (isMain(import.meta)) await runCommand(usage, cvmCommand);

/**
 * Returns the stage on AWS with a name, at which CVMs are enrolled. Imports its module only when it is needed, because the module
 * contains the CDK.
 */
async function targetOfStage(name: string): Promise<EnrolmentTarget> {
  const { cvmsOfStage } = await import('./cvms-of-stage.ts');
  return await cvmsOfStage(name, process.env['TOKEN']);
}

/**
 * Makes a key and a certificate for a CVM, registers the CVM with the certificate, and writes the files. @returns the text that
 * tells the user what to do with the files
 */
async function enrol(
  target: EnrolmentTarget,
  registration: Registration,
  { domain, cvm, key, directory }: Record<'domain' | 'cvm' | 'directory', string> & { key: 'ec' | 'rsa' },
): Promise<string> {
  const keys =
    key === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 3072 });
  const publicKey = keys.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const enrolment = await target.enrol({ domain, cvmId: cvm, publicKey });
  const files = prepareFiles(directory, {
    'key.pem': keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    'cert.pem': enrolment.certificate,
    'ca.pem': enrolment.ca,
  });
  await registration.change(enrolment.certificate).catch((error: unknown) => {
    const isRefused = error instanceof UsageError || (error instanceof ServiceProblem && !isTransient(error));
    if (isRefused) files.discard(); // else the CVM may be registered with them
    throw error;
  });
  files.install();
  return `The CVM ${cvm} is registered in the domain ${domain}. Its key and certificates are in ${directory}.

  Copy them to /etc/cocos/certs in the CVM, and write into its /etc/cocos/environment:

AGENT_CVM_GRPC_URL=${enrolment.address}
AGENT_CVM_ID=${cvm}
AGENT_CVM_GRPC_CLIENT_CERT=/etc/cocos/certs/cert.pem
AGENT_CVM_GRPC_CLIENT_KEY=/etc/cocos/certs/key.pem
AGENT_CVM_GRPC_SERVER_CA_CERTS=/etc/cocos/certs/ca.pem

  Then start log-forwarder, computation-runner, attestation-service and agent, in this order.
${enrolment.address.startsWith('localhost:') ? hereAlone : ''}`;
}

interface Registration {
  isKnown: boolean;
  /** True if an agent may be at work on a run, which loses its connection if the CVM's certificate changes. */
  hasRun: boolean;
  /** Registers the CVM with a certificate, or without one for null. Keeps the description of the CVM. */
  change: (certificate: string | null) => Promise<void>;
}

async function readRegistration(
  { service, token }: EnrolmentTarget,
  { domain, cvm: cvmID }: { domain: string; cvm: string },
): Promise<Registration> {
  const ask = async <Answer>(question: (client: Client) => Promise<Answer>): Promise<Answer> => {
    try {
      return await question(createClient({ baseUrl: service, domain, token: await token(domain) }));
    } catch (error) {
      if (!(error instanceof ServiceProblem)) throw error;
      if (error.code === 'unreachable') throw noService(service);
      throw error.code === 'invalid_request' ? new UsageError(error.detail) : error;
    }
  };
  const known = await ask((client) => client.getCvm({ cvmID }).catch(unlessMissing));
  return {
    isKnown: known !== undefined,
    hasRun: known !== undefined && known.certificate_fingerprint !== null && known.presence.fit === 'busy',
    change: async (certificate) => {
      const body = { description: known?.description ?? '', certificate };
      await ask((client) => client.registerCvm({ cvmID, body }));
    },
  };
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof ServiceProblem) || error.code !== 'not_found') throw error;
}

/**
 * Writes files into a directory under temporary names. If one cannot be written, the previous files stay unchanged. Only the user
 * of the process can read the files.
 * @param contents the contents by the final names of the files
 * @returns `install`, which renames the files and so replaces the previous ones, or throws an Error that says how to rename those that
 * are left; and `discard`
 * @throws Error that says which directory cannot be written, and why
 */
function prepareFiles(directory: string, contents: Record<string, string>): { install: () => void; discard: () => void } {
  const files = Object.entries(contents).map(([name, content]) => ({ file: join(directory, name), content }));
  const discard = () => {
    for (const { file } of files) rmSync(`${file}.new`, { force: true });
  };
  const attempt = (work: () => void, problem: (why: string) => string) => {
    try {
      work();
    } catch (error) {
      throw new Error(problem(error instanceof Error ? error.message : String(error)), { cause: error });
    }
  };
  const write = () => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    discard(); // the mode counts for new files alone
    try {
      for (const { file, content } of files) writeFileSync(`${file}.new`, content, { mode: 0o600, flush: true });
    } catch (error) {
      discard();
      throw error;
    }
  };
  const rename = () => {
    for (const { file } of files) renameSync(`${file}.new`, file);
  };
  const left = `The new files are in ${directory}, and end in .new. Rename those that are left.`;
  attempt(write, (why) => `Cannot write into ${directory}: ${why}`);
  return { install: () => attempt(rename, (why) => `A file cannot be replaced: ${why}. ${left}`), discard };
}
