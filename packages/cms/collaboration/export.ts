import { findRows, type Schemas } from 'computation-management-client';
import { stringify } from 'yaml';
import type { Session } from '../context/context.ts';
import { withoutActions } from '../terminal/text.ts';

const meansNothing = (value: unknown) =>
  value === null || value === '' || value === false || (Array.isArray(value) && value.length === 0);

const withoutDefaults = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !meansNothing(value))) as Partial<Fields>;

/** Returns the collaboration of a computation, for the file of `cms init`, without identifiers, keys and private keys. */
export async function exportedCollaboration({ client }: Session, id: string) {
  const { agent_config, assets, ...computation } = await client.getComputation({ id });
  const { server_key: _, ...config } = agent_config;
  const { name, description, owner, approval, log_access, consumers, providers, attestation_policy, result_review } = computation;
  const fields = { name, description, owner, approval, log_access, consumers, providers, attestation_policy, result_review };
  const ids = assets.map((asset) => asset.id);
  const rows = await findRows(client, 'listAssets', ids);
  const parties: Record<string, { assets: object[] }> = {};
  for (const id of ids) {
    const row = rows.get(id);
    if (!row) continue; // deleted meanwhile
    const known = Object.hasOwn(parties, row.created_by) ? parties[row.created_by] : undefined;
    const party = known ?? { assets: [] };
    party.assets.push(exportedAsset(row));
    Object.defineProperty(parties, row.created_by, { value: party, enumerable: true, configurable: true });
  }
  const agent = withoutDefaults(config);
  return {
    computation: { ...withoutDefaults(fields), ...(Object.keys(agent).length > 0 ? { agent_config: agent } : {}) },
    parties,
  };
}

/** Formats a collaboration as YAML. Quotes every text, because YAML would take some texts for numbers or dates. */
export function yamlText(exported: { parties: object }): string {
  const isPlain = /^[\w.@+-]*$/.test(Object.keys(exported.parties).join(''));
  const defaultKeyType = isPlain ? 'PLAIN' : 'QUOTE_DOUBLE';
  const onOneLine = { lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity };
  return withoutActions(stringify(exported, { ...onOneLine, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType }));
}

function exportedAsset({ file_name, asset_type, source, checksum, ...asset }: Schemas['AssetRow']): object {
  const { description, mime_type, kbs, decompress, algo_type, algo_args } = asset;
  const use = asset.use === 'open' ? '' : asset.use;
  const content_access = asset.content_access === 'creator' ? '' : asset.content_access;
  const fields = withoutDefaults({ description, mime_type, use, content_access, kbs, decompress, algo_type, algo_args });
  if (!source) return { file: file_name, type: asset_type, ...fields };
  const { type: _, ...from } = source;
  return { source: from, checksum, type: asset_type, name: file_name, ...fields };
}
