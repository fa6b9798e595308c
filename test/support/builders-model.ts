import { type AssetType, type ComputationStatus, computationStatuses } from 'computation-management-formats/vocabulary';
import { isActive } from '../../shared/computations/run.ts';
import { indexedLists } from '../../shared/lists/indexed-list.ts';
import { assetsOfRun } from '../../shared/manifest/run-snapshot.ts';
import type { Item } from '../../shared/table/table.ts';
import { daysOf } from './lifecycle-inconsistencies.ts';

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
  const { states } = indexedLists.computations(domain);
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
