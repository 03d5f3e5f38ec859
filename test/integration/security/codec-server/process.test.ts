/** The codec server as somebody runs it: settings in the environment, a line when it is ready, a stop in good order. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { startProcess } from '../../../../scripts/processes';
import { selfSigned } from '../../../support/certificates';
import { folderForFile } from '../../../support/folder';
import { itInWays } from '../../../support/left-out';
import { programOf } from '../../../support/programs';
import { call, newKey } from '../../../support/codec-calls';

const program = programOf('codec-server');
const base = { PAYLOAD_KEYS: `k1:${newKey()}`, CODEC_ADDRESS: '127.0.0.1:0' };
const { write: file } = folderForFile();

itInWays.each(['SIGTERM', 'SIGINT'] as const)(
  'says where it is and that nobody is asked, serves, and stops on %s',
  async (signal) => {
    const server = await startProcess(program, base);
    expect(server.ready).toMatch(/^codec server ready: http:\/\/127\.0\.0\.1:\d+$/);
    const url = server.ready.replace('codec server ready: ', '');
    expect(await call(`${url}/encode`, { body: '{}', headers: { 'x-namespace': 'orders' } })).toMatchObject({
      status: 200,
    });
    expect(await server.kill(signal)).toEqual({ status: 0, signal: null });
    const lines = server
      .errors()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toMatchObject([
      { level: 40, msg: expect.stringMatching(/no token is required/) },
      {
        level: 30,
        msg: 'call',
        operation: 'encode',
        namespace: 'orders',
        subject: 'anyone on this machine',
        status: 200,
      },
      { msg: 'stopping', signal },
    ]);
  },
);

it('speaks TLS with the certificate that it was given, and with nothing below 1.2', async () => {
  const { key, cert } = selfSigned('127.0.0.1');
  const server = await startProcess(program, {
    ...base,
    CODEC_ADDRESS: '0.0.0.0:0',
    CODEC_TLS_CERT_FILE: file('cert.pem', cert),
    CODEC_TLS_KEY_FILE: file('key.pem', key),
    CODEC_TOKEN_FILE: file('token', 'ops:0123456789abcdef\n\ncli:fedcba9876543210\n'),
  });
  try {
    expect(server.ready).toMatch(/^codec server ready: https:\/\/0\.0\.0\.0:\d+$/);
    const url = server.ready.replace('codec server ready: ', '').replace('0.0.0.0', '127.0.0.1');
    const decode = async (token: string) =>
      call(`${url}/decode`, { body: '{}', headers: { authorization: `Bearer ${token}` }, ca: cert });
    expect(await decode('0123456789abcdef')).toMatchObject({ status: 200 });
    expect(await decode('fedcba9876543210')).toMatchObject({ status: 200 });
    expect(await decode('0123456789abcdeX')).toMatchObject({ status: 401 });
    await expect(call(`${url}/live`)).rejects.toThrow(/self.signed/);
    await expect(call(`${url.replace('https', 'http')}/live`)).rejects.toThrow();
  } finally {
    expect(await server.kill('SIGTERM')).toMatchObject({ status: 0 });
  }
});

itInWays('says in one sentence that the port is in use', async () => {
  const other = createServer();
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const { port } = other.address() as AddressInfo;
  await expect(startProcess(program, { ...base, CODEC_ADDRESS: `127.0.0.1:${port}` })).rejects.toThrow(
    `codec server cannot start: CODEC_ADDRESS: nothing can listen at 127.0.0.1:${port} (listen EADDRINUSE: address already in use 127.0.0.1:${port}); choose another port, or an address of this machine\n`,
  );
  other.close();
});
