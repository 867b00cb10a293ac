// All of them in one process.
import './fake_machines.test.mjs';
import './fake_tokens.test.mjs';
