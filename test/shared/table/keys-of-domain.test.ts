import { describe, expect, it } from 'vitest';
import { inlineKey } from '../../../shared/assets/content-store.ts';
import {
  answerKeys,
  assetKeys,
  computationKeys,
  contentCheckKeys,
  cvmKeys,
  dueFoldKeys,
  gatewayKeys,
  journalKeys,
  limitKeys,
  listKeys,
  lists,
  purgeKeys,
  runKeys,
  schemaKeys,
  sweepKeys,
  userKeys,
  waitKeys,
  type AnyKey,
} from '../../../shared/table/keys.ts';
import { indexKeys } from '../../../shared/table/index-keys.ts';
import { belongsTo, idOfPurge, kindOf, leadsToOthers } from '../../../shared/table/keys-of-domain.ts';

const at = '2026-01-01T00:00:00.000Z';
const found = { domain: 'd1', ids: new Set(['own']) };
const indexOf = (domain: string) => ({ scope: `computations#${domain}`, logShards: 2 });

/** Items of a domain that are found by its name. */
const namedByDomain: [what: string, key: (domain: string) => AnyKey][] = [
  ['the row of a computation', (domain) => listKeys.row(lists.computations(domain), 1)],
  ['the row of a run', (domain) => listKeys.row(lists.runs(domain), 1)],
  ['the row of an asset', (domain) => listKeys.row(lists.assets(domain), 1)],
  ['the row of a CVM', (domain) => listKeys.row(lists.cvms(domain), 1)],
  ['the counter of a list', (domain) => listKeys.counter(lists.runs(domain))],
  ['an open task', (domain) => userKeys.owner(domain, 'alice', 1)],
  ['a CVM', (domain) => cvmKeys.cvm(domain, 'cvm-1')],
  ['a claim', (domain) => cvmKeys.claim(domain, 'cvm-1')],
  ['a command', (domain) => cvmKeys.command({ domain, cvm_id: 'cvm-1', run_id: 'run' }, 'run')],
  ['the notice of a command', (domain) => cvmKeys.pending({ domain, cvm_id: 'cvm-1', run_id: 'run' }, 'run')],
  ['the record of an agent', (domain) => cvmKeys.agent(domain, 'cvm-1')],
  ['a check of content', (domain) => contentCheckKeys.check(at, inlineKey(domain, 'asset'))],
  ['the limit of a domain', (domain) => limitKeys.changes(domain)],
  ['the mark of a list', (domain) => dueFoldKeys.mark(indexOf(domain))],
  ['a logged change of a list', (domain) => indexKeys.entry(indexOf(domain), 7, 'e')],
  ['the head of a list', (domain) => indexKeys.head(indexOf(domain))],
  ['a node of a list', (domain) => indexKeys.node(indexOf(domain), '_wE')],
];

/** Items that name only a computation or an asset. */
const namedByResource: [what: string, key: (id: string) => AnyKey][] = [
  ['the definition of a computation', (id) => computationKeys.config(id)],
  ['an event', (id) => journalKeys.event(id, 1)],
  ['the snapshot of a run', (id) => runKeys.snapshot(id, 'run')],
  ['the row of a linked computation', (id) => listKeys.row(lists.linkedComputations(id), 1)],
  ['the head of the linked computations', (id) => indexKeys.head({ scope: `linked#${id}`, logShards: 1 })],
  ['a run that uses an asset', (id) => assetKeys.use(id, 'run')],
  ['the reads of content', (id) => assetKeys.contentReads(id)],
];

/** Items whose keys say nothing: they name the domain beside the key. */
const namedBeside: [what: string, key: AnyKey][] = [
  ['a purge', purgeKeys.purge('asset', 'own')],
  ['a kept answer', answerKeys.answer(['request'])],
  ['a question about a CVM', gatewayKeys.message('gateway-1', 'message')],
];

describe('belongsTo', () => {
  it.each(namedByDomain)('finds %s of the domain, and not that of a domain whose name begins alike', (_what, key) => {
    const owners = ['d1', 'd', 'd10', 'd1-x', 'own'].filter((domain) => belongsTo(found, key(domain)));
    expect(owners).toEqual(['d1']);
  });

  it.each(namedByResource)("finds %s by the domain's resource", (_what, key) => {
    expect(['own', 'other', 'd1'].filter((id) => belongsTo(found, key(id)))).toEqual(['own']);
  });

  it.each(namedBeside)('finds %s by the domain that it names', (_what, key) => {
    const owners = ['d1', 'd10', undefined].filter((domain) => belongsTo(found, domain === undefined ? key : { ...key, domain }));
    expect(owners).toEqual(['d1']);
  });

  it.each<[string, AnyKey]>([
    ['the state of the sweep', sweepKeys.state],
    ['the schema version', schemaKeys.version],
    ['the slot of a wait', waitKeys.slot('d1', 1)],
    ['the name of a gateway', gatewayKeys.name('d1')],
    ['the lease of a gateway', gatewayKeys.lease('d1')],
  ])('leaves %s, which is of all domains', (_what, key) => {
    expect(belongsTo(found, key)).toBe(false);
  });
});

describe('leadsToOthers', () => {
  it.each<[string, AnyKey, boolean]>([
    ['the row of a computation', listKeys.row(lists.computations('d1'), 1), true],
    ['the row of a run', listKeys.row(lists.runs('d1'), 1), true],
    ['the row of an asset', listKeys.row(lists.assets('d1'), 1), true],
    ['a purge', purgeKeys.purge('computation', 'own'), true],
    ['the row of a CVM', listKeys.row(lists.cvms('d1'), 1), false],
    ['an event', journalKeys.event('own', 1), false],
  ])('%s: %o is %s', (_what, key, leads) => {
    expect(leadsToOthers(key)).toBe(leads);
  });
});

describe('kindOf', () => {
  it.each<[AnyKey, string]>([
    [listKeys.row(lists.computations('d1'), 1), 'computations'],
    [listKeys.row(lists.runs('d1'), 1), 'runs'],
    [listKeys.row(lists.assets('d1'), 1), 'assets'],
    [cvmKeys.cvm('d1', 'cvm-1'), 'CVMs'],
    [journalKeys.event('own', 1), 'events'],
    [answerKeys.answer(['request']), 'kept answers'],
    [listKeys.row(lists.cvms('d1'), 1), 'other items'],
    [listKeys.counter(lists.runs('d1')), 'other items'],
    [journalKeys.head('own'), 'other items'],
    [purgeKeys.purge('asset', 'own'), 'other items'],
  ])('counts %o among the %s', (key, kind) => {
    expect(kindOf(key)).toBe(kind);
  });
});

describe('idOfPurge', () => {
  it.each(['asset', 'computation'] as const)('is the identifier of the deleted %s', (kind) => {
    expect(idOfPurge(purgeKeys.purge(kind, 'own').sk)).toBe('own');
  });
});
