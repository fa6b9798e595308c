declare module 'fs-native-extensions' {
  /** Locks an open file until it is closed. Returns false if another file handle has the lock, also one of this process. */
  export function tryLock(file: number): boolean;
}
