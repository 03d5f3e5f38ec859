/** Cart items: added before an order refers to them (row 2), deleted when no order will (row 3). */
import type { Effected } from '../domain/effects';
import { fitsDocument, type CartItem } from '../domain/requests';
import type { Secret } from '../domain/secrets';
import type { CartItemBody } from '../provider/schemas';
import type { SecretResolver } from '../security/secret-resolver';
import type { EffectContext, Tools } from './effect';
import { OwnFailure } from './translate-failure';

export interface AddCartItem extends EffectContext {
  item: CartItem;
  /** Its number in the request, from 1. */
  number: number;
  /** How often it was corrected: what was added before a correction is another item. */
  corrected?: number | undefined;
}

export function createCartActivities({ provider, effect, secrets }: Tools) {
  return {
    /**
     * Row 2. A second call would add a second item, so an answer that the journal has is given again, and nothing is
     * sent. Fails with `SecretMissing` where a secret is not there.
     */
    async addCartItem(input: AddCartItem): Promise<Effected<{ cartItemId: number }>> {
      const { number, corrected } = input;
      const looked = withSecrets(input.item, secrets);
      // Looked up first: a slow store must not use up the time to send. A missing secret fails only where it would be
      // sent.
      const known = await looked.catch(() => undefined);
      return effect(
        {
          kind: 'mutate',
          about: { item: number, ...(corrected ? { corrected } : {}) },
          recall: true,
          sent: known?.byName,
        },
        input,
        async (options) => provider.addCartItem((await looked).body, options),
      );
    },

    /**
     * Row 3, the undo of {@link addCartItem}. A second call finds nothing and succeeds, too. Fails with `Ordered`, and
     * sends nothing, where an order that was placed, or may have been, names the item, or another reference's item has
     * its id by now.
     */
    deleteCartItem(input: EffectContext & { cartItemId: number }): Promise<Effected<null>> {
      const { cartItemId } = input;
      return effect({ kind: 'compensate', about: { cartItemId } }, input, async (options) => {
        await provider.deleteCartItem(cartItemId, options);
        return null;
      });
    },
  };
}

/** The item as it is sent, every secret in its place; and the values of the secrets that it names. */
export async function withSecrets(item: CartItem, secrets: SecretResolver) {
  const byName: Record<string, string> = {};
  const { password, custom_ssh_key, custom_script, alternatives: _, ...open } = item;
  const body: CartItemBody = { ...open };
  for (const [field, secret] of Object.entries({ password, custom_ssh_key, custom_script })) {
    if (secret === undefined) continue;
    const value = await valueOf(field as SecretField, secret, secrets);
    body[field as SecretField] = value;
    if (typeof secret !== 'string') byName[secret.secret] = value;
  }
  return { body, byName };
}

type SecretField = 'password' | 'custom_ssh_key' | 'custom_script';

async function valueOf(field: SecretField, secret: Secret, secrets: SecretResolver): Promise<string> {
  if (typeof secret === 'string') return secret;
  const { secret: name } = secret;
  const missing = (why: string) => new OwnFailure('SecretMissing', why);
  const value = await secrets.resolve(name).catch((error: unknown) => {
    throw missing(`the secret ${name} could not be looked up: ${(error as Error).message}`);
  });
  if (value === undefined) throw missing(`there is no secret ${name} for ${field}`);
  if (!fitsDocument(field, value)) throw missing(`the secret ${name} is not a valid ${field}`);
  return value;
}
