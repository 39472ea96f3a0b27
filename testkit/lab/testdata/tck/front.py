"""Stands before `lastword serve --dialects a2a` for the A2A TCK: front.py PORT SERVER_PORT.

It says the version, which the TCK does not; asks SendMessage to return at once, as the TCK expects; and takes calls at /.
"""
import http.client
import http.server
import json
import socketserver
import sys

PORT, SERVER = int(sys.argv[1]), int(sys.argv[2])


class Front(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        path, fields = self.path, {k: v for k, v in self.headers.items() if k.lower() in ('accept', 'content-type', 'authorization')}
        fields['A2A-Version'] = '1.0'
        if self.command == 'POST':
            path = '/a2a'
            try:
                call = json.loads(body)
                if call['method'] == 'SendMessage':
                    call['params'].setdefault('configuration', {})['returnImmediately'] = True
                    body = json.dumps(call)
            except (ValueError, KeyError, TypeError, AttributeError):
                pass
        server = http.client.HTTPConnection('127.0.0.1', SERVER)
        server.request(self.command, path, body, fields)
        answer = server.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ('content-length', 'transfer-encoding', 'connection'):
                self.send_header(name, value)
        self.end_headers()
        while part := answer.read1(1 << 16):
            self.wfile.write(part.replace(f'127.0.0.1:{SERVER}/a2a'.encode(), f'127.0.0.1:{PORT}'.encode()))
            self.wfile.flush()

    do_GET = do_POST = pass_on


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


Server(('127.0.0.1', PORT), Front).serve_forever()
