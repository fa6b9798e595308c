import { fileURLToPath } from 'node:url';
import { loadSync, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader';

let loaded: PackageDefinition | undefined;

/** Reads cvms.proto, which is beside this file, and in a deployment beside the bundle. */
function protocol(): PackageDefinition {
  const file = fileURLToPath(new URL('cvms.proto', import.meta.url));
  loaded ??= loadSync(file, { keepCase: true, longs: String, defaults: true, oneofs: true });
  return loaded;
}

/** The service that agents call. */
export function cvmsService(): ServiceDefinition {
  return protocol()['cvms.Service'] as ServiceDefinition;
}

/** The encoding of a run request, which is sent as bytes. */
export function runRequestEncoding() {
  const { RunRequest } = protocol()['cvms.Encoding'] as ServiceDefinition;
  if (!RunRequest) throw new TypeError('cvms.proto has no run request.');
  return { encode: RunRequest.requestSerialize, decode: RunRequest.requestDeserialize };
}
