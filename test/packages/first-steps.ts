import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { copyCheckout } from '../support/checkout.ts';
import { followReadme, type Surroundings } from '../support/follow-readme.ts';
import { startInstalledRegistry } from '../support/installed-registry.ts';

/** The surroundings of the first steps with a package, and what these print in the end. */
interface FirstSteps {
  start: (service?: string) => Promise<Surroundings & { stop?: () => Promise<void> }>;
  printed: RegExp;
  /** Packages of npm whose licenses are in the tarball. */
  licensed?: string[];
}

const vector = (name: string) => readFileSync(join(import.meta.dirname, 'attestation/vectors', name));
const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl alice@example.com';

const startService = async (running?: string) => {
  const files = { 'id_ed25519.pub': key };
  if (running !== undefined) return { files, addresses: { 'http://localhost:3000': running } };
  const { startStack } = await import('../../local/stack.ts');
  const { baseUrl, stop } = await startStack({ port: 0, simulator: true });
  return { files, addresses: { 'http://localhost:3000': baseUrl }, stop };
};

/** The packages that are packed, by their folders. */
export const firstSteps = {
  attestation: {
    start: async () => ({ files: { 'report.bin': vector('snp-milan.report'), 'vcek.der': vector('snp-milan.vcek.der') } }),
    printed: /^refused\n[^]*FAILED report_data/m,
  },
  client: { start: startService, printed: /\ncompleted\n$/ },
  cms: { start: startService, printed: /Logged in to http\S+ as alice, creator in the domain d1\.[^]*alice/ },
  'counted-list': {
    start: async () => {
      const { startDynamoDb } = await import('../../local/dynamodb/dynamodb.ts');
      const { endpoint, stop } = await startDynamoDb();
      const account = { AWS_REGION: 'local', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };
      return { env: { ...account, AWS_ENDPOINT_URL_DYNAMODB: endpoint }, stop };
    },
    printed: /numbers: \[ 2, 1 \], total: 2[^]*numbers: \[ 1 \], total: 1/,
  },
  'key-release': {
    start: async () => ({}),
    printed: /^The evidence must have the report data [\da-f]{96}0{32}\nFor [\w-]{43} \{[^]*ciphertext/m,
  },
  stage: {
    start: async () => ({}),
    printed: /^computations-test-service$[^]*Platform/m,
    licensed: ['@aws-sdk/client-dynamodb', '@grpc/grpc-js', 'openapi-fetch', 'swagger-ui-dist'], // functions, gateway, canary, reference
  },
  'transparency-log': {
    start: async () => ({}),
    printed: /^c2sp\.org\/tlog-proof@v1\nindex 1\n[^]*\ntrue\n$/m,
  },
  verify: {
    start: async () => {
      const { filesOf, genuineEvidence } = await import('./verify/genuine-evidence.ts');
      const genuine = genuineEvidence(8, { configure: (configuration) => (configuration.attestation_policy = null) });
      const { evidence, keys, events } = filesOf({ ...genuine, events: [...genuine.before, ...genuine.events] });
      return { files: { 'evidence.json': evidence, 'keys.json': keys, 'events.json': events[0] ?? '' } };
    },
    printed: /^HOLDS [^]*holds \(\d notes?\)\.\n$/m,
  },
} satisfies Record<string, FirstSteps>;

/**
 * Takes the first steps with a package as its README says, in an empty folder: installs the tarball, and runs the first program.
 * @param source.tarball a tarball of it. Default: packs it in a copy of this repository
 * @param source.service the address of a service with simulated CVMs, which they use. Default: starts one if they need it
 * @param source.node the folder of the Node that runs them. Default: that of this machine
 * @param source.registry whether other packages come from the registry of npm. Default: from those that are installed here
 * @returns the folder, and what the lines have printed
 * @throws Error if a line fails
 */
export async function takeFirstSteps(
  name: keyof typeof firstSteps,
  { tarball, service, node, registry = false }: { tarball?: string; service?: string; node?: string; registry?: boolean } = {},
): Promise<{ folder: string; printed: string }> {
  const steps: FirstSteps = firstSteps[name];
  const checkout = tarball === undefined ? copyCheckout() : undefined;
  const installed = registry ? undefined : await startInstalledRegistry();
  const { stop, ...surroundings } = await steps.start(service);
  try {
    const readme = join(import.meta.dirname, `../../packages/${name}/README.md`);
    const source = tarball === undefined ? { checkout: checkout ?? '' } : { tarball };
    const env = { ...surroundings.env, ...installed?.env };
    const { folder, printed } = await followReadme(readme, source, { ...surroundings, env }, node);
    return { folder, printed };
  } finally {
    await stop?.();
    installed?.stop();
    if (checkout !== undefined) rmSync(checkout, { recursive: true });
  }
}
