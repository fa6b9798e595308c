import { canonicalDigest, canonicalJson } from 'computation-management-formats/digests';
import { describe, expect, it } from 'vitest';

describe('canonicalJson', () => {
  it('writes the example of RFC 8785, section 3.2.3', () => {
    const value: unknown = JSON.parse(
      String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
    );
    expect(canonicalJson(value as object)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('sorts names by their UTF-16 code units', () => {
    expect(canonicalJson({ '\u{1f600}': 1, '\ufb33': 2, a: 3, B: 4 })).toBe('{"B":4,"a":3,"\u{1f600}":1,"\ufb33":2}');
  });

  it('leaves out members without a value', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  it('refuses a lone surrogate', () => {
    expect(() => canonicalJson({ a: '\ud800' })).toThrow('Lone surrogate');
  });
});

describe('canonicalDigest', () => {
  it('is the same for every order of the members', () => {
    expect(canonicalDigest({ a: 1, b: [2] })).toBe(canonicalDigest({ b: [2], a: 1 }));
  });

  it('is the SHA3-256 of the canonical JSON', () => {
    expect(canonicalDigest({})).toBe('840eb7aa2a9935de63366bacbe9d97e978a859e93dc792a0334de60ed52f8e99');
  });
});
