/** Cart items: added before an order refers to them (row 2), deleted when no order will (row 3). */
import { fitsDocument, type CartItem } from '../domain/requests';
import type { Secret } from '../domain/secrets';
import type { ProviderClient } from '../provider/client';
import type { CartItemBody } from '../provider/schemas';
import type { SecretResolver } from '../security/secret-resolver';
import type { Asked, Call } from './call';
import type { ActivitySettings } from './settings';
import { OwnFailure } from './translate-failure';

export interface AddCartItem extends Asked {
  item: CartItem;
}

export function createCartActivities(
  provider: ProviderClient,
  call: Call,
  settings: ActivitySettings,
  secrets: SecretResolver,
) {
  return {
    /** Values of `plan_type` beyond the document's four that this installation knows: a setting, no call. */
    supportedPlanTypes(): Promise<string[]> {
      return Promise.resolve([...settings.planTypesMore]);
    },

    /** Whether a request that was not encrypted is taken, by a worker that has keys: a setting, no call. */
    takesClearRequests(): Promise<boolean> {
      return Promise.resolve(settings.takesClearRequests);
    },

    /** Row 2. A second call adds a second item. A secret that is not there is `SecretMissing`, and nothing is sent. */
    addCartItem(input: AddCartItem): Promise<{ cartItemId: number }> {
      return call('acting', input, async () => provider.addCartItem(await withSecrets(input.item, secrets)));
    },

    /** Row 3, the undo of {@link addCartItem}. A second call finds nothing and is done as well. */
    deleteCartItem(input: Asked & { cartItemId: number }): Promise<void> {
      return call('undoing', input, () => provider.deleteCartItem(input.cartItemId));
    },
  };
}

/** The item as it is sent, every secret in its place. */
async function withSecrets(item: CartItem, secrets: SecretResolver): Promise<CartItemBody> {
  const { password, custom_ssh_key, custom_script, ...open } = item;
  const body: CartItemBody = { ...open };
  for (const [field, secret] of Object.entries({ password, custom_ssh_key, custom_script })) {
    if (secret !== undefined) body[field as SecretField] = await valueOf(field as SecretField, secret, secrets);
  }
  return body;
}

type SecretField = 'password' | 'custom_ssh_key' | 'custom_script';

async function valueOf(field: SecretField, secret: Secret, secrets: SecretResolver): Promise<string> {
  if (typeof secret === 'string') return secret;
  const value = await secrets.resolve(secret.secret).catch((error: unknown) => {
    throw new OwnFailure(
      'SecretMissing',
      `the secret ${secret.secret} could not be looked up: ${(error as Error).message}`,
    );
  });
  if (value === undefined) throw new OwnFailure('SecretMissing', `there is no secret ${secret.secret} for ${field}`);
  if (!fitsDocument(field, value)) {
    throw new OwnFailure('SecretMissing', `the secret ${secret.secret} is not what ${field} must be`);
  }
  return value;
}
