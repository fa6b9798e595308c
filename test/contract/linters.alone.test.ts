import { createConfig, lintFromString } from '@redocly/openapi-core';
import core, { type RulesetDefinition } from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';
import rulesets from '@stoplight/spectral-rulesets';
import { beforeAll, describe, expect, it } from 'vitest';
import { openapiDocument } from '../../shared/openapi/openapi-document.ts';
import { acceptedFindings } from './accepted-findings.ts';

const source = JSON.stringify(openapiDocument('1.2.3'));

interface Finding {
  rule: string;
  where: string;
  message: string;
}

/** Both rule sets in one run, which resolves the document once. */
async function spectralFindings(): Promise<Finding[]> {
  const spectral = new core.Spectral();
  spectral.setRuleset({
    extends: [
      [rulesets.oas as RulesetDefinition, 'recommended'],
      [owasp as unknown as RulesetDefinition, 'all'],
    ],
  });
  const results = await spectral.run(source);
  return results.map(({ code, path, message }) => ({ rule: String(code), where: path.join('.'), message }));
}

const isOwasp = ({ rule }: Finding) => rule.startsWith('owasp:');

describe('the OpenAPI document', () => {
  let found: Finding[];
  beforeAll(async () => {
    found = await spectralFindings();
  });

  it('has no finding of Spectral’s recommended rules for OpenAPI', () => {
    expect(found.filter((finding) => !isOwasp(finding))).toEqual([]);
  });

  it('has no finding of the OWASP rules, except for those that are accepted with a reason', () => {
    const findings = found.filter(isOwasp);
    expect(findings.length).toBeGreaterThan(0);
    const isOf = ({ rule, where }: (typeof acceptedFindings)[number], finding: Finding) =>
      rule === finding.rule && (where?.test(finding.where) ?? true);
    expect(findings.filter((finding) => !acceptedFindings.some((accepted) => isOf(accepted, finding)))).toEqual([]);
    const unused = acceptedFindings.filter((accepted) => !findings.some((finding) => isOf(accepted, finding)));
    expect(unused).toEqual([]);
  });

  it('has no finding of Redocly’s recommended rules', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
    expect(problems.map(({ ruleId, message, location }) => ({ ruleId, message, where: location[0]?.pointer }))).toEqual([]);
  });
});
