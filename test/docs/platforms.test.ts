import { readFileSync } from 'node:fs';
import { platforms, platformTexts } from 'computation-management-formats/attestation';
import { expect, it } from 'vitest';

it('names each platform that a policy can allow on the page for owners of CVMs, with its machines', () => {
  const page = readFileSync('docs/cvm.md', 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z-]+)`\s*\| (.*?)\s*\|$/gm)].map(([, platform, machine]) => [platform, machine]);
  expect(rows).toEqual(platforms.map((platform) => [platform, platformTexts[platform]]));
});
