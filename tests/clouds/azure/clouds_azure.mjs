// All of them in one process.
import './fake_machines.test.mjs';
