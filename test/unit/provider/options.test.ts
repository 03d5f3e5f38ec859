import { ProviderClient, type ProviderClientOptions } from '../../../src/provider/client';

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
