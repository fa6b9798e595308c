import { fileURLToPath } from 'node:url';
import { loadSync, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader';
import * as v from 'valibot';
import type { AgentConfig } from '../../shared/rows/agent-config.ts';
import { manifestSchema } from '../../shared/rows/manifest.ts';
import type { Command } from '../../shared/rows/command.ts';

let loaded: PackageDefinition | undefined;

/**
 * Loads the definition of the gRPC messages of agents, once. Its file is beside the code, and in a deployment beside the bundle.
 */
function protocol(): PackageDefinition {
  const file = fileURLToPath(new URL('cvms.proto', import.meta.url));
  loaded ??= loadSync(file, { keepCase: true, longs: String, defaults: true, oneofs: true });
  return loaded;
}

export const cvmsService = (): ServiceDefinition => protocol()['cvms.Service'] as ServiceDefinition;

export function runRequestEncoding() {
  const { RunRequest } = protocol()['cvms.Encoding'] as ServiceDefinition;
  if (!RunRequest) throw new TypeError('cvms.proto has no run request.');
  return { encode: RunRequest.requestSerialize, decode: RunRequest.requestDeserialize };
}

/**
 * The largest size in bytes of an encoded run request to an agent. An agent takes messages of up to 4 MiB, of which the request
 * leaves 1 KiB for what is around it.
 */
const largestInBytes = 4 * 1024 * 1024 - 1024;

/**
 * Encodes the request that gives a run to an agent. Checks what the agent does not check, because the agent's process dies of a
 * manifest that it cannot read.
 * @throws Error with the reason, if the manifest must not be sent
 */
export function encodeRunRequest({ manifest, agent_config }: Command): Uint8Array {
  const { id, name, description, datasets, algorithm, result_consumers } = v.parse(manifestSchema, manifest);
  const names = datasets.map(({ filename }) => filename);
  if (new Set(names).size < names.length) throw new Error('Two datasets have the same file name.');
  if (names.some((each) => each.includes('/'))) throw new Error('The file name of a dataset contains a slash.');
  const encoded = runRequestEncoding().encode({
    id,
    name,
    description,
    datasets: datasets.map(encodeFile),
    algorithm: encodeFile(algorithm),
    result_consumers: result_consumers.map(({ user_key }) => ({ userKey: Buffer.from(user_key, 'base64') })),
    ...(agent_config ? { agent_config: encodeConfig(agent_config) } : {}),
  });
  if (encoded.length > largestInBytes) throw new Error('The manifest is too large for one message.');
  return encoded;
}

function encodeFile<File extends { hash: number[]; user_key: string }>({ hash, user_key, ...others }: File) {
  return { hash: Buffer.from(hash), userKey: Buffer.from(user_key, 'base64'), ...others };
}

function encodeConfig({ log_level, cert_file, server_key, server_ca_file, client_ca_file, attested_tls }: AgentConfig) {
  return { log_level, cert_file, key_file: server_key, server_ca_file, client_ca_file, attested_tls };
}
