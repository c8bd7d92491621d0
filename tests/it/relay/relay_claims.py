# SPDX-License-Identifier: Apache-2.0
"""relay_claims.py - URL REGION TOKEN_FILE COMMAND ARG...: a relay of that region that sends what COMMAND says, for
relay_claims.sh and by wireclient.py. It ends with an error unless the collector has stored it.

    nodes NAME...            that there are these, and that each was heard now; REGION/NAME: of a region that relays to it
    incident ID NODE...      one that began half a minute ago, with a signal of each of these; REGION/ID: of such a region
    evil ID NODE             one of an app of that name
    wild ID NODE             one whose every number is as large, and whose texts are as long and odd, as the wire takes them
    unknown COUNT            so many incidents of an hour ago, of nodes that no relay reported
    counts NODE              requests of it that took beyond their usual whatever the wire takes
    vague NODE...            that nothing is known of their clocks, nor of the relay's own"""
import hashlib
import os
import sys
import time

import zmq
from zmq.utils import z85

sys.path.insert(1, "tests/lib")
from wireclient import U63, Client, encode_body, node_id  # noqa: E402

SERVER = open(os.environ['COLLECTOR_PUB']).read().split()[-1].encode()
EPOCH = 4711


class Relay(Client):
    """The same key and epoch in each process."""
    def __init__(self, url, region, token):
        secret = z85.encode(hashlib.sha256(f'secret of {region}'.encode()).digest())
        super().__init__(url, SERVER, f'relay-{region}', (zmq.curve_public(secret), secret), EPOCH)
        self.region = region
        for _ in range(10):
            self.hello(token, relay=region)
            if heard := self.until('WELCOME', ms=1000):
                self.seq = heard[1]['marks'][0]
                return
        sys.exit(f'relay-{region} is not let in')

    def way(self, name):
        """REGION/NAME: the regions that it came through, and the name."""
        *of, name = name.split('/')
        return [*of, self.region], name

    def deliver(self, *items):
        self.seq += 1
        self.batch(self.seq, encode_body(items))
        while heard := self.until('ACK', 'NACK'):
            if heard[0] == 'NACK' or heard[1]['mark'] >= self.seq:
                break
        if not heard or heard[0] == 'NACK':
            sys.exit(f'batch {self.seq} was not taken: {heard}')


def origin(relay, name):
    regions, node = relay.way(name)
    return 'ORIGIN', {'node': node_id(node), 'epoch': 0, 'stream': 1, 'seq': 0, 'name': node, 'regions': regions}


def nodes(relay, *names):
    for name in names:
        relay.deliver(origin(relay, name), ('NODE', {'name': relay.way(name)[1], 'machine': '', 'version': 'x', 'first_ns': time.time_ns(), 'tags': []}))
    relay.deliver(('REGION', {'name': relay.region, 'console': '', 'seen': [
        {'node': node_id(n), 'ms': time.time_ns() // 1000000} for n in names if '/' not in n]}))


def signal(name, **fields):
    now = time.time_ns() // 1000
    return {'node': node_id(name), 'app': 'shop', 'route': '/buy', 'class': 'io', 'reason': 27, 'first_us': now - 30000000, 'last_us': now - 1000000, 'n': 20,
            'excess_us': 2000000} | fields


def report(relay, number, signals, **fields):
    now = time.time_ns() // 1000
    regions, number = relay.way(number)
    return 'INCIDENT', {'id': int(number), 'onset_us': now - 30000000, 'last_us': now - 1000000, 'opened_us': now, 'closed_us': 0, 'into': 0, 'first_host': 0,
                        'text': 'shop slow', 'regions': regions, 'signals': signals} | fields


def incident(relay, number, *names):
    relay.deliver(report(relay, number, [signal(n) for n in names]))


def evil(relay, number, name):
    relay.deliver(report(relay, number, [signal(name, app='evil')]))


def wild(relay, number, name):
    most = U63 - 1024  # the last one that PostgreSQL does not take for infinite
    relay.deliver(report(relay, number, [signal(name, **{'app': 'é' * 128, 'route': 'é' * 600, 'class': 'a' + 'é' * 63, 'reason': 32767, 'first_us': most, 'last_us': most,
                                                         'n': U63, 'excess_us': U63})],
                         last_us=most, opened_us=most, text='\x01' * 256))


def unknown(relay, count):
    hour_ago = time.time_ns() // 1000 - 3600000000
    for i in range(int(count)):
        relay.deliver(report(relay, str(100000 + i), [signal(f'nobody-{i}')], onset_us=hour_ago))


def counts(relay, name):
    of = {'app': 'shop', 'route': '/buy', 'peer': ':80', 'role': 0, 'sum_us': U63, 'lo': 0, 'b': [1]}
    for judged in 1, U63:
        relay.deliver(origin(relay, name), *(('RED', of | {'status_class': c, 'count': U63, 'excess_us': U63, 'judged': judged}) for c in (2, 5)))


def vague(relay, *names):
    clock = 'CLOCK', {'since_ns': time.time_ns() - 60000000000, 'offset_us': 1000, 'uncertainty_us': U63}
    relay.deliver(clock)
    for name in names:
        relay.deliver(origin(relay, name), clock)


if __name__ == '__main__':
    globals()[sys.argv[4]](Relay(sys.argv[1], sys.argv[2], open(sys.argv[3]).read().strip()), *sys.argv[5:])
