import { measure } from '../lib/measure.mjs';
import { regions } from './lib/catalogue.mjs';
import { google } from './lib/fleet.mjs';

await measure(google, {
  provider: () => ({ regions: regions.map(region => region.name) }), places: '12 zones', launchCalls: ['instances.insert', 'instances.bulkInsert'], listCalls: ['instances.aggregatedList'],
  isListStart: call => call.action === 'instances.aggregatedList' && call.parameters?.pageToken === undefined,
});
