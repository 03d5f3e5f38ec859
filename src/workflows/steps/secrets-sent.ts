/**
 * The secrets that an order has sent to the provider. Any worker may make the next call, and the provider may quote in
 * its answer what another worker's call sent: so the values go with each call, in the same encrypted arguments as the
 * first time. docs/internals/decisions.md#the-secrets-of-an-order-go-with-each-of-its-calls says why.
 */
import { secretFields, type Secret, type SentSecrets } from '../../domain/secrets';

/** With the order itself, whose answer is kept: it is searched for each piece of a secret. */
const withThePivotCharsMax = 131_072;

/** With each other call: an order of 200 items makes 600 of them, and as many again for each retry. */
const withOthersCharsMax = 8_192;

/** A secret by its name counts so much: the name is short, its value may not be. */
const referenceChars = 64;

export class SecretsSent {
  private readonly secrets = new Map<string, Secret>();

  constructor(items: readonly object[]) {
    items.forEach((item) => this.add(item));
  }

  /** @param item of the request, or the fields of one that were corrected */
  add(item: object): void {
    for (const [field, secret] of Object.entries(item)) {
      if (secret !== undefined && secretFields.includes(field)) {
        this.secrets.set(JSON.stringify(secret), secret as Secret);
      }
    }
  }

  get withThePivot(): { secrets: SentSecrets } {
    return { secrets: this.upTo(withThePivotCharsMax) };
  }

  get withOthers(): { secrets: SentSecrets } {
    return { secrets: this.upTo(withOthersCharsMax) };
  }

  /** All or none: an answer in which some of them are blanked out shows the others. */
  private upTo(charsMax: number): SentSecrets {
    const sent = [...this.secrets.values()];
    const chars = sent.reduce((sum, one) => sum + (typeof one === 'string' ? one.length : referenceChars), 0);
    return chars > charsMax ? 'unknown' : sent;
  }
}
