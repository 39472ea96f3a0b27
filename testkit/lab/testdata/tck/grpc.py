"""Takes the place of gRPC for the A2A TCK, whose JSON-RPC leg imports it and calls nothing of it."""


class _Nothing:
    def __getattr__(self, name):
        return self

    def __call__(self, *args, **kwargs):
        return self


class RpcError(Exception):
    pass


def __getattr__(name):
    return _Nothing()
