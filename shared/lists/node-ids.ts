import { randomBytes } from 'node:crypto';
import { nodeKeyBytes } from '../table/index-keys.ts';

/**
 * The identifier of a stored node: the key of its item, and the name of its version there. A version never changes, and no name is
 * given twice. So a write that arrives late changes no node that a tree contains, although a new node may take the place of one that
 * no tree contains any more: that is one write, and no deletion.
 */
const versionBytes = 3;
export const idBytes = nodeKeyBytes + versionBytes;

export function newNodeId(): string {
  return randomBytes(idBytes).toString('base64url');
}

/** Returns the name of the attribute of a node. DynamoDB takes it in an expression as it is. */
export function attributeOfNode(id: string): string {
  return `n${Buffer.from(id, 'base64url').subarray(nodeKeyBytes).toString('hex')}`;
}

/** Returns the identifier of a new node that takes the place of a dead one. */
export function idInPlaceOf(dead: string): string {
  const key = Buffer.from(dead, 'base64url').subarray(0, nodeKeyBytes);
  for (;;) {
    const id = Buffer.concat([key, randomBytes(versionBytes)]).toString('base64url');
    if (id !== dead) return id;
  }
}
