/** An authority of the test's own, and what it vouches for. Made on the spot: nothing in the repository can expire. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { md, pki } from 'node-forge';

export interface Certificate {
  certFile: string;
  keyFile: string;
  cert: Buffer;
  key: Buffer;
}

type Extension = { name: string } & Record<string, unknown>;

const dayMs = 24 * 60 * 60 * 1000;
const now = (): [Date, Date] => [new Date(Date.now() - dayMs), new Date(Date.now() + dayMs)];
const longAgo: [Date, Date] = [new Date('2020-01-01T00:00:00Z'), new Date('2020-02-01T00:00:00Z')];

export class Authority {
  private readonly folder = mkdtempSync(join(tmpdir(), 'order-saga-certificates-'));
  private readonly name = [{ name: 'commonName', value: 'authority of a test' }];
  private readonly keys = pki.rsa.generateKeyPair(2048);
  private issued = 0;
  readonly certificate = this.issue(this.keys, 'authority of a test', now(), [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
  ]);

  /** @param names for a server, as `DNS:temporal.test` or `IP:127.0.0.1` */
  forServer(...names: string[]): Certificate {
    return this.forUse('serverAuth', names, now());
  }

  /** One that was good for a month, years ago: as any is for a machine whose clock is wrong. */
  forServerLongAgo(name: string): Certificate {
    return this.forUse('serverAuth', [`DNS:${name}`], longAgo);
  }

  forClient(name: string): Certificate {
    return this.forUse('clientAuth', [`DNS:${name}`], now());
  }

  /** A server's certificate that is its own authority. */
  forItself(name: string): Certificate {
    return this.issue(this.keys, 'authority of a test', now(), [
      { name: 'subjectAltName', altNames: [altNameOf(name)] },
    ]);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  private forUse(use: 'serverAuth' | 'clientAuth', names: string[], valid: [Date, Date]): Certificate {
    return this.issue(pki.rsa.generateKeyPair(2048), `${use} of a test`, valid, [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'extKeyUsage', [use]: true },
      { name: 'subjectAltName', altNames: names.map(altNameOf) },
    ]);
  }

  private issue(
    keys: pki.rsa.KeyPair,
    commonName: string,
    [notBefore, notAfter]: [Date, Date],
    extensions: Extension[],
  ): Certificate {
    this.issued += 1;
    const certificate = pki.createCertificate();
    certificate.publicKey = keys.publicKey;
    certificate.serialNumber = this.issued.toString(16).padStart(2, '0');
    certificate.validity = { notBefore, notAfter };
    certificate.setSubject([{ name: 'commonName', value: commonName }]);
    certificate.setIssuer(this.name);
    certificate.setExtensions(extensions);
    certificate.sign(this.keys.privateKey, md.sha256.create());
    const info = pki.wrapRsaPrivateKey(pki.privateKeyToAsn1(keys.privateKey));
    const [cert, key] = [pki.certificateToPem(certificate), pki.privateKeyInfoToPem(info)].map((pem) =>
      Buffer.from(pem),
    ) as [Buffer, Buffer];
    const file = (kind: string) => join(this.folder, `${this.issued}-${kind}.pem`);
    const [certFile, keyFile] = [file('cert'), file('key')];
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
    return { certFile, keyFile, cert, key };
  }
}

/** One that vouches for itself, for one IPv4 address. */
export function selfSigned(address: string): { key: string; cert: string } {
  const authority = new Authority();
  try {
    const { key, cert } = authority.forItself(`IP:${address}`);
    return { key: key.toString(), cert: cert.toString() };
  } finally {
    authority.remove();
  }
}

/** By the numbers of the standard: 2 is a name, 7 an address. */
function altNameOf(name: string): object {
  const [kind, value] = [name.slice(0, name.indexOf(':')), name.slice(name.indexOf(':') + 1)];
  return kind === 'IP' ? { type: 7, ip: value } : { type: 2, value };
}
