import { hash } from 'node:crypto';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn, valuesOf } from './files-holding.ts';
import { formsOf, inflated } from './holds-text.ts';

/** Part of every private key of an agent that the end-to-end suite sends. */
export const markOfPrivateKeys = 'PRIVATE-KEY-OF-AN-AGENT';

export function privateKey(name = 'first'): string {
  return `${markOfPrivateKeys} ${name}`;
}

/** The state of the services of a suite with their logs, and the bodies with private keys that it sent. */
export class SuiteState {
  readonly #services: string;
  readonly #sent: string;

  constructor(directory: string) {
    this.#services = join(directory, 'services');
    this.#sent = join(directory, 'sent');
  }

  prepare(): void {
    for (const part of [this.#services, this.#sent]) mkdirSync(part);
  }

  /** Makes the directory for the service of this process. The log of its functions is kept there, too. */
  openService(): string {
    const directory = mkdtempSync(join(this.#services, 'service-'));
    const print = process.stdout.write.bind(process.stdout) as (...given: unknown[]) => boolean;
    process.stdout.write = (chunk: string | Uint8Array, ...others: unknown[]) => {
      if (!String(chunk).startsWith('{')) return print(chunk, ...others); // not a line of the log
      appendFileSync(join(directory, 'functions.log'), chunk);
      return true;
    };
    return directory;
  }

  /** Keeps a body with a private key: the service may have deflated its answer with this body. */
  noteSent(body: string | Uint8Array): void {
    if (Buffer.from(body).includes(markOfPrivateKeys)) writeFileSync(join(this.#sent, hash('sha256', body)), body);
  }

  /** Returns the files that contain a private key in plain text, or compressed in a binary attribute of an item. */
  filesWithPrivateKeys(): string[] {
    const bodies = readdirSync(this.#sent).map((name) => readFileSync(join(this.#sent, name)));
    return filesIn(this.#services).filter((file) => {
      const items = file.endsWith('.sqlite') ? valuesOf(file).map((value) => Buffer.from(value)) : [];
      const binaries = items.flatMap((item) => binariesIn(item, bodies));
      const contents = [readFileSync(file), ...items, ...binaries];
      return contents.some((content) => forms.some((form) => content.includes(form)));
    });
  }
}

const forms = formsOf(markOfPrivateKeys);

/** Returns the binary attributes of an item, which the engine keeps as JSON, and what they contain deflated. @param bodies those of kept answers */
function binariesIn(item: Buffer, bodies: readonly Buffer[]): Buffer[] {
  return [...item.toString().matchAll(/"(\w+)":\{"B":"([^"]+)"/g)].flatMap(([, name, base64 = '']) => {
    const bytes = Buffer.from(base64, 'base64');
    return [bytes, ...inflated(bytes, name === 'answer' ? bodies : [])];
  });
}
