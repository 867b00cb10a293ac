// All of them in one process.
import './fake_compute.test.mjs';
import './fake_tokens.test.mjs';
