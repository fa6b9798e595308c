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

  it.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('writes the number of RFC 8785, appendix B, with the bits %s as %s', (bits, text) => {
    expect(canonicalJson([Buffer.from(bits, 'hex').readDoubleBE()])).toBe(`[${text}]`);
  });

  it.each(['7fffffffffffffff', '7ff0000000000000'])('refuses the number of RFC 8785, appendix B, with the bits %s', (bits) => {
    expect(() => canonicalJson([Buffer.from(bits, 'hex').readDoubleBE()])).toThrow(/^(NaN|Infinity) is not allowed$/);
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
