/** How what is not for everybody's eyes is written down: as Temporal's payloads are, so encrypted where there are keys. */
export interface Sealing {
  seal(value: unknown): Promise<string>;
  /** @throws Error where it cannot be decrypted */
  unseal(sealed: string): Promise<unknown>;
}
