"""Events of your own in a trace, from Python: moments, spans and counters, with typed fields.

    import rostrace

    rostrace.instant('replanned', reason='blocked', obstacles=3)
    rostrace.counter('queue', 7)
    with rostrace.span('plan', horizon=2.5):
        ...

One file without dependencies: copy it beside your code. The tracer is found by name when the process has it; otherwise, and
while nothing is recorded, nothing happens. Callbacks of rclpy need none of this: the tracer sees them by itself.
"""

import contextlib
import ctypes
import numbers

_INTEGER, _REAL, _TEXT = range(3)


class _Value(ctypes.Union):
    _fields_ = [('integer', ctypes.c_int64), ('real', ctypes.c_double), ('text', ctypes.c_char_p)]


class _Field(ctypes.Structure):
    _fields_ = [('name', ctypes.c_char_p), ('kind', ctypes.c_int32), ('value', _Value)]


# Functions that keep the interpreter's lock: the tracer never waits.
_FIELDS = (ctypes.c_char_p, ctypes.POINTER(_Field), ctypes.c_size_t)


class _Api(ctypes.Structure):
    """struct rostrace_api of rostrace.h"""

    _fields_ = [
        ('version', ctypes.c_uint32),
        ('active', ctypes.c_void_p),
        ('is_enabled', ctypes.PYFUNCTYPE(ctypes.c_bool)),
        ('instant', ctypes.PYFUNCTYPE(None, *_FIELDS)),
        ('span_begin', ctypes.PYFUNCTYPE(ctypes.c_uint64, *_FIELDS)),
        ('span_end', ctypes.PYFUNCTYPE(None, ctypes.c_char_p, ctypes.c_uint64)),
        ('counter', ctypes.PYFUNCTYPE(None, ctypes.c_char_p, ctypes.c_double)),
    ]


def _find():
    try:
        ask = ctypes.PyDLL(None).rostrace_user_api
    except (AttributeError, OSError):
        return None
    ask.restype = ctypes.POINTER(_Api)
    api = ask().contents
    return api if api.version == 2 else None


_api = _find()


def is_recorded():
    """Whether events are recorded now, where it costs something to make one."""
    return _api is not None and _api.is_enabled()


def _fields(values):
    fields = (_Field * len(values))()
    for field, (name, value) in zip(fields, values.items()):
        field.name = name.encode(errors='replace')
        if isinstance(value, numbers.Integral):
            # Larger ones lose their highest bits.
            field.kind, field.value.integer = _INTEGER, int(value)
        elif isinstance(value, numbers.Real):
            field.kind, field.value.real = _REAL, float(value)
        else:
            field.kind, field.value.text = _TEXT, str(value).encode(errors='replace')
    return fields, len(values)


def instant(name, **fields):
    """Marks a moment."""
    if is_recorded():
        _api.instant(name.encode(errors='replace'), *_fields(fields))


def counter(name, value):
    """Says the value of a quantity."""
    if is_recorded():
        _api.counter(name.encode(errors='replace'), value)


@contextlib.contextmanager
def span(name, **fields):
    """Something that takes time: the body of a `with`, or a function that is decorated with it."""
    if not is_recorded():
        yield
        return
    text = name.encode(errors='replace')
    number = _api.span_begin(text, *_fields(fields))
    try:
        yield
    finally:
        _api.span_end(text, number)
