import { type AssetType, type ComputationStatus, computationStatuses } from 'computation-management-formats/vocabulary';
import { createAsset } from '../../shared/assets/create-asset.ts';
import { defaultAgentConfig } from '../../shared/rows/agent-config.ts';
import { fieldsOf } from '../../shared/rows/computation.ts';
import { isActive } from '../../shared/rows/run.ts';
import { updateComputation } from '../../shared/computations/update-computation.ts';
import { deleteAsset } from '../../shared/assets/delete-asset.ts';
import { deleteComputation } from '../../shared/computations/delete-computation.ts';
import { linkAsset, unlinkAsset } from '../../shared/assets/link-asset.ts';
import { updateAsset } from '../../shared/assets/update-asset.ts';
import { rowLists } from '../../shared/table/row-lists.ts';
import { assetsOfRun } from '../../shared/rows/run-snapshot.ts';
import { stopRun } from '../../shared/runs/stop-run.ts';
import type { Table, Item } from '../../shared/table/table.ts';
import { aComputation, aKey, allowed, aRun, byAlice, noKey, type Stores } from '../support/builders-store.ts';
import { daysOf } from '../support/inconsistencies.ts';

/** A simple model of the service's state. Tests compare the contents of the table with it. */
export interface Model {
  computations: Record<string, ModelComputation>;
  assets: Record<string, { file_name: string; asset_type: AssetType }>;
  statistics: Partial<Record<ComputationStatus, number>>;
}

export interface ModelComputation {
  name: string;
  status: ComputationStatus;
  cvm: string;
  /** The linked assets, sorted by identifier. */
  links: string[];
  keys: string[];
  /** The number of events by type. */
  events: Record<string, number>;
  /** The assets that were unlinked during the active run. */
  kept: string[];
  /** The assets that the active run was started with. */
  inputs: string[];
}

export const emptyModel = (): Model => ({ computations: {}, assets: {}, statistics: {} });

export function enters(model: Model, computation: ModelComputation, status: ComputationStatus, event: string): void {
  computation.status = status;
  model.statistics[status] = (model.statistics[status] ?? 0) + 1;
  happens(computation, event);
  if (!isActive(status)) Object.assign(computation, { cvm: '', kept: [], inputs: [] });
}

export function happens(computation: ModelComputation, event: string): void {
  computation.events[event] = (computation.events[event] ?? 0) + 1;
}

/** Reads the model from the items of a table. */
export function modelOf(items: Item[], domain: string): Model {
  const of = (pk: string, prefix: string) => items.filter((item) => item['pk'] === pk && String(item['sk']).startsWith(prefix));
  const computations = of(`computations#${domain}`, 'row#').map((row) => {
    const id = String(row['id']);
    const status = row['status'] as ComputationStatus;
    const run = row['run'] as Item | null;
    const events: Record<string, number> = {};
    for (const { event_type } of of(`journal#${id}`, 'event#'))
      events[String(event_type)] = (events[String(event_type)] ?? 0) + 1;
    const parts = of(`computation#${id}`, 'part#').filter((part) => 'asset_id' in part);
    const computation: ModelComputation = {
      name: String(row['name']),
      status,
      cvm: isActive(status) ? String(run?.['cvm_id']) : '',
      links: parts.map((part) => String(part['asset_id'])).sort(),
      keys: of(`computation#${id}`, 'key#')
        .map((key) => String(key['user_id']))
        .sort(),
      events,
      kept: isActive(status)
        ? of(`runs-of#${id}`, `use#${String(run?.['id'])}`)
            .map((use) => String(use['asset_id']))
            .sort()
        : [],
      inputs: isActive(status)
        ? of(`runs-of#${id}`, `snapshot#${String(run?.['id'])}`)
            .flatMap((snapshot) => assetsOfRun(snapshot))
            .sort()
        : [],
    };
    return [id, computation] as const;
  });
  const assets = of(`assets#${domain}`, 'row#').map(
    (row) => [String(row['id']), { file_name: String(row['file_name']), asset_type: row['asset_type'] as AssetType }] as const,
  );
  const statistics: Model['statistics'] = {};
  const { states } = rowLists.computations(domain);
  for (const counts of daysOf(
    Map.groupBy(items, ({ pk }) => String(pk)),
    domain,
  )) {
    for (const status of computationStatuses) {
      const count = counts[states[status]] ?? 0;
      if (count > 0) statistics[status] = (statistics[status] ?? 0) + count;
    }
  }
  return { computations: Object.fromEntries(computations), assets: Object.fromEntries(assets), statistics };
}

/** A step of a random history: an operation, and its computation and asset by index. */
export interface Step {
  does: keyof typeof steps;
  computation: number;
  asset: number;
  name: string;
  type: AssetType;
}

/** Executes a step on the table. */
export type Act = (stores: Stores, table: Table) => Promise<unknown>;

/** A step on the current state: its action, and the code of the expected error or the change to the model. */
export interface Planned {
  act: Act;
  refused?: string;
  apply: (model: Model, created: string) => void;
}

type Target = { id: string; it: ModelComputation };

const fields = { description: '', mime_type: '', user_key: '' };

const nameKey = ({ file_name, asset_type }: { file_name: string; asset_type: AssetType }) =>
  asset_type === 'algorithm' ? 'the algorithm' : file_name;

/** Says whether another asset already has this asset's place in the computation. */
function isTaken(
  model: Model,
  it: ModelComputation,
  assetId: string,
  asset: { file_name: string; asset_type: AssetType },
): boolean {
  return it.links.some((linked) => linked !== assetId && nameKey(model.assets[linked] ?? asset) === nameKey(asset));
}

const refusedIf = (isRefused: boolean, code: string) => (isRefused ? { refused: code } : {});

function unlink(it: ModelComputation, assetId: string): void {
  it.links = it.links.filter((linked) => linked !== assetId);
  if (isActive(it.status)) it.kept = [...new Set([...it.kept, assetId])].sort();
  happens(it, 'asset_unlinked');
}

const onComputation = {
  update: (domain: string, { id, it }: Target, { name }: Step): Planned => ({
    act: (_, table) =>
      updateComputation(table, {
        domain,
        seal: noKey,
        id,
        by: 'alice',
        now: byAlice.now,
        decide: (row) => ({
          fields: { ...fieldsOf(row, row), name },
          attestation_policy: null,
          result_review: null,
          consumers: [],
          providers: [],
          agent_config: defaultAgentConfig,
          permitted: allowed(),
        }),
      }),
    apply: () => {
      if (it.name !== name) happens(it, 'updated');
      it.name = name;
    },
  }),
  remove: (domain: string, { id, it }: Target): Planned => ({
    act: (_, table) => deleteComputation(table, { domain, id, permit: allowed }),
    ...refusedIf(isActive(it.status), 'conflict'),
    apply: (model) => {
      Reflect.deleteProperty(model.computations, id);
    },
  }),
  uploadKey: (domain: string, { id, it }: Target, { type }: Step): Planned => {
    const user = type === 'algorithm' ? 'alice' : 'bob';
    return {
      act: (_, table) => aKey(table, domain, id, user),
      apply: () => {
        if (it.keys.includes(user)) return;
        it.keys = [...it.keys, user].sort();
        happens(it, 'key_uploaded');
      },
    };
  },
  start: (domain: string, { id, it }: Target, { asset }: Step, model: Model): Planned => {
    const cvm = `cvm-${asset % 2}`;
    const isBusy = isActive(it.status) || Object.values(model.computations).some((other) => other.cvm === cvm);
    const hasAlgorithm = it.links.some((linked) => model.assets[linked]?.asset_type === 'algorithm');
    const isComplete = hasAlgorithm && it.keys.includes('alice');
    return {
      act: ({ executions }, table) => aRun({ table, executions }, domain, id, cvm),
      ...(isBusy ? { refused: 'conflict' } : refusedIf(!isComplete, 'incomplete')),
      apply: (changed) => {
        enters(changed, it, 'running', 'started');
        it.cvm = cvm;
        it.inputs = [...it.links].sort();
      },
    };
  },
  stop: (domain: string, { id, it }: Target): Planned => ({
    act: ({ executions }, table) => stopRun(table, executions, { domain, computationId: id, ...byAlice }),
    ...refusedIf(!isActive(it.status), 'conflict'),
    apply: (model) => {
      if (it.status === 'running') enters(model, it, 'stopping', 'stop_requested');
    },
  }),
};

type Asset = { id: string; it: Model['assets'][string] };

const onAsset = {
  rename: (domain: string, { id, it }: Asset, { name, type }: Step, model: Model): Planned => {
    const next = { file_name: `${name}.csv`, asset_type: type };
    const linked = Object.values(model.computations).filter((computation) => computation.links.includes(id));
    return {
      act: ({ content }, table) => updateAsset(table, content, { domain, id, given: { ...fields, ...next }, ...byAlice }),
      ...refusedIf(
        linked.some((computation) => isTaken(model, computation, id, next)),
        'conflict',
      ),
      apply: () => {
        Object.assign(it, next);
      },
    };
  },
  removeAsset: (domain: string, { id }: Asset, _: Step, model: Model): Planned => {
    const all = Object.values(model.computations);
    const isUsed = all.some((it) => isActive(it.status) && it.inputs.includes(id));
    return {
      act: (_stores, table) => deleteAsset(table, { domain, id, ...byAlice }),
      ...refusedIf(isUsed, 'conflict'),
      apply: (changed) => {
        for (const it of all) if (it.links.includes(id)) unlink(it, id);
        Reflect.deleteProperty(changed.assets, id);
      },
    };
  },
};

const onBoth = {
  link: (domain: string, { id, it }: Target, asset: Asset, model: Model): Planned => ({
    act: (_, table) => linkAsset(table, { domain, assetId: asset.id, computationId: id, ...byAlice }),
    ...refusedIf(!it.links.includes(asset.id) && isTaken(model, it, asset.id, asset.it), 'conflict'),
    apply: () => {
      if (it.links.includes(asset.id)) return;
      it.links = [...it.links, asset.id].sort();
      happens(it, 'asset_linked');
    },
  }),
  unlink: (domain: string, { id, it }: Target, asset: Asset): Planned => ({
    act: (_, table) => unlinkAsset(table, { domain, assetId: asset.id, computationId: id, ...byAlice }),
    apply: () => {
      if (!it.links.includes(asset.id)) return;
      unlink(it, asset.id);
    },
  }),
};

const creating = {
  create: (domain: string, { name }: Step): Planned => ({
    act: (_, table) => aComputation(table, domain, name),
    apply: (model, id) => {
      const it: ModelComputation = { name, status: 'created', cvm: '', links: [], keys: [], events: {}, kept: [], inputs: [] };
      model.computations[id] = it;
      enters(model, it, 'created', 'created');
    },
  }),
  createAsset: (domain: string, { name, type }: Step): Planned => {
    const asset = { file_name: `${name}.csv`, asset_type: type };
    const whole = {
      ...fields,
      ...asset,
      content_access: 'creator' as const,
      use: 'open' as const,
      asset: btoa('print(1)'),
      by: 'alice',
      now: byAlice.now,
    };
    return {
      act: async ({ content }, table) => (await createAsset(table, content, { domain, ...whole })).id,
      apply: (model, id) => {
        model.assets[id] = asset;
      },
    };
  },
};

const steps = { ...creating, ...onComputation, ...onAsset, ...onBoth };

/** Plans a step on the current state. Returns undefined if the computation or the asset for it does not exist. */
export function plan(model: Model, domain: string, step: Step): Planned | undefined {
  const computations = Object.entries(model.computations).map(([id, it]) => ({ id, it }));
  const assets = Object.entries(model.assets).map(([id, it]) => ({ id, it }));
  const target = computations[step.computation % computations.length];
  const asset = assets[step.asset % assets.length];
  const { does } = step;
  if (does in creating) return creating[does as keyof typeof creating](domain, step);
  if (does in onComputation) return target && onComputation[does as keyof typeof onComputation](domain, target, step, model);
  if (does in onAsset) return asset && onAsset[does as keyof typeof onAsset](domain, asset, step, model);
  return target && asset && onBoth[does as keyof typeof onBoth](domain, target, asset, model);
}

export const stepNames = Object.keys(steps) as Step['does'][];
