/** `detail` says what was found, or why the check failed. */
export interface Check {
  name: string;
  passed: boolean;
  detail: string;
}

export interface Verdict<Tcb = unknown> {
  /** `unsupported`: `platform` names a kind of evidence that this package does not know. */
  verdict: 'verified' | 'refused' | 'unsupported';
  platform: string;
  checks: Check[];
  /** 96 hex digits. Null unless the signature and its certificates hold. */
  measurement: string | null;
  /** Null unless the signature and its certificates hold. */
  tcb: Tcb | null;
  /** The SHA-256 of the evidence, in hex. */
  token_hash: string;
}

/** The checks of one verification, in order. Each of `names` has to run and to pass. */
export class Checks<Name extends string> {
  readonly list: Check[] = [];
  readonly #names: readonly Name[];

  constructor(names: readonly Name[]) {
    this.#names = names;
  }

  /** Runs a check. It returns what it found. Whatever it throws makes it fail. */
  async run(name: Name, check: () => string | Promise<string>): Promise<void> {
    try {
      this.list.push({ name, passed: true, detail: await check() });
    } catch (error) {
      this.list.push({ name, passed: false, detail: error instanceof Error ? error.message : 'It failed.' });
    }
  }

  /** Runs a check that also makes a value for later checks. @returns undefined if the check fails */
  async produce<Value>(
    name: Name,
    check: () => readonly [Value, string] | Promise<readonly [Value, string]>,
  ): Promise<Value | undefined> {
    let value: Value | undefined;
    await this.run(name, async () => {
      const [product, detail] = await check();
      value = product;
      return detail;
    });
    return value;
  }

  /** `otherwise` says why it failed. */
  fact(name: Name, passed: boolean, detail: string, otherwise: string): void {
    this.list.push({ name, passed, detail: passed ? detail : otherwise });
  }

  /** Says that the chain ends at a root which the options name, and no maker of machines has. */
  noteTestRoot(isOfMaker: boolean): void {
    const detail = 'the root is not one of AMD or Intel, but one given in their place: this proves nothing about the machine';
    if (!isOfMaker) this.list.push({ name: 'test_root', passed: true, detail });
  }

  passed(...names: Name[]): boolean {
    return names.every((name) => this.list.some((check) => check.name === name && check.passed));
  }

  /** Adds those that could not run, as failed. */
  conclude(): { verdict: 'verified' | 'refused'; checks: Check[] } {
    const checks = this.#names.map((name) => {
      const ran = this.list.find((check) => check.name === name);
      return ran ?? { name, passed: false, detail: 'not checked, because an earlier check failed' };
    });
    const notes = this.list.filter(({ name }) => name === 'test_root');
    return { verdict: checks.every(({ passed }) => passed) ? 'verified' : 'refused', checks: [...checks, ...notes] };
  }
}
