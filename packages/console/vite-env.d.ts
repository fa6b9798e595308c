declare module '*.css';
declare module '*?raw' {
  const text: string;
  export default text;
}

declare module 'bcrypt-pbkdf' {
  type Lengthy = [bytes: Uint8Array, length: number];
  /** Fills `key` with bytes derived from the passphrase and the salt (bcrypt_pbkdf). */
  export function pbkdf(...of: [...pass: Lengthy, ...salt: Lengthy, ...key: Lengthy, rounds: number]): void;
}
