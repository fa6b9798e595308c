import { basename } from 'node:path';
import * as v from 'valibot';
import { assetInput } from '../../../shared/assets/asset-input.ts';
import { assetTypes } from '../../../shared/asset-type.ts';
import { agentConfigInput, logLevels } from '../../../shared/computations/agent-config.ts';
import { approvalLevels, computationInput, mostConsumers } from '../../../shared/computations/computation.ts';
import { holdsPrivateKey } from '../../../shared/holds-private-key.ts';
import { recordOf } from '../record-of.ts';

/** What the service accepts. It would refuse an asset only after the computation is created. */
const { name: computationName, description: computationDescription, owner } = computationInput.entries;
const { file_name, description, mime_type } = assetInput.entries.asset.entries;

const user = v.unwrap(owner);
const path = v.pipe(v.string('Expected a path.'), v.nonEmpty('Expected a path.'));

const assetFields = v.strictObject({
  file: path,
  type: v.picklist(assetTypes, 'Expected algorithm or dataset.'),
  /** The name in the manifest. Default: that of the file. */
  name: v.exactOptional(file_name),
  description: v.exactOptional(v.unwrap(description)),
  mime_type: v.exactOptional(v.unwrap(mime_type)),
  use: v.exactOptional(v.picklist(['open', 'approval'], 'Expected open or approval.')),
  content_access: v.exactOptional(v.picklist(['creator', 'domain'], 'Expected creator or domain.')),
});
const asset = v.pipe(
  assetFields,
  v.forward(
    v.check(
      ({ file, name }) => name !== undefined || v.is(file_name, basename(file)),
      'The name of this file is not allowed. Add another one as name.',
    ),
    ['file'],
  ),
);
export type PlannedAsset = v.InferOutput<typeof asset>;

const party = v.strictObject({
  /** The file of the public key. */
  key: v.exactOptional(path),
  assets: v.optional(v.array(asset, 'Expected a list of assets.'), []),
});

const pem = v.unwrap(agentConfigInput.entries.server_key);
const certificates = v.pipe(
  pem,
  v.check((text) => !holdsPrivateKey(text), 'This contains a private key, which every reader would see. Put it in server_key.'),
);

const agentConfig = v.strictObject({
  log_level: v.exactOptional(v.picklist(['', ...logLevels], 'Expected debug, info, warn or error.')),
  attested_tls: v.exactOptional(v.boolean('Expected true or false.')),
  /** PEM text, or a path inside the CVM. */
  cert_file: v.exactOptional(certificates),
  server_ca_file: v.exactOptional(certificates),
  client_ca_file: v.exactOptional(certificates),
  server_key: v.exactOptional(pem),
});

const computation = v.strictObject({
  /** Only needed if the owner has several computations of this name. */
  id: v.exactOptional(v.pipe(v.string(), v.uuid('Expected the identifier of a computation, a UUID.'))),
  name: computationName,
  description: v.exactOptional(v.unwrap(computationDescription)),
  owner: user,
  approval: v.exactOptional(v.picklist(approvalLevels, 'Expected none, all or all_signed.')),
  consumers: v.exactOptional(
    v.pipe(v.array(user, 'Expected a list of users.'), v.maxLength(mostConsumers, `Expected up to ${mostConsumers} users.`)),
  ),
  agent_config: v.exactOptional(agentConfig),
});

/** The file of `cms init`: a computation and what each party brings. Each party runs `cms init` with the same file. */
export const collaborationSchema = v.strictObject({
  computation,
  parties: recordOf(user, v.nullable(party), 'Expected parties by user.'),
});
export type Collaboration = v.InferOutput<typeof collaborationSchema>;
