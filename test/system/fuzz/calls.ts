/** Every call that the client can make, and what of its answer the document promises, read here a second time. */
import type { ProviderClient } from '../../../src/provider/client';
import { providerCalls } from '../../support/provider-calls';

export interface ProviderCall {
  name: string;
  pivot: boolean;
  make: (client: ProviderClient) => Promise<unknown>;
  /** True if a body holds what the document shows of this call's success. */
  documented: (body: unknown) => boolean;
}

type Fields = Record<string, unknown>;

const isId = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1;
const isNumber = (value: unknown) =>
  typeof value === 'number'
    ? Number.isFinite(value)
    : typeof value === 'string' && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value) && Number.isFinite(Number(value));
const isYesOrNo = (value: unknown) => /^(?:true|false|0|1)$/.test(String(value)) && typeof value !== 'object';
const isDay = (value: unknown) => typeof value === 'string' && value.length <= 40;

function isQuote(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  const { available, total, currency, date_from, date_to } = own(body);
  if (!isYesOrNo(available) || !isNumber(total)) return false;
  if (typeof currency !== 'string' || currency === '' || currency !== currency.toLowerCase()) return false;
  return isDay(date_from) && isDay(date_to);
}

function isAdded(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const { 0: id, data } = own(body);
  return (
    isId(Number(id)) && isNumber(id) && typeof data === 'object' && data !== null && Number(own(data)['code']) === 200
  );
}

/** An object's own fields, and not those that it inherits. */
function own(value: object): Fields {
  return Object.fromEntries<unknown>(Object.entries(value));
}

type Promised = Partial<Pick<ProviderCall, 'pivot' | 'documented'>>;

const call = (name: string, make: ProviderCall['make'], promised: Promised = {}): ProviderCall => ({
  ...{ name, make, pivot: false, documented: () => true },
  ...promised,
});

/** The document's ten rows, and the directory that it does not have. */
export const calls: ProviderCall[] = [
  call('1 order', providerCalls.order, { pivot: true }),
  call('2 add to cart', providerCalls.add, { documented: isAdded }),
  call('3 delete item', providerCalls.delete),
  call('4 change order', providerCalls.changeOrder, { pivot: true }),
  call('5 change total', providerCalls['change quote'], {
    documented: (body) => isQuote(body) && Array.isArray(own(body as object)['inapplicable_resources']),
  }),
  call('6 switch', providerCalls.switch, {
    pivot: true,
    documented: (body) => isQuote(body) && /^(?:true|1)$/.test(String(own(body as object)['available'])),
  }),
  call('7 switch total', providerCalls.quote, { documented: isQuote }),
  call('8 assign', providerCalls.assign),
  call('9 unassign', providerCalls.unassign),
  call('10 list', providerCalls.list),
  call('directory', providerCalls.directory),
];
