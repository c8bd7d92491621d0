// SPDX-License-Identifier: Apache-2.0
// stacks_server.mjs PORT [spin] - answers each GET after 100 ms of CPU in burnCpu(); or is in there nearly all the time.
import http from 'node:http';

let spins = 0;

function spin() {
	for (let i = 0; i < 1000000; i++) spins += i % 7;
}

function burnCpu(ms) {
	const from = process.cpuUsage();
	const used = () => {
		const { user, system } = process.cpuUsage(from);
		return user + system;
	};
	while (used() < 1000 * ms) spin();
}

http.createServer((_, answer) => {
	burnCpu(100);
	answer.end('ok');
}).listen(Number(process.argv[2]), '127.0.0.1');
if (process.argv[3] === 'spin') setInterval(() => burnCpu(100), 1);
