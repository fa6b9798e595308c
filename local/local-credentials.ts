/** The credentials for the embedded parts. Only the front of object storage checks them. */
export const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' };
