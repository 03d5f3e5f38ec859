import { ProviderClient, type ProviderClientOptions } from '../../../src/provider/client';
import { resolveOptions } from '../../../src/provider/options';

const accepts = (options: ProviderClientOptions) => new ProviderClient(options);

test.each([
  'https://api.example.com',
  'https://api.example.com/v1/',
  'http://127.0.0.1:8080',
  'http://127.1.2.3',
  'http://127.1',
  'http://localhost:8080/x',
  'http://[::1]:8080',
])('%s is a base URL', (baseUrl) => {
  expect(() => accepts({ baseUrl })).not.toThrow();
});

test.each([
  'http://api.example.com',
  'http://10.0.0.1',
  'http://localhost.example.com',
  'http://127.0.0.1.example.com',
  'http://0.0.0.0',
  'http://[::2]',
])('%s is one only where plain HTTP is allowed', (baseUrl) => {
  expect(() => accepts({ baseUrl })).toThrow(/baseUrl must begin with https:/);
  expect(() => accepts({ baseUrl, allowHttp: true })).not.toThrow();
});

test.each([
  '',
  'api.example.com',
  '/v1',
  'ftp://api.example.com',
  'file:///etc',
  'https://me:hunter2@api.example.com',
  'https://me@api.example.com',
  'https://api.example.com/?key=hunter2',
  'https://api.example.com/?',
  'https://api.example.com/#',
])('%s is none, and the message does not repeat it', (baseUrl) => {
  let message = '';
  try {
    accepts({ baseUrl, allowHttp: true });
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    message = (error as TypeError).message;
  }
  expect(message).toContain('baseUrl');
  expect(message).not.toContain('hunter2');
});

test.each<[string, Partial<ProviderClientOptions>]>([
  ['connectTimeoutMs', { connectTimeoutMs: 0 }],
  ['totalTimeoutMs', { totalTimeoutMs: NaN }],
  ['responseBytesMax', { responseBytesMax: Infinity }],
  ['connections', { connections: 0 }],
  ['authHeader', { authHeader: 'x y' }],
  ['authHeader', { authHeader: '' }],
  ['authScheme', { authScheme: 'Bearer\r\nx: y' }],
  ['quoteMethod', { quoteMethod: 'POST' as 'PUT' }],
])('a wrong %s is named', (name, options) => {
  expect(() => accepts({ baseUrl: 'https://api.example.com', ...options })).toThrow(new RegExp(`^${name} must`));
});

test('an option that is undefined has its default', () => {
  const options = {
    baseUrl: 'https://api.example.com/v1//',
    connections: undefined,
  } as unknown as ProviderClientOptions;
  expect(resolveOptions(options)).toMatchObject({
    origin: 'https://api.example.com',
    pathPrefix: '/v1',
    connections: 64,
    pivotUnsureStatuses: [],
    placedIf: [],
    totalTimeoutMs: 20_000,
    quoteMethod: 'PUT',
  });
});

test('the defaults are these', () => {
  const baseUrl = 'https://api.example.com';
  const { onCall, ...options } = resolveOptions({ baseUrl });
  expect(options).toEqual({
    origin: baseUrl,
    pathPrefix: '',
    authHeader: 'authorization',
    authScheme: 'Bearer',
    connectTimeoutMs: 5_000,
    totalTimeoutMs: 20_000,
    responseBytesMax: 1_048_576,
    connections: 64,
    pivotUnsureStatuses: [],
    placedIf: [],
    quoteMethod: 'PUT',
    now: Date.now,
  });
  expect(onCall({ endpoint: 'e', method: 'GET', durationMs: 1, sent: false })).toBeUndefined();
});

test.each<[string, Partial<ProviderClientOptions>]>([
  ['connections must be a positive integer', { connections: 0 }],
  ['authHeader must be the name of a header', { authHeader: 'x:' }],
  ['authScheme must be one word', { authScheme: 'two words' }],
  ['authScheme must be one word', { authScheme: ' Bearer' }],
  ['authScheme must be one word', { authScheme: 'Bearer ' }],
  ['quoteMethod must be PUT or GET', { quoteMethod: 'put' as 'PUT' }],
  ['baseUrl must be an absolute URL', { baseUrl: 'api.example.com' }],
  ['baseUrl must begin with https:', { baseUrl: 'ftp://api.example.com', allowHttp: true }],
  [
    'baseUrl must begin with https:, unless it is a loopback address or allowHttp is set',
    { baseUrl: 'http://api.example.com' },
  ],
  ['baseUrl must not contain credentials', { baseUrl: 'https://:word@api.example.com' }],
  ['baseUrl must not contain credentials', { baseUrl: 'https://me@api.example.com' }],
  ['baseUrl must not have a query or a fragment', { baseUrl: 'https://api.example.com/?' }],
  ['baseUrl must not have a query or a fragment', { baseUrl: 'https://api.example.com/#' }],
])('%s: %j', (message, options) => {
  const wrong = { baseUrl: 'https://api.example.com', ...options };
  expect(() => resolveOptions(wrong)).toThrow(new TypeError(message));
});

test.each<Partial<ProviderClientOptions>>([
  { authScheme: '' },
  { authScheme: 'Token' },
  { authHeader: "x-Api_Key.1!#$%&'*+^`|~" },
  { quoteMethod: 'GET' },
  { connections: 1 },
])('%j is taken', (options) => {
  expect(resolveOptions({ baseUrl: 'https://api.example.com', ...options })).toMatchObject(options);
});

test.each([
  ['https://api.example.com/', ''],
  ['https://api.example.com/v1//', '/v1'],
  ['https://api.example.com/a//b', '/a//b'],
  ['https://api.example.com//v1/x', '//v1/x'],
])('of %s the path is %j', (baseUrl, pathPrefix) => {
  expect(resolveOptions({ baseUrl })).toMatchObject({ origin: 'https://api.example.com', pathPrefix });
});
