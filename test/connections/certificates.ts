/** An authority of the test's own, and what it vouches for. Made by `openssl` on the spot: nothing in the repository can expire. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  certFile: string;
  keyFile: string;
  cert: Buffer;
  key: Buffer;
}

export class Authority {
  private readonly folder = mkdtempSync(join(tmpdir(), 'order-saga-certificates-'));
  private issued = 0;
  readonly certificate = this.make(['-subj', '/CN=authority of a test', '-addext', 'keyUsage=critical,keyCertSign']);

  /** @param names for a server, as `DNS:temporal.test` or `IP:127.0.0.1` */
  forServer(...names: string[]): Certificate {
    return this.issue('serverAuth', names);
  }

  forClient(name: string): Certificate {
    return this.issue('clientAuth', [`DNS:${name}`]);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  private issue(use: 'serverAuth' | 'clientAuth', names: string[]): Certificate {
    const { certFile, keyFile } = this.certificate;
    return this.make([
      ...['-subj', `/CN=${use} of a test`, '-CA', certFile, '-CAkey', keyFile],
      ...['-addext', 'basicConstraints=critical,CA:FALSE', '-addext', `extendedKeyUsage=${use}`],
      ...['-addext', `subjectAltName=${names.join(',')}`],
    ]);
  }

  private make(options: string[]): Certificate {
    this.issued += 1;
    const file = (kind: string) => join(this.folder, `${String(this.issued)}-${kind}.pem`);
    const [certFile, keyFile] = [file('cert'), file('key')];
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
        ...['-keyout', keyFile, '-out', certFile, ...options],
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
  }
}
