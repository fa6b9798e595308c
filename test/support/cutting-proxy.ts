import { type AddressInfo, connect, createServer } from 'node:net';

/** A proxy that can break its connections in the middle. */
export interface CuttingProxy {
  endpoint: string;
  /** Breaks the next connection that carries this many bytes, in the given direction. */
  cutAfter: (bytes: number, direction: 'up' | 'down') => void;
  stop: () => void;
}

/** Passes bytes on to the server at `target`. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const cuts: { bytes: number; direction: 'up' | 'down' }[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    const count = (direction: 'up' | 'down') => {
      let carried = 0;
      return (chunk: Buffer) => {
        carried += chunk.length;
        const [cut] = cuts;
        if (cut?.direction !== direction || carried < cut.bytes) return;
        cuts.shift();
        end();
      };
    };
    client.on('data', count('up')).on('error', end).on('close', end).pipe(upstream);
    upstream.on('data', count('down')).on('error', end).on('close', end).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutAfter: (bytes, direction) => void cuts.push({ bytes, direction }),
    stop: () => void server.close(),
  };
}
