/** What the embedded parts take for credentials; they check none. */
export const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' };
