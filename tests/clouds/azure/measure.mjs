import { measure } from '../lib/measure.mjs';
import { azure } from './lib/fleet.mjs';

await measure(azure, {
  places: 'one location', launchCalls: ['virtualMachines.put'], listCalls: ['virtualMachines.list', 'virtualMachines.listAll'],
  isListStart: call => call.action === 'virtualMachines.list' && call.parameters?.$skiptoken === undefined,
});
