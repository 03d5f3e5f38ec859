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
