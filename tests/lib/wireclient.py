# SPDX-License-Identifier: Apache-2.0
"""wireclient.py - a probe's side of the wire, written from docs/reference/wire.md alone: what that page does not say, this does
not know. On Debian's python3-zmq and python3-msgpack.

    wireclient.py vectors docs/reference/wire.md    each vector is decoded, field by field, and written again to the same bytes
"""
import re
import struct
import sys
import time

import msgpack
import zmq

VERSION, MAX_FRAME = 1, 1 << 20
EVENTS, METRICS = 1, 2
U63 = (1 << 63) - 1


class Bad(Exception):
    """What a reader refuses."""


# Types of fields: each takes a value as msgpack gives it, and returns it, or raises Bad.
def unsigned(high, low=0):
    def check(v):
        if type(v) is not int or not low <= v <= high:
            raise Bad(f'{v!r} is no integer from {low} to {high}')
        return v
    return check


def string(high, low=0):
    def check(v):
        if type(v) is not str or '\0' in v or not low <= len(v.encode(errors='surrogateescape')) <= high:
            raise Bad(f'{v!r} is no string of {low} to {high} bytes')
        return v
    return check


def address(v):
    if type(v) is not bytes or len(v) not in (0, 4, 16):
        raise Bad(f'{v!r} is no address')
    return v[12:] if v[:12] == bytes(10) + b'\xff\xff' else v


def number(v):
    if v is not None and type(v) not in (int, float):
        raise Bad(f'{v!r} is no number')
    return v


def finite(v):
    if v is None or number(v) in (float('inf'), float('-inf')):
        raise Bad(f'{v!r} is not finite')
    return v


def offset(v):
    if abs(finite(v)) > 4e15:
        raise Bad(f'no clock is off by {v} us')
    return v


def param(v):
    return text(v) if type(v) is str else finite(v)


def blob(v):
    if type(v) is not bytes:
        raise Bad('not bin')
    return v


def array(of, high, low=0):
    def check(v):
        if type(v) is not list or not low <= len(v) <= high:
            raise Bad(f'not an array of {low} to {high}')
        return [of(x) for x in v]
    return check


def record(*fields, later=()):
    """Named fields, some of which came later; what is behind them is ignored."""
    def check(v):
        if type(v) is not list or len(v) < len(fields):
            raise Bad(f'not an array of at least {len(fields)}')
        pairs = list(zip((*fields, *later), v))
        return {name: kind(x) for (name, kind), x in pairs}
    check.names, check.optional = [n for n, _ in fields], [n for n, _ in later]
    return check


u8, u16, u31, u63 = (unsigned(n) for n in (255, 65535, (1 << 31) - 1, U63))
u15, status, stream, severity = unsigned(32767), unsigned(999), unsigned(2, 1), unsigned(255)
name, key, text = string(128), string(128, 1), string(256)


def or_nothing(v):
    """A later field of HELLO: what stands in its place and is no string is not its own."""
    return name(v) if type(v) is str else ''


def number_or_0(v):
    """The same of a number."""
    return u63(v) if type(v) is int and v >= 0 else 0


PARAMS = array(record(('key', key), ('value', param)), 8)
BLOCK = record(('start_ns', u63), ('us', u63), ('part', u8), ('pid', u31), ('tid', u31), ('comm', name), ('call', name),
               ('what', text), ('who', text), ('stack', u63))
TRY = record(('addr', address), ('port', u16), ('start_us', u63), ('connect_us', u63), ('response_us', u63),
             ('status', status), ('error', unsigned(4095)), ('retrans', u31), ('srtt_us', u31), ('flags', u31),
             ('local_port', u16), later=[('path', name)])
SHARE = record(('part', u8), ('us', u63), ('normal_us', u63))
CHECK = record(('reason', u15), ('why', text))
LOSS = record(('side', u8), ('kind', u8), ('count', u31))
SEEN = record(('kernel', u63), ('user', u63), ('n', u31))
PLACE = record(('kind', u8), ('addr', address), ('port', u16), ('app', name), ('netns', u63), ('gone', u8))
WAY = record(('kind', u8), ('seen', address), ('seen_port', u16), ('real', address), ('real_port', u16), ('netns', u63))
NAMED = record(('id', u63), ('name', text))
HEARD = record(('node', u63), ('ms', u63))
TAG = record(('entity', u63), ('key', key), ('value', text), ('since_us', u63), ('until_us', u63), ('said_by', name))
SIGNAL = record(('node', u63), ('app', text), ('route', string(1200)), ('class', key), ('reason', u15), ('first_us', u63), ('last_us', u63),
                ('n', u63), ('excess_us', u63))
METRIC = record(('name', key), ('unit', name), ('kind', u8))
MARK = [('node_id', u63), ('epoch', u63), ('stream', stream), ('mark', u63)]

MESSAGES = {
    1: ('HELLO', record(('node', key), ('epoch', u63), ('machine', name), ('version', name), ('wall_ns', u63),
                        later=[('token', or_nothing), ('next_key', or_nothing), ('relay', or_nothing)])),
    2: ('WELCOME', record(('node_id', u63), ('epoch', u63), ('marks', array(u63, 255, 2)), ('wall_ns', u63))),
    3: ('DICT', record(('layout', u63), ('entity_kind', key), ('metrics', array(METRIC, 128, 1)))),
    4: ('NEED_DICT', record(('layout', u63))),
    5: ('BATCH', record(('node_id', u63), ('epoch', u63), ('stream', stream), ('seq', unsigned(U63, 1)),
                        ('base_seq', unsigned(U63, 1)), ('wall_ns', u63), later=[('sent_ns', number_or_0)])),
    6: ('ACK', record(*MARK, later=[('sent_ns', number_or_0), ('received_ns', number_or_0), ('answered_ns', number_or_0)])),
    7: ('NACK', record(*MARK)),
    10: ('REFUSED', record(('node_id', u63), ('epoch', u63), ('why', u8), ('known_as', name))),
    11: ('KEYS', record(('node_id', u63), ('epoch', u63), ('collector', name), ('rotate', u8), ('taken', name))),
}
ITEMS = {
    1: ('SAMPLE', record(('layout', u63), ('entity', text), ('values', array(number, 128)))),
    2: ('RED', record(('app', name), ('route', name), ('peer', name), ('role', u8), ('status_class', unsigned(5)),
                      ('count', u63), ('sum_us', u63), ('lo', u8), ('b', array(u31, 40)),
                      later=[('excess_us', u63), ('judged', u63)])),
    3: ('REQUEST', record(('start_ns', u63), ('app', name), ('comm', name), ('pid', u31), ('tid', u31),
                          ('remote', address), ('remote_port', u16), ('local', address), ('local_port', u16),
                          ('method', name), ('path', string(128)), ('route', name), ('flags', u31), ('status', status),
                          ('request_us', u63), ('queue_us', u63), ('bytes_in', u63), ('bytes_out', u63),
                          ('normal_us', u63), ('limit_us', u63), ('retrans', u31), ('srtt_us', u31), ('rcv_ooo', u31),
                          ('reason', u15), ('params', PARAMS), ('tries', array(TRY, 4)),
                          later=[('shares', array(SHARE, 17)), ('checks', array(CHECK, 32)),
                                 ('losses', array(LOSS, 10)), ('evidence', array(BLOCK, 8)),
                                 ('trace', name), ('sent_id', name)])),
    4: ('SOURCE', record(('name', key), ('state', u8), ('why', text))),
    5: ('UNREAD', record(('app', name), ('kind', key), ('count', u63))),
    6: ('STACK', record(('id', u63), ('flags', u8), ('frames', array(text, 48)))),
    7: ('EVENT', record(('start_ns', u63), ('us', u63), ('error_us', u63), ('kind', key), ('severity', severity),
                        ('pid', u31), ('tid', u31), ('comm', name), ('reason', u15), ('params', PARAMS),
                        ('evidence', array(BLOCK, 8)),
                        later=[('id', u63), ('told', u31), ('going_on', u8)])),
    8: ('PLACE', record(('whole', u8), ('left_out', u31), ('places', array(PLACE, 4096)))),
    9: ('PROFILE', record(('start_ns', u63), ('period_us', u31), ('app', name), ('seen', array(SEEN, 256)))),
    10: ('ORIGIN', record(('node', u63), ('epoch', u63), ('stream', stream), ('seq', u63), ('name', string(256, 1)),
                          ('regions', array(key, 8, 1)))),
    11: ('REGION', record(('name', key), ('console', text), later=[('seen', array(HEARD, 4096))])),
    12: ('NODE', record(('name', text), ('machine', name), ('version', name), ('first_ns', u63), ('tags', array(TAG, 1024)))),
    13: ('CLOCK', record(('since_ns', u63), ('offset_us', offset), ('uncertainty_us', u63))),
    15: ('INCIDENT', record(('id', u63), ('onset_us', u63), ('last_us', u63), ('opened_us', u63), ('closed_us', u63), ('into', u63),
                            ('first_host', u63), ('text', text), ('regions', array(key, 8, 1)), ('signals', array(SIGNAL, 256)))),
    16: ('NAT', record(('left_out', u31), ('ways', array(WAY, 512)))),
    17: ('ROLLUP', record(('hour_s', u63), ('part', u31), ('whole', u8), ('entity_kind', key), ('metrics', array(METRIC, 128, 1)),
                          ('entities', array(NAMED, 256)), ('chunk', blob))),
}
BY_NAME = {n: (i, t) for table in (MESSAGES, ITEMS) for i, (n, t) in table.items()}
UNPACK = {'raw': False, 'unicode_errors': 'surrogateescape', 'strict_map_key': False}
PACKER = msgpack.Packer(unicode_errors='surrogateescape', use_bin_type=True)


def pack(v):
    """The shortest form of each; a number as the page has it."""
    if isinstance(v, dict):
        v = list(v.values())
    if isinstance(v, (list, tuple)):
        return PACKER.pack_array_header(len(v)) + b''.join(map(pack, v))
    if isinstance(v, float) and v != v:
        return b'\xc0'
    if isinstance(v, float) and v.is_integer() and 0 <= v < 1 << 63:
        v = int(v)
    if isinstance(v, float) or isinstance(v, int) and v < 0:
        short = struct.pack('>f', v) if abs(v) < 3.4028235e38 else struct.pack('>d', v)
        return b'\xca' + short if len(short) == 4 and struct.unpack('>f', short)[0] == v else b'\xcb' + struct.pack('>d', v)
    return PACKER.pack(v)


def trimmed(kind, fields):
    """Without the later fields at the end that say nothing; the order is the page's, whatever was given."""
    names = kind.names + kind.optional
    values = [fields.get(n, [] if kind is not MESSAGES[1][1] else '') for n in names]
    while len(values) > len(kind.names) and not values[-1]:
        values.pop()
    return values


def item(what, **fields):
    number_, kind = BY_NAME[what]
    return pack([number_, *trimmed(kind, fields)])


def message(what, **fields):
    number_, kind = BY_NAME[what]
    return pack([VERSION, number_, *trimmed(kind, fields)])


def decode(frame):
    """NAME and fields; None, {} for a type that version 1 does not know."""
    try:
        v = msgpack.unpackb(frame, **UNPACK)
    except Exception as e:
        raise Bad('not exactly one msgpack value') from e
    if type(v) is not list or len(v) < 2 or v[0] != VERSION:
        raise Bad('not a message of version 1')
    what, kind = MESSAGES.get(u8(v[1]), (None, lambda _: {}))
    return what, kind(v[2:])


def decode_body(body):
    """The items, each with its name, without those of an unknown kind."""
    u, out = msgpack.Unpacker(max_buffer_size=MAX_FRAME, **UNPACK), []
    u.feed(body)
    for v in u:
        if type(v) is not list or not v:
            raise Bad('not an item')
        if u8(v[0]) in ITEMS:
            what, kind = ITEMS[v[0]]
            out.append((what, kind(v[1:])))
    if u.tell() != len(body):
        raise Bad('the last item is cut')
    return out


def encode_body(items):
    return b''.join(item(what, **fields) for what, fields in items)


def hashed(*parts):
    h = 0xcbf29ce484222325
    for b in b''.join(parts):
        h = (h ^ b) * 0x100000001b3 & 0xffffffffffffffff
    for factor in (0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53, 1):
        h = (h ^ h >> 33) * factor & 0xffffffffffffffff
    return h & U63 or 1


def node_id(node):
    return hashed(b'node\0', node.encode() + b'\0')


def layout_id(entity_kind, metrics):
    return hashed(entity_kind.encode() + b'\0', *(m['name'].encode() + b'\0' + m['unit'].encode() + b'\0' + bytes([m['kind']])
                                                  for m in metrics))


class Client:
    """One connection of a node: its key pair, its epoch. A key that is None is made; server None: without CURVE."""
    context = zmq.Context()

    def __init__(self, url, server, node, pair=None, epoch=None):
        self.url, self.server, self.node, self.id = url, server, node, node_id(node)
        self.public, self.secret = pair or zmq.curve_keypair()
        self.epoch = epoch or time.time_ns() & U63
        self.sock = None
        self.open()

    def open(self):
        self.close()
        s = self.sock = self.context.socket(zmq.DEALER)
        s.linger, s.immediate, s.sndtimeo, s.reconnect_ivl = 0, 1, 3000, 50
        if self.server:
            s.curve_serverkey, s.curve_publickey, s.curve_secretkey = self.server, self.public, self.secret
        s.connect(self.url)

    def close(self):
        if self.sock:
            self.sock.close()

    def hello(self, token='', **fields):
        self.sock.send(message('HELLO', **{'node': self.node, 'epoch': self.epoch, 'machine': '', 'version': 'wireclient',
                                           'wall_ns': time.time_ns(), 'token': token, 'next_key': ''} | fields))

    def head(self, seq, base_seq=1, stream=EVENTS, **fields):
        return message('BATCH', **{'node_id': self.id, 'epoch': self.epoch, 'stream': stream, 'seq': seq,
                                   'base_seq': base_seq, 'wall_ns': time.time_ns()} | fields)

    def batch(self, seq, body, base_seq=1, stream=EVENTS, **fields):
        self.sock.send_multipart([self.head(seq, base_seq, stream, **fields), body])

    def dict(self, entity_kind, metrics):
        self.sock.send(message('DICT', layout=layout_id(entity_kind, metrics), entity_kind=entity_kind, metrics=metrics))

    def hear(self, ms=3000):
        """The next message that this version knows; None: none came in that time."""
        until = time.monotonic() + ms / 1000
        while self.sock.poll(max(0, (until - time.monotonic()) * 1000)):
            what, fields = decode(self.sock.recv())
            if what and fields.get('epoch', self.epoch) == self.epoch:
                return what, fields
        return None

    def until(self, *wanted, ms=3000):
        """The first message of these names."""
        end = time.monotonic() + ms / 1000
        while (left := (end - time.monotonic()) * 1000) > 0 and (heard := self.hear(left)):
            if heard[0] in wanted:
                return heard
        return None

    welcomed = False

    def enter(self, token='', ms=5000):
        """The marks of both streams, as soon as the collector sends them."""
        end = time.monotonic() + ms / 1000
        while time.monotonic() < end:
            self.hello(token)
            if heard := self.until('WELCOME', 'REFUSED', ms=1000):
                self.welcomed = heard[0] == 'WELCOME'
                return heard[1]['marks'] if self.welcomed else heard
        return None


def vectors(page):
    """A body for what is of a body's items; a message for the others. What a reader ignores is not written again."""
    said = {n: bytes.fromhex(re.sub(r'#.*', '', v)) for n, v in
            re.findall(r'^```vector (\w+)\n(.*?)^```', open(page).read(), re.S | re.M)}
    assert len(said) > 20 and said['hello'], 'no vectors there'
    same = {'hello_later': 'hello'}
    for n, v in said.items():
        base = n.split('_')[0]
        if n == 'unknown':
            assert decode(v) == (None, {}), n
        elif n == 'body':
            assert [(w, f.get('state', f.get('count'))) for w, f in decode_body(v)] == [('SOURCE', 1), ('UNREAD', 1), ('SOURCE', 2)]
        elif any(w.lower() == base for w, _ in ITEMS.values()):
            assert encode_body(decode_body(v)) == v, n
        else:
            what, fields = decode(v)
            assert message(what, **fields) == said[same.get(n, n)], n
    assert node_id('web-1') == decode(said['welcome'])[1]['node_id'] == 0x25bc09821b123a7f
    d = decode(said['dict'])[1]
    assert layout_id(d['entity_kind'], d['metrics']) == d['layout'] == 0x4ea04689a932b33c
    return len(said)


if __name__ == '__main__':
    print(f'{vectors(sys.argv[2])} vectors')
