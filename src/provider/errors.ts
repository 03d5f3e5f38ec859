/**
 * How a call to the provider can fail. The provider documents no errors, so each name says only what can be seen on
 * the wire, above all whether the provider may have done what it was asked:
 *
 *     nothing took effect       NotSent · TokenUnreadable · RateLimited · Unauthorized · NotYet · Rejected
 *     may have taken effect     UnknownOutcome · NotDeclared
 *     not the provider at all   UnexpectedResponse
 *
 * A message names the endpoint, the status and the reason. It never contains headers, credentials or request fields.
 */
import type { Refusal } from '../domain/profile';

export type ProviderFailureName =
  /**
   * No byte of the request was sent: the name did not resolve, the connection was refused, TLS failed, no connection was
   * free in time. It does not mean that the request is wrong; sending it again is safe.
   */
  | 'NotSent'
  /** The token could not be read, so nothing was sent: a problem on our side. It says nothing of the provider. */
  | 'TokenUnreadable'
  /** 429: too many calls; this one took no effect. It means neither that the request is wrong nor that a wait is enough. */
  | 'RateLimited'
  /**
   * The provider refuses it now, and is expected to take it in a while: the server is new or in maintenance, the cart is
   * locked by another call. Nothing took effect.
   */
  | 'NotYet'
  /**
   * 401 or 403, or credentials that cannot be put into a header: nothing took effect. A 401 says nothing of the
   * request itself; a 403 may refuse it (a quota, a plan).
   */
  | 'Unauthorized'
  /**
   * The provider said no, by a status (verdicts.ts has the table) or by what the profile declares. Nothing took effect, and
   * the same request is not expected to succeed later. Also thrown without a status, before anything is sent, for an
   * argument that no request can be built from (an id that is not a positive integer): a bug in the program.
   */
  | 'Rejected'
  /**
   * The request was sent, and its outcome is not known: no answer in time, a lost connection, 408, 5xx, a success that
   * is neither as documented nor as declared, or a status of a pivot that is no plain refusal. It does *not* mean that
   * nothing happened: an order may be placed, an item may be in the cart.
   */
  | 'UnknownOutcome'
  /** An answer to a delete, of which the profile does not say that the item is gone: nobody is asked about it. */
  | 'NotDeclared'
  /**
   * An answer that this interface does not have: a redirect. It is never followed, because that would send credentials
   * and an order to an address that nobody configured. Most likely the base URL is wrong; it does not prove that nothing
   * happened.
   */
  | 'UnexpectedResponse';

export interface FailureFacts {
  /**
   * Method and the document's path with its parameters unfilled, e.g. `DELETE /order/cartItems/delete/{cart_item_id}`.
   */
  endpoint: string;
  /** HTTP status; undefined where there was no answer. */
  status?: number;
  /** The answer's body: secrets blanked out, cut to 500 characters. Undefined where there was none. */
  body?: string;
  /** The id of a cart item that came with an answer that is no success. */
  cartItemId?: number;
  /** How long the answer asks to wait, in milliseconds. */
  retryAfterMs?: number;
  /** It is what the profile declares, and not what the status says. */
  declared?: Refusal['means'];
}

const ErrorWithFacts = Error as unknown as new (message: string) => Error & Readonly<FailureFacts>;

export class ProviderFailure extends ErrorWithFacts {
  constructor(
    override readonly name: ProviderFailureName,
    message: string,
    facts: FailureFacts,
  ) {
    super(`${facts.endpoint} ${message}`);
    Object.assign(this, facts);
  }
}

export function isFailure(error: unknown, name: ProviderFailureName): error is ProviderFailure {
  return error instanceof ProviderFailure && error.name === name;
}
