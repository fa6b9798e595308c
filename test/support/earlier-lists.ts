import { writableKey, type List } from '../../shared/table/keys.ts';
import {
  facetsOf,
  leavesPerMid,
  numbersPerLeaf,
  numbersPerMid,
  oldListKeys,
  oldStatisticsKeys,
} from '../../shared/table/old-list-keys.ts';
import type { Action } from '../../shared/table/action.ts';

/**
 * Returns the actions with which earlier versions added a member to a list: to the number set of its leaf and to the leaf's count.
 * One transaction cannot add two members that share a leaf.
 */
export function addToList(list: List, number: number, facet = 'all'): Action[] {
  return [leafUpdate(list, number, facet), midUpdate(list, number, facet)];
}

function leafUpdate(list: List, number: number, facet: string): Action {
  return {
    update: {
      Key: oldListKeys.leaf(list, number),
      UpdateExpression: 'ADD #members :offset',
      ExpressionAttributeNames: { '#members': leafAttribute(list, facet) },
      ExpressionAttributeValues: { ':offset': new Set([number % numbersPerLeaf]) },
    },
  };
}

function midUpdate(list: List, number: number, facet: string): Action {
  return {
    update: {
      Key: oldListKeys.mid(list, number),
      UpdateExpression: 'ADD #count :one',
      ExpressionAttributeNames: { '#count': midAttribute(list, facet, number) },
      ExpressionAttributeValues: { ':one': 1 },
    },
  };
}

/** Returns the attribute of a leaf item that contains the facet's members, as offsets within the leaf. */
function leafAttribute(list: List, facet: string): string {
  const letter = facetsOf(list)[facet];
  if (letter === undefined) throw new TypeError(`The list ${list.pk} has no facet ${facet}.`);
  return letter;
}

/** Returns the attribute of a mid item that counts a leaf's members with the facet: the facet's letter and the leaf in base 32. */
function midAttribute(list: List, facet: string, number: number): string {
  return leafAttribute(list, facet) + Math.floor((number % numbersPerMid) / numbersPerLeaf).toString(leavesPerMid);
}

/** Returns the action with which earlier versions counted a status that a computation entered. */
export function countTransition(domain: string, status: string, now: string): Action {
  return {
    update: {
      Key: writableKey(oldStatisticsKeys.partition(domain), now.slice(0, 10)),
      UpdateExpression: 'ADD #status :one',
      ExpressionAttributeNames: { '#status': status },
      ExpressionAttributeValues: { ':one': 1 },
    },
  };
}
