/** An authority of the test's own, and what it vouches for. Made by `openssl` on the spot: nothing in the repository can expire. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

  /** One that was good for a month, years ago: as any is for a machine whose clock is wrong. */
  forServerLongAgo(name: string): Certificate {
    this.issued += 1;
    const file = (kind: string) => join(this.folder, `${this.issued}-${kind}`);
    const { certFile: authority, keyFile: authorityKey } = this.certificate;
    writeFileSync(file('index'), '');
    writeFileSync(file('serial'), '01\n');
    writeFileSync(
      file('config'),
      `[ca]\ndefault_ca=it\n[it]\ndatabase=${file('index')}\nserial=${file('serial')}\nnew_certs_dir=${this.folder}\n` +
        `default_md=sha256\npolicy=any\nx509_extensions=use\n[any]\ncommonName=supplied\n` +
        `[use]\nbasicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\nsubjectAltName=DNS:${name}\n`,
    );
    openssl([
      ...['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', `/CN=${name}`],
      ...['-keyout', file('key'), '-out', file('request')],
    ]);
    openssl([
      ...['ca', '-batch', '-notext', '-config', file('config'), '-cert', authority, '-keyfile', authorityKey],
      ...['-startdate', '20200101000000Z', '-enddate', '20200201000000Z', '-in', file('request'), '-out', file('cert')],
    ]);
    return certificateIn(file('cert'), file('key'));
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
    const file = (kind: string) => join(this.folder, `${this.issued}-${kind}.pem`);
    const [certFile, keyFile] = [file('cert'), file('key')];
    openssl([
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-keyout', keyFile, '-out', certFile, ...options],
    ]);
    return certificateIn(certFile, keyFile);
  }
}

function openssl(args: string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function certificateIn(certFile: string, keyFile: string): Certificate {
  return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
}
