import { shownText } from 'computation-management-formats/fields';
import { assetTypes } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { longestReason } from '../../shared/rows/run.ts';
import type { AdministrativeEvent, LifecycleEvent } from '../../shared/journal/event.ts';

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/), v.metadata({ maxLength: 64 }));
const assetDetails = v.object({
  asset_id: v.pipe(v.string(), v.metadata({ format: 'uuid' })),
  file_name: shownText(255),
  asset_type: v.picklist(assetTypes),
});
const reason = v.pipe(shownText(longestReason), v.description('A sentence that may change.'));

/** The details of the events that the service itself records, decoded. Those of agents are their own. Fields may be added. */
export const eventDetails = {
  created: v.object({ name: shownText(200), owner: shownText(255) }),
  started: v.object({
    manifest_digest: sha256,
    configuration_digest: sha256,
    start_digest: v.pipe(sha256, v.description('Of what the run was started with, as its evidence states it.')),
  }),
  stop_requested: v.object({}),
  completed: v.object({ reason }),
  failed: v.object({ reason }),
  cancelled: v.object({ reason, confirmed: v.pipe(v.boolean(), v.description('Whether the CVM confirmed the stop.')) }),
  updated: v.object({ fields: v.pipe(v.array(shownText(64)), v.description('The names of the changed fields.')) }),
  owner_changed: v.object({ from: shownText(255), to: shownText(255) }),
  asset_linked: assetDetails,
  asset_unlinked: assetDetails,
  key_uploaded: v.object({ fingerprint: shownText(64) }),
  key_removed: v.object({ user: shownText(255), fingerprint: shownText(64) }),
  approved: v.object({
    digest: sha256,
    configuration_digest: sha256,
    signed: v.boolean(),
    cvm_ids: v.optional(v.array(shownText(64))),
    expires_at: v.optional(shownText(35)),
  }),
  approval_withdrawn: v.object({ digest: sha256 }),
} satisfies Record<LifecycleEvent | AdministrativeEvent, v.GenericSchema>;
