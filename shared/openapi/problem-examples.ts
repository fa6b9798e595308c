import { type Role, rolesWith } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { forbidden } from '../http/caller.ts';
import { contentTooLarge, inlineLimitInBytes } from '../rows/asset.ts';
import { computationId, configurationDigest, manifestDigest, runId } from './examples.ts';
import {
  errorTable,
  notFound,
  preconditionFailed,
  type ConflictReason,
  type ErrorCode,
  type ErrorExtras,
} from '../runtime/errors.ts';
import { unknownIn } from '../http/parse.ts';
import type { Route } from '../http/route.ts';

interface Sample {
  detail: string;
  extras?: ErrorExtras;
}

const linkedTo = `Computation ${computationId}, which the asset is linked to,`;

/** Example texts of conflicts (409), by endpoint and reason: not every endpoint has the same words for a reason. */
const conflicts: Partial<Record<string, Partial<Record<ConflictReason, string>>>> = {
  'approvals/approve': {
    stale_digest: 'The manifest or the configuration has another digest now. Read both again.',
    unknown_event: 'The journal of this computation has no event with this id and hash.',
  },
  'assets/delete-asset': { asset_in_use: 'An active run uses the asset. Wait until it ends, or stop it.' },
  'assets/link-asset': {
    second_algorithm: 'The computation already has an algorithm. Unlink it first.',
    file_name_taken: 'The computation already has a dataset named penguins.csv. Rename or unlink it first.',
  },
  'assets/update-asset': {
    second_algorithm: `${linkedTo} already has an algorithm. Unlink it first.`,
    file_name_taken: `${linkedTo} already has a dataset named penguins.csv. Rename or unlink it first.`,
    linked_too_widely:
      'The asset is linked to more than 30 computations, so its file_name and asset_type cannot be changed. Create another asset instead.',
  },
  'computations/delete-computation': { run_active: 'A run is active. Wait until it ends, or stop it.' },
  'cvms/delete-cvm': { cvm_busy: 'A run holds the CVM sim-1. Wait until it ends, or stop it.' },
  'cvms/register-cvm': {
    cvm_busy: 'A run holds the CVM sim-1. Wait until it ends, or stop it.',
    public_key_taken:
      'Another CVM of this domain has a certificate with the same public key. Make a key of its own for each CVM.',
  },
  'evidence/get-evidence': { run_active: 'The run is active. Get its evidence after the run has ended.' },
  'runs/start-run': {
    run_active: 'A run of this computation is active. Wait until it ends, or stop it.',
    cvm_busy: 'Another run holds the CVM sim-1. Wait until it ends, or stop it.',
    cvm_not_attested:
      'The CVM sim-1 does not satisfy the attestation policy. It has no attestation of its present agent and certificate.',
    cvm_not_ready: 'The CVM sim-1 is disconnected: it was never seen.',
  },
  'runs/stop-run': { nothing_to_stop: 'No run of this computation is active.' },
};

const conflictExtras: Partial<Record<ConflictReason, ErrorExtras>> = {
  run_active: { run_id: runId },
  cvm_busy: { run_id: runId },
  asset_in_use: { run_id: runId },
  stale_digest: { manifest_digest: manifestDigest, configuration_digest: configurationDigest },
};

const gatewayOnly = {
  detail:
    'The CVM cvm-1 is registered with a certificate. It gets its commands and reports through the gateway, with that certificate.',
  extras: { reason: 'gateway_only' },
} as const;
const refusals: Partial<Record<string, Sample>> = {
  'logs/read-logs': {
    detail: 'The logs of this run are not shared: its `log_access` is `none`.',
    extras: { reason: 'logs_not_shared' },
  },
  'cvms/list-commands': gatewayOnly,
  'cvms/report': gatewayOnly,
};

/**
 * Returns the OpenAPI examples of an error: one named after the code, or one for each of the endpoint's reasons for a conflict.
 */
export function problemExamples(code: ErrorCode, route: Route) {
  const { status, title } = errorTable[code];
  const example = ({ detail, extras = {} }: Sample) => ({
    value: { type: 'about:blank', title, status, detail, code, request_id: 'JKJaXmPLvHcESHA=', ...extras },
  });
  const { reasons = [] } = route;
  const refusal = code === 'forbidden' ? refusals[route.name] : undefined;
  if (refusal) return { [code]: example(sampleOf(code, route)), [refusal.extras?.reason ?? '']: example(refusal) };
  if (code !== 'conflict' || reasons.length === 0) return { [code]: example(sampleOf(code, route)) };
  return Object.fromEntries(reasons.map((reason) => [reason, example(conflictSample(route, reason))]));
}

function conflictSample({ name }: Route, reason: ConflictReason): Sample {
  const detail = conflicts[name]?.[reason];
  if (detail === undefined) throw new TypeError(`${name} has no example of the conflict ${reason}.`);
  return { detail, extras: { reason, ...conflictExtras[reason] } };
}

function sampleOf(code: ErrorCode, route: Route): Sample {
  switch (code) {
    case 'invalid_request': {
      const pointer = route.body ? '/nmae' : 'query/lmit';
      const detail = route.body ? unknownIn('', route.body) : unknownIn('query', route.query ?? v.object({}));
      return { detail: `${pointer}: ${detail}`, extras: { errors: [{ pointer, detail }] } };
    }
    case 'forbidden': {
      const access = route.access ?? { anyOf: [] };
      const role: Role = rolesWith(...access.anyOf).includes('viewer') ? 'cvm' : 'viewer';
      return { detail: forbidden({ id: 'bob', roles: new Set([role]), actions: new Set() }, access).message };
    }
    case 'incomplete': {
      const missing_items = { keys: ['alice'], hashes: ['penguins.csv'], info: ['Missing algorithm'] };
      return { detail: 'The computation is not ready to run. See `missing_items`.', extras: { missing_items } };
    }
    case 'too_large':
      return { detail: tooLarge[route.name] ?? 'The body has 262145 bytes. The limit is 262144 bytes.' };
    case 'not_found':
      return { detail: notFound(resourceOf(route)).message };
    default:
      return { detail: details[code] ?? `${errorTable[code].title}.` };
  }
}

function resourceOf({ path }: Route): string {
  if (path.includes('/assets/')) return 'asset';
  return path.includes('/cvms/') ? 'registered CVM' : 'computation';
}

/** Example texts of `too_large` (413), by endpoint, where it is not the body that is too large. */
const tooLarge: Partial<Record<string, string>> = {
  'assets/create-asset': contentTooLarge(inlineLimitInBytes + 1).message,
  'assets/update-asset': contentTooLarge(inlineLimitInBytes + 1).message,
  'assets/link-asset': 'A computation can have at most 100 datasets. Unlink one first.',
};

const details: Partial<Record<ErrorCode, string>> = {
  unauthenticated: 'The token names no user. Its claim `sub` must have 1 to 255 bytes of UTF-8 and must not be a reserved name.',
  precondition_failed: preconditionFailed().message,
  unsupported_media_type: 'Expected content-type: application/json.',
  idempotency_mismatch: 'The Idempotency-Key was used for another request. Use a new key.',
  internal: 'The service failed. Give the operator the request id.',
  unavailable: 'A dependency of the service is busy or down. Try again in a moment.',
};
