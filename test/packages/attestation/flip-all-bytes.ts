import { genuineEvidence, verifiedAfterFlip } from './flip-bytes.ts';

/** `npm run tamper:attestation`: flips every bit that is signed, one at a time. Exits with 1 if one verdict is `verified`. */
for (const genuine of genuineEvidence()) {
  const flips = genuine.bytes.flatMap((at) => Array.from({ length: 8 }, (_, bit): [number, number] => [at, bit]));
  const verified = await verifiedAfterFlip(genuine, flips);
  if (verified.length > 0) process.exitCode = 1;
  process.stdout.write(
    `${genuine.name}: ${genuine.bytes.length} bytes, ${flips.length} flips, ${verified.length} verified ${verified.join('; ')}\n`,
  );
}
