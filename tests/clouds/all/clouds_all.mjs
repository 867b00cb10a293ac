// All of them in one process.
import './pool.test.mjs';
