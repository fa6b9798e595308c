/** The entry of the package `computation-management-transparency-log`. */
export {
  type Checkpoint,
  checkpointIn,
  checkpointText,
  formatProof,
  parseCheckpoint,
  parseProof,
  type TlogProof,
} from './checkpoint.ts';
export { MalformedError } from './malformed-error.ts';
export {
  addSignatures,
  openNote,
  type OpenedNote,
  parseNote,
  type Signer,
  signNote,
  type VerifiedSignature,
  isWitnessVkey,
  parseVkey,
  vkeyOf,
  type VerifierKey,
} from './note.ts';
export {
  appendEntries,
  consistencyProof,
  inclusionProof,
  readEntries,
  type ReadTile,
  rootOf,
  type TileToWrite,
} from './tiles.ts';
export { emptyRoot, leafHash, nodeHash, type Tree, verifyConsistency, verifyInclusion } from './tree.ts';
