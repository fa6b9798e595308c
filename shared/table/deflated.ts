/** Loaded on first use: an import would add to the cold start. */
const zlib = () => process.getBuiltinModule('node:zlib');

export function deflated(text: string): Uint8Array {
  return zlib().deflateRawSync(text);
}

export function inflated(bytes: Uint8Array): string {
  return zlib().inflateRawSync(bytes).toString();
}
