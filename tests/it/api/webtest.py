# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of our own, the web server in front of it, and ways to ask it. All is gone after close()."""
import fcntl
import glob
import http.client
import json
import os
import pwd
import re
import select
import shutil
import socket
import subprocess
import tempfile
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..', '..'))
BUILD = os.environ.get('B', 'build')


def postgres_bin():
    root = '/usr/lib/postgresql'
    return os.path.join(root, max(os.listdir(root), key=int), 'bin')


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def ok(self, sentence, holds, seen=None):
        if holds:
            self.passed += 1
            return
        self.failed += 1
        print(f'FAIL {sentence}' + ('' if seen is None else f': {str(seen)[:300]}'), flush=True)

    def done(self):
        print(f'{self.passed} passed, {self.failed} failed')
        return 1 if self.failed else 0


def copy_tree(source, target):
    subprocess.run(['rm', '-rf', target], check=True)
    subprocess.run(['cp', '-a', '--reflink=auto', source, target], check=True)


class Database:
    """PostgreSQL refuses root, so it runs as its own user, on a socket in a directory of its own."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix='api.')  # short: a socket's path has 107 bytes
        self.bin = postgres_bin()
        self.drop = []
        if os.geteuid() == 0:
            os.chown(self.dir, pwd.getpwnam('postgres').pw_uid, -1)
            self.drop = ['setpriv', '--reuid', 'postgres', '--regid', 'postgres', '--init-groups']
        self.server = None
        try:
            self.make()
        except BaseException:
            self.close()
            raise

    def make(self):
        """Of a run of all tests the first one makes it, and the others copy its files."""
        run = os.environ.get('SEISMO_TEST')
        if not run or os.geteuid() != 0:
            self.make_anew()
            return
        with open(f'{run}.api.lock', 'w', encoding='ascii') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.isdir(f'{run}.api'):
                copy_tree(f'{run}.api', f'{self.dir}/d')
            else:
                self.make_anew()
                self.stop()
                copy_tree(f'{self.dir}/d', f'{run}.api.new')
                os.rename(f'{run}.api.new', f'{run}.api')
        self.start()

    def make_anew(self):
        subprocess.run(self.drop + [f'{self.bin}/initdb', '-D', f'{self.dir}/d', '-U', 'postgres', '-A', 'trust', '-N',
                                    '-E', 'UTF8', '--locale=C.UTF-8'], check=True, stdout=subprocess.DEVNULL, cwd='/')
        self.start()
        self.sql('create role seismo login; create role seismo_web login; create role stranger login;'
                 'create database seismo owner seismo', 'postgres', 'postgres', separate=True)
        folders = [*sorted(glob.glob(f'{TOP}/schema/sql/[0-9]*')), f'{TOP}/schema/sql/api', f'{TOP}/schema/sql/functions']
        for folder in folders:  # in the order of collector/db/migrations.mk
            text = ''
            for name in [folder] if folder.endswith('.sql') else sorted(glob.glob(f'{folder}/*.sql')):
                with open(name, encoding='utf-8') as f:
                    text += f.read()
            self.sql('begin;' + text + ';commit')

    def start(self):
        with open(f'{self.dir}/log', 'ab') as log:
            self.server = subprocess.Popen(
                self.drop + [f'{self.bin}/postgres', '-D', f'{self.dir}/d', '-c', 'listen_addresses=', '-c', 'fsync=off',
                             '-c', f'unix_socket_directories={self.dir}', '-c', 'max_connections=20'],
                stdout=log, stderr=log, cwd='/')
        for _ in range(1200):
            if subprocess.run([f'{self.bin}/pg_isready', '-q', '-h', self.dir]).returncode == 0:
                return
            time.sleep(0.05)
        raise RuntimeError('PostgreSQL did not start: ' + open(f'{self.dir}/log').read()[-500:])

    def stop(self):
        if self.server:
            self.server.send_signal(2)
            self.server.wait(30)
            self.server = None

    def conninfo(self, user):
        return f'host={self.dir} dbname=seismo user={user}'

    def sql(self, text, user='seismo', database='seismo', separate=False):
        args = [f'{self.bin}/psql', '-h', self.dir, '-U', user, '-d', database, '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1']
        if separate:
            args += [a for part in text.split(';') for a in ('-c', part)]
            text = ''
        env = os.environ | {'PGOPTIONS': '-c jit=off'}  # as the collector asks: to compile a question takes longer than it
        done = subprocess.run(args, input=text, capture_output=True, text=True, env=env)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.strip()

    def refuses(self, text, user='seismo_web'):
        try:
            self.sql(text, user)
        except RuntimeError as e:
            return any(s in str(e) for s in ('permission denied', 'must be owner', 'cannot delete from view', 'cannot update view'))
        return False

    def locked(self, table):
        """Nobody reads the table until the returned function is called."""
        session = subprocess.Popen([f'{self.bin}/psql', '-h', self.dir, '-U', 'seismo', '-d', 'seismo', '-X', '-q', '-A', '-t'],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        session.stdin.write(f"begin; lock table {table}; select 'held';\n")
        session.stdin.flush()
        session.stdout.readline()
        return session.communicate

    def signal(self, number):
        """To the server and everything it started."""
        children = subprocess.run(['pgrep', '-P', str(self.server.pid)], capture_output=True, text=True).stdout.split()
        for pid in [self.server.pid] + [int(p) for p in children]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def close(self):
        self.stop()
        shutil.rmtree(self.dir)


def build_server():
    server = f'{BUILD}/test/it/api/web_server'
    san = BUILD.removeprefix('build-san-') if BUILD.startswith('build-san-') else ''
    subprocess.run(['make', '-s', '-C', TOP, f'SAN={san.replace("-", ",")}' if san else f'B={BUILD}', server], check=True)
    return os.path.join(TOP, server)


class Web:
    server = None
    description = None
    differences = set()
    patience = 0

    def __init__(self, conninfo, listen='127.0.0.1:0', keep_days=30):
        Web.server = Web.server or build_server()
        self.process = subprocess.Popen([Web.server, conninfo, listen, str(keep_days)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.port = int(line) if line.strip() else 0

    def notify(self):
        self.process.stdin.write('\n')
        self.process.stdin.flush()

    def close(self):
        self.process.stdin.close()
        rc = self.process.wait(20)
        self.said = self.process.stderr.read()
        return rc

    def ask(self, path, method='GET', headers=None, body=None, host=None):
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=15)
        try:
            c.putrequest(method, path, skip_host=True, skip_accept_encoding='Accept-Encoding' in (headers or {}))
            c.putheader('Host', host or f'127.0.0.1:{self.port}')
            for k, v in (headers or {}).items():
                c.putheader(k, v)
            c.endheaders(body)
            r = c.getresponse()
            return r.status, {k.lower(): v for k, v in r.getheaders()}, r.read()
        finally:
            c.close()

    def json(self, path, **kw):
        """With patience, what took too long on a busy machine is asked again, as the answer's Retry-After says."""
        for turn in range(self.patience, -1, -1):
            status, head, body = self.ask(path, **kw)
            answer = json.loads(body)
            if status != 503 or not turn:
                break
            time.sleep(int(head.get('retry-after', 1)))
        self.described(path.split('?')[0], status, head, answer)
        return status, answer

    def described(self, path, status, head, answer):
        """Each answer of each suite is as /api/v1/openapi.json says; what differs is in self.differences."""
        if self.description is None:
            self.description = json.loads(self.ask('/api/v1/openapi.json')[2])['paths']
        for known, of in self.description.items():
            if re.fullmatch(re.escape(known).replace(r'\{id\}', '[^/]+'), path):
                break
        else:
            return
        if status >= 400:
            if sorted(answer.get('error', {})) != ['code', 'message']:
                self.differences.add(f'{known}: {answer} is no error as described')
            return
        content = of['get']['responses']['200']['content'].get(head['content-type'].split(';')[0])
        if content is None:
            self.differences.add(f'{known}: {head["content-type"]} is not described')
            return
        forms = content['schema'].get('anyOf', [content['schema']])
        exact = '{id}' not in known
        if not any(set(f['required']) <= set(answer) and (not exact or set(f['required']) == set(answer)) for f in forms):
            self.differences.add(f'{known}: {sorted(answer)} is not as described: {forms}')

    def raw(self, data):
        with socket.create_connection(('127.0.0.1', self.port), 10) as s:
            s.sendall(data)
            s.settimeout(10)
            got = b''
            while True:
                more = s.recv(65536)
                if not more:
                    return got
                got += more

    def wait_well(self, well=True):
        for _ in range(1200):
            if (self.ask('/healthz')[0] == 200) == well:
                return True
            time.sleep(0.05)
        return False


class Stream:
    """One page's live connection. events: (event, id, data) in their order."""

    def __init__(self, web, last_id=None, path='/api/v1/stream', receive=None):
        self.sock = socket.socket()
        if receive:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        self.sock.settimeout(10)
        self.sock.connect(('127.0.0.1', web.port))
        head = f'GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\n'
        if last_id:
            head += f'Last-Event-ID: {last_id}\r\n'
        self.sock.sendall((head + '\r\n').encode())
        self.sock.setblocking(False)
        self.head, self.bytes, self.text, self.events, self.comments, self.ended = None, b'', b'', [], 0, False

    def feed(self):
        try:
            more = self.sock.recv(1 << 20)
        except BlockingIOError:
            return
        self.ended = self.ended or not more
        self.bytes += more
        if self.head is None and b'\r\n\r\n' in self.bytes:
            head, self.bytes = self.bytes.split(b'\r\n\r\n', 1)
            self.head = head.decode()
        while self.head is not None and b'\r\n' in self.bytes:
            size, rest = self.bytes.split(b'\r\n', 1)
            n = int(size, 16)
            if len(rest) < n + 2:
                break
            self.text += rest[:n]
            self.bytes = rest[n + 2:]
            self.ended = self.ended or n == 0
        while b'\n\n' in self.text:
            block, self.text = self.text.split(b'\n\n', 1)
            self.take(block.decode())

    def take(self, block):
        event = ident = data = None
        for line in block.split('\n'):
            name, _, value = line.partition(': ')
            if name == 'event':
                event = value
            elif name == 'id':
                ident = value
            elif name == 'data':
                data = json.loads(value)
            elif line.startswith(':'):
                self.comments += 1
        if event:
            self.events.append((event, ident, data, time.monotonic()))

    def of(self, kind):
        return [e for e in self.events if e[0] == kind]

    def close(self):
        self.sock.close()


def pump(streams, until, seconds=10):
    """Reads all streams until `until()` holds; says whether it did."""
    end = time.monotonic() + seconds
    while not until():
        left = end - time.monotonic()
        if left <= 0:
            return False
        poll = select.poll()
        by_fd = {s.sock.fileno(): s for s in streams if not s.ended}
        for fd in by_fd:
            poll.register(fd, select.POLLIN)
        for fd, _ in poll.poll(min(left, 0.2) * 1000):
            by_fd[fd].feed()
    return True


def in_time(look, tries=3):
    """That something takes no longer than it may: once more, if the machine did something else meanwhile."""
    return any(look() for _ in range(tries))


def pages(web, what, query, limit):
    """The ids of all requests or events, page by page; a refusal as it came."""
    seen, cursor = [], ''
    for _ in range(60):
        status, page = web.json(f'/api/v1/{what}?{query}&limit={limit}{cursor}')
        if status != 200:
            return page
        seen += [r['id'] for r in page[what]]
        if not page['next']:
            return seen
        cursor = '&cursor=' + page['next']
    return seen


def check_api(fill, check):
    """check(checks, database, server) on what fill(database) made; the exit status."""
    c, db = Checks(), Database()
    web = None
    try:
        fill(db)
        web = Web(db.conninfo('seismo_web'))
        c.ok('it gets well', web.wait_well())
        check(c, db, web)
        c.ok('every answer is as the description of the API says', not Web.differences, sorted(Web.differences)[:3])
        c.ok('it stops cleanly', web.close() == 0, web.said)
        web = None
    finally:
        if web:
            web.close()
        db.close()
    return c.done()
