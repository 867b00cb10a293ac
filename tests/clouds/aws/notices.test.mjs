// Interruptions that a queue tells of: machines whose agents say nothing.
import { it } from 'node:test';

import { Fleet } from './lib/fleet.mjs';

it('a_machine_that_the_queue_says_is_taken_away_is_replaced_and_the_message_is_deleted', async () => {
  const fleet = await Fleet.start({
    provider: fake => ({ interruptionQueues: { 'us-east-1': `${fake.url}/123456789012/notices` } }),
    values: { maxCapacity: 1 },
    setup: fake => fake.queues.create('notices'),
  });
  try {
    fleet.demand(1);
    const [first] = await fleet.until('a machine', () => fleet.living().length === 1 && fleet.living());
    await fleet.until('its worker', async () => (await fleet.workers()).some(worker => worker.workerId === first.id));
    fleet.fake.interrupt(first.id, { seconds: 90 });
    await fleet.until('it is terminated and replaced', () => first.ended !== undefined && fleet.living().length === 1);
    await fleet.until('the message is deleted', () => fleet.fake.queues.left('notices') === 0);
  } finally {
    await fleet.end();
  }
});
