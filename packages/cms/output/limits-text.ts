import type { Limits } from '../../../shared/approvals/approval-signature.ts';

/** Says what limits an approval, such as `, only on cvm-1, cvm-2, only until 2026-12-31T12:00:00.000Z`. Empty without limits. */
export function limitsText({ cvm_ids, expires_at }: Limits): string {
  return `${cvm_ids?.length ? `, only on ${cvm_ids.join(', ')}` : ''}${expires_at ? `, only until ${expires_at}` : ''}`;
}
