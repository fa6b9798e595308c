import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseOptions, portFromEnvironment, runCommand, UsageError } from './arguments.ts';
import type { Enrolment } from './cvm-gateway.ts';

const usage = `Usage: npm run cvm -- enrol --domain DOMAIN --cvm CVM [--out DIR] [--key ec|rsa]
       npm run cvm -- revoke --domain DOMAIN --cvm CVM

Lets a real CVM take runs from the service that runs on this machine. Set PORT to its port (default 3000).

  enrol     makes a key and a certificate for the CVM, registers the CVM, and prints what to write into the CVM's
            /etc/cocos/environment. Enrol it again to renew its certificate: the one before is refused then.
  revoke    removes the certificate from the CVM's registration. Its streams end within a minute.

  --out     where to write the key and the certificates (default certificates/CVM)
  --key     the kind of key (default ec)`;

await runCommand(usage, async () => {
  const [command, ...args] = process.argv.slice(2);
  const options = parseOptions(
    {
      domain: { type: 'string' },
      cvm: { type: 'string' },
      out: { type: 'string' },
      key: { type: 'string', default: 'ec' },
      help: { type: 'boolean', short: 'h' },
    },
    command === '--help' || command === '-h' ? ['--help'] : args,
  );
  if (options.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const { domain, cvm, key } = options;
  if (command !== 'enrol' && command !== 'revoke') throw new UsageError('Expected enrol or revoke.');
  if (!domain || !cvm) throw new UsageError('--domain and --cvm are required.');
  if (key !== 'ec' && key !== 'rsa') throw new UsageError(`--key is ${JSON.stringify(key)}; expected ec or rsa.`);
  const service = `http://127.0.0.1:${portFromEnvironment()}`;
  if (command === 'revoke') {
    await register(service, { domain, cvm, certificate: null });
    process.stdout.write(`The certificate of ${cvm} is revoked.\n`);
    return;
  }
  process.stdout.write(await enrol(service, { domain, cvm, key, directory: resolve(options.out ?? join('certificates', cvm)) }));
});

interface Request {
  domain: string;
  cvm: string;
  key: 'ec' | 'rsa';
  directory: string;
}

/** @returns what to tell the user */
async function enrol(service: string, { domain, cvm, key, directory }: Request): Promise<string> {
  const keys =
    key === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 3072 });
  const public_key = keys.publicKey.export({ format: 'pem', type: 'spki' });
  const enrolment = (await ask(`${service}/local/cvm`, 'POST', { domain, cvm_id: cvm, public_key })) as Enrolment;
  await register(service, { domain, cvm, certificate: enrolment.certificate });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, 'key.pem'), keys.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
  writeFileSync(join(directory, 'cert.pem'), enrolment.certificate);
  writeFileSync(join(directory, 'ca.pem'), enrolment.ca);
  return `The CVM ${cvm} is registered in the domain ${domain}. Its key and certificates are in ${directory}.

  Copy them to /etc/cocos/certs in the CVM, and write into its /etc/cocos/environment:

AGENT_CVM_GRPC_URL=${enrolment.address}
AGENT_CVM_ID=${cvm}
AGENT_CVM_GRPC_CLIENT_CERT=/etc/cocos/certs/cert.pem
AGENT_CVM_GRPC_CLIENT_KEY=/etc/cocos/certs/key.pem
AGENT_CVM_GRPC_SERVER_CA_CERTS=/etc/cocos/certs/ca.pem

  Then start log-forwarder, computation-runner, attestation-service and agent, in this order.
`;
}

/** Registers the CVM, with the description that it has. */
async function register(
  service: string,
  { domain, cvm, certificate }: { domain: string; cvm: string; certificate: string | null },
) {
  const groups = [`${domain}:administrator`];
  const { access_token } = (await ask(`${service}/local/token`, 'POST', { sub: 'enrolment', groups })) as {
    access_token: string;
  };
  const url = `${service}/${domain}/cvms/${encodeURIComponent(cvm)}`;
  const known = await fetch(url, { headers: { authorization: `Bearer ${access_token}` } });
  const { description = '' } = known.ok ? ((await known.json()) as { description?: string }) : {};
  await ask(url, 'PUT', { description, certificate }, { authorization: `Bearer ${access_token}` });
}

async function ask(url: string, method: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new Error(`No service answers at ${new URL(url).origin}. Start it with \`npm start\`, or set PORT to its port.`);
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  const { message, detail } = JSON.parse(text || '{}') as { message?: string; detail?: string };
  const reason = message ?? detail ?? `The service answered ${response.status}.`;
  throw response.status === 400 ? new UsageError(reason) : new Error(reason);
}
